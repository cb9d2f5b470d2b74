"""Names of labels as a 0/1 matrix, and the precision by them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.evaluate import label_matrix, labelled_precision, retrieval

names = st.text(max_size=2) | st.integers(0, 3)


@settings(deadline=None)
@given(st.lists(st.none() | names | st.lists(names, max_size=5), max_size=20))
def test_a_document_has_a_one_for_each_of_its_labels(labels):
    matrix = label_matrix(labels)
    sets = [set() if one is None else set(one) if isinstance(one, list) else {one} for one in labels]
    assert matrix.shape == (len(labels), len(set().union(*sets)))
    dense = matrix.toarray()
    assert dense.sum(axis=1).tolist() == [len(one) for one in sets]
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            assert (dense[i] * dense[j]).sum() == len(a & b)


@settings(deadline=None)
@given(
    n=st.integers(2, 30),
    q=st.integers(0, 6),
    k=st.integers(1, 40),
    seed=st.integers(0, 2**31),
)
def test_precision_by_names_equals_a_plain_count_without_the_unlabelled(n, q, k, seed):
    """With q = 0, each document is looked for among the others."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n + q, 2), dtype=np.uint8)
    labels = [rng.choice(["a", "b", "c"], rng.integers(0, 3), replace=False).tolist() for _ in range(n + q)]
    base, queries = range(n), range(n, n + q) if q else range(n)
    asked, found = [[i for i in part if labels[i]] for part in (queries, base)]
    if not asked or len(found) < 2:
        return
    shares = []
    for query in asked:
        others = sorted((np.bitwise_count(codes[query] ^ codes[i]).sum(), i) for i in found if i != query)[:k]
        shares.append(np.mean([bool(set(labels[query]) & set(labels[i])) for _, i in others]))
    more = (codes[n:], labels[n:]) if q else ()
    measured = labelled_precision(codes[:n], labels[:n], k, *more)
    assert measured.precision == pytest.approx(100 * np.mean(shares))
    assert (measured.queries, measured.documents) == (len(asked), len(found))
    assert measured.k == min(k, len(found) - (not q))  # not more than there are


def test_true_is_not_1_and_a_dict_is_no_label():
    assert label_matrix([True, 1, [1, False], 0]).toarray().tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 0, 1],
    ]
    for wrong in ({"a": 1}, [["a"]]):
        with pytest.raises(ValueError, match="cannot be a label: a label is a text or a number"):
            label_matrix([wrong])


def test_codes_without_labels_are_refused():
    codes = np.zeros((3, 1), np.uint8)
    with pytest.raises(ValueError, match="3 codes came with 2 labels, and 0 of queries with 0: pass labels for each"):
        labelled_precision(codes, ["a", "b"])
    with pytest.raises(ValueError, match="3 codes came with 3 labels, and 3 of queries with 1: pass labels for each"):
        labelled_precision(codes, ["a", "b", "c"], 1, codes, ["a"])


def test_labels_of_their_own_for_many_documents_are_refused_before_they_fill_the_memory(monkeypatch):
    codes = np.zeros((300, 1), np.uint8)
    assert labelled_precision(codes, list(range(300)), 1).precision == 0
    monkeypatch.setattr(retrieval, "_MOST_LABEL_BYTES", 300 * 300 // 8 - 1)
    with pytest.raises(ValueError, match="300 documents have 300 different labels, too many to compare"):
        labelled_precision(codes, list(range(300)), 1)
