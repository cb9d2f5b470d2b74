"""Collection: documents of every kind in, the same answers as plain numpy out, on every store."""

import gc
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import ammi
from ammi import AMMI, LSH, Collection, DocumentHasher
from ammi.evaluate import labelled_precision
from ammi.features import VectorFeatures, WordFeatures
from ammi.features.alphabet import searched_terms
from ammi.hashers import SpH
from ammi.search.wanted import words_by_stem
from tests.oracles import text_cosines
from tests.search.stores import LOCATIONS

SUBJECTS = {
    "oil": "crude oil barrels opec output",
    "grain": "wheat corn harvest tonnes export",
    "bank": "loan rate debt",
}


def text_of(number: int) -> str:
    subject = list(SUBJECTS)[number % 3]
    words = SUBJECTS[subject].split()
    return " ".join([*words, words[number % len(words)], f"word{number}"])


TEXTS = [text_of(number) for number in range(60)]
RECORDS = [
    {"id": f"d{n}", "text": text, "labels": [list(SUBJECTS)[n % 3]], "year": 1987 + n % 5, "title": f"title {n}"}
    for n, text in enumerate(TEXTS)
]


@pytest.fixture(scope="module")
def model() -> DocumentHasher:
    return DocumentHasher(AMMI(16, epochs=5, batch_size=16, random_state=0, verbose=False)).fit(TEXTS)


@pytest.fixture(scope="module")
def other_model() -> DocumentHasher:
    return DocumentHasher(LSH(24, random_state=1), WordFeatures(vocabulary_size=50)).fit(TEXTS)


@pytest.fixture(params=LOCATIONS, ids=lambda store: store.__name__)
def location(request, tmp_path) -> str:
    return LOCATIONS[request.param](tmp_path)


@pytest.fixture
def collection(location, model) -> Iterator[Collection]:
    with Collection.create(location, model, keys=["year"]) as created:
        created.add(RECORDS)
        yield created


def distances(model: DocumentHasher, query: str) -> np.ndarray:
    """The plain twin: the distance of every text of TEXTS."""
    return (model.transform(TEXTS) != model.transform([query])).sum(axis=1)


def expected_ids(model: DocumentHasher, query: str, kept: Callable[[int], bool] = lambda n: True) -> list[str]:
    away = distances(model, query)
    order = sorted((n for n in range(len(TEXTS)) if kept(n)), key=lambda n: (away[n], n))
    return [f"d{n}" for n in order]


def test_a_search_finds_what_plain_numpy_finds(collection, model):
    for query in ("oil output", "wheat", "nothing that is known", ""):
        hits = collection.search(query, k=7, rank="distance")
        assert [hit.id for hit in hits] == (expected_ids(model, query)[:7] if collection.knows(query) else [])
        assert [hit.distance for hit in hits] == sorted(distances(model, query))[: len(hits)]
        assert all(hit.score == 1 - hit.distance / 16 for hit in hits)
    for rank in (None, "distance", "asymmetric", "text"):
        many = collection.search_many(["oil", "wheat"], k=3, rank=rank)
        assert [list(hits) for hits in many] == [collection.search(query, 3, rank=rank) for query in ("oil", "wheat")]
    radius = int(np.median(distances(model, "oil")))
    near = collection.within("oil", radius)
    assert [hit.id for hit in near] == expected_ids(model, "oil")[: len(near)]
    assert len(near) == (distances(model, "oil") <= radius).sum()


def test_filters_reach_the_engine(collection, model):
    hits = collection.search("oil", 60, {"year": {">=": 1990}, "labels": "oil"}, rank="distance")
    assert [hit.id for hit in hits] == expected_ids(model, "oil", lambda n: n % 5 >= 3 and n % 3 == 0)
    with pytest.raises(ValueError, match=r"'yeer'.*year"):
        collection.search("oil", where={"yeer": 1987})


def test_a_question_answered_without_the_whole_model_has_the_same_answer(collection, model, monkeypatch):
    quick = collection._stored().quick
    assert quick is not None
    assert quick.encode(TEXTS).tobytes() == model.encode(TEXTS).tobytes()
    ranks = (None, "distance", "asymmetric", "text")
    expected = [collection.search("oil", 5, rank=rank) for rank in ranks]
    with Collection.open(collection.location) as opened:
        monkeypatch.setattr(type(opened._stored()), "whole", property(lambda self: pytest.fail("it was loaded")))
        assert [opened.search("oil", 5, rank=rank) for rank in ranks] == expected


