"""What is decided by a test over seeds, and the verdict of checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reproduction.judging import LEVEL, RANKS, Check, Comparison, by_tests, compared, difference, judged

seeds = st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=2, max_size=5)
outcomes = st.lists(st.sampled_from([-1, 0, 1, None]), min_size=1)


def verdict(checks: list[int | None]) -> str:
    return judged("", [None if check is None else Check("figure", check) for check in checks]).verdict  # type: ignore[arg-type]


@given(seeds, seeds)
def test_either_is_ahead_or_nothing_is_decided(ours, theirs):
    assert compared(Comparison("", ours, theirs)).outcome == -compared(Comparison("", theirs, ours)).outcome


def test_a_difference_is_that_of_welch():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(82, 1, 5).tolist(), rng.normal(80, 3, 4).tolist()
    found = difference(ours, theirs)
    assert found is not None
    a, b = np.var(ours, ddof=1) / 5, np.var(theirs, ddof=1) / 4
    freedom = (a + b) ** 2 / (a**2 / 4 + b**2 / 3)
    assert found.mean == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert found.high - found.mean == pytest.approx(stats.t.ppf(1 - LEVEL / 2, freedom) * np.sqrt(a + b))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.mean) / np.sqrt(a + b), freedom))


def test_a_single_figure_has_no_spread():
    ours = [81.0, 82.0, 83.0]
    found, turned = difference(ours, [80.0]), difference([80.0], ours)
    assert found is not None
    assert turned is not None
    assert found.p == turned.p == pytest.approx(stats.ttest_1samp(ours, 80.0).pvalue)
    assert (found.low, found.high) == (-turned.high, -turned.low)
    assert found.low < found.mean == 2.0 < found.high
    assert difference([80.0], [81.0]) is None
    assert compared(Comparison("a", [80.0], [81.0])) == Check("a: 80.00 and 81.00, a single figure each", 0)


def test_figures_that_do_not_vary_differ_or_are_equal():
    assert compared(Comparison("", [3.0, 3.0], [2.0, 2.0])).outcome == 1
    assert compared(Comparison("", [2.0, 2.0], [2.0, 2.0])).outcome == 0


def test_a_difference_within_the_spread_over_seeds_is_not_decided():
    assert compared(Comparison("", [82.0, 82.1, 81.9], [80.0, 80.1, 79.9])).outcome == 1
    assert compared(Comparison("", [82.0, 86.0, 78.0], [80.0, 80.1, 79.9])).outcome == 0


@given(seeds, seeds, st.integers(1, 20))
def test_the_interval_shown_decides(ours, theirs, n):
    comparison = Comparison("", ours, theirs)
    found = difference(ours, theirs, LEVEL / n)
    claim = by_tests("", [comparison] * n)
    assert found is not None
    decided = found.low > 0 or found.high < 0
    assert (claim.verdict != "not decided") == decided
    if len({*ours, *theirs}) > 2 and abs(found.p * n - LEVEL) > 1e-9:
        assert decided == (found.p * n < LEVEL)


def test_many_comparisons_are_judged_more_strictly():
    comparison = Comparison("", [81.0, 82.0, 83.0], [79.0, 80.0, 80.5])
    assert by_tests("", [comparison]).verdict == "holds"
    assert by_tests("", [comparison] * 10).verdict == "not decided"


@given(outcomes)
def test_verdict_of_checks(checks):
    if None in checks:
        expected = "not run yet"
    elif 1 in checks:
        expected = "holds" if set(checks) == {1} else "holds in part"
    else:
        expected = "does not hold" if -1 in checks else "not decided"
    assert verdict(checks) == expected


@given(outcomes, st.data())
def test_a_check_that_comes_out_better_never_makes_a_verdict_worse(checks, data):
    place = data.draw(st.integers(0, len(checks) - 1))
    ranks = [RANKS[verdict([*checks[:place], outcome, *checks[place + 1 :]])] for outcome in (-1, 0, 1)]  # type: ignore[index]
    assert ranks == sorted(ranks)


def test_evidence_is_one_sentence_of_all_figures():
    assert judged("", [Check("a 1", 1), Check("", 1), Check("b 2", -1)]).evidence == "a 1; b 2."
    assert judged("", [Check("a 1", 1), None]).evidence == "so far: a 1."
    assert judged("", [None]).evidence == ""
    text = compared(Comparison("ng20", [82.0, 82.1, 81.9], [80.0, 80.1, 79.9], 8.16)).figures
    assert text == "ng20: 82.00 and 80.00, +2.00 [+1.77, +2.23], p below 0.001, n 3 and 3, paper +8.16"
