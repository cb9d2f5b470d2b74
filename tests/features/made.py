"""What the tests of features share: a small corpus, the makers of terms, equality of rows to the bit."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.data import corpus_path, data_folder, read_documents
from ammi.features import PieceFeatures, WordFeatures
from ammi.features.tfidf import TermFeatures

WORDS = ["the", "The", "a", "of", "matrix", "cat", "Dog_house", "größe", "déjà", "ΟΔΟΣ", "한국어", "3.14", "x"]
CORPUS = [" ".join(np.random.default_rng(i).choice(WORDS, 30)) for i in range(200)]
MAKERS: list[Callable[[], TermFeatures]] = [lambda: WordFeatures(100), lambda: PieceFeatures(100)]
both = pytest.mark.parametrize("make", MAKERS, ids=["words", "pieces"])

# Letters of many scripts often enough for runs of them, and all the rest.
some_characters = st.sampled_from("aZ09_ .,-'\n\x00éßİΣσςñאبहि́न्日本語のテ中ภาษาไꓘ한글ﬁ²𠀀😀\ud800\udfff")
any_text = st.text(some_characters | st.characters(exclude_categories=[]), max_size=60)
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join), min_size=1, max_size=30)


def assert_same(X: csr_matrix, Y: csr_matrix) -> None:
    assert X.shape == Y.shape
    assert X.dtype == Y.dtype
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def articles(name: str, n: int) -> list[str]:
    """Texts of a real corpus, or a skipped test where there is none."""
    try:
        data_folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return [document.text or "" for document in islice(read_documents(corpus_path(name)), n)]