def test_codes_and_probabilities_of_queries_are_the_models(collection, model):
    assert collection.encode(TEXTS).tobytes() == model.encode(TEXTS).tobytes()
    expected = model.hasher_.bit_probabilities(model.features_.transform(TEXTS))
    np.testing.assert_allclose(collection.bit_probabilities(TEXTS), expected, atol=1e-5)
    assert collection.encode([]).shape == (0, -(-collection.n_bits // 8))
    assert collection.bit_probabilities([]).shape == (0, collection.n_bits)
    with pytest.raises(ValueError, match="is no text, which is what this collection's model reads"):
        collection.encode([np.zeros(3)])
    with pytest.raises(ValueError, match="is no text, which is what this collection's model reads"):
        collection.bit_probabilities([np.zeros(3)])
    with pytest.raises(ValueError, match="is no text, which is what this collection's model reads"):
        collection.knows(np.zeros(3))


def test_the_asymmetric_rank_goes_by_the_probability_that_the_query_gives_to_a_code(collection, model):
    p = model.hasher_.bit_probabilities(model.features_.transform(["oil output"])).astype(np.float64)[0]
    bits = model.transform(TEXTS)
    log_p, opposite = ((np.log(p) * z + np.log(1 - p) * (1 - z)).sum(axis=1) for z in (bits, 1 - bits))
    hits = collection.search("oil output", 60, rank="asymmetric")
    cosines = (log_p - opposite) / np.linalg.norm(np.log(p / (1 - p))) / np.sqrt(len(p))
    scores = dict(zip((f"d{n}" for n in range(60)), cosines, strict=True))
    assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], abs=1e-3)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.distance for hit in hits] == [distances(model, "oil output")[int(hit.id[1:])] for hit in hits]


def test_words_that_nobody_knows_are_reported_and_find_nothing(collection):
    assert collection.search("crude oil").unknown == []
    some = collection.search("crude xyzzyfoo barrels")
    assert (some.unknown, len(some)) == (["xyzzyfoo"], 10)
    for rank in ("text", "distance", "asymmetric"):
        assert collection.search("xyzzyfoo C++", rank=rank) == []
    assert collection.search("xyzzyfoo C++").unknown == ["xyzzyfoo", "c++"]
    assert collection.search("") == []
    assert collection.within("xyzzyfoo C++", collection.n_bits) == collection.drift(query="xyzzyfoo C++") == []
    assert "No document has xyzzyfoo." in repr(some)


def test_a_text_is_found_by_its_words_unless_it_is_said_otherwise(collection, model):
    """The documents that have the words of a question come first, those with its rare words before all."""
    assert collection.search("word17 barrels", 3) == collection.search("word17 barrels", 3, rank="text")
    hits = collection.search("word17 barrels", 3)
    assert hits[0].id == "d17"  # no other has that word, which the model does not know
    assert all("barrels" in hit.text for hit in hits[1:])
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.id for hit in collection.search("word17 barrels", 3, {"year": 1987})].count("d17") == 0
    with pytest.raises(ValueError, match=r"rank is 'words', but there are 'distance', 'asymmetric', 'text'"):
        collection.search("oil", rank="words")


def test_a_collection_without_a_word_index_answers_by_its_codes(location, model):
    with Collection.create(location, model, text_index=False) as created:
        created.add(RECORDS)
        by_distance = created.search("word17 barrels", 9, rank="distance")
        assert [hit.id for hit in by_distance] == expected_ids(model, "word17 barrels")[:9]
        assert created.search("word17 barrels", 9) == created.search("word17 barrels", 9, rank="asymmetric")
        with pytest.raises(ValueError, match="text_index=False"):
            created.search("oil", rank="text")


