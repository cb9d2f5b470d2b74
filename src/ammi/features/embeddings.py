"""Embeddings of texts: dense rows made by a sentence-transformers model, or by any function."""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np

from ammi.features.base import FeatureMaker
from ammi.features.embedders import (
    PROBES,
    Embedder,
    Embeddings,
    Model,
    name_of,
    name_to_save,
    open_embedder,
    open_saved_embedder,
)
from ammi.features.embedding_cache import FILE as CACHE_FILE
from ammi.features.embedding_cache import EmbeddingCache, open_cache
from ammi.features.saved import digest, features_files, parse_features
from ammi.features.texts import strings
from ammi.features.tfidf import check_whole_number
from ammi.files import Files
from ammi.notebook import bar, in_notebook

BATCHES_AT_ONCE = 4  # sorted by length together, so that little is padded; then added to the cache in one transaction
SECONDS_BETWEEN_LINES = 10.0
COMPARED = 10  # about so many rows given to `seed_cache` are compared with those of the model
SAME = 0.01  # of the largest number: far above rounding, far below the difference of two models


class EmbeddingFeatures(FeatureMaker):
    """Rows of float32, one for each text, made by a trained model; only their width is learned.

    The model (90 MB and more) is not saved, only its name; a model that makes other embeddings under that name is
    refused.

    The row of a text does not depend on the texts beside it, except for rounding: of 1,000 newsgroup texts, embedded
    by all-MiniLM-L6-v2 one by one and 64 at a time, no number differs by more than 2e-7, and of 64,000 bits that LSH,
    ITQ and AMMI each make of them none.

    Args:
        model: the folder of a sentence-transformers model, which is opened without a network; the name of one on the
            Hugging Face Hub, which is fetched where it is not on this machine yet; or a function from a list of texts
            to an array (n, d), itself or as "module:function". A function that only a saved model names is called if
            the environment variable AMMI_EMBEDDERS names it, too.
        batch_size: number of texts that go through the model at once; more are faster on a GPU.
        cache: a folder that keeps embeddings, so that no process makes one twice.
        verbose: whether to show progress on standard error, every ten seconds.
    """

    name = "embeddings"
    reads = "text"
    _identity: str
    _probes: Embeddings
    _opened: tuple[Model, int, Embedder] | None = None

    def __init__(
        self,
        model: Model = "all-MiniLM-L6-v2",
        *,
        batch_size: int = 32,
        cache: str | os.PathLike[str] | None = None,
        verbose: bool = True,
    ):
        self.model = model
        self.batch_size = batch_size
        self.cache = cache
        self.verbose = verbose

    def fit(self, documents: Iterable[str], y: object = None) -> Self:
        """Open the model and learn how wide its rows are; the texts are not read."""
        check_whole_number("batch_size", self.batch_size, 1)
        strings(documents)  # refuses anything but texts at once
        self._opened = self.model, self.batch_size, open_embedder(self.model, self.batch_size)
        embedder = self._opened[2]
        self._identity, self._probes = embedder.identity, _rows(embedder, list(PROBES))
        self.n_features_ = self._probes.shape[1]
        return self

    def transform(self, documents: Iterable[str]) -> Embeddings:
        """Return a row of float32 for each string of any iterable, which is read and embedded block by block."""
        self._check_is_fitted()
        opened = nullcontext() if self.cache is None else open_cache(self.cache, self.fingerprint_, self.n_features_)
        rows, n, progress = np.empty((0, self.n_features_), np.float32), 0, _Progress(self.verbose)
        total = len(documents) if isinstance(documents, Sized) else None
        with opened as cache, bar("texts embedded", total) as shown:
            for block in _blocks(strings(documents), BATCHES_AT_ONCE * self.batch_size):
                if n + len(block) > len(rows):  # in place, so that all rows are never in memory twice
                    rows.resize((max(n + len(block), len(rows) * 3 // 2), self.n_features_), refcheck=False)
                rows[n : n + len(block)] = self._block_rows(block, cache)
                n += len(block)
                progress.advance(len(block))
                if self.verbose:
                    shown(len(block))
        rows.resize((n, self.n_features_), refcheck=False)
        return rows

    def seed_cache(self, documents: Iterable[str], rows: Embeddings) -> None:
        """Put embeddings that this model has already made of texts into the cache, for example those of a `.npy` file.

        The model embeds a few of the texts again. If these rows differ, nothing is kept and a ValueError says so.
        """
        self._check_is_fitted()
        if self.cache is None:
            raise ValueError("these features have no cache: name a folder with set_params(cache=...)")
        texts, given = list(strings(documents)), np.asarray(rows, np.float32)
        if given.shape != (len(texts), self.n_features_) or not np.isfinite(given).all():
            expected = f"finite numbers of shape {(len(texts), self.n_features_)}"
            raise ValueError(f"embeddings of {len(texts):,} texts, of shape {given.shape}: expected {expected}")
        for n in range(0, len(texts), max(1, len(texts) // COMPARED)):
            if not _same(given[n], _rows(self._embedder(), [texts[n]], self.n_features_)[0]):
                raise ValueError(f"row {n} is not the embedding of its text by the model {name_of(self.model)}")
        with open_cache(self.cache, self.fingerprint_, self.n_features_) as cache:
            cache.put(dict(zip(texts, given, strict=True)))

    def _block_rows(self, texts: list[str], cache: EmbeddingCache | None) -> Embeddings:
        known = cache.get(texts) if cache else {}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            made = dict(zip(new, _rows(self._embedder(), new, self.n_features_), strict=True))
            if cache:
                cache.put(made)
            known |= made
        return np.stack([known[text] for text in texts])

    def _embedder(self) -> Embedder:
        """Open the model when it is first needed; refuse another one than it was fitted with."""
        if self._opened is None or self._opened[:2] != (self.model, self.batch_size):
            embedder = open_saved_embedder(self.model, self.batch_size)
            self._check_same(embedder)
            self._opened = self.model, self.batch_size, embedder
        return self._opened[2]

    def _check_same(self, embedder: Embedder) -> None:
        if embedder.identity != self._identity or not _same(_rows(embedder, list(PROBES)), self._probes):
            raise ValueError(
                f"the model {name_of(self.model)} is not the one that these features were fitted with, since "
                "it makes other embeddings: fit again, or name that one with set_params(model=...)"
            )

    @property
    def fingerprint_(self) -> str:
        """A digest of the weights, or of a function's name, and of the embeddings of a few texts."""
        self._check_is_fitted()
        coarse = np.round(self._probes / _step(self._probes)) + 0.0  # + 0.0 makes a negative zero positive
        return digest(self.name, self._identity, str(coarse.shape), coarse.astype("<f4").tobytes())

    def describe(self) -> dict[str, object]:
        self._check_is_fitted()
        return {"units": self.name, "columns": self.n_features_, "embedder": name_of(self.model)}

    def to_files(self) -> Files:
        """Return features.json, with the model's name, folder or "module:function" and not the model itself."""
        self._check_is_fitted()
        parameters = {"model": name_to_save(self.model), "batch_size": self.batch_size}
        if self.cache is not None:
            parameters["cache"] = os.path.abspath(self.cache)
        return features_files(self, parameters, identity=self._identity, probes=self._probes.tolist())

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        """Return what was saved. The model is opened when it first embeds; a cache that is gone is not made anew."""
        saved = parse_features(files, cls.name)
        maker = cls(**saved["parameters"], verbose=False)
        if maker.cache is not None and not os.access(Path(maker.cache, CACHE_FILE), os.W_OK):
            maker.cache = None  # on another machine, or of another user
        maker._identity, maker._probes = saved["identity"], np.array(saved["probes"], np.float32)
        _, maker.n_features_ = maker._probes.shape
        return maker

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_opened": None}  # the process that unpickles opens the model again


class _Progress:
    """Shows on standard error how many texts were embedded, every ten seconds."""

    def __init__(self, verbose: bool):
        self._verbose, self._done = verbose and not in_notebook(), 0  # which has a bar
        self._start = self._last = time.monotonic()

    def advance(self, n_texts: int) -> None:
        self._done += n_texts
        now = time.monotonic()
        if self._verbose and now - self._last >= SECONDS_BETWEEN_LINES:
            seconds, self._last = now - self._start, now
            print(f"embedding: {self._done:,} texts  {self._done / seconds:,.1f}/s  {seconds:.0f} s", file=sys.stderr)


def _blocks(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(islice(texts, size)):
        yield block


def _rows(embedder: Embedder, texts: list[str], width: int | None = None) -> Embeddings:
    """Return the embeddings of texts, of this width if it is known; refuse any other result."""
    readable = [text.encode("utf-8", "replace").decode() for text in texts]  # tokenizers fail on lone surrogates
    made = embedder.embed(readable)
    try:
        rows = np.asarray(made, np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the model gave {made!r:.60}: expected an array of numbers, a row for each text") from error
    expected = len(texts), rows.shape[-1] if width is None and rows.ndim else width
    if rows.shape != expected or not rows.size:
        raise ValueError(f"the model gave an array {rows.shape} for {len(texts)} texts: expected {expected}")
    if not np.isfinite(rows).all():
        text = texts[int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])]
        raise ValueError(f"the model gave NaN or infinity for the text {text!r:.60}: expected finite numbers")
    return rows


def _step(rows: Embeddings) -> float:
    """Return how far two embeddings of one text by one model may differ."""
    return SAME * max(float(np.abs(rows).max()), 1e-30)


def _same(found: Embeddings, expected: Embeddings) -> bool:
    return found.shape == expected.shape and float(np.abs(found - expected).max()) <= _step(expected)
