"""`ammi demo` on the docstrings of one library, and the commands that it prints."""

import re
import shlex
from pathlib import Path

import pytest

from ammi.cli.demo import NEXT, play
from ammi.demo import Demo
from tests.cli.conftest import Run


@pytest.mark.slow
def test_it_shows_learned_codes_that_are_best_and_what_to_try(capfd, tmp_path, monkeypatch, ammi: Run):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    demo = Demo(Path("ammi-demo"), packages=["numpy"], epochs=10)
    play(demo)
    shown = capfd.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    precision = {name: float(value) for name, value in re.findall(r"(LSH|BOW|AMMI) +[\d,]+ +([\d.]+) %", shown)}
    assert precision["AMMI"] > precision["BOW"] > 0
    assert precision["AMMI"] > precision["LSH"] > 0
    assert float(re.findall(r"perfect ranking would reach ([\d.]+) %", shown)[0]) > precision["AMMI"]
    assert "inverse of a matrix" in shown
    assert "numpy.fft" in shown
    assert f"ammi serve {demo.location}\nand open http://127.0.0.1:8077/ in a browser" in shown
    for command in NEXT:
        line = command.format(folder=demo.folder, location=demo.location)
        assert f"ammi {line}" in shown
        line = line.replace("json.dumps", "numpy.linalg.inv").replace("statistics.median", "numpy.linalg.det")
        tried = ammi(*shlex.split(line.replace("package=scipy", "package=numpy")))
        assert tried.code == 0, tried.err
