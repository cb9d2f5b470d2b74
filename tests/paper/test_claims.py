"""The verdicts on results of which the truth is known."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction import claims
from reproduction.claims import AMMI, BMSH, RECIPE, all_claims
from reproduction.findings import Findings, OrderPoint
from reproduction.judging import RANKS
from reproduction.plan import PAPER
from tests.paper.made_up import around, as_published


def shifted(findings: Findings, row: str, points: float) -> Findings:
    """The same results, but all of a method better by so many points."""
    for key, scores in findings.precision.items():
        if key[0] == row:
            findings.precision[key] = [score + points for score in scores]
    return findings


def ranks(findings: Findings) -> dict[str, int]:
    return {claim.claim: RANKS[claim.verdict] for claim in all_claims(findings)}


def test_the_papers_claims_hold_on_the_papers_figures():
    *papers, program = all_claims(as_published())
    # On TMC the paper's own figures at 64 bits lie within 0.05 points of each other.
    in_part = [claim.claim for claim in papers if claim.verdict != "holds"]
    assert in_part == ["AMMI is ahead of BMSH and DVQ at 64 bits, on every set."]
    assert all(claim.evidence for claim in papers)
    assert program.verdict == "holds"


def test_every_comparison_has_its_interval_its_test_and_the_papers_difference():
    evidence = claims.ahead_of_bmsh(as_published(), 128).evidence
    assert evidence.count("n 5 and 5, paper +") == evidence.count("p below 0.001") == 3
    assert "ng20, AMMI and BMSH: 66.18 and 58.02, +8.16 [+8.1" in evidence


def test_nothing_is_judged_before_it_was_run():
    assert {claim.verdict for claim in all_claims(Findings(PAPER))} == {"not run yet"}


@pytest.mark.slow
@settings(max_examples=20)
@given(st.data())
def test_a_claim_that_misses_a_figure_is_not_judged(data):
    findings = as_published()
    tables = (findings.precision, findings.orders, findings.bounds, findings.pairs, findings.drifts)
    table = data.draw(st.sampled_from(range(len(tables))))
    before = all_claims(findings)
    figures = [key for key in tables[table] if _matters(key)]
    del tables[table][data.draw(st.sampled_from(figures))]
    after = all_claims(findings)
    assert any(claim.verdict == "not run yet" for claim in after)
    assert all(new == old for old, new in zip(before, after, strict=True) if new.verdict != "not run yet")


def _matters(key: object) -> bool:
    """No claim about precision names methods with defaults, nor one about bounds the orders from 4 to 10, 0 to 2."""
    if isinstance(key, int):
        return key == 3 or key > 10
    return not isinstance(key, tuple) or len(key) == 2 or key[0] in ("AMMI", "BMSH", "DVQ", "BMMI")


@pytest.mark.slow
@settings(max_examples=20)
@given(st.floats(-30, 30), st.floats(0, 30))
def test_a_better_ammi_is_never_judged_worse(points, more):
    worse, better = (ranks(shifted(as_published(), AMMI, shift)) for shift in (points, points + more))
    assert all(worse[claim] <= better[claim] for claim in worse)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.floats(-30, 30), st.floats(0, 30))
def test_a_better_rival_never_helps_ammi(points, more):
    before, after = (ranks(shifted(as_published(), BMSH, shift)) for shift in (points, points + more))
    assert all(after[claim] <= before[claim] for claim in before if claim.startswith("AMMI"))


def test_the_recipe_is_named_where_only_it_holds():
    findings = shifted(as_published(), AMMI, -20)
    for name in PAPER.sets:
        for bits in PAPER.bits:
            findings.precision[RECIPE, name, bits] = around(99.0)
    claim = claims.best_average(findings)
    assert claim.verdict == "does not hold"
    assert "not the paper's, it holds: AMMI, recipe and BMSH: 99.00" in claim.evidence
    assert "recipe" not in claims.best_average(as_published()).evidence


@pytest.mark.parametrize(
    ("poor", "good", "verdict"),
    [(60, 80, "holds"), (80, 80, "not decided"), (80.01, 80, "not decided"), (85, 80, "does not hold")],
)
def test_richer_prior(poor, good, verdict):
    findings = as_published()
    for prior in range(11):
        findings.orders[0, prior] = OrderPoint(around(poor if prior == 0 else good), {})
    assert claims.richer_prior(findings, 0).verdict == verdict


@pytest.mark.parametrize(
    ("excess", "verdict"),
    [(lambda r: 0.0, "holds in part"), (lambda r: 3.0, "holds in part"), (lambda r: 3.0 * (r < 9), "holds")],
)
def test_accurate_entropy(excess, verdict):
    findings = as_published()
    for order, bounds in findings.bounds.items():
        for bound in bounds:
            bound["exact"] = bound["entropy"] + excess(order)
    assert claims.accurate_entropy(findings).verdict == verdict


@pytest.mark.parametrize(("brute", "verdict"), [(70, "holds"), (80.0, "not decided"), (85, "does not hold")])
def test_adversary_and_brute_force(brute, verdict):
    findings = replace(as_published(), brute_force=OrderPoint(around(brute), {}))
    assert claims.adversary_surpasses_brute_force(findings).verdict == verdict


def test_order_1_that_is_better():
    findings = as_published()
    findings.orders[1, 5] = OrderPoint(around(82.0), {})
    claim = claims.order_0_suffices(findings)
    assert claim.verdict == "does not hold"
    assert claim.evidence.startswith("o = 0 with r = 1 and o = 1 with r = 5: 80.00 and 82.00, -2.00 [-2.23, -1.77]")


def test_predictive_hashing_on_all_sets_but_one():
    findings = as_published()
    findings.pairs[AMMI, "reuters-pairs"] = [
        score._replace(matching=10.0 + i, distinct=208_800 + i)
        for i, score in enumerate(findings.pairs[AMMI, "reuters-pairs"])
    ]
    assert claims.fewest_codes(findings).verdict == "holds in part"
    assert claims.best_matching(findings).verdict == "holds in part"


def test_the_recipe_on_pairs_is_named_where_only_it_holds():
    findings = as_published()
    for name in PAPER.pair_sets:
        scores = findings.pairs[AMMI, name]
        findings.pairs[RECIPE, name] = scores
        findings.pairs[AMMI, name] = [
            score._replace(matching=10.0 + i, distinct=score.documents + i) for i, score in enumerate(scores)
        ]
    fewest, best = claims.fewest_codes(findings), claims.best_matching(findings)
    assert (fewest.verdict, best.verdict) == ("does not hold", "does not hold")
    for claim in (fewest, best):
        assert "not the paper's, it holds: reuters-pairs, " in claim.evidence


@pytest.mark.parametrize(
    ("farther", "verdict"),
    [([5.0, 6.0, 7.0], "holds"), ([-5.0, 0.0, 5.0], "not decided"), ([-5.0, -5.1, -5.2], "does not hold")],
)
def test_drift(farther, verdict):
    findings = as_published()
    for drift in findings.drifts.values():
        drift["farther"] = farther
    assert claims.semantic_drift(findings).verdict == verdict
