"""The one job of each extra, done in an environment that has the wheel, that extra and nothing else.

`tests/extras/__main__.py` runs it there: `python jobs.py EXTRA`, in an empty folder. So it imports the standard library
at the top, and ammi and the packages of an extra where its job is. A job is a function with the name of its extra, or
`plain`; its docstring says what is done, and it returns what came of it in a few words. ROOT is for the files of the
tests and for the extras of a checkout; `postgres` is told by AMMI_TEST_POSTGRES where a server is, `hub` by HF_ENDPOINT
where a Hub is, and `embeddings` by AMMI_TEST_EMBEDDER where a model is.
"""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUBJECTS = {
    "oil": "crude oil barrels opec output prices refinery drilling pipeline tanker",
    "grain": "wheat corn harvest tonnes export farmers soybeans silo drought acreage",
    "bank": "loan rate debt interest deposits currency central borrowing dollar lender",
}


def plain() -> str:
    """`ammi demo`, and a question to its collection"""
    run("demo")
    return found_first("ammi-demo/index", "inverse of a matrix", "inv")


def embeddings() -> str:
    """`ammi index build` with codes of a local model's embeddings"""
    run("index", "build", "notes", write_notes(), "--embedder", os.environ["AMMI_TEST_EMBEDDER"])
    return found_first("notes", "farmers and their wheat", "grain")


def files() -> str:
    """`ammi index build` on a folder of PDF, Office, EPUB and HTML"""
    run("index", "build", "notes", str(ROOT / "tests" / "golden" / "files"))
    hits = json.loads(run("search", "notes", "green barge carried barley", "-k", "20", "--json"))["hits"]
    pages = {
        (Path(hit["metadata"]["path"]).suffix, hit["metadata"].get("page")) for hit in hits if "green" in hit["text"]
    }
    assert {(".pdf", 2), (".docx", None), (".epub", None), (".xlsx", None)} <= pages, pages
    return f"{len(pages)} kinds of files, PDF with its page"


def formats() -> str:
    """Parquet and zstd, written by `ammi index export` and read by `ammi index build`"""
    run("index", "build", "notes", write_notes())
    for name in ("notes.parquet", "notes.jsonl.zst"):
        run("index", "export", "notes", name)
        run("index", "build", f"from-{name}", name)
        found_first(f"from-{name}", "wheat harvest", "grain")
    return "both answer as the original does"


def hub() -> str:
    """A model pushed to a Hub of this machine, and read from it"""
    run("fit", write_notes(), "--out", "model")
    run("push", "model", "someone/notes", "--licence", "mit")
    run("index", "build", "notes", "notes.jsonl", "--model", "hf://someone/notes")
    return found_first("notes", "wheat harvest", "grain")


def langchain() -> str:
    """A vector store over a collection, and its retriever"""
    import ammi
    from ammi.langchain import AmmiRetriever, AmmiVectorStore

    run("index", "build", "notes", write_notes())
    with ammi.Collection.open("notes") as notes:
        (found,) = AmmiRetriever(vectorstore=AmmiVectorStore(notes), k=1).invoke("wheat harvest")
    assert "grain" in str(found.id), found
    return f"found {found.id}"


def mcp() -> str:
    """`ammi mcp`, whose tools the SDK's client lists and calls"""
    import asyncio

    from mcp import Client, StdioServerParameters

    async def ask() -> tuple[list[str], str]:
        async with Client(StdioServerParameters(command=sys.executable, args=["-m", "ammi", "mcp", "notes"])) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return tools, str(await client.call_tool("search", {"query": "wheat harvest"}))

    run("index", "build", "notes", write_notes())
    tools, answer = asyncio.run(ask())
    assert "grain" in answer, answer
    return f"{len(tools)} tools; search finds"


def milvus() -> str:
    """A collection in a milvus-lite file"""
    run("index", "build", "milvus-lite:notes.db", write_notes())
    return found_first("milvus-lite:notes.db", "wheat harvest", "grain")


