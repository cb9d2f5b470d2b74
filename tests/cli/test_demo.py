"""The demo, whole, on the docstrings of one library."""

import re
import shlex

from ammi.cli.demo import NEXT, play
from ammi.experiments.demo import Demo
from tests.cli.conftest import Run


def test_the_demo_shows_learned_codes_that_are_best_and_leaves_an_index(capfd, tmp_path, ammi: Run):
    folder = tmp_path / "demo"
    demo = Demo(folder, packages=["numpy"], epochs=10, verbose=False)
    play(demo)
    shown = capfd.readouterr().out
    precision = {name: float(value) for name, value in re.findall(r"(LSH|BOW|AMMI) +[\d,]+ +([\d.]+) %", shown)}
    assert precision["AMMI"] > precision["BOW"] > 0
    assert precision["AMMI"] > precision["LSH"] > 0
    assert float(re.findall(r"perfect ranking would reach ([\d.]+) %", shown)[0]) > precision["AMMI"]
    assert "inverse of a matrix" in shown
    assert "numpy.fft" in shown
    for command in NEXT:
        line = command.format(folder=folder)
        assert f"ammi {line}" in shown
        if "json.dumps" not in line and "statistics.median" not in line:  # of the standard library, left out here
            assert ammi(*shlex.split(line)).code == 0
    with demo.build() as index:  # a second demo takes the place of the first
        assert len(index) == len(demo.records)
