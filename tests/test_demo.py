"""The demo's steps: what they leave behind, and that a second one takes the place of the first."""

import numpy as np
import pytest

import ammi
from ammi.data import read_documents
from ammi.demo import Demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Demo:
    made = Demo(tmp_path_factory.mktemp("demo"), packages=["numpy"], epochs=1)
    made.read()
    made.learn()
    return made


def test_it_leaves_documents_a_model_and_a_collection(demo):
    documents = list(read_documents(demo.folder / "docstrings.jsonl.gz"))
    assert [document.id for document in documents] == [record["id"] for record in demo.records]
    assert ammi.load(demo.folder / "model").fingerprint_ == demo.model.fingerprint_
    for _ in range(2):
        with demo.build() as collection:
            assert [entry.id for entry in collection] == [document.id for document in documents]
            assert collection.indexed_keys() == ["package"]
            assert collection.search("median of an array")[0].metadata.keys() == {"kind", "package", "label"}


def test_the_best_precision_is_that_of_a_perfect_ranking(demo):
    labels = np.array(demo.labels)
    held_out = np.arange(len(labels)) % 10 == 9
    best = [min((labels[~held_out] == label).sum(), 100) for label in labels[held_out]]
    assert demo.best_precision() == pytest.approx(np.mean(best))
    assert [score.method for score in demo.compare()] == ["LSH", "BOW", "AMMI"]
    assert all(0 < score.precision <= demo.best_precision() for score in demo.compare())


def test_a_place_that_cannot_be_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    demo = Demo(tmp_path / "file")
    with pytest.raises(FileExistsError):
        demo.read()
    assert not hasattr(demo, "records")
