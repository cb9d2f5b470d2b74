"""A HammingIndex does what a dict and a plain numpy ranking do, whatever happens to it, in whatever order."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ammi.search import HammingIndex
from tests.search.plain import PlainIndex, random_codes

ids = st.integers(-2, 6) | st.sampled_from(["", "1", "2", "b", "\0", "καὶ", 2**62, -(2**63)])
values = st.sampled_from([None, True, 0, 1, 1.5, "1", "", "a\0b", 'qu"ote', ["x"]])
metadata = st.dictionaries(st.sampled_from(["a", 'b"', "ç", "\0"]), values, max_size=3)
filters = st.none() | st.dictionaries(st.sampled_from(["a", 'b"']), values | st.lists(values, max_size=3), max_size=2)
documents = st.lists(st.tuples(ids, st.none() | st.text(max_size=5), metadata), max_size=8)
seeds = st.integers(0, 2**32 - 1)


class Changes(RuleBasedStateMachine):
    """Random changes, each made on the index and on its plain twin, and the same questions asked to both."""

    @initialize(m=st.integers(1, 130))
    def create(self, m):
        self.home = tempfile.TemporaryDirectory()
        self.m = m
        self.index = HammingIndex.create(Path(self.home.name) / "index", m)
        self.plain = PlainIndex()

    def codes(self, n, seed):
        return random_codes(np.random.default_rng(seed % 7), n, self.m, distinct=5)  # few seeds: many equal codes

    @rule(documents=documents, seed=seeds)
    def add_or_replace(self, documents, seed):
        ids, texts, metadata = zip(*documents, strict=True) if documents else ((), (), ())
        codes = self.codes(len(ids), seed)
        assert self.index.add(codes, ids, texts, metadata) == list(ids)
        self.plain.add(codes, ids, texts, metadata)

    @rule(n=st.integers(1, 1500), seed=seeds)
    def add_many_without_ids(self, n, seed):
        numbers = list(range(self.plain.number, self.plain.number + n))
        codes = self.codes(n, seed)
        self.plain.add(codes, numbers, [None] * n, [{} for _ in numbers])
        assert self.index.add(codes) == numbers

    @rule(share=st.floats(0, 1), seed=seeds)
    def delete_some(self, share, seed):
        draws = np.random.default_rng(seed).random(len(self.plain.documents))
        chosen = [id for id, draw in zip(self.plain.documents, draws, strict=True) if draw < share]
        self.index.delete(chosen)
        self.plain.delete(chosen)

    @rule(q=st.integers(0, 5), k=st.integers(1, 40), where=filters, seed=seeds)
    def search(self, q, k, where, seed):
        codes = self.codes(q, seed)
        assert self.index.search(codes, k, where) == [hits[:k] for hits in self.plain.ranked(codes, where)]

    @rule(q=st.integers(0, 5), radius=st.integers(0, 130), where=filters, seed=seeds)
    def within(self, q, radius, where, seed):
        codes = self.codes(q, seed)
        expected = [[hit for hit in hits if hit.distance <= radius] for hits in self.plain.ranked(codes, where)]
        assert self.index.within(codes, radius, where) == expected

    @rule()
    def reopen(self):
        self.index.close()
        self.index = HammingIndex.open(self.index.folder)

    @invariant()
    def all_is_there(self):
        ids, codes = self.index.export()
        assert ids == list(self.plain.documents)
        assert len(self.index) == len(ids) == len(codes)
        expected = list(self.plain.documents.values())
        np.testing.assert_array_equal(codes, np.array([doc.code for doc in expected], np.uint8).reshape(codes.shape))
        for found, document in zip(self.index.get(ids[-20:]), expected[-20:], strict=True):
            assert (found.id, found.text, found.metadata) == (document.id, document.text, document.metadata)
            np.testing.assert_array_equal(found.code, document.code)

    def teardown(self):
        if hasattr(self, "index"):
            self.index.close()
            self.home.cleanup()


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)


def test_a_list_in_the_metadata_has_each_of_its_values(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8) as index:
        codes = np.zeros((3, 1), np.uint8)
        index.add(codes, ["a", "b", "c"], metadata=[{"labels": ["earn", "acq"]}, {"labels": "earn"}, {"labels": []}])
        found = [
            [hit.id for hit in index.search(codes[:1], where={"labels": w})[0]] for w in ("earn", ["acq", "grain"])
        ]
        assert found == [["a", "b"], ["a"]]
