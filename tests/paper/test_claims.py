"""The verdicts on results of which the truth is known."""

from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.experiments import claims, published
from ammi.experiments.claims import AMMI, BMSH, NEIGHBOURS, RANKS, Check, Claim, all_claims, judged
from ammi.experiments.measured import Measured, PairScore
from ammi.experiments.paper import PAPER
from tests.experiments.made_up import as_published

precisions = st.floats(0, 100)
seeds = st.lists(precisions, min_size=1, max_size=3)


def shifted(measured: Measured, row: str, points: float) -> Measured:
    """The same results, but all of a method better by so many points."""
    for key, scores in measured.precision.items():
        if key[0] == row:
            measured.precision[key] = [score + points for score in scores]
    return measured


def ranks(measured: Measured) -> dict[str, int]:
    return {claim.claim: RANKS[claim.verdict] for claim in all_claims(measured)}


def test_the_papers_claims_hold_on_the_papers_figures():
    *papers, program = all_claims(as_published())
    assert [claim for claim in papers if claim.verdict != "holds"] == []
    assert all(claim.evidence for claim in papers)
    assert program.verdict == "holds in part"  # its program does better on tmc_small than it did on all of TMC


def test_published_figures_agree_with_the_published_averages():
    averages = {row: mean(sum(sets.values(), ())) for row, sets in published.TABLE_1.items() if row != "BMMI"}
    averages["BOW"] = mean(published.BOW.values())
    assert averages == pytest.approx(published.AVERAGES, abs=0.0051)
    assert mean(sum(published.PROGRAM.values(), ())) == pytest.approx(72.27, abs=0.005)


def test_nothing_is_judged_before_it_was_run():
    assert {claim.verdict for claim in all_claims(Measured(PAPER))} == {"not run yet"}


@given(st.data())
def test_a_claim_that_misses_a_figure_is_not_judged(data):
    measured = as_published()
    tables = (measured.precision, measured.orders, measured.bounds, measured.pairs, measured.drifts)
    table = data.draw(st.sampled_from(range(len(tables))))
    before = all_claims(measured)
    no_matter = {("BOW", name, 0) for name in PAPER.sets}  # no claim about precision names BOW
    figures = [key for key in tables[table] if key not in no_matter]
    del tables[table][data.draw(st.sampled_from(figures))]
    after = all_claims(measured)
    assert any(claim.verdict == "not run yet" for claim in after)
    assert all(new == old for old, new in zip(before, after, strict=True) if new.verdict != "not run yet")


@given(st.floats(-30, 30), st.floats(0, 30))
def test_a_better_ammi_is_never_judged_worse(points, more):
    worse, better = (ranks(shifted(as_published(), AMMI, shift)) for shift in (points, points + more))
    assert all(worse[claim] <= better[claim] for claim in worse)


@given(st.floats(-30, 30), st.floats(0, 30))
def test_a_better_rival_never_helps_ammi(points, more):
    before, after = (ranks(shifted(as_published(), BMSH, shift)) for shift in (points, points + more))
    assert all(after[claim] <= before[claim] for claim in before if claim.startswith("AMMI"))


@given(seeds, seeds)
def test_either_is_ahead_or_both_are_equal(ours, theirs):
    assert not (claims.ahead(ours, theirs) and claims.ahead(theirs, ours))
    assert claims.not_behind(ours, theirs) or claims.not_behind(theirs, ours)
    if abs(mean(ours) - mean(theirs)) <= claims.EQUAL:
        assert claims.not_behind(ours, theirs)
        assert claims.not_behind(theirs, ours)


def test_a_difference_within_the_spread_over_seeds_is_none():
    assert claims.ahead([82.0, 82.1, 81.9], [80.0, 80.1, 79.9])
    assert not claims.ahead([82.0, 86.0, 78.0], [80.0, 80.1, 79.9])
    assert not claims.ahead([80.4], [80.0])


@given(st.lists(st.sampled_from([True, False, None]), min_size=1))
def test_verdict_of_checks(outcomes):
    verdict = judged("", [Check("figure", outcome) for outcome in outcomes]).verdict
    expected = {frozenset([True]): "holds", frozenset([False]): "does not hold"}.get(
        frozenset(outcomes), "holds in part"
    )
    assert verdict == ("not run yet" if None in outcomes else expected)


def test_neighbours_are_named_where_only_they_hold():
    measured = shifted(as_published(), AMMI, -20)
    for name in PAPER.sets:
        for bits in PAPER.bits:
            measured.precision[NEIGHBOURS, name, bits] = [99.0]
    claim = claims.best_average(measured)
    assert claim.verdict == "does not hold"
    assert "not the paper's, it holds: AMMI, neighbours 99.00" in claim.evidence
    assert "neighbours" not in claims.best_average(as_published()).evidence


@pytest.mark.parametrize(
    ("poor", "good", "verdict"),
    [(60, 80, "holds"), (79, 80, "holds in part"), (80, 80, "does not hold"), (85, 80, "does not hold")],
)
def test_richer_prior(poor, good, verdict):
    measured = as_published()
    for prior in range(11):
        measured.orders["ammi", 0, prior] = poor if prior == 0 else good
    assert claims.richer_prior(measured, 0).verdict == verdict


@pytest.mark.parametrize(
    ("excess", "verdict"),
    [(lambda r: 0.0, "does not hold"), (lambda r: 3.0, "holds in part"), (lambda r: 3.0 * (r < 9), "holds")],
)
def test_accurate_entropy(excess, verdict):
    measured = as_published()
    for order, bound in measured.bounds.items():
        bound["exact"] = bound["entropy"] + excess(order)
    assert claims.accurate_entropy(measured).verdict == verdict


def test_gradient_prior_that_lags_at_one_order():
    measured = as_published()
    measured.bounds[5]["gradient"] += 0.2
    claim = claims.gradient_prior(measured)
    assert (claim.verdict, claim.evidence) == ("holds in part", "13 of 14 orders; widest gap 0.200 bits, with r = 5.")


@pytest.mark.parametrize(("brute", "verdict"), [(70, "holds"), (80.2, "holds in part"), (85, "does not hold")])
def test_adversary_and_brute_force(brute, verdict):
    measured = as_published()
    measured.orders["bmmi", 0, 0] = brute
    assert claims.adversary_surpasses_brute_force(measured).verdict == verdict


def test_order_1_that_is_better():
    measured = as_published()
    measured.orders["ammi", 1, 5] = 82.0
    assert claims.order_0_suffices(measured) == Claim(
        claims.order_0_suffices(measured).claim, "does not hold", "order 0 80.0, order 1 82.0."
    )


def test_predictive_hashing_on_one_set_of_two():
    measured = as_published()
    measured.pairs[AMMI, "reuters-pairs"] = [
        PairScore(10.0, 208_808, published.TABLE_2_DOCUMENTS, 128, [200, 150, 150])
    ]
    assert claims.fewest_codes(measured).verdict == "holds in part"
    assert claims.best_matching(measured).verdict == "holds in part"


def test_drift_that_means_nothing():
    measured = as_published()
    for drift in measured.drifts.values():
        drift["agreement"] = [{"distance": 5 * step, "pairs": 1000, "shared": 20.0 + 5 * step} for step in range(5)]
    assert claims.semantic_drift(measured).verdict == "does not hold"


def test_few_pairs_do_not_count_in_drift():
    measured = as_published()
    for drift in measured.drifts.values():
        drift["agreement"].insert(0, {"distance": 0, "pairs": 3, "shared": 0.0})
    assert claims.semantic_drift(measured).verdict == "holds"
