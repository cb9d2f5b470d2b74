"""The plan: what each table is made of, and that it says so without reading a file."""

from dataclasses import replace
from itertools import product
from pathlib import Path

from ammi.files import read_json
from ammi.tuning.experiments import default_parameters
from reproduction.folder import all_searches
from reproduction.plan import (
    CONTROLS,
    PAPER,
    PAPERS_OBJECTIVE,
    PARTS,
    QUICK,
    SEARCHED_PARTS,
    TABLE_1,
    WHO_DID_WHAT,
    Found,
    Place,
    Plan,
    Scale,
)
from tests.paper.made_up import all_experiments

SEARCHED = {"DVQ", "BMSH", "AMMI", "BMMI", "AMMI, exact adversary"}


def found_everywhere(scale: Scale, **parameters: object) -> Found:
    """Every search has found its fixed parameters and some others."""
    return {one.place: {**one.search.fixed, **parameters} for one in all_searches(Plan(scale))}


def test_every_cell_of_the_tables_is_planned_once_everything_is_found():
    plan = Plan(PAPER, found_everywhere(PAPER))
    cells = plan.cells("table1")
    widths = {"BOW": (0,), "BMMI": (16,)}
    assert [(cell.row, cell.task, cell.bits) for cell in cells] == [
        (row.name, name, bits) for row in TABLE_1 for name in PAPER.sets for bits in widths.get(row.name, PAPER.bits)
    ]
    several = {*SEARCHED, "AMMI, recipe"}
    assert all(len(cell.experiments) == (5 if cell.row in several else 1) for cell in cells)
    rows = ("BOW", "BMSH", "DVQ", "AMMI", "AMMI, exact adversary", "AMMI, recipe")
    assert [(cell.row, cell.task) for cell in plan.cells("table2")] == list(product(rows, PAPER.pair_sets))
    assert all(len(cell.experiments) == (1 if cell.row == "BOW" else 5) for cell in plan.cells("table2"))
    controls = [(cell.row, cell.task, cell.bits) for cell in plan.cells("controls")]
    assert controls == list(product((row.name for row in CONTROLS), PAPER.sets, PAPER.control_bits))


def test_no_two_places_have_one_file_name():
    names = [f"{place.task}-{place.key}-{place.bits}" for place in found_everywhere(PAPER)]
    assert len(set(names)) == len(names)


def test_the_papers_objective_sets_all_that_the_recipe_adds():
    """So that no default that changes is taken for the paper's."""
    added = {"neighbours", "word_dropout", "related_encoder", "first_bits", "reorder", "epochs", "prior_order"}
    for method, objective in PAPERS_OBJECTIVE.items():
        assert objective.keys() - {"adversary"} == added & default_parameters(method).keys()


def test_ammi_has_the_papers_adversary_everywhere():
    plan = Plan(PAPER, found_everywhere(PAPER))
    for part in SEARCHED_PARTS:
        for planned in plan.searches(part):
            if planned.search.method == "ammi":
                exact = planned.place.key == "ammi-exact-adversary"
                assert planned.search.fixed["adversary"] == ("exact" if exact else "gradient")
                assert "adversary" not in planned.search.grid
        for cell in plan.cells(part):
            if cell.row.startswith("AMMI") and cell.row not in ("AMMI, recipe", "AMMI, exact adversary"):
                assert {one.parameters["adversary"] for one in cell.experiments} == {"gradient"}


def test_what_was_not_searched_for_is_not_planned():
    found = dict(found_everywhere(PAPER))
    del found[Place("ng20", "ammi", 32)], found[Place("reuters-pairs", "ammi", 128)]
    plan, whole = Plan(PAPER, found), Plan(PAPER, found_everywhere(PAPER))

    def cells(of: Plan, part: str) -> set[tuple[str, str, int]]:
        return {(cell.row, cell.task, cell.bits) for cell in of.cells(part)}

    assert cells(whole, "table1") - cells(plan, "table1") == {("AMMI", "ng20", 32)}
    assert cells(whole, "table2") - cells(plan, "table2") == {("AMMI", "reuters-pairs", 128)}
    assert list(plan.table3()) == ["newsgroup-replies", "article-halves"]
    assert {cell.row for cell in Plan(PAPER).cells("table1")} == {row.name for row in TABLE_1 if not row.searched}