def plots() -> str:
    """A figure of a training"""
    import numpy as np

    from ammi import AMMI

    rows = np.random.default_rng(0).random((200, 30), dtype=np.float32)
    AMMI(8, epochs=2, random_state=0, verbose=False).fit(rows).plot_history().savefig("training.png")
    assert Path("training.png").read_bytes().startswith(b"\x89PNG")
    return f"a PNG of {Path('training.png').stat().st_size >> 10} kB"


def postgres() -> str:
    """A collection on a PostgreSQL server"""
    url = os.environ["AMMI_TEST_POSTGRES"]
    run("index", "build", url, write_notes())
    return found_first(url, "wheat harvest", "grain")


def tune() -> str:
    """`ammi tune`, two trials"""
    run("tune", "itq", write_notes(), "--labels", "subject", "--bits", "16", "--trials", "2", "--out", "tuned")
    (best,) = Path("tuned").rglob("best.json")
    return f"settings in {best.name}"


def paper() -> str:
    """`ammi paper --quick`, in a checkout"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run("paper", "--quick", "--out", "quick", environment=environment)
    return f"a report of {Path('quick/report.md').stat().st_size >> 10} kB"


def ray() -> str:
    """`ammi encode --ray` on two shards"""
    run("fit", write_notes(), "--out", "model")
    Path("shards").mkdir()
    for n in range(2):
        Path("shards", f"part-{n}.jsonl").write_text(Path("notes.jsonl").read_text())
    run("encode", "model", "shards", "--ray", "--workers", "1", "--out", "codes")
    return f"{len(list(Path('codes').glob('*.parquet')))} shards of codes"


def tensorboard() -> str:
    """`ammi fit --tensorboard`, whose figures TensorBoard's own reader reads"""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run("fit", write_notes(), "--tensorboard", "logs", "--out", "model")
    (log,) = Path("logs").rglob("events.*")
    figures = EventAccumulator(str(log)).Reload().Tags()["scalars"]
    assert figures
    return f"{len(figures)} figures an epoch"


def web() -> str:
    """`ammi serve`, its page and a search"""
    run("index", "build", "notes", write_notes())
    with serving("notes") as address:
        page = urllib.request.urlopen(address).read()
        hits = json.load(urllib.request.urlopen(f"{address}/api/search?q=wheat+harvest"))["hits"]
    assert b"<html" in page
    assert "wheat" in hits[0]["text"]
    return "both answer"


def test() -> str:
    """The tests of a room, in a checkout"""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/chain", "-m", "not slow"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def dev() -> str:
    """`ruff check` and `mypy`, in a checkout"""
    for command in (["ruff", "check", "--no-cache", "."], ["mypy", "--cache-dir", os.devnull]):
        said = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, capture_output=True, text=True)
    return said.stdout.splitlines()[-1]


def write_notes() -> str:
    """Write a file of 90 notes about three subjects; return its name."""
    with open("notes.jsonl", "w") as file:
        for n in range(90):
            subject = list(SUBJECTS)[n % 3]
            words = SUBJECTS[subject].split()
            text = " ".join(words[(n * 7 + step * (1 + n % 4)) % len(words)] for step in range(12))
            file.write(json.dumps({"id": f"{subject}-{n}", "text": f"{text} note {n}", "subject": subject}) + "\n")
    return "notes.jsonl"


def run(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Return what a command of ammi prints; raise what it says if it fails."""
    command = [sys.executable, "-m", "ammi", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"ammi {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def found_first(location: str, query: str, expected: str) -> str:
    """Search, and check that the id of the first hit has a word in it."""
    first = json.loads(run("search", location, query, "--json"))["hits"][0]["id"]
    assert expected in str(first), f"{query!r} found {first}"
    return f"found {first}"


@contextmanager
def serving(location: str) -> Iterator[str]:
    """The address of a server."""
    command = [sys.executable, "-m", "ammi", "serve", location, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            address = re.search(r"http://\S+:\d+", line)
            assert address, line
            yield address[0]
        finally:
            process.terminate()


JOBS = {
    job.__name__: job
    for job in (
        *(plain, embeddings, files, formats, hub, langchain, mcp, milvus, plots, postgres, tune, paper, ray),
        *(tensorboard, web),
    )
}
JOBS |= {"test": test, "dev": dev}

if __name__ == "__main__":
    print(JOBS[sys.argv[1]]())
