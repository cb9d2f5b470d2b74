"""Pairs of related articles: our own as a folder, the published ones as a pickle of plain data.

The folder holds `config.json` (what the pairs were made from and how), `pairs.jsonl.gz` (the documents, a pair a line),
`matrices.safetensors` (the same documents as rows) and `features/` (the feature maker of the rows).
"""

import gzip
import json
import pickle
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from scipy.sparse import csr_matrix

from ammi.data.sampling import SPLITS
from ammi.data.streams import BROKEN_COMPRESSION, jsonl
from ammi.files import CHECKSUMS, Files, check_writable, in_folder, of_folder, read_folder, with_checksums, write_folder
from ammi.plain import Metadata, from_json
from ammi.version import __version__

FORMAT, KIND = 3, "article pairs"
CONFIG, TEXTS, MATRICES, FEATURES = "config.json", "pairs.jsonl.gz", "matrices.safetensors", "features"

Pair = tuple[csr_matrix, csr_matrix]
Record = Metadata
PairTexts = dict[str, list[tuple[Record, Record]]]


@dataclass(frozen=True)
class ArticlePairs:
    """For each split, X and Y: articles by words in float32, row i of X about the same event as row i of Y."""

    train: Pair
    cv: Pair
    test: Pair


class HasFiles(Protocol):
    """What is saved as files, as the feature makers of `ammi.features` are."""

    def to_files(self) -> Files: ...


def write_pairs(
    folder: str | Path, pairs: ArticlePairs, texts: PairTexts, features: HasFiles, about: Mapping[str, object]
) -> Record:
    """Write pairs as a folder, whole or not at all, in place of the pairs that are there; return its config.json.

    `texts` are the documents of each split in the order of the matrices, the first of a pair in X and the second in Y;
    `features` made the matrices of them; `about` says where they come from. `holds_pairs` tells before whether a set is
    replaced.
    """
    folder = Path(folder)
    check_place(folder)
    sizes = {split: len(texts[split]) for split in SPLITS}
    matrices = {f"{split}.{side}": X for split in SPLITS for side, X in zip("XY", getattr(pairs, split), strict=True)}
    for name, X in matrices.items():
        if X.shape[0] != sizes[name.split(".")[0]]:
            raise ValueError(f"{name} has {X.shape[0]} rows: expected {sizes[name.split('.')[0]]}, one for each pair")
    about = {**about, "words": pairs.train[0].shape[1], "pairs": sizes}
    config = {"format": FORMAT, "ammi": __version__, "kind": KIND, **about}
    lines = ({"split": split, "first": x, "second": y} for split in SPLITS for x, y in texts[split])
    files = {
        TEXTS: gzip.compress(b"".join(jsonl(lines)), mtime=0),  # no time, so that the same pairs make the same bytes
        MATRICES: save_arrays({name: array for key, X in matrices.items() for name, array in _arrays(key, X)}),
        CONFIG: (json.dumps(config, indent=1) + "\n").encode(),
    }
    write_folder(folder, with_checksums(files | in_folder(FEATURES, features.to_files())))
    return config


def read_pair_features(folder: str | Path) -> Files:
    """Return the files of the feature maker that made the matrices of a folder of pairs."""
    return of_folder(FEATURES, _read_files(Path(folder)))


def check_place(folder: str | Path) -> None:
    """Refuse a folder of anything but pairs, or one that cannot be written, before the work is done."""
    folder = Path(folder)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not holds_pairs(folder)):
        raise ValueError(f"{folder} is there and does not hold pairs: choose another folder")
    check_writable(folder)


def holds_pairs(folder: str | Path) -> bool:
    """Return whether a folder holds pairs that `write_pairs` wrote."""
    try:
        return from_json(Path(folder, CONFIG).read_text())["kind"] == KIND
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_pairs(path: str | Path) -> ArticlePairs:
    """Read the pairs of a folder that `write_pairs` wrote, or the published file."""
    path = Path(path)
    return _read_folder(path) if path.is_dir() else _read_pickle(path)


