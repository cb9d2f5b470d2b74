"""Counts, histograms and orders of metadata, compared on every store with a plain count of its documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.search.columns import Columns
from ammi.search.filters import matches, parse, values_of
from tests.search.metadata import filters
from tests.search.metadata import metadata as any_metadata
from tests.search.stores import LOCATIONS, every_store

METADATA = [
    {
        "section": ["net", "doc", "sound"][n % 3],
        "year": 1900 + n % 40,
        "price": round(1.07**n, 2),
        "published": f"{1990 + n % 9}-{n % 12 + 1:02}-{n % 28 + 1:02}",
        "tags": [["a", "b"], "a", [], None][n % 4],
        "title": f"title {n}",
        "ok": n % 2 == 0,
        "scores": [n, n + 1],
    }
    for n in range(120)
] + [{}, {"year": "unknown", "published": ""}]


@every_store
def test_counts_of_every_store_are_those_of_its_documents(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8) as index:
        index.add(np.zeros((len(METADATA), 1), np.uint8), [f"d{n}" for n in range(len(METADATA))], metadata=METADATA)
        index.delete(["d7"])
        index.set_metadata(["d8"], {"section": "new"})
        there = {entry.id: entry.metadata for block in index.entries() for entry in block}
        with index.snapshot():
            columns = Columns(index.metadata_blocks())
        assert columns.ids == list(there)
        where = {"section": ["net", "new"], "year": {">=": 1910}}
        mask = columns.passing(parse(where))
        assert [id for id, passes in zip(columns.ids, mask, strict=True) if passes] == [
            entry.id for block in index.entries(where) for entry in block
        ]
        for key in columns.keys:
            facet = columns.facet(key, mask, limit=1000)
            for value, selected, every in facet.values:
                having = [id for id, about in there.items() if matches(parse({key: value}), about)]
                assert every == len(having)
                assert selected == sum(mask[columns.rows_of(having)])
            for low, high, selected, every in facet.bins:
                passing = columns.passing(parse({key: {">=": low, "<": high}}))
                assert (selected, every) == ((passing & mask).sum(), passing.sum())


def columns_of(*metadata):
    return Columns([[(n, about) for n, about in enumerate(metadata)]])


@given(st.lists(any_metadata, max_size=8), filters)
def test_a_filter_passes_what_it_passes_anywhere(metadata, where):
    columns = columns_of(*metadata)
    assert columns.passing(parse(where)).tolist() == [matches(parse(where), about) for about in metadata]


def test_how_keys_are_shown():
    columns = columns_of(*METADATA)
    kinds = {key: columns.kind(key) for key in columns.keys}
    assert kinds == {
        "section": "category", "year": "number", "price": "number", "published": "date", "tags": "category",
        "title": "text", "ok": "category", "scores": "number",
    }  # fmt: skip
    everything = np.ones(len(columns), np.bool_)
    year = columns.facet("year", everything)
    assert [bin[:2] for bin in year.bins[:2]] == [(1900, 1902), (1902, 1904)]
    assert year.documents == 121  # with the text, which is in no bin
    assert sum(bin.all for bin in year.bins) == 120
    skewed = [bin[:2] for bin in columns.facet("price", everything).bins]
    assert skewed[:3] == [(1, 2), (2, 5), (5, 10)]
    dates = columns.facet("published", everything).bins
    assert dates[0][:2] == ("1990-01-01", "1990-04-01")
    assert not columns.facet("tags", everything).bins


def test_values_are_found_page_by_page():
    columns = columns_of(*({"name": f"Name {n % 60}"} for n in range(200)))
    everything = np.ones(200, np.bool_)
    facet = columns.facet("name", everything, "name 1", 2, 3)
    assert facet.distinct == 11
    assert len(facet.values) == 3
    whole = columns.facet("name", everything, "name 1", 0, 100).values
    assert facet.values == whole[2:5]
    assert [one.selected for one in whole] == sorted([one.selected for one in whole], reverse=True)


def test_order():
    columns = columns_of({"x": 10}, {"x": 9}, {}, {"x": "b"}, {"x": "A"}, {"x": [3, 50]}, {"x": True}, {"x": 9})
    rows = np.arange(8)
    assert columns.in_order(rows, "x").tolist() == [6, 5, 1, 7, 0, 4, 3, 2]
    assert columns.in_order(rows, "x", descending=True).tolist() == [3, 4, 0, 1, 7, 5, 6, 2]
    with pytest.raises(ValueError, match="no document has the metadata key 'y' to sort by: the keys are x"):
        columns.in_order(rows, "y")


@given(st.lists(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, unique=True))
def test_each_number_is_in_one_bin(numbers):
    columns = columns_of(*({"x": number} for number in numbers))
    bins = columns.facet("x", np.ones(len(numbers), np.bool_)).bins
    if bins:
        assert len(bins) <= 60
        assert sum(bin.all for bin in bins) == sum(
            abs(scalar.value) < 1e300 for x in numbers for scalar in values_of(x)
        )


@given(st.lists(st.datetimes(), min_size=2, unique=True))
def test_each_date_is_in_one_bin(times):
    columns = columns_of(*({"x": time.isoformat()} for time in times))
    bins = columns.facet("x", np.ones(len(times), np.bool_)).bins
    assert len(bins) <= 80
    assert sum(bin.all for bin in bins) == len(times)
