"""An index of any store does what a dict and a plain numpy ranking do, whatever happens to it, in whatever order."""

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ammi.search import Entry, HammingIndex, KeptVectors, Store
from ammi.search.ranking import VectorRanking
from ammi.search.vectors import VECTOR_KINDS, packed, unpacked
from tests.search.metadata import KEYS, filters, metadata
from tests.search.plain import PlainIndex, random_codes
from tests.search.stores import EXAMPLES, LOCATIONS, PostgresStore, every_store

ids = st.integers(-2, 6) | st.sampled_from(["", "1", "-2", "01", "1.0", "b", "\0", "καὶ", 2**62, -(2**63)])
documents = st.lists(st.tuples(ids, st.none() | st.text(max_size=5), metadata), max_size=8)
seeds = st.integers(0, 2**32 - 1)


class Changes(RuleBasedStateMachine):
    """Random changes, each made on the index and on its plain twin, and the same questions asked to both."""

    store: type[Store]
    vectors: Any  # KeptVectors, or None

    @initialize(
        m=st.integers(1, 130), keys=st.sets(st.sampled_from(KEYS)), kind=st.none() | st.sampled_from(VECTOR_KINDS)
    )
    def create(self, m, keys, kind):
        self.home = self.folder()
        self.m = m
        self.vectors = None if kind is None else KeptVectors(kind, 3)
        location = LOCATIONS[self.store](Path(self.home.name))
        self.index = self.store.create(location, m, keys=keys, vectors=self.vectors)
        self.plain = PlainIndex(m)

    def folder(self) -> tempfile.TemporaryDirectory:
        return tempfile.TemporaryDirectory()

    def codes(self, n, seed):
        return random_codes(np.random.default_rng(seed % 7), n, self.m, distinct=5)  # few seeds: many equal codes

    def rows(self, n, seed):
        """Vectors to add, and the same as they are kept; of a few small numbers, so that many cosines are equal."""
        if self.vectors is None:
            return None, [None] * n
        rows = np.random.default_rng(seed % 7).integers(-2, 3, (n, self.vectors.width)).astype(np.float32)
        return rows, list(unpacked(packed(rows, self.vectors, [""] * n), self.vectors))

    @rule(documents=documents, seed=seeds)
    def add_or_replace(self, documents, seed):
        ids, texts, metadata = zip(*documents, strict=True) if documents else ((), (), ())
        codes, (rows, kept) = self.codes(len(ids), seed), self.rows(len(ids), seed)
        assert self.index.add(codes, ids, texts, metadata, vectors=rows) == list(ids)
        self.plain.add(codes, ids, texts, metadata, kept)

    @rule(n=st.integers(1, 1500), seed=seeds)
    def add_many_without_ids(self, n, seed):
        numbers = list(range(self.plain.number, self.plain.number + n))
        codes, (rows, kept) = self.codes(n, seed), self.rows(n, seed)
        self.plain.add(codes, numbers, [None] * n, [{} for _ in numbers], kept)
        assert self.index.add(codes, vectors=rows) == numbers

    def some(self, share, seed):
        draws = np.random.default_rng(seed).random(len(self.plain.documents))
        return [id for id, draw in zip(self.plain.ids(), draws, strict=True) if draw < share]

    @rule(share=st.floats(0, 1), seed=seeds)
    def delete_some(self, share, seed):
        chosen = self.some(share, seed)
        self.index.delete(map(str, chosen))
        self.plain.delete(chosen)

    @rule(share=st.floats(0, 0.3), seed=seeds, metadata=metadata)
    def set_some_metadata(self, share, seed, metadata):
        chosen = self.some(share, seed)
        self.index.set_metadata(map(str, chosen), metadata)
        self.plain.set_metadata(chosen, metadata)

    @rule(keys=st.sets(st.sampled_from(KEYS)))
    def index_keys(self, keys):
        self.index.index_keys(keys)

    def compare(self, ask: Callable[[], Any], expected: Any, where: dict[str, Any] | None) -> None:
        """The same answer; or a complaint, where the plain twin too finds nothing in an index that is not empty."""
        try:
            found = ask()
        except ValueError as error:
            refused = str(error)
        else:
            assert found == expected
            return
        assert "no document has the metadata key" in refused or "but its values are of the kind" in refused
        assert self.plain.documents
        assert not self.plain.kept(where)

    @rule(q=st.integers(0, 5), k=st.integers(1, 40), where=st.none() | filters, seed=seeds)
    def search(self, q, k, where, seed):
        codes = self.codes(q, seed)
        expected = [hits[:k] for hits in self.plain.ranked(codes, where)]
        self.compare(lambda: self.index.search(codes, k, where), expected, where)

    @rule(q=st.integers(0, 5), radius=st.integers(0, 130) | st.just(2**40), where=st.none() | filters, seed=seeds)
    def within(self, q, radius, where, seed):
        codes = self.codes(q, seed)
        expected = [[hit for hit in hits if hit.distance <= radius] for hits in self.plain.ranked(codes, where)]
        self.compare(lambda: self.index.within(codes, radius, where), expected, where)

    @precondition(lambda self: self.vectors is not None)
    @rule(k=st.integers(1, 40), more=st.integers(0, 40), where=st.none() | filters, seed=seeds)
    def search_by_vectors(self, k, more, where, seed):
        (code,) = codes = self.codes(1, seed)
        query = np.random.default_rng(seed).normal(size=self.vectors.width)
        kept = self.plain.kept(where)
        near = sorted(kept, key=lambda entry: np.bitwise_count(entry.code ^ code).sum())[: k + more]  # a stable order
        rows = [entry for entry in kept if any(entry is one for one in near)]
        scores = [cosine(query, entry.vector) for entry in rows]
        order = sorted(range(len(rows)), key=lambda row: -round(scores[row], 12))[:k]
        expected = [(rows[row].id, pytest.approx(scores[row], abs=1e-12)) for row in order]
        self.compare(
            lambda: [
                (hit.id, hit.score)
                for hit in self.index.search_ranked(codes, [VectorRanking(query)], k, where, shortlist=k + more)[0]
            ],
            expected,
            where,
        )

    @rule(where=st.none() | filters)
    def go_through_entries(self, where):
        expected = [content(entry) for entry in self.plain.kept(where)]
        self.compare(
            lambda: [content(entry) for block in self.index.entries(where) for entry in block], expected, where
        )

    @rule(m=st.integers(1, 130), width=st.none() | st.integers(1, 4), seed=seeds)
    def recode(self, m, width, seed):
        self.m = self.plain.m = m
        rng = np.random.default_rng(seed)
        new = {id: random_codes(rng, 1, m, distinct=5)[0] for id in self.plain.documents}
        if self.vectors is not None and width is not None:
            self.vectors = self.vectors._replace(width=width)
            rows, kept = self.rows(len(new), seed)
        else:
            width, rows, kept = None, None, [entry.vector for entry in self.plain.documents.values()]
        row_of = {id: row for row, id in enumerate(new)}

        def encode(entries):
            chosen = [row_of[str(entry.id)] for entry in entries]
            return np.array([new[str(entry.id)] for entry in entries]), None if rows is None else rows[chosen]

        encoded: list[int] = []
        self.index.recode(
            encode,
            m,
            fingerprint=f"model {seed}",
            files={"model": str(seed).encode()},
            width=width,
            advance=encoded.append,
        )
        assert self.index.vectors == self.vectors
        assert sum(encoded) == len(new)
        assert (self.index.n_bits, self.index.fingerprint) == (m, f"model {seed}")
        assert self.index.files() == {"model": str(seed).encode()}
        for id, code in new.items():
            self.plain.documents[id] = self.plain.documents[id]._replace(code=code, vector=kept[row_of[id]])

    @rule()
    def reopen(self):
        self.index.close()
        self.index = self.store.open(self.index.location)

    @invariant()
    def all_is_there(self):
        ids, codes = self.index.export()
        assert list(map(repr, ids)) == list(map(repr, self.plain.ids()))  # of the types they were added with
        assert list(self.index) == ids
        assert len(self.index) == len(ids) == len(codes)
        expected = list(self.plain.documents.values())
        np.testing.assert_array_equal(codes, np.array([doc.code for doc in expected], np.uint8).reshape(codes.shape))
        assert list(map(content, self.index.get(ids[-20:]))) == list(map(content, expected[-20:]))
        assert self.index.column("a") == [doc.metadata.get("a") for doc in expected]
        counts = {key: len(self.plain.kept({key: {"exists": True}})) for key in KEYS}
        assert self.index.keys() == {key: n for key, n in sorted(counts.items()) if n}

    def teardown(self):
        if hasattr(self, "index"):
            self.index.close()
            self.home.cleanup()


