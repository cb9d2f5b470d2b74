"""Judge claims by their checks.

A claim holds if all of its checks are true, and in part if some are; it is not judged until every figure is there. A
precision is ahead of another if it is higher by more than half a point and by more than the standard deviation over
seeds of either; otherwise they are equal.
"""

from collections.abc import Callable, Iterable
from statistics import mean
from typing import Literal, NamedTuple

from reproduction.findings import spread

Verdict = Literal["holds", "holds in part", "does not hold", "not run yet"]
RANKS: dict[Verdict, int] = {"not run yet": 0, "does not hold": 1, "holds in part": 2, "holds": 3}

EQUAL = 0.5  # points of precision

Compare = Callable[[list[float], list[float]], bool]  # our scores and theirs, one per seed


class Claim(NamedTuple):
    """A claim in a sentence, the verdict, and the figures it rests on."""

    claim: str
    verdict: Verdict
    evidence: str


class Check(NamedTuple):
    """A comparison: its figures, and whether it is as claimed; None if a figure is missing."""

    figures: str
    true: bool | None


NOT_YET = Check("", None)


def judged(claim: str, checks: Iterable[Check]) -> Claim:
    """Return the verdict of checks, with their figures as one sentence."""
    checks = list(checks)
    done = [check for check in checks if check.true is not None]
    figures = "; ".join(check.figures for check in done if check.figures)
    sentence = f"{figures}." if figures else ""
    if len(done) < len(checks):
        return Claim(claim, "not run yet", f"so far: {sentence}" if sentence else "")
    true = [check.true for check in done]
    return Claim(claim, "holds" if all(true) else "holds in part" if any(true) else "does not hold", sentence)


def ahead(ours: list[float], theirs: list[float]) -> bool:
    return mean(ours) - mean(theirs) > max(EQUAL, spread(ours), spread(theirs))


def not_behind(ours: list[float], theirs: list[float]) -> bool:
    return not ahead(theirs, ours)
