"""The folder of results: where each is, and what was found so far."""

from pathlib import Path

from ammi.files import write_json
from ammi.tuning.experiments import Experiment
from reproduction.folder import PaperFolder
from reproduction.plan import PAPER, WHO_DID_WHAT, Place, Plan

PLACE = Place("ng20", "dvq", 64)


def test_places():
    folder = PaperFolder(Path("kept"), PAPER)
    experiment = Experiment("reuters-pairs", "ammi", 128)
    assert folder.results.path(experiment) == Path("kept/runs", experiment.path)
    assert folder.walks(experiment) == Path("kept/drift", experiment.path)
    assert folder.search(PLACE) == Path("kept/tuning/ng20-dvq-64")
    assert folder.bound(3, 4) == Path("kept/bounds/reuters-3-1000-4.json")
    assert folder.unseen("agnews", "AMMI, recipe") == Path("kept/unseen/agnews/ammi-recipe-64.json")
    assert folder.pairs("reuters-pairs") == Path("kept/pairs/reuters-pairs")


def test_nothing_is_found_in_a_folder_that_is_not_there(tmp_path):
    folder = PaperFolder(tmp_path / "new", PAPER)
    assert folder.plan() == Plan(PAPER)
    assert folder.trials(PLACE) == []
    assert not (tmp_path / "new").exists()


def test_a_search_finds_the_trial_that_is_best_with_several_seeds(tmp_path):
    """The best trial had a lucky seed; the fourth is not run again, and the one that was given up neither."""
    folder = PaperFolder(tmp_path, PAPER)
    planned = next(one for one in Plan(PAPER).searches("table1") if one.place == PLACE)
    trials = [
        {"trial": n, "state": "pruned" if n == 4 else "complete", "validation": score, "parameters": {"dimension": n}}
        for n, score in enumerate((70.0, 82.0, 81.0, 80.0, 83.0))
    ]
    write_json(folder.search(PLACE) / "trials.json", {"trials": trials})
    finalists = folder.finalists(planned)
    assert [finalist.trial for finalist in finalists] == [1, 2, 3]
    assert [one.seed for one in finalists[0].experiments] == [0, 1, 2]

    scores = {1: (82.0, 43.0, 42.0), 2: (81.0, 79.0, 80.0), 3: (80.0, 79.0, 78.0)}
    for n, finalist in enumerate(finalists):
        assert folder.winner(planned) is None
        assert folder.plan().found == {}
        for one, score in zip(finalist.experiments, scores[n + 1], strict=True):
            write_json(folder.results.path(one), {"validation": score})
    winner = folder.winner(planned)
    assert winner is not None
    assert (winner.finalist, winner.validation) == (finalists[1], 80.0)
    assert folder.plan().found == {PLACE: {"dimension": 2}}


def test_the_published_pairs_join_where_their_file_is_given_or_results_of_them_are_there(tmp_path):
    file = tmp_path / "pairs.p"
    given = PaperFolder(tmp_path, PAPER, file)
    assert given.scale.pair_sets == (*PAPER.pair_sets, WHO_DID_WHAT)
    assert given.pairs(WHO_DID_WHAT) == file
    assert PaperFolder(tmp_path, PAPER).scale == PAPER
    (tmp_path / "runs" / WHO_DID_WHAT).mkdir(parents=True)
    assert PaperFolder(tmp_path, PAPER).scale == given.scale
