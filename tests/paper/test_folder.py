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
    assert (folder.found(PLACE), folder.trials(PLACE)) == (None, [])
    assert not (tmp_path / "new").exists()


def test_what_a_search_found_is_in_the_plan(tmp_path):
    folder = PaperFolder(tmp_path, PAPER)
    write_json(folder.search(PLACE) / "best.json", {"parameters": {"n_bits": 64, "dimension": 2}})
    assert folder.found(PLACE) == {"dimension": 2}
    assert folder.plan().found == {PLACE: {"dimension": 2}}


def test_the_published_pairs_join_where_their_file_is_given_or_results_of_them_are_there(tmp_path):
    file = tmp_path / "pairs.p"
    given = PaperFolder(tmp_path, PAPER, file)
    assert given.scale.pair_sets == (*PAPER.pair_sets, WHO_DID_WHAT)
    assert given.pairs(WHO_DID_WHAT) == file
    assert PaperFolder(tmp_path, PAPER).scale == PAPER
    (tmp_path / "runs" / WHO_DID_WHAT).mkdir(parents=True)
    assert PaperFolder(tmp_path, PAPER).scale == given.scale
