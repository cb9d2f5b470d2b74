"""`ammi paper` from end to end on its tiny set: killed, gone on with, and reported."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import AMMI, ENVIRONMENT, Run


def runs(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (folder / "runs").rglob("*.json") if not path.name.startswith(".")}


@pytest.mark.slow
def test_the_whole_paper_survives_a_kill_and_is_reported(ammi: Run, tmp_path):
    command = ["paper", "--quick", "--out", tmp_path]
    killed = subprocess.Popen([AMMI, *map(str, command)], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while len(finished := runs(tmp_path)) < 5:
        assert killed.poll() is None
        time.sleep(0.2)
    killed.kill()
    killed.wait()

    done = ammi(*command)
    assert done.code == 0, done.err
    assert finished.items() <= runs(tmp_path).items()
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    for part in ("Table 1", "Figure 1", "Table 2", "Table 3", "Controls", "nothing was chosen"):
        assert part in page
        assert part in text
    assert "not run yet" not in page
    assert page.count("data:image/png") == text.count(".png)") > 3


def test_a_report_of_nothing_says_what_to_run(ammi: Run, tmp_path):
    assert ammi("paper", "report", "--out", tmp_path, "--markdown", tmp_path / "docs" / "paper.md").code == 0
    text = (tmp_path / "docs" / "paper.md").read_text()
    for part in ("table1", "figure1", "table2", "table3", "controls", "unseen"):
        assert f"ammi paper {part}" in text
