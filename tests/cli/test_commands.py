"""The command as a user runs it: a process of its own."""

import subprocess
import sys
from pathlib import Path

from ammi.cli.reference import reference
from ammi.version import __version__

AMMI = Path(sys.executable).with_name("ammi")
DOCS = Path(__file__).parents[2] / "docs"


def ammi(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([AMMI, *arguments], capture_output=True, text=True, timeout=120)


def test_version():
    shown = ammi("--version")
    assert shown.returncode == 0
    assert shown.stdout.strip() == f"ammi {__version__}"


def test_a_wrong_command_is_a_usage_error_without_a_traceback():
    shown = ammi("nonsense")
    assert shown.returncode == 2
    assert "nonsense" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_the_command_reference_is_up_to_date():
    assert (DOCS / "commands.md").read_text() == reference(), "run `make docs` and commit docs/commands.md"


def test_the_demo_estimates_what_it_computes():
    shown = ammi("demo", "--bits", "12", "--samples", "5000")
    assert shown.returncode == 0
    rows = [line.split("│")[1:-1] for line in shown.stdout.splitlines() if line.startswith("│")]
    assert len(rows) == 4
    for _, exact, estimate, error in rows:
        assert abs(float(exact) - float(estimate)) < 5 * float(error)