@pytest.mark.parametrize("order", [0, 1])
def test_vectors_are_ranked_by_bits(order, location):
    X = np.random.default_rng(0).standard_normal((40, 12)).astype(np.float32)
    hasher = AMMI(16, order=order, epochs=1, random_state=0, verbose=False).fit(X)
    with Collection.create(location, hasher) as created:
        created.add(X)
        p = hasher.bit_probabilities(X[:1]).astype(np.float64)[0]
        bits = hasher.transform(X)
        logits = np.log(p / (1 - p))
        scores = (2.0 * bits - 1) @ logits / np.linalg.norm(logits) / 4
        found = created.search(X[0], 40, rank="asymmetric")
        assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found], abs=1e-3)
        assert created.search(X[0], 5) == created.search(X[0], 5, rank="asymmetric")
        with pytest.raises(ValueError, match='use "distance", "asymmetric" or "vectors"'):
            created.search(X[0], rank="text")


def test_a_method_that_is_not_sure_of_bits_says_so(location):
    model = DocumentHasher(SpH(8, random_state=0)).fit(TEXTS)
    with Collection.create(location, model) as created:
        created.add(TEXTS)
        with pytest.raises(ValueError, match="the model does not tell how sure"):
            created.search("oil", rank="asymmetric")


def test_a_default_search_needs_no_heavy_library(tmp_path, model):
    """The words of a question are looked for without what learned the model."""
    with Collection.create(tmp_path / "location", model) as created:
        created.add(RECORDS)
    code = (
        "import sys; from ammi import Collection\n"
        f"with Collection.open({str(tmp_path / 'location')!r}) as collection:\n"
        "    print(*(hit.id for rank in (None, 'asymmetric') for hit in collection.search('word17', 1, rank=rank)))\n"
        "    assert collection.describe()['vocabulary']\n"
        "print({'torch', 'sklearn', 'scipy', 'numba', 'pandas'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.split()[0] == "d17"
    assert found.splitlines()[1] == "set()"


def test_like_leaves_the_document_itself_out_and_orders_ties_by_words(collection, model):
    own, away = TEXTS[4], distances(model, TEXTS[4])
    others = [n for n in np.argsort(away, kind="stable").tolist() if n != 4]

    def expected(near: list[int]) -> list[str]:
        cosines = dict(zip(near, text_cosines(own, [TEXTS[n] for n in near], str), strict=True))
        return [f"d{n}" for n in sorted(near, key=lambda n: (away[n], -round(cosines[n], 9)))]

    tied = expected([n for n in others if away[n] <= away[others[4]]])
    assert [hit.id for hit in collection.like("d4", k=5)] == tied[:5]
    assert collection.drift("d4", distances=[0])[0].id == tied[0]
    radius = 2
    within = expected([n for n in others if away[n] <= radius])
    assert [hit.id for hit in collection.like("d4", radius=radius)] == within
    collection.add({"id": f"copy {n}", "text": f"{TEXTS[n]}!"} for n in (4, *others[:3]))
    everything = [hit.id for hit in collection.like("d4", k=100)]
    distinct = [hit.id for hit in collection.like("d4", k=100, distinct=True)]
    assert distinct == [id for id in everything if id in distinct]
    assert len(collection.like("d4", k=2, distinct=True)) == 2
    assert "copy 4" in everything
    assert "copy 4" not in distinct
    assert all(
        {f"d{n}", f"copy {n}"} <= {*everything} and not {f"d{n}", f"copy {n}"} <= {*distinct} for n in others[:3]
    )
    with pytest.raises(ValueError, match="'nobody'"):
        collection.like("nobody")


def test_drift_goes_farther_and_farther(collection, model):
    walk = collection.drift("d0", distances=(0, 2, 4))
    away = distances(model, TEXTS[0])
    for hit in walk:
        assert hit.distance == away[int(hit.id[1:])]
    assert [hit.distance for hit in walk] == sorted(hit.distance for hit in walk)
    assert "d0" not in [hit.id for hit in walk]
    assert collection.drift(query=TEXTS[0], distances=(0,))[0].distance == 0
    for wrong in ({}, {"id": "d0", "query": "oil"}):
        with pytest.raises(ValueError, match="one of the two"):
            collection.drift(**wrong)


def test_drift_may_leave_out_copies(collection):
    """Copies have the code of their original: they would be the first step from it, and stand beside others."""
    collection.add(TEXTS[:10], ids=[f"copy {n}" for n in range(10)])
    assert collection.drift("d4", distances=(0, 4))[0].id == "copy 4"
    everything = range(collection.n_bits + 1)
    shown = [hit.text for hit in collection.drift("d4", distances=everything, distinct=True)]
    assert TEXTS[4] not in shown
    assert len(set(shown)) == len(shown) > 3
    ids = [hit.id for hit in collection.drift(query=TEXTS[4], distances=everything, distinct=True)]
    assert len({"d4", "copy 4"} & {*ids}) == 1


def test_duplicates_are_copies_of_what_is_kept(collection):
    """Subjects alone made groups of thousands; here every document has one of three."""
    assert collection.duplicates(0.9) == []
    words = [f"{TEXTS[n]} and" for n in range(20)]
    half, whole, longer = (" ".join(part) for part in (words[:10], words, [*words[:10], "more words", *words[10:]]))
    collection.add([half, whole, longer], ids=["half", "whole", "longer"])
    told: list[int] = []
    (group,) = collection.duplicates(0.9, advance=told.append)
    assert (group.kept, group.duplicates) == ("longer", [("half", 1.0), ("whole", 1.0)])
    assert sum(told) == 2 * len(collection)
    collection.delete([copy for copy, _ in group.duplicates])
    assert collection.duplicates(0.9) == []
    with pytest.raises(ValueError, match="threshold is 3"):
        collection.duplicates(3)


def test_a_match_is_the_near_duplicate_and_the_nearest(collection, model, tmp_path):
    longer = " ".join(f"{text} and" for text in TEXTS[:20])
    collection.add([longer], ids=["longer"])
    new = [
        {"id": "inside", "text": " ".join(longer.split()[30:90])},
        {"id": "around", "text": f"before it {longer} and behind it"},
        {"id": "other", "text": "wheat exports"},
    ]
    told: list[int] = []
    found = list(collection.match(new, k=3, advance=told.append))
    assert sum(told) == 2 * len(collection) + 3 * len(new)
    assert [(match.id, match.duplicate) for match in found] == [
        ("inside", ("longer", 1.0)),
        ("around", ("longer", 1.0)),
        ("other", None),
    ]
    assert [match.nearest for match in found] == collection.search_many([one["text"] for one in new], 3)
    assert next(collection.match(["crude -barrels"])).nearest[0].text.startswith("crude oil barrels")  # no query signs
    with Collection.create(tmp_path / "new", model) as others:
        others.add(new)
        assert list(collection.match(others, k=3)) == found
        reverse = {match.id: match.duplicate for match in others.match(collection)}
        assert reverse["longer"] == ("inside", 1.0)  # of equals the first
    with pytest.raises(ValueError, match="threshold is 3"):
        next(collection.match(new, threshold=3))
    with pytest.raises(ValueError, match="'v' has no text, which the model reads"):
        list(collection.match([{"id": "v", "vector": [1.0, 2.0]}]))


def test_evaluate_is_the_labelled_precision(collection, model):
    labels = [record["labels"] for record in RECORDS]
    found = collection.evaluate("labels", k=10)
    assert found == labelled_precision(model.encode(TEXTS), labels, 10)
    assert collection.evaluate("labels", k=1000).k == 59
    queries = [{"text": "opec oil", "labels": ["oil"]}, {"text": "corn", "labels": ["grain"]}]
    expected = labelled_precision(
        model.encode(TEXTS), labels, 5, model.encode([query["text"] for query in queries]), [["oil"], ["grain"]]
    )
    assert collection.evaluate("labels", queries=queries, k=5) == expected
    with pytest.raises(ValueError, match=r"'label'.*labels"):
        collection.evaluate("label")


def test_a_model_and_a_collection_do_not_share_a_folder(collection, model, tmp_path):
    model.save(tmp_path / "model")
    for make in (
        lambda: collection.copy(tmp_path / "model"),
        lambda: Collection.create(tmp_path / "model", model),
    ):
        with pytest.raises(FileExistsError, match="holds a model: name another location"):
            make()
    model.save(tmp_path / "model")
    (tmp_path / "model" / "mine.txt").touch()
    with pytest.raises(ValueError, match=r"holds mine\.txt beside a model, and would be replaced"):
        model.save(tmp_path / "model")


def test_documents_can_be_got_changed_and_deleted(collection, model):
    entry = collection.get("d7")
    assert (entry.id, entry.text, entry.metadata["year"]) == ("d7", TEXTS[7], 1989)
    assert entry.code.tobytes() == model.encode([TEXTS[7]])[0].tobytes()
    assert [one.id for one in collection.get(["d1", "d0"])] == ["d1", "d0"]
    collection.set_metadata("d7", {"read": True})
    assert collection.get("d7").metadata == {**entry.metadata, "read": True}
    collection.set_metadata(["d1", "d2"], [{"a": 1}, {"a": 2}])
    assert [one.metadata["a"] for one in collection.get(["d1", "d2"])] == [1, 2]
    assert len(collection) == 60
    assert "d7" in collection
    assert [one.id for one in collection] == [f"d{n}" for n in range(60)]
    collection.delete("d7")
    collection.delete(["d8", "d9"])
    assert "d7" not in collection
    assert len(collection) == 57
    with pytest.raises(ValueError, match="'d7'"):
        collection.delete(["d10", "d7"])
    assert "d10" in collection


KINDS: dict[str, Callable] = {
    "texts": lambda: [record["text"] for record in RECORDS],
    "an iterator of texts": lambda: (record["text"] for record in RECORDS),
    "dicts": lambda: RECORDS,
    "an iterator of dicts": lambda: iter(RECORDS),
    "a DataFrame": lambda: pd.DataFrame(RECORDS),
    "an Arrow table": lambda: pa.Table.from_pylist(RECORDS),
    "a column of texts": lambda: pd.Series(TEXTS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_every_kind(kind, location, model):
    with Collection.create(location, model) as created:
        ids = created.add(KINDS[kind]())
        has_ids = "text" not in kind
        assert ids == [f"d{n}" for n in range(60)] if has_ids else list(range(60))
        assert [entry.text for entry in created] == TEXTS
        assert created.get(ids[3]).metadata == (
            {"labels": ["oil"], "year": 1990, "title": "title 3"} if has_ids else {}
        )


def test_texts_with_ids_of_their_own(location, model):
    with Collection.create(location, model) as created:
        assert created.add(TEXTS[:3], ids=["a", "b", 7]) == ["a", "b", 7]
        assert created.get("7").id == 7
        for wrong in (["a"], ["a", "b", "c", "d"]):
            with pytest.raises(ValueError, match="one for each"):
                created.add(TEXTS[:3], ids=wrong)


@pytest.mark.parametrize("sparse", [False, True])
def test_vectors_with_ids(sparse, location):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12)).astype(np.float32)
    rows = csr_matrix(X) if sparse else X
    hasher = LSH(32, random_state=0).fit(rows)
    with Collection.create(location, hasher) as created:
        assert created.add(rows, ids=[f"v{n}" for n in range(40)])[:2] == ["v0", "v1"]
        hits = created.search(X[5], k=3)
        assert hits[0][:2] == ("v5", 0)
        assert created.add([{"id": "w", "vector": X[1], "text": "kept", "year": 3}]) == ["w"]
        assert created.get("w")[2:4] == ("kept", {"year": 3})
        assert [hit.id for hit in created.search("kept")] == ["w"]  # by its words
        with pytest.raises(ValueError, match="is no vector"):
            created.search("kept", rank="distance")
        with pytest.raises(ValueError, match="has no vector"):
            created.add(["a text"])
        with pytest.raises(ValueError, match="40 vectors came with 3 ids"):
            created.add(rows, ids=[1, 2, 3])
        assert created.model.encode(rows).tobytes() == hasher.encode(rows).tobytes()


def test_a_model_of_vectors_can_be_learned_as_a_document_hasher(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 8))
    model = DocumentHasher(AMMI(16, epochs=1, random_state=0, verbose=False), VectorFeatures()).fit(X)
    model.save(tmp_path / "model")
    with Collection.create(tmp_path / "location", tmp_path / "model") as created:
        assert created.add(X) == list(range(50))
        assert created.search(X[9], 1)[0].distance == 0


