"""Calls of the public functions of documents, indexes and collections: arguments of the right kind and any value."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import ammi
from ammi import Collection, HammingIndex, data, evaluate, search
from ammi.data import pairs
from ammi.data.mat import read_mat
from ammi.search import filter_text, filters
from ammi.search.rank_policy import RANKS
from tests.torture import strange
from tests.torture.template import MADE, NO_SERVERS, SERVED

INPUT = Path("INPUT")  # stands for the file that an input comes with


class Call(NamedTuple):
    """A function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def run(self, file: str, served: str) -> object:
        meant = {id(INPUT): Path(file), id(SERVED): served}
        found = self.function(*(meant.get(id(given), given) for given in self.arguments))
        return list(found) if isinstance(found, Iterator) else found


Calls = dict[str, st.SearchStrategy[Call]]


def call(function: Callable[..., Any], *arguments: st.SearchStrategy) -> st.SearchStrategy[Call]:
    return st.builds(Call, st.just(function), st.tuples(*arguments))


def calls(room: str, of: dict[Callable[..., Any], tuple[st.SearchStrategy, ...]]) -> Calls:
    return {f"{room}.{function.__name__}": call(function, *given) for function, given in of.items()}


codes, texts, numbers = strange.packed_codes | strange.any_array, strange.texts, strange.numbers
packed, labels_of = strange.packed_codes, strange.any_array
ids = st.lists(numbers | texts | strange.scalars, max_size=4)
known = st.sampled_from(["note-1", 1, "x"]) | texts
few_texts = st.lists(texts, max_size=4)
paths = st.sampled_from([INPUT, INPUT, *map(Path, [*MADE, "nowhere"])])
new_files = st.sampled_from(["a.jsonl", "a.jsonl.zst", "a.parquet", "a.txt", "index", "a.npz"]).map(Path)
places = st.sampled_from(["index", "index", "vector-index", SERVED])
any_places = st.sampled_from(["index", "index", "model", "nowhere", "new", SERVED, *NO_SERVERS]) | texts.filter(
    lambda text: "\0" not in text
)
wheres = st.none() | st.dictionaries(st.sampled_from(["year", "label", "x", "", "\ud800"]), strange.values, max_size=2)
metadata = st.lists(st.dictionaries(texts | strange.scalars, strange.values, max_size=3), max_size=4)
many = st.lists(strange.documents | texts | strange.vectors, max_size=4)
queries = texts | strange.vectors.map(np.array)
ranks = st.sampled_from([None, *RANKS, "x"])
models = st.sampled_from(["model", "vector-model", "index", "nowhere"])
labels = st.lists(strange.scalars | st.lists(texts, max_size=2), max_size=6)

fields_of_documents: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": st.integers(0, 9) | st.text(max_size=3),
        "text": st.none() | texts,
        "metadata": st.just({}),
        "vector": st.none() | strange.vectors.map(np.array),
    }
)
entries = st.builds(
    search.Entry,
    known,
    st.just(np.array([1, 2], np.uint8)),
    st.none() | texts,
    st.dictionaries(texts, strange.values, max_size=3),
    st.none(),
)

OF_INDEX: dict[str, tuple[st.SearchStrategy, ...]] = {
    "add": (codes, st.none() | ids, st.none() | few_texts, st.none() | metadata),
    "delete": (ids | st.just(["note-1"]),),
    "get": (ids | st.just(["note-1", "note-2"]),),
    "search": (codes, numbers, wheres),
    "within": (codes, numbers, wheres),
    "set_metadata": (st.just(["note-1"]), metadata),
    "column": (texts,),
    "ids": (wheres,),
    "delete_where": (wheres,),
    "keys": (),
    "index_keys": (few_texts,),
    "entries": (wheres,),
    "export": (),
    "files": (),
    "compact": (),
    "codes_of": (ids | st.just(["note-1", "note-2"]),),
    "key_kinds": (),
    "state": (),
}
OF_COLLECTION: dict[str, tuple[st.SearchStrategy, ...]] = {
    "add": (many | codes,),
    "search": (queries, numbers, wheres, ranks),
    "search_many": (st.lists(queries, max_size=3), numbers, wheres, ranks),
    "within": (queries, numbers, wheres),
    "like": (known, numbers, wheres),
    "drift": (known,),
    "get": (numbers | texts | ids,),
    "delete": (known | ids,),
    "set_metadata": (known, st.dictionaries(texts, strange.values, max_size=3)),
    "duplicates": (strange.floats,),
    "match": (many | codes, numbers, st.none() | strange.floats),
    "evaluate": (st.sampled_from(["label", "year"]) | texts,),
    "classify": (st.dictionaries(known, strange.scalars | few_texts, max_size=6) | st.just("label") | texts,),
    "outliers": (numbers,),
    "ids": (wheres,),
    "unknown_words": (numbers,),
    "keys": (),
    "key_kinds": (),
    "sync": (many,),
    "indexed_keys": (),
    "index_keys": (few_texts,),
    "rebuild": (models,),
    "export": (new_files,),
    "knows": (queries,),
    "distinct_codes": (),
    "describe": (),
    "compact": (),
    "copy": (any_places,),
    "backup": (new_files,),
    "encode": (st.lists(queries, max_size=3),),
    "bit_probabilities": (st.lists(queries, max_size=3),),
    "codes": (),
    "word_weights": (),
    "ranks": (),
}


def _of_index(method: str, *arguments: Any) -> object:
    with HammingIndex.open("index") as index:
        found = getattr(index, method)(*arguments)
        return list(found) if isinstance(found, Iterator) else found


