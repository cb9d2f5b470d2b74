"""The verdicts on results of which the truth is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction import claims, published
from reproduction.claims import AMMI, BMSH, RECIPE, all_claims
from reproduction.findings import Findings, PairScore
from reproduction.judging import RANKS, Claim
from reproduction.plan import PAPER
from tests.paper.made_up import as_published


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
    assert [claim for claim in papers if claim.verdict != "holds"] == []
    assert all(claim.evidence for claim in papers)
    assert program.verdict == "holds in part"  # its program does better on tmc_small than it did on all of TMC


def test_nothing_is_judged_before_it_was_run():
    assert {claim.verdict for claim in all_claims(Findings(PAPER))} == {"not run yet"}


@given(st.data())
def test_a_claim_that_misses_a_figure_is_not_judged(data):
    findings = as_published()
    tables = (findings.precision, findings.orders, findings.bounds, findings.pairs, findings.drifts)
    table = data.draw(st.sampled_from(range(len(tables))))
    before = all_claims(findings)
    no_matter = {("BOW", name, 0) for name in PAPER.sets}  # no claim about precision names BOW
    figures = [key for key in tables[table] if key not in no_matter]
    del tables[table][data.draw(st.sampled_from(figures))]
    after = all_claims(findings)
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


def test_the_recipe_is_named_where_only_it_holds():
    findings = shifted(as_published(), AMMI, -20)
    for name in PAPER.sets:
        for bits in PAPER.bits:
            findings.precision[RECIPE, name, bits] = [99.0]
    claim = claims.best_average(findings)
    assert claim.verdict == "does not hold"
    assert "not the paper's, it holds: AMMI, recipe 99.00" in claim.evidence
    assert "recipe" not in claims.best_average(as_published()).evidence


@pytest.mark.parametrize(
    ("poor", "good", "verdict"),
    [(60, 80, "holds"), (79, 80, "holds in part"), (80, 80, "does not hold"), (85, 80, "does not hold")],
)
def test_richer_prior(poor, good, verdict):
    findings = as_published()
    for prior in range(11):
        findings.orders["ammi", 0, prior] = poor if prior == 0 else good
    assert claims.richer_prior(findings, 0).verdict == verdict


@pytest.mark.parametrize(
    ("excess", "verdict"),
    [(lambda r: 0.0, "does not hold"), (lambda r: 3.0, "holds in part"), (lambda r: 3.0 * (r < 9), "holds")],
)
def test_accurate_entropy(excess, verdict):
    findings = as_published()
    for order, bound in findings.bounds.items():
        bound["exact"] = bound["entropy"] + excess(order)
    assert claims.accurate_entropy(findings).verdict == verdict


def test_gradient_prior_that_lags_at_one_order():
    findings = as_published()
    findings.bounds[5]["gradient"] += 0.2
    claim = claims.gradient_prior(findings)
    assert (claim.verdict, claim.evidence) == ("holds in part", "13 of 14 orders; widest gap 0.200 bits, with r = 5.")


@pytest.mark.parametrize(("brute", "verdict"), [(70, "holds"), (80.2, "holds in part"), (85, "does not hold")])
def test_adversary_and_brute_force(brute, verdict):
    findings = as_published()
    findings.orders["bmmi", 0, 0] = brute
    assert claims.adversary_surpasses_brute_force(findings).verdict == verdict


def test_order_1_that_is_better():
    findings = as_published()
    findings.orders["ammi", 1, 5] = 82.0
    assert claims.order_0_suffices(findings) == Claim(
        claims.order_0_suffices(findings).claim, "does not hold", "order 0 80.0, order 1 82.0."
    )


def test_predictive_hashing_on_all_sets_but_one():
    findings = as_published()
    findings.pairs[AMMI, "reuters-pairs"] = [
        PairScore(10.0, 208_808, published.TABLE_2_DOCUMENTS, 128, [200, 150, 150])
    ]
    assert claims.fewest_codes(findings).verdict == "holds in part"
    assert claims.best_matching(findings).verdict == "holds in part"


def test_the_recipe_on_pairs_is_named_where_only_it_holds():
    findings = as_published()
    for name in PAPER.pair_sets:
        score = findings.pairs[AMMI, name][0]
        findings.pairs[RECIPE, name] = [score]
        findings.pairs[AMMI, name] = [score._replace(matching=10.0, distinct=score.documents)]
    for claim in (claims.fewest_codes(findings), claims.best_matching(findings)):
        assert claim.verdict == "does not hold"
        assert "not the paper's, it holds: reuters-pairs: AMMI, recipe" in claim.evidence


def test_drift_that_means_nothing():
    findings = as_published()
    for drift in findings.drifts.values():
        drift["agreement"] = [{"distance": 5 * step, "pairs": 1000, "shared": 20.0 + 5 * step} for step in range(5)]
    assert claims.semantic_drift(findings).verdict == "does not hold"


def test_few_pairs_do_not_count_in_drift():
    findings = as_published()
    for drift in findings.drifts.values():
        drift["agreement"].insert(0, {"distance": 0, "pairs": 3, "shared": 0.0})
    assert claims.semantic_drift(findings).verdict == "holds"