def test_a_text_model_wants_texts(collection):
    with pytest.raises(ValueError, match="is no text"):
        collection.search(np.ones(3))
    with pytest.raises(ValueError, match=r"document 'x' has no text"):
        collection.add([{"id": "x", "vector": [1.0, 2.0]}])
    assert len(collection) == 60


def test_hits_become_a_data_frame(collection):
    frame = collection.search("oil", 3).to_pandas()
    assert list(frame.columns[:4]) == ["id", "distance", "score", "text"]
    assert {"year", "labels", "title"} <= set(frame.columns)
    assert len(frame) == 3


def test_rebuild_changes_everything_over_to_the_new_model(collection, model, other_model):
    collection.rebuild(other_model)
    assert collection.n_bits == 24
    expected = expected_ids(other_model, "oil")[:5]
    assert [hit.id for hit in collection.search("oil", 5, rank="distance")] == expected
    with Collection.open(collection.location) as opened:
        assert [hit.id for hit in opened.search("oil", 5, rank="distance")] == expected
        assert opened.model.fingerprint_ == other_model.fingerprint_
        assert opened.add(["crude oil"]) == [0]


def test_another_handle_notices_the_new_model(collection, model, other_model):
    with Collection.open(collection.location) as reader:
        assert [hit.id for hit in reader.search("oil", 5, rank="distance")] == expected_ids(model, "oil")[:5]
        collection.rebuild(other_model)
        assert [hit.id for hit in reader.search("oil", 5, rank="distance")] == expected_ids(other_model, "oil")[:5]
        assert reader.add([{"id": "new", "text": TEXTS[0]}]) == ["new"]
        assert reader.get("new").code.tobytes() == other_model.encode([TEXTS[0]])[0].tobytes()


