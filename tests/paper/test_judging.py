"""What counts as ahead, and the verdict of checks."""

from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from reproduction.judging import EQUAL, RANKS, Check, ahead, judged, not_behind

seeds = st.lists(st.floats(0, 100), min_size=1, max_size=3)


@given(seeds, seeds)
def test_either_is_ahead_or_both_are_equal(ours, theirs):
    assert not (ahead(ours, theirs) and ahead(theirs, ours))
    assert not_behind(ours, theirs) or not_behind(theirs, ours)
    if abs(mean(ours) - mean(theirs)) <= EQUAL:
        assert not_behind(ours, theirs)
        assert not_behind(theirs, ours)


def test_a_difference_within_the_spread_over_seeds_is_none():
    assert ahead([82.0, 82.1, 81.9], [80.0, 80.1, 79.9])
    assert not ahead([82.0, 86.0, 78.0], [80.0, 80.1, 79.9])
    assert not ahead([80.4], [80.0])


@given(st.lists(st.sampled_from([True, False, None]), min_size=1))
def test_verdict_of_checks(outcomes):
    verdict = judged("", [Check("figure", outcome) for outcome in outcomes]).verdict
    expected = {frozenset([True]): "holds", frozenset([False]): "does not hold"}.get(
        frozenset(outcomes), "holds in part"
    )
    assert verdict == ("not run yet" if None in outcomes else expected)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1), st.data())
def test_a_check_that_comes_out_better_never_makes_a_verdict_worse(outcomes, data):
    place = data.draw(st.integers(0, len(outcomes) - 1))
    worse, better = ([*outcomes[:place], outcome, *outcomes[place + 1 :]] for outcome in (False, True))
    ranks = [RANKS[judged("", [Check("", outcome) for outcome in checks]).verdict] for checks in (worse, better)]
    assert ranks[0] <= ranks[1]


def test_evidence_is_one_sentence_of_all_figures():
    assert judged("", [Check("a 1", True), Check("", True), Check("b 2", False)]).evidence == "a 1; b 2."
    assert judged("", [Check("a 1", True), Check("", None)]).evidence == "so far: a 1."
    assert judged("", [Check("", None)]).evidence == ""
