"""The package as users get it: a wheel and an sdist with all files, and a wheel that works without the checkout."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
Requirement = pytest.importorskip("packaging.requirements").Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with both distributions, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def tracked(folder: str) -> set[str]:
    """The files of a folder that belong to the project."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True)
    return {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}


def requirements(metadata: list[str]) -> set[tuple[str, ...]]:
    """Requirements as comparable values: name, extras, versions, marker."""
    parsed = map(Requirement, metadata)
    return {(r.name.lower(), str(sorted(r.extras)), str(r.specifier), _plain(str(r.marker))) for r in parsed}


def expanded(extra: str) -> set[str]:
    """The requirements of an extra, with those of the extras that it names in place of `ammi[...]`."""
    found = set()
    for text in PROJECT["optional-dependencies"][extra]:
        requirement = Requirement(text)
        own = requirement.name == "ammi"
        found |= {below for other in requirement.extras for below in expanded(other)} if own else {text}
    return found


def _plain(marker: str) -> str:
    return re.sub(r"[()\"' ]", "", marker)


def test_the_lock_file_has_hashes_and_the_versions_that_were_tested():
    lock, tested = (ROOT / "requirements.lock").read_text(), (ROOT / "constraints.txt").read_text()
    assert "://" not in lock
    locked = dict(re.findall(r"^([\w.-]+)==(\S+).*\\\n    --hash=sha256:", lock, re.MULTILINE))
    assert len(locked) == len(re.findall(r"^\S", lock, re.MULTILINE))  # each has a hash
    versions = {name.lower().replace("_", "-"): version for name, version in re.findall(r"(\S+)==(\S+)", tested)}
    assert {name: version for name, version in locked.items() if versions.get(name, version) != version} == {}
    needed = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert needed - locked.keys() == {"torch"}


@pytest.mark.slow
def test_both_have_every_file_and_the_wheel_the_requirements_of_pyproject(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        (file,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(wheel.read(file).decode())
    assert {f"src/{name}" for name in names if ".dist-info/" not in name} == tracked("src/ammi")
    wanted = list(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"]:
        for requirement in expanded(extra):
            before, _, marker = requirement.partition(";")
            wanted.append(f"{before}; {f'({marker.strip()}) and ' if marker else ''}extra == '{extra}'")
    assert requirements(metadata.get_all("Requires-Dist", [])) == requirements(wanted)
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert tracked("src/ammi") | {"pyproject.toml", "README.md", "LICENSE"} <= inside


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_runs_the_demo_in_an_empty_environment(built, tmp_path):
    """Dependencies are those of this environment, seen through a .pth file: torch is not installed once more."""
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    # Before the dependencies are seen, among which is the project itself.
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(next(built.glob("*.whl")))]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    where = subprocess.run(
        [str(python), "-c", "import ammi; print(ammi.__file__)"], env=environment, capture_output=True, text=True
    )
    assert Path(where.stdout.strip()).is_relative_to(packages)
    demo = subprocess.run(
        [str(home / "bin" / "ammi"), "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert demo.returncode == 0, demo.stderr
    assert "inverse of a matrix" in demo.stdout
    assert (tmp_path / "ammi-demo" / "index").is_dir()
