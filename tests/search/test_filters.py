"""Filters: what they mean, what is refused, and that SQL means the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ammi.search import HammingIndex
from ammi.search.filter_text import from_text
from ammi.search.filters import complaint, matches, parse
from tests.search.metadata import KEYS, filters, metadata
from tests.search.stores import LOCATIONS, PostgresStore, every_store

YEAR = {"year": 1987, "lang": ["en", "de"], "ok": True, "score": 0.5, "empty": [], "none": None, "deep": {"a": 1}}


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({}, True),
        ({"year": 1987}, True),
        ({"year": 1987.0}, True),
        ({"year": "1987"}, False),
        ({"year": [1986, 1987]}, True),
        ({"year": []}, False),
        ({"year": 1987, "lang": "fr"}, False),
        ({"lang": "de"}, True),
        ({"lang": {"!=": "de"}}, False),
        ({"lang": {"not": "fr"}}, True),
        ({"lang": {"not": ["fr", "de"]}}, False),
        ({"lang": {">": "dz", "<": "f"}}, True),
        ({"lang": {">": "df", "<": "em"}}, False),  # no one value lies between
        ({"year": {">=": 1987, "<": 1988}}, True),
        ({"year": {">": 1987}}, False),
        ({"year": {">": "1900"}}, False),
        ({"year": {">": [1900, "1900"]}}, True),
        ({"year": {"not": {">": 1986, "<": 1990}}}, False),
        ({"year": {"not": {"not": {"=": 1987}}}}, True),
        ({"year": {"in": [1987], "!=": 1988, "exists": True}}, True),
        ({"ok": True}, True),
        ({"ok": 1}, False),
        ({"score": {"<=": 0.5}}, True),
        ({"missing": None}, True),
        ({"none": None}, True),
        ({"empty": None}, True),
        ({"missing": {"exists": False}}, True),
        ({"empty": {"exists": True}}, False),
        ({"none": {"exists": True}}, False),
        ({"missing": {"!=": 1}}, True),
        ({"deep": {"exists": True}}, True),
        ({"deep": None}, False),
        ({"year": np.int64(1987)}, True),
        ({"year": np.array([1987, 2])}, True),
        ({"year": {"in": (1987, 1988)}}, True),
    ],
)
def test_meaning(where, kept):
    assert matches(parse(where), YEAR) is kept


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("year=1987", "the filter is 'year=1987': pass a dict"),
        ({"year": {">>": 1}}, r"the filter on 'year' has the operator '>>': there are = != < "),
        ({"year": {}}, "the filter on 'year' has the operator ''"),
        ({"year": {"=": [1]}}, "has '=' with a list: write 'in'"),
        ({"year": {"in": 1}}, "has 'in' with 1: pass a list"),
        ({"year": {"exists": 1}}, "has 'exists' with 1: pass True or False"),
        ({"year": {"<": True}}, "has '<' with True: pass a number or a text"),
        ({"year": {"<": None}}, "has '<' with None: pass a number or a text"),
        ({"year": {"<": []}}, "has '<' with"),
        ({"year": {"<": [1, 2]}}, "has '<' with"),
        ({"year": {"<": 1, ">": "a"}}, "a range from a number to a text"),
        ({"year": [{"a": 1}]}, "compares with .*: compare with texts, numbers"),
        ({"year": {"not": {">>": 1}}}, "the operator '>>'"),
        ({"year": float("inf")}, "compares with what no metadata holds: inf"),
        ({"year": object()}, "compares with what no metadata holds"),
        ({"year": "\ud800"}, "surrogates"),
        ({1: 2, "1": 3}, "two keys are written '1'"),
    ],
)
def test_bad_filters_are_refused(where, words):
    with pytest.raises(ValueError, match=words):
        parse(where)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """Without an indexed key, with some, and with all."""
    home = tmp_path_factory.mktemp("indexes")
    made = [HammingIndex.create(home / str(len(keys)), 8, keys=keys) for keys in ([], KEYS[::2], KEYS)]
    yield made
    for index in made:
        index.close()


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(documents=st.lists(metadata, min_size=1, max_size=20), where=filters)
@example([{"a": 0.1}, {"a": 0.30000000000000004}], {"a": {">=": 0.30000000000000004}})
@example([{"a": 1e300}, {"a": 1.0000000000000002}], {"a": {">": 1}})
@example([{"a": "a\0b"}, {"a": "a"}], {"a": "a"})
@example([{"a": 2**63}, {"a": 2**63 - 1}], {"a": 2.0**63})
@example([{"a": list(range(40))}, {"a": 7.5}], {"a": {"not": list(range(1, 6000))}})
def test_sql_means_what_matches_does(indexes, documents, where):
    filter = parse(where)
    expected = [n for n, one in enumerate(documents) if matches(filter, one)]
    for index in indexes:
        index.delete(index)
        index.add(np.zeros((len(documents), 1), np.uint8), range(len(documents)), metadata=documents)
        with index._reading():
            assert index._tables.matching(filter).tolist() == index._tables.find(expected)
            assert not (expected and complaint(filter, index.key_kinds()))


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_a_filter_of_too_many_conditions_is_no_damage(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8, keys=["a"]) as index:
        index.add(np.zeros((2, 1), np.uint8), metadata=[{"a": 1}, {"a": 2}])
        most: dict[str, Any] = {f"k{n}": {"not": {"not": {"exists": False}}} for n in range(499)} | {"a": 2}
        assert [hit.id for hit in index.search(np.zeros((1, 1), np.uint8), where=most)[0]] == [1]
        assert sum(map(len, index.entries(most))) == 1
        with pytest.raises(ValueError, match=r"has 502 conditions, and 500 at most are answered"):
            index.search(np.zeros((1, 1), np.uint8), where=most | {"b": {">": 1, "<": 3}})
        assert len(index.search(np.zeros((1, 1), np.uint8), where={"a": list(range(50_000))})[0]) == 2


def test_a_filter_that_is_nested_too_deep_is_refused():
    where: dict[str, Any] = {"=": 1}
    for _ in range(5000):
        where = {"not": where}
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        parse({"a": where})


@every_store
def test_a_filter_that_can_keep_nothing_is_refused(store, tmp_path):
    """A key that no document has, or values of another type, were no hits and no word."""
    query = np.zeros((1, 1), np.uint8)
    with store.create(LOCATIONS[store](tmp_path), 8) as index:
        assert index.search(query, where={"yaer": 1987}) == [[]]  # an empty index has no keys
        index.add(np.zeros((3, 1), np.uint8), metadata=[{"year": "1987"}, {"lang": "en", "n": [1, "a"]}, {"x": None}])
        for ask in (
            lambda where: index.search(query, where=where),
            lambda where: index.within(query, 1, where),
            lambda where: list(index.entries(where)),
        ):
            for where in ({"yaer": 1987}, {"yaer": {">": "1"}}, {"yaer": [1987, "1987"]}, {"lang": "en", "yaer": 1}):
                with pytest.raises(ValueError, match=r"metadata key 'yaer' of the filter: the keys are lang, n, year$"):
                    ask(where)
            with pytest.raises(
                ValueError, match="'yaer' of the filter: the keys are lang, n, year; write KEY=VALUE, KEY!="
            ):
                ask({"yaer": {"exists": True}})  # as a filter of a command line that is misspelt
            with pytest.raises(ValueError, match="compares 'year' with a number, but its values are of the kind text"):
                ask({"year": {">=": 1987}})
            with pytest.raises(ValueError, match="with a bool or number, but its values are of the kind text: compare"):
                ask({"year": [1987, True]})
            wheres: list[dict[str, Any]] = [
                {"year": "2050"},
                {"year": [1987, "2050"]},
                {"n": 7},
                {"year": {"<": [7, "7"], ">": "4", "not": {"=": 5}}},
                {"year": {"not": ["1987", None]}},
                {"year": []},
            ]
            for possible in wheres:
                assert not any(ask(possible))
        assert not any(index.search(query[:0], where={"yaer": 1}))


def test_many_keys_are_not_all_listed():
    kinds = {f"key{n:02}": ["text"] for n in range(30)}
    assert (complaint(parse({"x": 1}), kinds) or "").endswith("key18, key19 and 10 more")


@pytest.mark.parametrize(
    ("conditions", "where"),
    [
        ([], {}),
        (["year>=1987", "lang=en,de", "ok=true", "!draft", "year"], ...),
        (["year=1987"], {"year": [1987, "1987"]}),
        (["year=1987", "year=1988"], {"year": [1987, "1987", 1988, "1988"]}),
        (["lang=en"], {"lang": "en"}),
        (["lang= en , de "], {"lang": ["en", "de"]}),
        (['title="a, b",c'], {"title": ["a, b", "c"]}),
        (['title="1987"'], {"title": "1987"}),
        (['title="say \\"so\\", \\u00e9"'], {"title": 'say "so", é'}),
        (['title="a" or "b"'], {"title": '"a" or "b"'}),
        (["lang!=en"], {"lang": {"not": "en"}}),
        (["lang!=en,de", "lang!=1"], {"lang": {"not": ["en", "de", 1, "1"]}}),
        (["year>=1987", "year<1990"], {"year": {">=": [1987, "1987"], "<": [1990, "1990"]}}),
        (["day>1987-03-01"], {"day": {">": "1987-03-01"}}),
        (['year>"1987"'], {"year": {">": "1987"}}),
        (["ok>true"], {"ok": {">": "true"}}),
        (["ok=True"], {"ok": [True, "True"]}),
        (["x=null"], {"x": [None, "null"]}),
        (["x=NaN,1e999,[1],007"], {"x": ["NaN", "1e999", "[1]", "007"]}),
        (["x=-1.5"], {"x": [-1.5, "-1.5"]}),
        (["x="], {"x": ""}),
        (["x=a=b"], {"x": "a=b"}),
        (["year"], {"year": {"exists": True}}),
        (["!year"], {"year": {"exists": False}}),
        (["year", "year=1"], {"year": {"exists": True, "in": [1, "1"]}}),
        (["year", "year"], {"year": {"exists": True}}),
    ],
)
def test_filters_of_a_command_line(conditions, where):
    found = from_text(conditions)
    if where is ...:
        where = {
            "year": {">=": [1987, "1987"], "exists": True},
            "lang": ["en", "de"],
            "ok": [True, "true"],
            "draft": {"exists": False},
        }
    assert found == where
    assert [type(value) for value in found.values()] == [type(value) for value in where.values()]
    parse(found)


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("year=1987", "the conditions are the string"),
        ([""], "the filter '' cannot be read: write KEY=VALUE"),
        (["=1"], "the filter '=1' cannot be read"),
        (["!a=1"], "the filter '!a=1' cannot be read"),
        (["section==net"], "the filter 'section==net' cannot be read: write KEY=VALUE, KEY!=VALUE, KEY>=VALUE"),
        (["year<1,2"], "the filter 'year<1,2' cannot be read"),
        (['x="\\q"'], "has no JSON string in its double quotes"),
        (["year>1", "year>2"], "'year>2' and one before it say two things about 'year'"),
        (["year", "!year"], "say two things about 'year'"),
    ],
)
def test_bad_filters_of_a_command_line_are_refused(conditions, words):
    with pytest.raises(ValueError, match=words):
        from_text(conditions)
