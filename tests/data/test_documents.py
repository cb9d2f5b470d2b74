"""Blocks hold every document once, in order and within bounds; labels come from a column that is there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import Document, blocks, label_column
from ammi.data.documents import BLOCK_BYTES, BLOCK_DOCUMENTS

LARGE = "x" * (BLOCK_BYTES // 3)


@settings(deadline=None)
@given(st.lists(st.sampled_from([None, "", "short", LARGE]), max_size=20), st.sampled_from([0, BLOCK_DOCUMENTS - 5]))
def test_blocks_are_short_and_lose_nothing(texts, before):
    documents = [Document(n, text, {}) for n, text in enumerate([""] * before + texts)]
    made = list(blocks(iter(documents)))
    assert [document for block in made for document in block] == documents
    for block in made:
        assert 1 <= len(block) <= BLOCK_DOCUMENTS
        assert sum(len(document.text or "") for document in block[:-1]) <= BLOCK_BYTES


def test_vectors_count_as_what_they_take():
    documents = [Document(n, None, {}, vector=np.zeros(BLOCK_BYTES // 16)) for n in range(7)]
    assert [len(block) for block in blocks(documents)] == [3, 3, 1]


def test_blocks_are_made_as_documents_come():
    def endless():
        while True:
            yield Document(0, "a", {})

    assert len(next(blocks(endless()))) == BLOCK_DOCUMENTS


def test_labels_of_documents_with_and_without_them():
    metadata: list[dict] = [{"topic": "a", "year": 1}, {}, {"topic": None}, {"topic": ["b", "c"]}]
    assert label_column(iter(metadata), "topic", "here") == ["a", None, None, ["b", "c"]]
    with pytest.raises(
        ValueError, match=r"no document in here has a column 'label': the columns there are topic, year$"
    ):
        label_column(metadata, "label", "here")
    with pytest.raises(ValueError, match=r"the columns there are none$"):
        label_column([{}], "label", "here")
