"""Tasks: their scores against plain numpy, their parts, and what they hand to a method."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ammi.data.pairs import ArticlePairs
from ammi.hashers import AMMI, BOW, LSH, VDSH
from ammi.tuning.tasks import PairTask, documents_task, named_task
from tests.conftest import topics
from tests.tuning.small import small_pairs, small_task


def test_precision_is_the_share_of_neighbours_with_the_label():
    task = small_task()
    hasher = LSH(16, random_state=0)
    task.fit(hasher)
    bits, base = hasher.transform(task.cv), hasher.transform(task.train)
    order = np.argsort((bits[:, None] != base).sum(-1), axis=1, kind="stable")[:, :100]
    assert task.validation(hasher) == pytest.approx((task.train_labels[order] == task.cv_labels[:, None]).mean() * 100)
    assert task.test(hasher)["distinct"] == len(np.unique(base, axis=0))


def test_matching_is_the_share_of_articles_that_find_theirs():
    task = PairTask(small_pairs())
    hasher = LSH(8, random_state=0)
    task.fit(hasher)
    X, Y = (hasher.transform(side) for side in task.pairs.test)
    nearest = np.argsort((Y[:, None] != X).sum(-1), axis=1, kind="stable")[:, :100]
    measured = task.test(hasher)
    assert measured["test"] == pytest.approx((nearest == np.arange(110)[:, None]).any(1).mean() * 100)
    sides = [hasher.transform(side) for side in task.pairs.train]
    assert (measured["distinct"], measured["documents"]) == (len(np.unique(np.concatenate(sides), axis=0)), 400)


def test_matching_among_a_hundred_is_refused():
    X, _ = topics(100)
    with pytest.raises(ValueError, match="100 pairs in the validation part: top-100 matching needs more than 100"):
        PairTask(ArticlePairs((X, X), (X, X), (X, X)))


def test_a_fingerprint_tells_tasks_apart():
    one, other = small_task(), small_task()
    assert one.fingerprint() == other.fingerprint()
    other.cv_labels = other.cv_labels[::-1]
    assert one.fingerprint() != other.fingerprint()
    assert PairTask(small_pairs()).fingerprint() != PairTask(small_pairs(seed=5)).fingerprint()


def test_pairs_are_learned_from_where_the_method_can():
    task = PairTask(small_pairs())
    hasher = AMMI(8, related_encoder="own", epochs=1, random_state=0, verbose=False)
    task.fit(hasher)
    assert hasher.predictive_
    task.fit(BOW())
    with pytest.raises(ValueError, match="VDSH has no predictive form"):
        task.fit(VDSH(8, verbose=False))


def test_every_epoch_is_watched():
    seen: list[float] = []
    hasher = AMMI(8, epochs=3, random_state=0, verbose=False)
    small_task().fit(hasher, seen.append)
    assert seen == [row["score"] for row in hasher.history_]


def test_an_interrupted_training_is_no_result():
    def interrupt(score: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small_task().fit(AMMI(8, epochs=3, random_state=0, verbose=False), interrupt)


def test_texts_with_labels_are_shared_out_by_place():
    texts = [f"word{i} common {'sea' if i % 3 else 'sky'}" for i in range(40)]
    labels = [["sea"] if i % 3 else None for i in range(40)]
    task = documents_task(texts, labels)
    sizes = [sum(1 for i in range(40) if i % 3 and i % 10 in places) for places in (range(8), (8,), (9,))]
    assert [part.shape[0] for part in (task.train, task.cv, task.held_out)] == sizes
    with pytest.raises(ValueError, match="1 of 40 documents have labels: too few"):
        documents_task(texts, ["one", *[None] * 39])


def test_a_name_that_is_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("AMMI_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="no benchmark is called 'nothing'"):
        named_task("nothing")
    (tmp_path / "notes.jsonl").touch()
    with pytest.raises(ValueError, match=r"notes.jsonl is neither a .mat file nor article pairs"):
        named_task(str(tmp_path / "notes.jsonl"))


@pytest.mark.parametrize("sparse", [False, True])
def test_vectors_with_labels_are_shared_out_by_place(sparse):
    X, labels = topics(200)
    rows: Any = X if sparse else X.toarray()
    task = documents_task(rows, labels.tolist())
    assert isinstance(task.train, csr_matrix) == sparse
    part: Any
    for part, places in ((task.train, range(8)), (task.cv, (8,)), (task.held_out, (9,))):
        expected = rows[np.isin(np.arange(200) % 10, list(places))]
        np.testing.assert_array_equal(part.toarray() if sparse else part, expected.toarray() if sparse else expected)
    task.fit(LSH(16, random_state=0))
