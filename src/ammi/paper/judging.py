"""Judging: what counts as ahead, and what a list of checks makes of a claim.

A claim holds where all of its checks are true, holds in part where some are, and is not judged before every figure is
there. Of two precisions one is ahead where it is higher by more than half a point and by more than the standard
deviation over seeds of either; else they are equal.
"""

from collections.abc import Iterable
from statistics import mean
from typing import Literal, NamedTuple

from ammi.paper.findings import spread

Verdict = Literal["holds", "holds in part", "does not hold", "not run yet"]
RANKS: dict[Verdict, int] = {"not run yet": 0, "does not hold": 1, "holds in part": 2, "holds": 3}

EQUAL = 0.5  # points of precision


class Claim(NamedTuple):
    """A claim in a sentence, whether it holds, and the figures that say so."""

    claim: str
    verdict: Verdict
    evidence: str


class Check(NamedTuple):
    """One comparison: its figures, and whether it came out as claimed; None where a figure is missing."""

    figures: str
    true: bool | None


NOT_YET = Check("", None)


def judged(claim: str, checks: Iterable[Check]) -> Claim:
    """The verdict of checks, and their figures as one sentence."""
    checks = list(checks)
    done = [check for check in checks if check.true is not None]
    figures = "; ".join(check.figures for check in done if check.figures)
    sentence = f"{figures}." if figures else ""
    if len(done) < len(checks):
        return Claim(claim, "not run yet", f"so far: {sentence}" if sentence else "")
    true = [check.true for check in done]
    return Claim(claim, "holds" if all(true) else "holds in part" if any(true) else "does not hold", sentence)


def ahead(ours: list[float], theirs: list[float]) -> bool:
    return mean(ours) - mean(theirs) > _margin(ours, theirs)


def not_behind(ours: list[float], theirs: list[float]) -> bool:
    return not ahead(theirs, ours)


def _margin(ours: list[float], theirs: list[float]) -> float:
    return max(EQUAL, spread(ours), spread(theirs))
