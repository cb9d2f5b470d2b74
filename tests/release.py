"""What must be true of a checkout before it is released as a tag: `python -m tests.release v0.2.0`.

The version stands in three places, src/ammi/version.py, the first heading of CHANGELOG.md and the tag, of which
nothing but this reads all.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(root: Path, tag: str | None = None) -> list[str]:
    """Return what is wrong with the versions of a checkout, for a release as a tag or for the work between releases."""
    version = re.findall(r'^__version__ = "(.+)"$', (root / "src" / "ammi" / "version.py").read_text(), re.M)[0]
    heading = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.M)[0]
    changed, _, state = heading.partition(" ")
    found = []
    if changed != version:
        found.append(f"CHANGELOG.md begins with {changed}, and src/ammi/version.py says {version}: make them the same")
    if state != "(unreleased)" and not re.fullmatch(r"\(\d{4}-\d\d-\d\d\)", state):
        found.append(f"CHANGELOG.md begins with {heading!r}: write {version} (unreleased), or its date in brackets")
    return found + (_problems_of_tag(root, tag, version, state) if tag else [])


def _problems_of_tag(root: Path, tag: str, version: str, state: str) -> list[str]:
    found = []
    if tag != f"v{version}":
        found.append(f"the tag {tag} is not that of version {version}: name it v{version}")
    if state == "(unreleased)":
        found.append(f"CHANGELOG.md says that {version} is unreleased: write the date")
    commit = _git(root, "rev-parse", "--quiet", "--verify", f"refs/tags/{tag}^{{commit}}")
    if commit != _git(root, "rev-parse", "HEAD"):
        found.append(f"the checkout is not that of the tag {tag}: git tag -a {tag}, or git checkout {tag}")
    if _git(root, "status", "--porcelain"):
        found.append("files differ from those that are committed: git status names them")
    return found


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:
        sys.exit("name the tag: python -m tests.release v0.2.0, or make dist TAG=v0.2.0")
    sys.exit("\n".join(problems(ROOT, sys.argv[1])) or None)
