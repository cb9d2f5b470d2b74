"""Labels from those of a few documents, and documents that no neighbour explains."""

import numpy as np
import pytest

from ammi import AMMI, LSH, Collection, DocumentHasher
from tests.cli.conftest import SUBJECTS, notes

RNG = np.random.default_rng(0)
SUBJECT_OF = {note["id"]: note["subject"] for note in notes(300)}
ODD = [" ".join(RNG.permutation(["quark", "gluon", "boson", "lepton", "spin", "charm"])) for _ in range(4)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    documents = notes(300)
    model = DocumentHasher(AMMI(16, epochs=20, batch_size=16, learning_rate=0.03, random_state=0, verbose=False))
    model.fit([one["text"] for one in documents])
    with Collection.create(tmp_path_factory.mktemp("labels") / "notes", model) as collection:
        collection.add(documents)
        yield collection


def of_each(n):
    chosen: dict[str, str] = {}
    for subject in SUBJECTS:
        chosen |= dict.fromkeys([id for id in SUBJECT_OF if SUBJECT_OF[id] == subject][:n], subject)
    return chosen


def test_a_few_labels_give_all_others(collection):
    known = of_each(4)
    done: list[int] = []
    found = collection.classify(known, advance=done.append)
    assert {one.id for one in found} == SUBJECT_OF.keys() - known.keys()
    assert np.mean([one.label == SUBJECT_OF[one.id] for one in found]) > 0.95
    assert sum(done) == 2 * len(collection)


def test_the_unsure_come_first_with_probabilities(collection):
    found = collection.classify(of_each(4))
    margins = [one.margin for one in found]
    assert margins == sorted(margins)
    assert np.allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    last = found[-1]
    row = dict(zip(found.labels, found.probabilities[-1].tolist(), strict=True))
    assert last.label == max(row, key=lambda label: row[label])
    assert last.probability == pytest.approx(row[last.label])
    first, second = sorted(row.values())[-2:][::-1]
    assert last.margin == pytest.approx(first - second, abs=1e-6)
    assert found[:2] == [found[0], found[1]]


def test_labels_may_be_metadata_and_lists(collection):
    chosen = of_each(4)
    collection.set_metadata(list(chosen), [{"topic": [subject]} for subject in chosen.values()])
    by_key, by_id = collection.classify("topic"), collection.classify(chosen)
    assert by_key.ids == by_id.ids
    assert by_key.labels == by_id.labels
    with pytest.raises(ValueError, match="has the key 'topics': the keys there are"):
        collection.classify("topics")


def test_codes_alone(collection, tmp_path):
    ids, codes = collection.codes()
    with Collection.create_for_codes(tmp_path / "codes", 16, "of another program") as alone:
        alone.add_codes(codes, ids, fingerprint="of another program")
        found = alone.classify(of_each(4))
        assert np.mean([one.label == SUBJECT_OF[one.id] for one in found]) > 0.9
        assert len(alone.outliers(3)) == 3


def test_labels_that_teach_nothing_are_refused(collection):
    with pytest.raises(ValueError, match="1 different labels"):
        collection.classify({"note-0": "sea", "note-3": None, "note-6": "sea"})
    with pytest.raises(ValueError, match="no document has the id 'note-999'"):
        collection.classify({"note-0": "sea", "note-999": "sky"})
    with pytest.raises(ValueError, match="cannot be a label of document 'note-0'"):
        collection.classify({"note-0": {"a": 1}, "note-1": "sky"})


def test_documents_of_another_subject_are_the_outliers(tmp_path):
    texts = [note["text"] for note in notes(300)]
    with Collection.create(tmp_path / "all", DocumentHasher(LSH(32, random_state=0)).fit(texts + ODD)) as collection:
        collection.add(texts + ODD, ids=[*range(300), "a", "b", "c", "d"])
        done: list[int] = []
        found = collection.outliers(10, advance=done.append)
        assert {one.id for one in found[:4]} == {"a", "b", "c", "d"}
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        assert sum(done) == 2 * len(collection)
        with pytest.raises(ValueError, match="ask for 1 or more"):
            collection.outliers(0)


def test_few_documents_have_few_outliers(tmp_path):
    with Collection.create(tmp_path / "few", DocumentHasher(LSH(16, random_state=0)).fit(["a wave", "a cloud"])) as few:
        assert few.outliers() == []
        few.add(["a wave", "a cloud", "a wing", ""])
        assert len(few.outliers(10)) == 4
