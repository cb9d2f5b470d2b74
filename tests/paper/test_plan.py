"""The plan: what each table is made of, that it says so without reading a file, and that the kept results are its."""

from dataclasses import replace
from itertools import product
from pathlib import Path

from ammi.tuning.experiments import default_parameters
from reproduction.folder import PaperFolder
from reproduction.plan import (
    ARTICLE_HALVES,
    PAPER,
    PAPERS_OBJECTIVE,
    QUICK,
    TABLE_1,
    TABLE_2,
    WHO_DID_WHAT,
    Found,
    Plan,
    Scale,
    tuned_methods,
)
from tests.paper.made_up import all_experiments, all_searches

KEPT = Path(__file__).parents[2] / "results" / "paper"


def found_everywhere(scale: Scale, **parameters: object) -> Found:
    tables = ((scale.sets, TABLE_1), (scale.pair_sets, TABLE_2))
    return {key: parameters for names, table in tables for key in product(names, tuned_methods(table))}


def test_every_cell_of_the_tables_is_planned_once_everything_is_found():
    plan = Plan(PAPER, found_everywhere(PAPER))
    cells = [(cell.row, cell.task, cell.bits) for cell in plan.table1()]
    widths = {"BOW": (0,), "BMMI": (16,)}
    assert cells == [
        (row.name, name, bits) for row in TABLE_1 for name in PAPER.sets for bits in widths.get(row.name, PAPER.bits)
    ]
    several = {"DVQ", "BMSH", "AMMI", "BMMI", "AMMI, recipe"}
    assert all(len(cell.experiments) == (3 if cell.row in several else 1) for cell in plan.table1())
    assert [(cell.row, cell.task) for cell in plan.table2()] == list(
        product(("BOW", "BMSH", "DVQ", "AMMI", "AMMI, recipe"), PAPER.pair_sets)
    )
    assert all(len(cell.experiments) == (1 if cell.row == "BOW" else 3) for cell in plan.table2())


def test_the_papers_objective_sets_all_that_the_recipe_adds():
    """So that no default that changes is taken for the paper's."""
    added = {"neighbours", "word_dropout", "related_encoder", "first_bits", "reorder", "epochs", "prior_order"}
    for method, objective in PAPERS_OBJECTIVE.items():
        assert objective.keys() == added & default_parameters(method).keys()


def test_what_was_not_searched_for_is_not_planned():
    found = dict(found_everywhere(PAPER))
    del found["ng20", "ammi"], found["reuters-pairs", "ammi"]
    plan = Plan(PAPER, found)
    missing = {(cell.row, cell.task) for cell in Plan(PAPER, found_everywhere(PAPER)).table1()} - {
        (cell.row, cell.task) for cell in plan.table1()
    }
    assert missing == {("AMMI", "ng20")}  # and not the recipe, which has the defaults
    assert ("AMMI", "reuters-pairs") not in {(cell.row, cell.task) for cell in plan.table2()}
    assert list(plan.table3()) == ["newsgroup-replies", "article-halves"]
    assert {cell.row for cell in Plan(PAPER).table1()} == {row.name for row in TABLE_1 if not row.tuned}


def test_tuned_lines_run_with_what_was_found():
    plan = Plan(PAPER, found_everywhere(PAPER, learning_rate=0.5))
    for cell in plan.table1():
        tuned = cell.row in ("DVQ", "BMSH", "AMMI", "BMMI")
        for experiment in cell.experiments:
            assert (experiment.parameters.get("learning_rate") == 0.5) == tuned


def test_searches():
    planned = {(one.search.task, one.search.method): one for one in Plan(PAPER).searches("table1")}
    assert list(planned) == list(product(PAPER.sets, ("dvq", "bmsh", "ammi", "bmmi")))
    assert {(method, one.search.bits, one.trials) for (_, method), one in planned.items()} == {
        ("dvq", 64, 12),
        ("bmsh", 64, 12),
        ("ammi", 64, 12),
        ("bmmi", 16, 6),
    }
    assert planned["ng20", "ammi"].search.fixed == PAPERS_OBJECTIVE["ammi"]
    assert planned["ng20", "bmmi"].search.fixed == PAPERS_OBJECTIVE["bmmi"]
    assert planned["ng20", "dvq"].search.fixed == {}
    of_pairs = {(one.search.task, one.search.bits, one.trials) for one in Plan(PAPER).searches("table2")}
    assert of_pairs == {("reuters-pairs", 128, 6), ("newsgroup-replies", 128, 6), (ARTICLE_HALVES, 128, 3)}
    assert Plan(PAPER).searches("table3") == Plan(PAPER).searches("table2")
    assert Plan(PAPER).searches("figure1") == []


def test_figure_1_has_priors_at_least_as_rich_as_the_encoder():
    lines = Plan(PAPER).figure1()
    assert lines.keys() == {("bmmi", 0, 0), *(("ammi", o, r) for o in (0, 1) for r in range(11) if r >= o)}
    for (method, order, prior), experiments in lines.items():
        papers = {name: value for name, value in PAPERS_OBJECTIVE[method].items() if name != "prior_order"}
        assert all(experiment.parameters.items() >= papers.items() for experiment in experiments)
        assert [experiment.parameters["entropy_weight"] for experiment in experiments] == [2.0, 3.0]
        if method == "ammi":
            orders = [(one.parameters["order"], one.parameters["prior_order"]) for one in experiments]
            assert orders == [(order, prior)] * 2


def test_table_3_walks_among_codes_of_table_2_where_there_are_texts():
    scale = replace(PAPER, pair_sets=(*PAPER.pair_sets, WHO_DID_WHAT))
    plan = Plan(scale, found_everywhere(scale, batch_size=32))
    assert tuple(plan.table3()) == PAPER.pair_sets
    table2 = [experiment for cell in plan.table2() for experiment in cell.experiments]
    assert all(experiment in table2 for experiment in plan.table3().values())


def test_a_scale_with_fewer_epochs_has_them_wherever_a_method_has_epochs():
    plan = Plan(QUICK, found_everywhere(QUICK))
    for of in (*all_experiments(plan), *(search.experiment({}) for search in all_searches(plan))):
        for name in ("epochs", "pretraining_epochs"):
            shortened = QUICK.epochs if name in default_parameters(of.method) else None
            assert of.effective_parameters.get(name) == shortened


def test_the_kept_results_are_those_of_the_plan():
    """Where they were made once, they are found: neither paths nor digests nor what is left out have changed."""
    folder = PaperFolder(KEPT, PAPER)
    plan = folder.plan()
    assert plan.found.keys() == found_everywhere(PAPER).keys()
    assert folder.results.missing(all_experiments(plan)) == []
    assert all(len(folder.trials(planned.search)) >= planned.trials for planned in plan.searches("table1"))
    assert all(len(folder.trials(planned.search)) >= planned.trials for planned in plan.searches("table2"))
    assert all(folder.bound(order).exists() for order in PAPER.bound_orders)
    assert all(folder.walks(experiment).exists() for experiment in plan.table3().values())
