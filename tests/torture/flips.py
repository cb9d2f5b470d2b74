"""Single flipped bits, in every kind of file that is kept: an answer is the right one, or an error that says why."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi import AMMI, Collection, DocumentHasher, load
from ammi.features import PieceFeatures, WordFeatures
from ammi.hashers import LSH
from tests.torture.outcome import Outcome

_WORDS = [
    "bank",
    "rate",
    "wheat",
    "trade",
    "oil",
    "price",
    "export",
    "loan",
    "market",
    "yen",
    "dollar",
    "tonnes",
    "crop",
]


class Kind(NamedTuple):
    """What is attacked: how it is made in a folder, and how all that it can answer is asked."""

    make: Callable[[Path], None]
    ask: Callable[[Path], Any]


def texts(n: int = 80) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(_WORDS, 12)) + f" number {i}" for i in range(n)]


def make_index(folder: Path) -> None:
    """A collection as its users have it: with a model, texts, metadata and a fast key."""
    model = DocumentHasher(LSH(32, random_state=0), features=WordFeatures()).fit(texts())
    with Collection.create(folder / "index", model, keys=["year"]) as collection:
        collection.add([{"id": i, "text": text, "year": 1980 + i % 9} for i, text in enumerate(texts())])
        collection.delete([3, 17])


def make_unfinished_index(folder: Path) -> None:
    """An index whose writer was killed, so that its last changes are in the write-ahead log."""
    make_index(folder)
    with Collection.open(folder / "index") as collection:
        collection.add([{"id": f"late {i}", "text": text, "year": 2000} for i, text in enumerate(texts(20))])
        shutil.copytree(folder / "index", folder / "killed")
    shutil.rmtree(folder / "index")
    (folder / "killed").rename(folder / "index")
    (folder / "index" / "index.sqlite-shm").unlink(missing_ok=True)


def make_vector_index(folder: Path) -> None:
    """A collection of vectors, which keeps them."""
    vectors = np.random.default_rng(0).normal(size=(80, 24)).astype(np.float32)
    with Collection.create(folder / "index", LSH(32, random_state=0).fit(vectors), vectors="float16") as collection:
        collection.add(vectors, ids=range(80))


def ask_vector_index(folder: Path) -> Any:
    query = np.random.default_rng(1).normal(size=24).astype(np.float32)
    with Collection.open(folder / "index") as collection:
        hits = [collection.search(query, k=9), collection.search(query, k=9, rank="vectors")]
        entries = [(one.id, one.code.tobytes(), _bytes(one.vector)) for one in collection]
        return [list(map(tuple, one)) for one in hits], entries, len(collection)


def ask_index(folder: Path) -> Any:
    with Collection.open(folder / "index") as collection:
        hits = [
            collection.search("wheat export price", k=9),
            collection.search("oil price", k=5, where={"year": {">=": 1985}}),
            collection.search("bank loan", k=5, rank="text"),
            collection.search("bank loan", k=5, rank="asymmetric"),
            collection.within("yen dollar", 12),
            collection.like(5, k=4),
        ]
        entries = [(one.id, one.code.tobytes(), one.text, one.metadata) for one in collection]
        known = [id in collection for id in (0, 3, 5, "late 7")]
        return [list(map(tuple, one)) for one in hits], entries, known, collection.keys(), len(collection)


def _bytes(vector: np.ndarray | None) -> bytes | None:
    return None if vector is None else vector.tobytes()


def make_word_model(folder: Path) -> None:
    DocumentHasher(LSH(32, random_state=0), features=WordFeatures()).fit(texts()).save(folder / "model")


def make_piece_model(folder: Path) -> None:
    features = PieceFeatures(60)
    DocumentHasher(LSH(32, random_state=0), features=features).fit(texts()).save(folder / "model")


def ask_model(folder: Path) -> Any:
    model = load(folder / "model")
    return model.encode([*texts(), "a word that is new"]).tobytes(), model.fingerprint_


class _StopError(Exception):
    pass


def make_checkpoint(folder: Path) -> None:
    """A run that ended after some epochs of many."""

    def stop(figures: Any) -> None:
        if figures["epoch"] == 3:
            raise _StopError

    with suppress(_StopError):
        _run(folder).fit(rows(), callbacks=[stop])


def ask_checkpoint(folder: Path) -> Any:
    hasher = _run(folder).fit(rows())
    return hasher.encode(rows()).tobytes(), hasher.fingerprint_


def rows() -> NDArray[np.float32]:
    return (np.random.default_rng(0).random((120, 30)) < 0.2).astype(np.float32)


def _run(folder: Path) -> AMMI:
    return AMMI(8, batch_size=32, epochs=4, checkpoint=folder / "run", random_state=0, verbose=False)


KINDS = {
    "index": Kind(make_index, ask_index),
    "index of a killed writer": Kind(make_unfinished_index, ask_index),
    "index of vectors": Kind(make_vector_index, ask_vector_index),
    "model of words": Kind(make_word_model, ask_model),
    "model of SentencePiece": Kind(make_piece_model, ask_model),
    "checkpoint": Kind(make_checkpoint, ask_checkpoint),
}


def flip(folder: Path, tries: int, kind: Kind, seed: int = 0) -> Outcome:
    """Flip one bit of one file, ask for everything, and compare with what was answered before."""
    rng, outcome = np.random.default_rng(seed), Outcome()
    whole, damaged = folder / "whole", folder / "damaged"
    whole.mkdir()
    kind.make(whole)
    files = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
    shutil.copytree(whole, damaged)
    right = kind.ask(damaged)
    sizes = np.array([(whole / file).stat().st_size for file in files])
    shares = sizes / sizes.sum() / 2 + 1 / (2 * len(files))  # small files are attacked, too
    for _ in range(tries):
        file = files[rng.choice(len(files), p=shares)]
        content = bytearray((whole / file).read_bytes())
        bit = int(rng.integers(8 * len(content))) if content else None
        if bit is not None:
            content[bit // 8] ^= 1 << bit % 8
        shutil.rmtree(damaged)
        shutil.copytree(whole, damaged)
        (damaged / file).write_bytes(content)
        try:
            answer = kind.ask(damaged)
        except (ValueError, OSError) as error:
            words = str(error)
            outcome.good("refused") if words and "\n" not in words else outcome.bad(f"bit {bit} of {file}: {error!r}")
        except Exception as error:
            outcome.bad(f"bit {bit} of {file}: {error!r}")
        else:
            if answer == right:
                outcome.good("right all the same")
            else:
                outcome.bad(f"bit {bit} of {file}: another answer")
    return outcome
