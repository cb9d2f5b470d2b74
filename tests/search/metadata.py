"""Random metadata and random filters on it, with all that JSON, SQLite and Python see in different ways."""

from hypothesis import strategies as st

KEYS = ["a", 'b"', "ç", "\0", "a.b", "b\\"]
numbers = st.sampled_from(
    [
        0,
        1,
        -1,
        1.0,
        1.5,
        -0.0,
        0.1,
        0.30000000000000004,
        2**53,
        2**53 + 1,
        2.0**53,
        2**63,
        2.0**63,
        10**400,
        1e-7,
        3e300,
    ]
)
texts = st.sampled_from(["", "1", "a", "b", "a\0b", "a\0", 'qu"ote', "é", "z", "\U0001f600", "\ufffd", "1987", "null"])
scalars = st.none() | st.booleans() | numbers | st.floats(-2, 2) | texts
inside = scalars | st.sampled_from([[], ["a"], {}, {"a": 1}])
metadata = st.dictionaries(st.sampled_from(KEYS), inside | st.lists(inside, max_size=3), max_size=3)

ranges = st.dictionaries(st.sampled_from(["<", "<=", ">", ">="]), numbers, min_size=1) | st.dictionaries(
    st.sampled_from(["<", "<=", ">", ">="]), texts, min_size=1
)
both = st.builds(lambda name, number, text: {name: [number, text]}, st.sampled_from(["<", ">="]), numbers, texts)
one_operator = (
    ranges
    | both
    | st.builds(lambda name, value: {name: value}, st.sampled_from(["=", "!=", "not"]), scalars)
    | st.builds(lambda name, value: {name: value}, st.sampled_from(["in", "not"]), st.lists(scalars, max_size=3))
    | st.builds(lambda value: {"exists": value}, st.booleans())
)
operators = st.recursive(
    st.builds(lambda a, b: a | b, one_operator, one_operator).filter(
        lambda dict: len({type(v) is str for k, v in dict.items() if k[0] in "<>" and not isinstance(v, list)}) < 2
    ),
    lambda inner: st.builds(lambda value: {"not": value}, inner),
    max_leaves=3,
)
filters = st.dictionaries(
    st.sampled_from(KEYS), scalars | st.lists(scalars, max_size=3) | operators, min_size=1, max_size=2
)
