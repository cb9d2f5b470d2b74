"""Judge claims: the one place that says when a claim holds.

Each claim is a list of comparisons of methods over seeds. A comparison is a Welch test of the difference of two means;
if one side is a single figure without a spread, such as BOW's, it is a t test of the other side against it. The level
of 5% is divided by the number of comparisons of the claim (Bonferroni), and the intervals shown are those of the
divided level: they lie beside 0 if and only if the comparison is decided.
"""

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Literal, NamedTuple
from warnings import catch_warnings, simplefilter

from scipy.stats import ttest_1samp, ttest_ind

LEVEL = 0.05
RULE = (
    "A claim compares methods over seeds. Each comparison is a Welch test of the difference of means (a t test where "
    "one side is a single figure, such as BOW's), with n the number of seeds of either side; brackets have the "
    "confidence interval of the difference, and “paper” is the difference in the paper's own table. The level of 5% is "
    "divided by the number of comparisons of a claim (Bonferroni), in tests and intervals alike. A comparison is "
    "decided if its interval lies beside 0. A claim **holds** if all of its comparisons are decided as it says, "
    "**holds in part** if some are, **does not hold** if none is and some are decided the other way, and is **not "
    "decided** if none is decided either way. Claims about bounds and distances say how they are judged."
)

Verdict = Literal["holds", "holds in part", "not decided", "does not hold", "not run yet"]
RANKS: dict[Verdict, int] = {
    "not run yet": 0,
    "does not hold": 1,
    "not decided": 2,
    "holds in part": 3,
    "holds": 4,
}


class Claim(NamedTuple):
    """A claim in a sentence, the verdict, and the figures it rests on."""

    claim: str
    verdict: Verdict
    evidence: str


class Difference(NamedTuple):
    """A difference of means, its confidence interval, and the p-value of no difference."""

    mean: float
    low: float
    high: float
    p: float


class Comparison(NamedTuple):
    """A claim that one method has more than another: their names, scores by seed, and the paper's difference."""

    what: str
    ours: Sequence[float]
    theirs: Sequence[float]
    papers: float | None = None
    form: str = ".2f"


class Check(NamedTuple):
    """The figures of a comparison, and whether it is as claimed (1), the other way (-1), or undecided (0)."""

    figures: str
    outcome: Literal[-1, 0, 1]


def difference(ours: Sequence[float], theirs: Sequence[float], level: float = LEVEL) -> Difference | None:
    """Return the difference of two means with its interval and its p-value; None for two single figures."""
    if len(ours) == 1 and len(theirs) > 1:
        turned = difference(theirs, ours, level)
        return turned and Difference(-turned.mean, -turned.high, -turned.low, turned.p)
    if len(ours) == 1:
        return None
    away = mean(ours) - mean(theirs)
    if len(set(ours)) == len(set(theirs)) == 1:  # nothing varies, as with counts that cannot rise any more
        return Difference(away, away, away, float(away == 0))
    with catch_warnings():
        simplefilter("ignore", RuntimeWarning)  # if all figures of one side are equal
        if len(theirs) == 1:
            test = ttest_1samp([own - theirs[0] for own in ours], 0)
        else:
            test = ttest_ind(ours, theirs, equal_var=False)
        interval = test.confidence_interval(1 - level)
    return Difference(away, float(interval.low), float(interval.high), float(test.pvalue))


def compared(comparison: Comparison, level: float = LEVEL) -> Check:
    """Test a comparison at a level."""
    what, ours, theirs, papers, form = comparison
    found = difference(ours, theirs, level)
    if found is None:
        return Check(f"{what}: {ours[0]:{form}} and {theirs[0]:{form}}, a single figure each", 0)
    figures = (
        f"{what}: {mean(ours):{form}} and {mean(theirs):{form}}, {interval_text(found, form)}, p {_p(found.p)}, "
        f"n {len(ours)} and {len(theirs)}"
    )
    if papers is not None:
        figures += f", paper {papers:+{form}}"
    return Check(figures, 1 if found.low > 0 else -1 if found.high < 0 else 0)


def by_tests(claim: str, comparisons: Iterable[Comparison | None]) -> Claim:
    """Judge a claim by its comparisons; None stands for one whose figures are missing."""
    comparisons = list(comparisons)
    level = LEVEL / max(1, len(comparisons))
    return judged(claim, [comparison and compared(comparison, level) for comparison in comparisons])


def judged(claim: str, checks: Iterable[Check | None]) -> Claim:
    """Return the verdict of checks, with their figures as one sentence; None stands for a check not done yet."""
    checks = list(checks)
    done = [check for check in checks if check is not None]
    figures = "; ".join(check.figures for check in done if check.figures)
    sentence = f"{figures}." if figures else ""
    if len(done) < len(checks):
        return Claim(claim, "not run yet", f"so far: {sentence}" if sentence else "")
    outcomes = {check.outcome for check in done}
    if 1 in outcomes:
        return Claim(claim, "holds" if outcomes == {1} else "holds in part", sentence)
    return Claim(claim, "does not hold" if -1 in outcomes else "not decided", sentence)


def interval_text(found: Difference, form: str = ".2f") -> str:
    """Return a difference with its interval."""
    return f"{found.mean:+{form}} [{found.low:+{form}}, {found.high:+{form}}]"


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "below 0.001"
