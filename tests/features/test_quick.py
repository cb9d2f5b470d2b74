"""Quick rows are those of the feature maker to the bit, from the same files and without its imports (U15)."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ammi.features import PieceFeatures, VectorFeatures, WordFeatures
from ammi.features.quick import QuickRows, quick_rows
from ammi.features.tfidf import TermFeatures
from ammi.files import write_folder
from tests.features.made import CORPUS, any_text, articles

MANY = [
    "日本語のテキスト",
    "日本 語の",
    "ภาษาไทย",
    "हिन्दी में",
    "ﬁne ﬁne",
    "ΟΔΟΣ οδός",
    "𠀀𠀁",
    "aa bb cc _ __ 09",
    *CORPUS,
]


def rows_of(maker: TermFeatures) -> QuickRows:
    rows = quick_rows(maker.to_files())
    assert rows is not None
    return rows


@pytest.fixture(scope="module", params=[WordFeatures(200), PieceFeatures(200)], ids=["words", "pieces"])
def fitted(request):
    maker = request.param.fit(MANY)
    return maker, rows_of(maker)


def assert_same_row(maker: TermFeatures, rows: QuickRows, text: str) -> None:
    columns, weights = rows.row(text)
    expected = maker.transform([text])
    assert weights.dtype == np.float32
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(weights.view(np.int32), expected.data.view(np.int32))


known = st.lists(st.sampled_from(" ".join(MANY).split()), max_size=30).map(" ".join)


@settings(deadline=None, max_examples=300)
@given(any_text | known)
@example("")
@example("\ud800")
@example("the " * 1000)
def test_rows_are_the_same_to_the_bit(fitted, text):
    maker, rows = fitted
    assert_same_row(maker, rows, text)


def test_what_else_it_says_is_the_same(fitted):
    maker, rows = fitted
    assert rows.fingerprint_ == maker.fingerprint_
    assert len(rows.idf) == maker.n_features_
    assert rows.vocabulary == maker.vocabulary_


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["reuters", "newsgroups", "tmc_small"])
@pytest.mark.parametrize("maker", [WordFeatures(), PieceFeatures(2000, sample_size=100)], ids=["words", "pieces"])
def test_real_texts_have_the_same_rows(maker, corpus):
    texts = articles(corpus, 200)
    rows = rows_of(maker.fit(texts))
    for text in texts:
        assert_same_row(maker, rows, text)


def test_other_features_have_no_quick_rows():
    assert quick_rows(VectorFeatures().fit(np.ones((2, 3))).to_files()) is None


def test_damage_is_found():
    files = PieceFeatures(60).fit(CORPUS).to_files()
    with pytest.raises(ValueError, match=r"^features\.json is missing: save the features again"):
        quick_rows({"sentencepiece.model": files["sentencepiece.model"]})
    with pytest.raises(ValueError, match=r"the features in features\.json are damaged"):
        quick_rows({"features.json": files["features.json"]})
    spoiled = bytearray(files["sentencepiece.model"])
    spoiled[len(spoiled) // 2] ^= 1
    with pytest.raises(ValueError, match=r"the features in features\.json are damaged"):
        quick_rows(files | {"sentencepiece.model": bytes(spoiled)})
    with pytest.raises(ValueError, match=r"features\.json has format 1, expected 3"):
        quick_rows(files | {"features.json": b'{"format": 1}'})


def test_nothing_heavy_is_imported(tmp_path):
    heavy = {"numba", "scipy", "sklearn", "torch", "pandas"}
    for maker in (WordFeatures(), PieceFeatures(60)):
        write_folder(tmp_path / maker.name, maker.fit(CORPUS).to_files())
        code = (
            "import sys; from pathlib import Path; from ammi.features.quick import quick_rows;"
            "rows = quick_rows({path.name: path.read_bytes() for path in Path(sys.argv[1]).iterdir()});"
            f"print(len(rows.row('the matrix')[0]), sorted({heavy} & set(sys.modules)))"
        )
        run = [sys.executable, "-c", code, str(tmp_path / maker.name)]
        found = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
        n_terms = maker.transform(["the matrix"]).nnz
        assert found == f"{n_terms} []"
