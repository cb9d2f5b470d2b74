"""What is taken for texts, and what is refused: a table is no column (U3)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.features import texts as module
from ammi.features.texts import chunks, strings

TEXTS = ["a text", "", "größe"]


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        iter(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, object),
        pd.Series(TEXTS, index=[7, 8, 9]),
        pd.Series(TEXTS, dtype="string"),
        pd.Index(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.array(TEXTS).dictionary_encode(),
        dict.fromkeys(TEXTS).keys(),
    ],
    ids=lambda column: type(column).__name__,
)
def test_every_kind_of_column(column):
    found = list(strings(column))
    assert found == TEXTS
    assert all(isinstance(text, str) for text in found)


FRAME = pd.DataFrame({"id": [1], "text": ["a"]})


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("a text", r"^texts is the single string 'a text': pass a list of strings, \[text\] for one$"),
        (b"a text", r"^texts is the single string b'a text': pass a list of strings"),
        (FRAME, r"^texts is a DataFrame of the columns 'id', 'text': pass the one column .* such as df\['text'\]$"),
        (FRAME[["text"]], r"^texts is a DataFrame of the columns 'text': pass the one column .*df\['text'\]$"),
        (pd.DataFrame({"body": ["a"], "n": [1]}), r"such as df\['body'\]$"),
        (pd.DataFrame(), r"^texts is a DataFrame of the columns \(none\): "),
        (pd.DataFrame([range(9)]), r"of the columns 0, 1, 2, 3, 4, …: pass the one column"),
        (pa.table({"id": [1], "text": ["a"]}), r"^texts is a Table of the columns 'id', 'text': .*df\['text'\]$"),
        (pa.RecordBatch.from_pydict({"text": ["a"]}), r"^texts is a RecordBatch of the columns 'text'"),
        ({"text": ["a"]}, r"^texts is a dict of the columns 'text': pass the one column"),
        (None, r"^texts is None: expected a list or another iterable of strings$"),
        (3, r"^texts is 3: expected a list"),
        (np.array("a"), r"^texts is array\('a', dtype='<U1'\): expected a list"),
    ],
    ids=str,
)
def test_what_is_no_column_is_refused_at_once(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        strings(wrong)


@pytest.mark.parametrize("missing", [None, np.nan, 3, b"bytes", pd.NA, ["a"], pa.scalar(None, pa.string())], ids=repr)
def test_what_is_no_text_is_refused_with_its_position(missing):
    with pytest.raises(ValueError, match=r"^text 1 is .*: expected a string, so fill or drop missing texts first$"):
        list(strings(["fine", missing]))


@given(st.lists(st.text(max_size=50)), st.integers(1, 500))
def test_chunks_are_all_texts_in_order(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_CHARACTERS", size)
        found = list(chunks(texts))
    assert [text for chunk in found for text in chunk] == texts
    assert all(sum(len(text) + 100 for text in chunk[:-1]) < size for chunk in found)
