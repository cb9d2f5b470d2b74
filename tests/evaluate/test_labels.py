"""Names of labels as a 0/1 matrix."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.evaluate import label_matrix

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
