"""Data sets by name, in the folder that the environment variable AMMI_DATA names.

The corpus NAME is the file `NAME.jsonl.gz` there (or `.jsonl`, `.jsonl.zst`): texts with labels. The
benchmark NAME is `bench/NAME.tfidf.mat`: fixed matrices, on which published figures can be compared.
"""

import os
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ammi.data.mat import Benchmark

CORPUS_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
BENCHMARK_ENDING = ".tfidf.mat"


def data_folder() -> Path:
    """Return the folder that the environment variable AMMI_DATA names."""
    chosen = os.environ.get("AMMI_DATA")
    if not chosen:
        raise FileNotFoundError("the environment variable AMMI_DATA is not set: set it to a folder of data sets")
    folder = Path(chosen)
    if not folder.is_dir():
        raise FileNotFoundError(f"AMMI_DATA is {chosen}, but there is no such folder: set it to one of data sets")
    return folder


def corpus_names() -> list[str]:
    """Return the names of all corpora."""
    return sorted(_corpora())


def benchmark_names() -> list[str]:
    """Return the names of all benchmark matrices."""
    return sorted(_benchmarks())


def corpus_path(name: str) -> Path:
    """Return the file of the corpus called `name`; `read_documents` reads it."""
    return _look_up(name, _corpora(), "corpus")


def locate(source: str) -> str | Path:
    """Return the source that a user named: `-`, a file or folder that exists, a pattern, or else a data set's file."""
    if source == "-" or Path(source).exists() or has_magic(source):
        return source
    try:
        return corpus_path(source)
    except (FileNotFoundError, ValueError) as error:
        raise FileNotFoundError(f"there is no file or folder {source}, and {error}") from error


def benchmark(name: str | Path) -> "Benchmark":
    """Return the benchmark matrices called `name`, or those of the `.mat` file at this path."""
    from ammi.data.mat import read_mat

    if str(name).endswith(".mat"):
        return read_mat(name)
    return read_mat(_look_up(str(name), _benchmarks(), "benchmark"))


def _corpora() -> dict[str, Path]:
    return {
        path.name.removesuffix(ending): path for ending in CORPUS_ENDINGS for path in data_folder().glob(f"*{ending}")
    }


def _benchmarks() -> dict[str, Path]:
    files = (data_folder() / "bench").glob(f"*{BENCHMARK_ENDING}")
    return {path.name.removesuffix(BENCHMARK_ENDING): path for path in files}


def _look_up(name: str, paths: dict[str, Path], kind: str) -> Path:
    if name not in paths:
        there = ", ".join(sorted(paths)) or "none"
        raise ValueError(f"no {kind} is called {name!r}: {data_folder()} has {there}")
    return paths[name]