def content(entry: Entry) -> tuple:
    vector = None if entry.vector is None else entry.vector.tolist()
    return entry.id, entry.code.tobytes(), entry.text, entry.metadata, vector


def cosine(a: np.ndarray, b: Any) -> float:
    length = np.linalg.norm(a) * np.linalg.norm(b.astype(np.float64))
    return float(a @ b.astype(np.float64) / length) if length else 0.0


@pytest.mark.slow
@every_store
def test_any_changes_in_any_order(store):
    machine = type(f"{store.__name__}Changes", (Changes,), {"store": store})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=EXAMPLES.get(store, 30), stateful_step_count=15, deadline=None)
    )


@pytest.fixture
def index(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8) as index:
        yield index


CODES = np.arange(3, dtype=np.uint8)[:, None]


@every_store
def test_a_number_and_its_text_are_one_id(index):
    """The same documents from JSONL and from CSV must not be there twice."""
    index.add(CODES, [1, 17, "x"])
    index.add(CODES, ["1", "17", "007"], texts=["a", "b", "c"])
    assert list(index) == ["x", "1", "17", "007"]
    assert [entry.text for entry in index.get([17, "17", "007"])] == ["b", "b", "c"]
    assert 17 in index
    assert "17" in index
    assert all(id not in index for id in (7, "7", "017", 17.0, None, True))
    index.add(CODES[:1], [17])
    assert list(index) == ["x", "1", "007", 17]
    assert index.add(CODES[:1]) == [18]
    index.delete([1, "1", "17"])
    assert list(index) == ["x", "007", 18]


