"""The package as users get it: a wheel and an sdist with all files, and a wheel that works without the checkout."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from ammi.version import __version__
from tests.extras.jobs import JOBS
from tests.release import problems

pytest.importorskip("hatchling")
Metadata = pytest.importorskip("packaging.metadata").Metadata
Requirement = pytest.importorskip("packaging.requirements").Requirement
Version = pytest.importorskip("packaging.version").Version
trove_classifiers = pytest.importorskip("trove_classifiers")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with both distributions, built without a network: the wheel of the sdist alone."""
    folder, unpacked = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("unpacked")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), "--target"]
    subprocess.run([*command, "sdist"], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as sdist:
        sdist.extractall(unpacked, filter="data")
    subprocess.run([*command, "wheel"], cwd=next(unpacked.iterdir()), check=True, capture_output=True)
    return folder


def tracked(folder: str) -> set[str]:
    """The files of a folder that belong to the project."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True)
    return {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}


def requirements(metadata: Iterable[str]) -> set[tuple[str, ...]]:
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


# Earlier ones run code of a model, read past the end of its files, or take requests that SECURITY.md calls refused.
SAFE = {"h11": "0.16", "sentence-transformers": "6.0", "sentencepiece": "0.2.1", "starlette": "0.49.1", "torch": "2.6"}


def test_no_version_is_taken_of_which_security_is_not_true():
    optional = PROJECT["optional-dependencies"].values()
    taken = [Requirement(text) for texts in (PROJECT["dependencies"], *optional) for text in texts]
    least = {one.name: bound.version for one in taken for bound in one.specifier if bound.operator == ">="}
    assert {name: least[name] for name in SAFE if Version(least[name]) < Version(SAFE[name])} == {}


@pytest.mark.slow
def test_the_wheel_has_every_file_and_the_metadata_of_pyproject(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        (file,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        raw = wheel.read(file)
    about, of_wheel = file.rpartition("/")[0], {f"src/{name}" for name in names if ".dist-info/" not in name}
    assert of_wheel == tracked("src/ammi")
    assert {"src/ammi/py.typed", "src/ammi/web/page/index.html"} <= of_wheel
    assert names - {name.removeprefix("src/") for name in of_wheel} == {
        f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    metadata = Metadata.from_email(raw, validate=True)  # raises if a field is unknown, missing or malformed
    assert (metadata.name, str(metadata.version)) == ("ammi", __version__)
    assert (metadata.license_expression, metadata.license_files) == ("MIT", ["LICENSE"])
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description.strip() == (ROOT / "README.md").read_text().strip()
    assert set(metadata.classifiers) <= trove_classifiers.classifiers
    assert str(metadata.requires_python) == PROJECT["requires-python"]
    wanted = list(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"]:
        for requirement in expanded(extra):
            before, _, marker = requirement.partition(";")
            wanted.append(f"{before}; {f'({marker.strip()}) and ' if marker else ''}extra == '{extra}'")
    assert requirements(map(str, metadata.requires_dist)) == requirements(wanted)
    assert metadata.provides_extra == sorted(PROJECT["optional-dependencies"])


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_is_made_of_and_no_tests(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    beside = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md"}
    assert inside == tracked("src/ammi") | beside | {"constraints.txt", "PKG-INFO", ".gitignore"}


def test_the_versions_of_the_checkout_agree():
    assert problems(ROOT) == []


def test_a_release_is_refused_if_the_version_the_changes_and_the_tag_differ(tmp_path):
    version, changes = tmp_path / "src" / "ammi" / "version.py", tmp_path / "CHANGELOG.md"
    version.parent.mkdir(parents=True)

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    def committed(number: str, heading: str) -> None:
        version.write_text(f'"""The version."""\n\n__version__ = "{number}"\n')
        changes.write_text(f"# Changelog\n\n## {heading}\n\n## 0.1.0\n")
        git("add", ".")
        git("commit", "-m", heading)

    git("init")
    committed("0.3.0", "0.3.0 (unreleased)")
    git("tag", "v0.3.0")
    assert problems(tmp_path) == []
    assert problems(tmp_path, "v0.3.0") == ["CHANGELOG.md says that 0.3.0 is unreleased: write the date"]
    committed("0.3.0", "0.3.0 (2026-12-24)")
    assert [one[:38] for one in problems(tmp_path, "v0.3.0")] == ["the checkout is not that of the tag v0"]
    git("tag", "--force", "v0.3.0")
    assert problems(tmp_path, "v0.3.0") == []
    assert [one[:38] for one in problems(tmp_path, "v0.4.0")] == [
        "the tag v0.4.0 is not that of version ",
        "the checkout is not that of the tag v0",
    ]
    changes.write_text("# Changelog\n\n## 0.4.0 (soon)\n")
    assert [one[:27] for one in problems(tmp_path, "v0.3.0")] == [
        "CHANGELOG.md begins with 0.",
        "CHANGELOG.md begins with '0",
        "files differ from those tha",
    ]


def test_each_extra_has_a_job_for_an_empty_environment():
    """`python -m tests.extras` does it there."""
    assert JOBS.keys() == {"plain", *PROJECT["optional-dependencies"]}
    assert [name for name, job in JOBS.items() if not job.__doc__] == []


@pytest.mark.slow
def test_the_wheel_learns_and_searches_in_an_empty_environment(built, tmp_path):
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
    texts = [{"id": f"{topic}-{n}", "text": f"{topic} report {n}"} for n in range(20) for topic in ("harbour", "wheat")]
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, texts)))
    for command in (("index", "build", "notes", "notes.jsonl"), ("search", "notes", "harbour report 7", "--json")):
        ran = subprocess.run(
            [str(home / "bin" / "ammi"), *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["hits"][0]["id"] == "harbour-7"


def test_the_files_of_the_page_are_small():
    files = (ROOT / "src" / "ammi" / "web" / "page").iterdir()
    assert sum(file.stat().st_size for file in files) < 300_000