def read_pair_texts(folder: str | Path) -> PairTexts:
    """Return the documents of the pairs in a folder: for each split its pairs, in the order of the matrices."""
    files, path = _read_files(Path(folder)), Path(folder, TEXTS)
    config = _config(files, folder)
    texts: PairTexts = {split: [] for split in SPLITS}
    try:
        for line in gzip.decompress(files[TEXTS]).splitlines():
            pair = from_json(line)
            texts[pair["split"]].append((pair["first"], pair["second"]))
    except (*BROKEN_COMPRESSION, OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: make the pairs again") from error
    if {split: len(pairs) for split, pairs in texts.items()} != config["pairs"]:
        raise ValueError(f"{path} does not belong to {CONFIG}: make the pairs again")
    return texts


def _read_folder(folder: Path) -> ArticlePairs:
    files = _read_files(folder)
    config = _config(files, folder)
    try:
        arrays = load_arrays(files[MATRICES])
        X, Y = (
            {split: _sparse(arrays, f"{split}.{side}", config["pairs"][split], config["words"]) for split in SPLITS}
            for side in "XY"
        )
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ValueError(
            f"{folder / MATRICES} is damaged or does not belong to {CONFIG}: make the pairs again"
        ) from error
    return ArticlePairs(*((X[split], Y[split]) for split in SPLITS))


def describe_pairs(folder: str | Path) -> Record:
    """Return what config.json of a folder of pairs says: what they were made from, how, and how many there are."""
    return _config(_read_files(Path(folder)), folder)


def _read_files(folder: Path) -> Files:
    """Return all files of a folder of pairs, each as it was written."""
    try:
        return read_folder(folder)
    except (OSError, ValueError):
        if not holds_pairs(folder):
            raise ValueError(f"{folder} does not hold pairs: expected a folder made by ammi data pairs") from None
        if not (folder / CHECKSUMS).exists():  # an older ammi wrote none
            _config({CONFIG: (folder / CONFIG).read_bytes()}, folder)
        raise


def _config(files: Mapping[str, bytes], folder: str | Path) -> Record:
    config = from_json(files[CONFIG]) if CONFIG in files else None
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise ValueError(f"{folder} does not hold pairs: expected a folder made by ammi data pairs")
    if config.get("format") != FORMAT:
        raise ValueError(
            f"{folder} has format {config.get('format')}, this ammi ({__version__}) reads {FORMAT}: make the pairs "
            "again"
        )
    return config


def _arrays(name: str, X: csr_matrix) -> list[tuple[str, np.ndarray]]:
    parts = {"data": X.data.astype(np.float32), "indices": X.indices, "indptr": X.indptr}
    return [(f"{name}.{part}", np.ascontiguousarray(array)) for part, array in parts.items()]


def _sparse(arrays: dict[str, np.ndarray], name: str, n_rows: int, n_words: int) -> csr_matrix:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    X = csr_matrix((data, indices, indptr), shape=(n_rows, n_words))
    X.check_format()
    return X


class _PlainUnpickler(pickle.Unpickler):
    """A pickle runs code by naming a function or a class to call: this one lets it name nothing."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, and only plain data is allowed")


def _read_pickle(path: Path) -> ArticlePairs:
    """Return the published file: training, validation and test pairs, and the vocabulary.

    Each pair is two dicts `{word index: weight}`; of the vocabulary, any container, only the size is used.
    """
    with open(path, "rb") as file:
        try:
            content = _PlainUnpickler(file).load()
        except Exception as error:  # the wrong bytes make an unpickler raise nearly anything
            raise ValueError(f"{path} is refused as a pickle of plain data: {error}") from error
    try:
        train, cv, test, vocabulary = content
        n_words = len(vocabulary)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold pairs: expected (train, validation, test, vocabulary)") from error
    splits = {"training": train, "validation": cv, "test": test}
    return ArticlePairs(*(_matrices(pairs, n_words, f"{path}: {name}") for name, pairs in splits.items()))


def _matrices(pairs: list[tuple[dict[int, float], dict[int, float]]], n_words: int, where: str) -> Pair:
    try:
        X, Y = zip(*pairs, strict=True) if pairs else ((), ())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} is not a list of pairs of dicts") from error
    return _matrix(X, n_words, where), _matrix(Y, n_words, where)


def _matrix(bags: Sequence[dict[int, float]], n_words: int, where: str) -> csr_matrix:
    indices, weights, ends = array("q"), array("d"), [0]
    for number, bag in enumerate(bags, 1):
        try:
            indices.extend(bag.keys())
            weights.extend(bag.values())
        except (AttributeError, TypeError, OverflowError) as error:
            raise ValueError(f"{where} pair {number} is not made of dicts {{word index: weight}}") from error
        ends.append(len(indices))
    columns, data = np.asarray(indices), np.asarray(weights, np.float32)
    if len(columns) and not 0 <= columns.min() <= columns.max() < n_words:
        raise ValueError(f"{where} pairs have words outside the vocabulary of {n_words}")
    if not np.isfinite(data).all():
        raise ValueError(f"{where} pairs have weights that are not finite")
    X = csr_matrix((data, columns, np.asarray(ends)), shape=(len(bags), n_words))
    X.sort_indices()
    return X
