"""The folder that generated inputs are tried in: models, collections, codes, pairs; it is whole before each try."""

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from ammi import LSH, Collection, DocumentHasher, data
from ammi.data import pairs
from ammi.features import WordFeatures
from tests.web.serving import serving

MADE = [
    "notes.jsonl",
    "vectors.npy",
    "model",
    "vector-model",
    "index",
    "vector-index",
    "export.jsonl",
    "codes.npz",
    "pairs",
]
SERVED = "SERVED"  # stands for the address of a server, which is another one each time
NOBODY = "127.0.0.1:1"  # where no server answers
NO_SERVERS = [f"postgresql://x:y@{NOBODY}/x#y", f"milvus://{NOBODY}", f"http://{NOBODY}", "milvus-lite:model"]
_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where folders are made and removed in no time
_WORDS = ["ship", "wave", "wheat", "soil", "cloud", "wing"]


def make_template(folder: Path) -> None:
    """Write what commands and functions are tried on."""
    rng = np.random.default_rng(0)
    notes = [
        {"id": f"note-{i}", "text": " ".join(rng.choice(_WORDS, 4)), "label": str(i % 2), "year": 1980 + i}
        for i in range(20)
    ]
    texts = [str(note["text"]) for note in notes]
    data.write_jsonl(folder / "notes.jsonl", notes)
    X = rng.normal(size=(20, 4)).astype(np.float32)
    np.save(folder / "vectors.npy", X)
    model = DocumentHasher(LSH(16, random_state=0), WordFeatures()).fit(texts)
    model.save(folder / "model")
    of_vectors = LSH(16, random_state=0).fit(X)
    of_vectors.save(folder / "vector-model")
    with Collection.create(folder / "index", model, keys=["year"]) as collection:
        collection.add(notes)
        collection.export(folder / "export.jsonl")
    with Collection.create(folder / "vector-index", of_vectors, vectors="float16") as collection:
        collection.add(X)
    data.write_codes(folder / "codes.npz", [(list(range(20)), model.encode(texts))], 16, model.fingerprint_)
    _make_pairs(folder / "pairs", texts)
    (folder / "reuters.jsonl.gz").write_bytes(gzip.compress((folder / "notes.jsonl").read_bytes()))


def _make_pairs(folder: Path, texts: list[str]) -> None:
    features = WordFeatures().fit(texts)
    X = scipy.sparse.csr_matrix(features.transform(texts[:6]))
    split = [({"text": text}, {"text": text[::-1]}) for text in texts[:6]]
    pairs.write_pairs(
        folder, pairs.ArticlePairs((X, X), (X, X), (X, X)), dict.fromkeys(("train", "cv", "test"), split), features, {}
    )


class Workplace:
    """A copy of the template, which is the working folder and where data sets are looked for, and a server of it."""

    served = ""

    def __init__(self, beside: Path):
        self._template, self._folder = beside / "template", beside / "tried"
        self._template.mkdir()
        make_template(self._template)
        shutil.copytree(self._template / "index", beside / "served")
        self._copy()

    def _copy(self) -> None:
        os.chdir(self._template.parent)
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._template, self._folder)
        self._whole = dict(_files(str(self._folder)))
        os.chdir(self._folder)

    def restore(self) -> None:
        """Make it as it was, if a try has changed anything: what was copied has the time of the template."""
        if not self._folder.exists() or dict(_files(str(self._folder))) != self._whole:
            self._copy()
        os.chdir(self._folder)  # another process may have made it anew


def _files(folder: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for entry in os.scandir(folder):
        found = entry.stat(follow_symlinks=False)
        is_folder = entry.is_dir(follow_symlinks=False)
        yield entry.path, (found.st_mode, *((0, 0) if is_folder else (found.st_size, found.st_mtime_ns)))
        if is_folder:
            yield from _files(entry.path)


@contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace of its own, and afterwards the folder, the data sets and the cluster of before."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as beside, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMMI_DATA", str(Path(beside) / "tried"))
        patch.setenv("RAY_ADDRESS", NOBODY)  # else a cluster would be started for every command that asks for one
        try:
            location = Workplace(Path(beside))
            with serving(Path(beside) / "served") as location.served:
                yield location
        finally:
            os.chdir(here)