def _of_collection(method: str, location: str, *arguments: Any) -> object:
    with Collection.open(location) as collection:
        found = getattr(collection, method)(*arguments)
        return list(found) if isinstance(found, Iterator) else found


def _add_codes(given: Any, names: list[Any]) -> list[Any]:
    with Collection.open("index") as collection:
        return collection.add_codes(given, names, fingerprint=collection.fingerprint or "")


def _closed(make: Callable[..., Any]) -> Callable[..., None]:
    return lambda *arguments: make(*arguments).close()


def _read(path: Path, columns: dict[str, str]) -> list[data.Document]:
    return list(data.read_documents(path, **columns, on_error=lambda problem: None))  # type: ignore[arg-type]


def _write_codes(names: list[Any], given: Any, n_bits: int) -> int:
    return data.write_codes("new.npz", [(names, given)], n_bits, "f")


def _write_pairs(path: Path, number: int) -> object:
    matrices, written = pairs.read_pairs("pairs"), pairs.read_pair_texts("pairs")
    shorter = {split: both[:number] for split, both in written.items()}
    features = ammi.features.features_from_files(pairs.read_pair_features("pairs"))
    return pairs.write_pairs(path, matrices, shorter, features, {})


OF_INDEXES: Calls = {
    **{f"HammingIndex.{name}": call(partial(_of_index, name), *given) for name, given in OF_INDEX.items()},
    **{
        f"Collection.{name}": call(partial(_of_collection, name), places, *given)
        for name, given in OF_COLLECTION.items()
    },
    "Collection.add_codes": call(_add_codes, packed, ids),
    "Collection.create": call(_closed(Collection.create), any_places, models),
    "Collection.create_for_codes": call(_closed(Collection.create_for_codes), any_places, numbers, texts),
    "Collection.open": call(_closed(Collection.open), any_places),
    "Collection.exists": call(Collection.exists, any_places),
    "Collection.check": call(Collection.check, any_places),
    "Collection.repair": call(Collection.repair, any_places),
    "Collection.restore": call(Collection.restore, paths, any_places),
    "Collection.upgrade": call(Collection.upgrade, any_places),
    "HammingIndex.create": call(_closed(HammingIndex.create), any_places, numbers | strange.scalars),
    "HammingIndex.open": call(_closed(HammingIndex.open), any_places),
    "HammingIndex.exists": call(HammingIndex.exists, any_places),
    "HammingIndex.check": call(HammingIndex.check, any_places),
    "HammingIndex.repair": call(HammingIndex.repair, any_places),
    "HammingIndex.upgrade": call(HammingIndex.upgrade, any_places),
    "search.open_store": call(_closed(search.open_store), any_places),
    "search.store_exists": call(search.store_exists, any_places),
    "search.is_served": call(search.is_served, any_places),
    "search.check_store": call(search.check_store, any_places),
    "search.repair_store": call(search.repair_store, any_places),
    **calls(
        "search",
        {search.nearest: (packed, packed, st.integers(0, 9)), search.within: (packed, packed, numbers)},
    ),
    **calls("search.filters", {filters.parse: (wheres,), filter_text.from_text: (few_texts,)}),
}
OF_VALUES: Calls = {
    **calls(
        "evaluate",
        {
            evaluate.distinct_codes: (packed,),
            evaluate.precision_at_k: (packed, labels_of, packed, labels_of, numbers),
            evaluate.leave_one_out_precision: (packed, labels_of, numbers),
            evaluate.matching_at_k: (packed, packed, numbers),
            evaluate.label_matrix: (labels,),
            evaluate.labelled_precision: (packed, labels, numbers),
            evaluate.ranking_scores: (labels_of, labels_of, numbers),
            evaluate.drift: (packed, packed, st.lists(numbers, max_size=3)),
        },
    ),
    **calls(
        "data",
        {
            data.benchmark: (texts | paths,),
            data.benchmark_names: (),
            data.corpus_names: (),
            data.corpus_path: (texts | st.just("reuters"),),
            data.data_folder: (),
            data.documents_from: (many,),
            data.every_tenth: (st.integers(0, 100),),
            data.label_column: (metadata, texts, st.just("x")),
            data.locate: (texts | st.sampled_from(["reuters", "notes.jsonl", "-"]),),
            data.write_jsonl: (new_files, st.lists(st.dictionaries(texts, strange.values, max_size=3), max_size=3)),
            data.write_export: (new_files, st.lists(entries, max_size=3), st.just(16), texts),
        },
    ),
    "data.blocks": call(
        lambda many: list(data.blocks(data.Document(**fields) for fields in many)),
        st.lists(fields_of_documents, max_size=3),
    ),
    "data.content_of": call(
        lambda fields, kind: data.content_of(data.Document(**fields), kind),
        fields_of_documents,
        st.sampled_from(["text", "vector"]),
    ),
    "data.read_documents": call(
        _read,
        paths,
        st.fixed_dictionaries({}, optional={"text": texts, "id": texts, "vector": texts, "format": texts}),
    ),
    "data.uniform_sample": call(data.uniform_sample, st.lists(st.integers()), st.integers(-2, 9)),
    "data.write_codes": call(_write_codes, ids, codes, st.integers(1, 20)),
    "data.write_pairs": call(_write_pairs, st.sampled_from(["new", "pairs", "index"]).map(Path), st.integers(0, 9)),
    **calls(
        "data",
        dict.fromkeys(
            (
                data.read_matrix,
                data.read_codes,
                pairs.read_pairs,
                pairs.read_pair_texts,
                pairs.describe_pairs,
                read_mat,
                data.holds_codes,
                data.holds_matrix,
                pairs.holds_pairs,
                data.newsgroups_records,
                data.reuters_records,
            ),
            (paths,),
        ),
    ),
}
