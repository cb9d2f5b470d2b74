"""The paper's sets: read once, and refused with a sentence where they cannot be had."""

from itertools import chain

import pytest

from ammi.data import corpus_path
from ammi.data.pairs import read_pair_texts
from ammi.tuning.display import SILENT
from ammi.tuning.tasks import LabelledTask
from reproduction.folder import PaperFolder
from reproduction.plan import PAPER, QUICK, TINY, TINY_PAIRS, WHO_DID_WHAT
from reproduction.sets import CORPORA, SIZE, PaperSets, tiny_articles


def test_the_tiny_set_is_read_once_and_has_three_parts(tmp_path):
    sets = PaperSets(PaperFolder(tmp_path, QUICK), SILENT)
    task = sets.task(TINY)
    assert sets.task(TINY) is task
    assert isinstance(task, LabelledTask)
    sizes = [part.shape[0] for part in (task.train, task.cv, task.held_out)]
    assert 0.5 * SIZE < sum(sizes) <= SIZE
    assert sizes[0] == pytest.approx(0.8 * sum(sizes), abs=8)


@pytest.mark.slow
def test_the_tiny_pairs_are_halves_of_docstrings(tmp_path):
    texts = {article.id: article.text or "" for article in tiny_articles()}
    assert 2 * SIZE < len(texts) <= 4 * SIZE
    place = PaperSets(PaperFolder(tmp_path, QUICK), SILENT).pairs(TINY_PAIRS)
    pairs = read_pair_texts(place)
    assert min(map(len, pairs.values())) > 200
    for first, second in chain(*pairs.values()):
        assert first["labels"] == second["labels"]
        whole = texts[first["title"]]
        assert whole.startswith(first["text"])
        assert whole.rstrip().endswith(second["text"])


def test_pairs_that_are_there_are_not_made_again(tmp_path):
    folder = PaperFolder(tmp_path, QUICK)
    folder.pairs(TINY_PAIRS).mkdir(parents=True)
    assert PaperSets(folder, SILENT).pairs(TINY_PAIRS) == folder.pairs(TINY_PAIRS)
    assert list(folder.pairs(TINY_PAIRS).iterdir()) == []


def test_published_pairs_that_are_not_there_are_asked_for(tmp_path):
    (tmp_path / "runs" / WHO_DID_WHAT).mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="name the published pairs with --pairs FILE"):
        PaperSets(PaperFolder(tmp_path, PAPER), SILENT).task(WHO_DID_WHAT)


def test_every_set_of_pairs_has_its_corpus():
    assert tuple(CORPORA) == PAPER.pair_sets
    try:
        assert all(corpus_path(corpus).exists() for corpora, _ in CORPORA.values() for corpus in corpora)
    except FileNotFoundError as error:
        pytest.skip(f"needs the corpora: {error}")