def test_what_cannot_be_encoded_anew_is_refused(location, model, other_model):
    with Collection.create_for_codes(location, 16, model.fingerprint_) as created:
        created.add_codes(model.encode(TEXTS), [f"d{n}" for n in range(60)], fingerprint=model.fingerprint_)
        assert created.like("d0", 3)
        assert [match.nearest for match in created.match(created, 2)] == [
            created.store.search(code[None], 2)[0] for code in model.encode(TEXTS)
        ]
        for refused in (lambda: created.search("oil"), lambda: list(created.match(["oil"]))):
            with pytest.raises(ValueError, match="made from codes alone"):
                refused()
        with pytest.raises(ValueError, match=r"document 'd0' has no text"):
            created.rebuild(other_model)
        with pytest.raises(ValueError, match="reads vectors"):
            created.rebuild(LSH(8).fit(np.ones((2, 3))))
        assert created.n_bits == 16


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.parquet"])
def test_what_was_exported_can_be_added_again(name, collection, model, other_model, tmp_path):
    collection.add([{"id": 5, "text": "Ünï \u2028 code", "nested": {"a": [1, None]}, "code": "x"}])
    file = tmp_path / name
    assert collection.export(file) == 61
    for each, kept in ((model, True), (other_model, False)):
        with Collection.create(tmp_path / f"again-{kept}-{name}", each) as again:
            again.add(file)
            for old, new in zip(collection, again, strict=True):
                assert (old.id, old.text, old.metadata) == (new.id, new.text, new.metadata)
                assert (old.code.tobytes() == new.code.tobytes()) == kept or not kept
            assert again.get(5).code.tobytes() == each.encode(["Ünï \u2028 code"])[0].tobytes()