def test_searched_rows_run_with_what_was_found():
    plan = Plan(PAPER, found_everywhere(PAPER, learning_rate=0.5))
    for cell in plan.cells("table1"):
        for experiment in cell.experiments:
            assert (experiment.parameters.get("learning_rate") == 0.5) == (cell.row in SEARCHED)


def test_searches_are_at_each_width_with_equally_many_trials():
    planned = Plan(PAPER).searches("table1")
    widths = {"bmmi": (16,)}
    keys = ("dvq", "bmsh", "ammi", "bmmi", "ammi-exact-adversary")
    assert [one.place for one in planned] == [
        Place(name, key, bits) for key in keys for name in PAPER.sets for bits in widths.get(key, PAPER.bits)
    ]
    assert {one.trials for part in PARTS for one in Plan(PAPER).searches(part)} == {12}
    of_pairs = {(one.place.task, one.place.bits) for one in Plan(PAPER).searches("table2")}
    assert of_pairs == {(name, 128) for name in PAPER.pair_sets}
    assert Plan(PAPER).searches("table3") == Plan(PAPER).searches("table2")


def test_searches_have_the_published_ranges():
    grids = {one.place: one.search.grid for one in all_searches(Plan(PAPER))}
    ammi = grids[Place("ng20", "ammi", 16)]
    assert (ammi["adversary_layers"], ammi["adversary_size"]) == ((0, 1, 2), (0, 8, 12, 16, 20, 24, 28))
    assert (ammi["adversary_steps"], ammi["entropy_weight"]) == ((1, 2, 4), (1.0, 1.5, 2.0, 2.5, 3.0, 3.5))
    assert grids[Place("ng20", "dvq", 64)]["dimension"] == (1, 2, 4, 10, 50)
    assert grids[Place("ng20", "dvq", 128)]["dimension"] == (1, 2, 4, 10)  # 50 would have 64 million weights
    assert grids[Place("reuters-pairs", "dvq", 128)]["dimension"] == (1, 2, 4, 10)


def test_figure_1_has_priors_at_least_as_rich_as_the_encoder():
    plan = Plan(PAPER, found_everywhere(PAPER))
    rows = plan.order_rows()
    assert rows.keys() == {(o, r) for o in (0, 1) for r in range(11) if r >= o}
    for (order, prior), row in rows.items():
        assert (row.fixed.get("order", 0), row.fixed["prior_order"]) == (order, prior)
    cells = plan.cells("figure1")
    assert [cell.row for cell in cells] == ["BMMI", *(row.name for row in rows.values())]
    assert {(cell.task, cell.bits, len(cell.experiments)) for cell in cells} == {("reuters", 16, 5)}
    shared = {one.place for one in plan.searches("figure1")} & {one.place for one in plan.searches("table1")}
    assert shared == {Place("reuters", "ammi", 16), Place("reuters", "bmmi", 16)}


def test_table_3_walks_among_codes_of_table_2_where_there_are_texts():
    scale = replace(PAPER, pair_sets=(*PAPER.pair_sets, WHO_DID_WHAT))
    plan = Plan(scale, found_everywhere(scale, batch_size=32))
    assert tuple(plan.table3()) == PAPER.pair_sets
    table2 = [experiment for cell in plan.cells("table2") for experiment in cell.experiments]
    assert all(experiment in table2 for experiment in plan.table3().values())


def test_a_scale_with_fewer_epochs_has_them_wherever_a_method_has_epochs():
    plan = Plan(QUICK, found_everywhere(QUICK))
    for of in (*all_experiments(plan), *(one.search.experiment({}) for one in all_searches(plan))):
        for name in ("epochs", "pretraining_epochs"):
            shortened = QUICK.epochs if name in default_parameters(of.method) else None
            assert of.effective_parameters.get(name) == shortened


def test_the_kept_results_are_by_one_version():
    kept = Path(__file__).parents[2] / "results" / "paper"
    files = [path for part in ("runs", "bounds", "drift", "unseen") for path in (kept / part).rglob("*.json")]
    assert len({read_json(path)["ammi"] for path in files}) <= 1