@every_store
def test_within_one_call_the_last_of_an_id_counts(index):
    assert index.add(CODES, [5, "5", 6], texts=["first", "last", None]) == [5, "5", 6]
    assert [(entry.id, entry.text) for block in index.entries() for entry in block] == [("5", "last"), (6, None)]


@every_store
def test_the_codes_of_documents_are_those_that_they_were_added_with(index):
    codes = np.arange(200, dtype=np.uint8)[:, None]
    index.add(codes)
    index.delete(range(20, 40))
    asked = np.random.default_rng(0).permutation(200).tolist()
    found = index.codes_of([*asked, asked[0], "nobody"])
    expected = [None if 20 <= id < 40 else codes[id].tobytes() for id in asked]
    assert [code if code is None else code.tobytes() for code in found] == [*expected, expected[0], None]


@every_store
def test_a_list_in_the_metadata_has_each_of_its_values(index):
    index.add(CODES, ["a", "b", "c"], metadata=[{"labels": ["earn", "acq"]}, {"labels": "earn"}, {"labels": []}])
    found = [[hit.id for hit in index.search(CODES[:1], where={"labels": w})[0]] for w in ("earn", ["acq", "grain"])]
    assert found == [["a", "b"], ["a"]]


@every_store
def test_entries_keep_their_view_while_the_index_changes(index):
    index.add(np.zeros((3000, 1), np.uint8), metadata=[{"n": 0}] * 3000)
    seen: list[int] = []
    for block in index.entries():
        seen += [entry.metadata["n"] for entry in block]
        index.set_metadata([entry.id for entry in block], {"n": 1})
        index.delete([block[0].id])
        index.add(CODES, texts=["late"] * 3, metadata=[{"n": 2}] * 3)
    assert seen == [0] * 3000
    assert set(index.column("n")) == {1, 2}


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_nothing_is_changed_inside_of_a_block_that_sees_one_state(index):
    index.add(CODES)
    with index.snapshot():
        for change in (lambda: index.add(CODES), lambda: index.delete([0]), lambda: index.set_metadata([0], {"a": 1})):
            with pytest.raises(ValueError, match="end the block first"):
                change()
        assert len(index) == 3
    index.delete([0])
    assert len(index) == 2


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_a_snapshot_covers_every_read(index):
    index.add(CODES, metadata=[{"a": 1}] * 3)
    with ThreadPoolExecutor(1) as others, index.snapshot():
        first, second = index.entries(), index.entries({"a": 1})
        before = next(first)
        others.submit(index.delete, [0]).result()
        assert len(index) == len(list(index)) == len(index.export()[0]) == len(index.column("a")) == 3
        assert [entry.id for block in index.entries() for entry in block] == [0, 1, 2]
        assert len(next(second)) == len(before) == 3
        assert list(first) == []
        late = index.entries()
        next(late)
    with pytest.raises(ValueError, match=r"has ended: read its documents inside of the block"):
        next(late)
    assert len(index) == len(list(index)) == sum(map(len, index.entries())) == 2