def test_a_folder_of_a_model_or_of_a_hasher_is_a_model_too(tmp_path, model):
    model.save(tmp_path / "model")
    with Collection.create(tmp_path / "a", str(tmp_path / "model")) as created:
        assert created.model.fingerprint_ == model.fingerprint_
    LSH(8, random_state=0).fit(np.ones((2, 3))).save(tmp_path / "hasher")
    with Collection.create(tmp_path / "b", tmp_path / "hasher") as created:
        assert created.add(np.ones((1, 3))) == [0]
    with pytest.raises(ValueError, match="there is no folder"):
        Collection.create(tmp_path / "c", tmp_path / "nowhere")
    assert not (tmp_path / "c").exists()


def test_a_wrong_place_is_refused_with_help(tmp_path, model):
    with pytest.raises(FileNotFoundError, match="there is no collection"):
        Collection.open(tmp_path / "nowhere")
    with Collection.create(tmp_path / "location", model), pytest.raises(FileExistsError, match="holds a collection"):
        Collection.create(tmp_path / "location", model)
    with pytest.raises(ValueError, match=r"'nothing://host/db'.*folder"):
        Collection.open("nothing://host/db")


def test_it_says_what_it_is(collection):
    about = collection.describe()
    assert (about["documents"], about["bits"], about["method"]) == (60, 16, "AMMI")
    assert about["keys"]["year"] == 60
    assert about["indexed_keys"] == list(collection.store.indexed_keys)
    assert json.dumps(about)
    assert collection.knows("crude")
    assert not collection.knows("zzz")


