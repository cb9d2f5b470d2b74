"""The steps of the Dockerfile without Docker: each stage is a folder with an environment of Python, not an image.

What begins with `/` is in that folder, so that nothing else of the machine is touched. The base image, the user and
the limits of a container are not there: Python is that of the tests, and the server runs as whoever runs them.
Offline, pip gets no index, and sees the packages of the tests: it installs the wheel alone, and fails if a requirement
is missing or not of the version in constraints.txt.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PORT = "8077"
NEEDS_AN_IMAGE = ("useradd ",)  # beginnings of steps that would change this machine


class Step(NamedTuple):
    """An instruction of a Dockerfile, such as RUN, and what follows it."""

    name: str
    rest: str


def steps(text: str) -> list[Step]:
    """Return the instructions of a Dockerfile."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def context() -> list[str]:
    """Return the files of the checkout that Docker would see: of the patterns that match one, the last decides."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]

    def is_seen(path: PurePosixPath) -> bool:
        seen = True
        for pattern in patterns:
            if any(fnmatchcase(str(part), pattern.removeprefix("!")) for part in (path, *path.parents)):
                seen = pattern.startswith("!")
        return seen

    tops = [top for top in ROOT.iterdir() if is_seen(PurePosixPath(top.name))]
    files = [file for top in tops for file in (top.rglob("*") if top.is_dir() else [top]) if file.is_file()]
    return [name for name in (file.relative_to(ROOT).as_posix() for file in files) if is_seen(PurePosixPath(name))]


class Stage:
    """A folder in place of an image."""

    def __init__(self, root: Path, offline: bool):
        self.root, self.offline = root, offline
        self.variables: dict[str, str] = {}
        self.work = root
        self.commands: dict[str, list[str]] = {}  # ENTRYPOINT and CMD
        self.health = ""
        pip = ["--without-pip"] if offline else []
        subprocess.run([sys.executable, "-m", "venv", *pip, str(root / "environment")], check=True)
        if offline:
            (packages,) = root.glob("environment/lib/python*/site-packages")
            (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def inside(self, text: str) -> str:
        """Return a text with the paths of an image as paths in the folder."""
        return re.sub(r"(?:^|(?<=[\s\"'=(]))/(?=\w)", f"{self.root}/", text)

    @property
    def environment(self) -> dict[str, str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = f"{self.root / 'environment' / 'bin'}:{os.environ['PATH']}"
        return mine | {"PATH": path} | ({"PIP_NO_INDEX": "1"} if self.offline else {}) | self.variables

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as RUN and HEALTHCHECK do."""
        line = ["/bin/sh", "-c", self.inside(command)]
        return subprocess.run(line, cwd=self.work, env=self.environment, capture_output=True, text=True)

    def copy(self, sources: list[str], target: str, origin: "Stage | None") -> None:
        """Copy files, of the checkout or of another stage; of a folder its content, as Docker does."""
        inside = self.inside(target)
        destination = Path(inside) if inside != target else self.work / target
        for source in sources:
            if origin is None:
                files = {name: ROOT / name for name in context() if name == source or name.startswith(f"{source}/")}
            else:
                found = Path(origin.inside(source))
                files = {file.relative_to(found.parent).as_posix(): file for file in found.rglob("*") if file.is_file()}
            assert files, f"COPY: there is no {source}, or .dockerignore leaves it out"
            for name, file in files.items():
                copied = destination / PurePosixPath(name).relative_to(PurePosixPath(source).name)
                copied = destination / name if name == source else copied
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copied)


class Served(NamedTuple):
    """A server that was started as the Dockerfile says."""

    stage: Stage
    address: str
    process: subprocess.Popen[str]

    def is_healthy(self) -> bool:
        """Return whether HEALTHCHECK passes in the end."""
        end = time.monotonic() + 300
        while time.monotonic() < end and self.process.poll() is None:
            if self.stage.shell(self.stage.health).returncode == 0:
                return True
            time.sleep(0.2)
        return False


def run_steps(text: str, folder: Path, offline: bool) -> Stage:
    """Run the steps of a Dockerfile; return the last stage."""
    stages: dict[str, Stage] = {}
    for step in steps(text):
        if step.name == "FROM":
            name = step.rest.partition(" AS ")[2] or str(len(stages))
            stages[name] = stage = Stage(folder / name, offline)
        elif step.name == "WORKDIR":
            stage.work = Path(stage.inside(step.rest))
            stage.work.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY":
            origin = re.match(r"--from=(\S+)\s+", step.rest)
            *sources, target = step.rest[origin.end() if origin else 0 :].split()
            stage.copy(sources, target, stages[origin[1]] if origin else None)
        elif step.name == "RUN":
            if not step.rest.startswith(NEEDS_AN_IMAGE):
                done = stage.shell(step.rest)
                assert done.returncode == 0, f"RUN {step.rest}\n{done.stdout}{done.stderr}"
        elif step.name == "ENV":
            key, _, value = step.rest.partition("=")
            stage.variables[key] = stage.inside(value)
        elif step.name in ("ENTRYPOINT", "CMD"):
            stage.commands[step.name] = [stage.inside(word) for word in json.loads(step.rest)]
        elif step.name == "HEALTHCHECK":
            stage.health = step.rest.partition("CMD ")[2]
        else:
            assert step.name in ("ARG", "USER", "VOLUME", "EXPOSE"), f"the tests do not know {step.name}"
    return stage


@contextmanager
def served_by_the_dockerfile(folder: Path, collection: Path, token: str, offline: bool = True) -> Iterator[Served]:
    """Run all steps, with a copy of a collection in the volume and a free port; the server must end well."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    stage = run_steps((ROOT / "Dockerfile").read_text().replace(PORT, port), folder, offline)
    command = [*stage.commands["ENTRYPOINT"], *stage.commands["CMD"]]
    shutil.copytree(collection, command[-1])
    variables = stage.environment | {"AMMI_TOKEN": token}
    with subprocess.Popen(command, cwd=stage.work, env=variables, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            yield Served(stage, f"http://127.0.0.1:{port}", process)
        finally:
            process.terminate()
    assert process.returncode == 0, f"the server ended with {process.returncode} after SIGTERM"