@every_store
def test_the_state_is_another_after_every_change(index):
    states = [index.state()]
    for change in (
        lambda: index.add(CODES, texts=["a", "b", "c"]),
        lambda: index.add(CODES[:1], [1]),
        lambda: index.set_metadata([0], {"a": 1}),
        lambda: index.delete([2]),
        lambda: index.recode(lambda entries: (CODES[: len(entries)], None), 8, fingerprint="new", files=None),
    ):
        change()
        states.append(index.state())
        assert index.state() == states[-1]
    if states[0] is not None:  # that of a store which cannot tell
        assert len(set(states)) == len(states)


@every_store
def test_entries_that_nobody_finishes_leave_nothing_open(index):
    index.add(CODES)
    assert len(next(index.entries())) == 3


@every_store
def test_metadata_is_set_for_all_or_for_each(index):
    index.add(CODES, ["a", "b", "c"], metadata=[{"x": 1, "y": 1}, {}, {"x": 3}])
    index.set_metadata(["a", "b", "a"], [{"x": 2}, {"y": 2}, {"z": 2}])
    index.set_metadata(["c", "a"], {"w": None})
    assert [entry.metadata for entry in index.get(["a", "b", "c"])] == [
        {"x": 2, "y": 1, "z": 2, "w": None},
        {"y": 2},
        {"x": 3, "w": None},
    ]
    assert list(index) == ["a", "b", "c"]
    assert index.keys() == {"x": 2, "y": 2, "z": 1}


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_what_is_added_during_a_recode_is_encoded_too(index):
    index.add(np.zeros((3000, 1), np.uint8), texts=["old"] * 3000)
    calls: list[int] = []

    def encode(entries):
        if not calls:
            index.add(CODES, [5, "new", 3000], texts=["new"] * 3)
            index.delete([7])
            index.set_metadata([8, 2999], {"late": True})
        calls.append(len(entries))
        codes = [[len(entry.text) + 100 * entry.metadata.get("late", 0), 0x80] for entry in entries]
        return np.array(codes, np.uint8), None

    index.recode(encode, 9, fingerprint="new", files=None)
    ids, codes = index.export()
    assert len(ids) == 3001
    assert ids[-3:] == [5, "new", 3000]
    of = dict(zip(ids, codes.tolist(), strict=True))
    assert 7 not in of
    assert [of[id] for id in (0, 5, 8, 2999, "new")] == [[3, 0x80], [3, 0x80], [103, 0x80], [103, 0x80], [3, 0x80]]
    assert sum(calls) < 3100  # only what changed is encoded again
    assert [hit.id for hit in index.search(codes[[6]], 3)[0]] == [8, 2999, 0]


@every_store
def test_a_recode_that_fails_changes_nothing(index):
    index.add(CODES, texts=["a", "b", "c"])
    for wrong, words in ((CODES[:1], "1 codes of 3 documents"), (CODES.astype(int), "codes are int64")):
        with pytest.raises(ValueError, match=words):
            index.recode(lambda entries, wrong=wrong: (wrong, None), 8, fingerprint="new", files={"a": b"b"})
    assert (index.fingerprint, index.files()) == (None, {})
    np.testing.assert_array_equal(index.export()[1], CODES)


@every_store
def test_hits_become_a_data_frame(index):
    pytest.importorskip("pandas")
    index.add(CODES, ["a", "b", "c"], ["A", None, "C"], [{"year": 1987}, {"id": "mine"}, {}])
    frame = index.search(CODES[:1])[0].to_pandas()
    assert list(frame.columns) == ["id", "distance", "score", "text", "year", "metadata.id"]
    assert frame["id"].tolist() == ["a", "b", "c"]
    assert frame["score"].tolist() == [1, 7 / 8, 7 / 8]
    assert frame["year"][0] == 1987
    assert frame["metadata.id"][1] == "mine"
    assert list(index.within(CODES[:1] + 64, 0)[0].to_pandas().columns) == ["id", "distance", "score", "text"]