def test_files_of_a_model_stay_inside_their_folder(tmp_path, model):
    from ammi.files import read_folder, with_checksums

    files = {**model.to_files(), "../evil": b"x"}
    assert DocumentHasher.from_files(files).fingerprint_ == model.fingerprint_  # it has no checksum: no part of it
    with pytest.raises(ValueError, match="outside"):
        DocumentHasher.from_files(with_checksums(files))
    (tmp_path / "folder").mkdir()
    (tmp_path / "evil").write_bytes(b"x")
    (tmp_path / "folder" / "SHA256SUMS").write_bytes(with_checksums({"../evil": b"x"})["SHA256SUMS"])
    with pytest.raises(ValueError, match="outside"):
        read_folder(tmp_path / "folder")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=40), max_size=8), query=st.text(max_size=20))
def test_any_texts_can_be_added_and_found(texts, query, model, tmp_path_factory):
    with Collection.create(tmp_path_factory.mktemp("any") / "location", model) as created:
        ids = created.add(texts)
        assert [entry.text for entry in created.get(ids)] == texts
        found = created.search(query, k=3)  # by words alone, if the model knows none of the query's
        asked = {word for words in words_by_stem(query, created.store.language).values() for word in words}
        having = sum(not asked.isdisjoint(searched_terms(text)) for text in texts)
        assert len(found) == min(len(texts) if created.knows(query) else having, 3)
        hits = created.search(query, k=3, rank="distance")
        away = (model.transform(texts) != model.transform([query])).sum(axis=1) if texts else np.empty(0)
        assert [hit.distance for hit in hits] == (sorted(away.tolist())[:3] if created.knows(query) else [])


def open_files(folder: Path) -> list[str]:
    return [file.path for file in psutil.Process().open_files() if Path(file.path).is_relative_to(folder)]


def test_a_collection_that_is_forgotten_is_closed(tmp_path, model):
    """Where it is forgotten, and where a process ends that has it open."""
    location = tmp_path / "location"
    collection = Collection.create(location, model)
    collection.add(["crude oil"])
    assert open_files(location)
    del collection
    gc.collect()
    assert not open_files(location)
    code = f"""
        import warnings
        import ammi
        warnings.simplefilter("error")
        left = ammi.Collection.open({str(location)!r})
        print(len(left))
    """
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "1\n"
    assert "ResourceWarning" not in ran.stderr


def test_readers_in_another_process_see_all_old_or_all_new(tmp_path, model, other_model):
    location = tmp_path / "location"
    with Collection.create(location, model) as created:
        created.add(RECORDS)
        reader = subprocess.Popen(
            [sys.executable, "-c", _READER, str(location)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert reader.stdout
        assert reader.stdout.readline() == "ready\n"
        for number in range(6):
            created.rebuild((other_model, model)[number % 2])
        seen, _ = reader.communicate("stop\n", timeout=300)
    answers = {tuple(expected_ids(each, "oil")[:5]) for each in (model, other_model)}
    found = {tuple(line.split()) for line in seen.splitlines()}
    assert found
    assert found <= answers


_READER = """
import sys, threading
import ammi

stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
with ammi.Collection.open(sys.argv[1]) as collection:
    print("ready", flush=True)
    while True:
        last = stop.is_set()
        print(*(hit.id for hit in collection.search("oil", 5, rank="distance")), flush=True)
        if last:
            break
"""


def test_the_public_name_is_the_class():
    assert ammi.Collection is Collection
    assert Path(sys.modules[Collection.__module__].__file__ or "").name == "collection.py"
