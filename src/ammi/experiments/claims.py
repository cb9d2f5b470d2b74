"""The paper's claims, each judged by the results.

A claim is a list of checks, each with the figures it rests on: it holds where all of them are true, holds in part where
some are, and is not judged before every figure is there. Of two precisions one is ahead where it is higher by more
than half a point and by more than the standard deviation over seeds of either; else they are equal.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from statistics import mean
from typing import Literal, NamedTuple

from ammi.experiments import published
from ammi.experiments.measured import Measured, spread
from ammi.experiments.paper import TABLE_1, WHO_DID_WHAT

Verdict = Literal["holds", "holds in part", "does not hold", "not run yet"]
RANKS: dict[Verdict, int] = {"not run yet": 0, "does not hold": 1, "holds in part": 2, "holds": 3}

EQUAL = 0.5  # points of precision
POOR = 2.0  # points of precision
ACCURATE = 0.1  # bits of entropy
REACHED = 0.05  # bits of entropy
PAPERS_ORDER = 3  # of the prior, in all of the paper's tables
FEW = 100  # pairs of articles, of which a share is not judged
UNEVEN = 2.0  # points by which such a share may rise

AMMI, NEIGHBOURS, BMMI, BMSH, DVQ, BOW = "AMMI", "AMMI, neighbours", "BMMI", "BMSH", "DVQ", "BOW"
RIVALS = tuple(row.name for row in TABLE_1 if row.name not in (BOW, AMMI, NEIGHBOURS, BMMI))
AS_EQUAL = f"within {EQUAL} points or one standard deviation over seeds counts as equal"
BEYOND = f"by more than {EQUAL} points and one standard deviation over seeds"


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


def all_claims(measured: Measured) -> list[Claim]:
    """Every claim, in the order of the paper."""
    *_, large, largest = measured.scale.bits
    checked = [as_good_as_the_program(measured)] if published.PROGRAM.keys() >= set(measured.scale.sets) else []
    return [
        richer_prior(measured, 0),
        richer_prior(measured, 1),
        accurate_entropy(measured),
        gradient_prior(measured),
        order_0_suffices(measured),
        adversary_surpasses_brute_force(measured),
        no_worse_than_brute_force(measured),
        leads(measured, large),
        leads(measured, largest),
        ahead_of_bmsh(measured),
        best_average(measured),
        rises_where_bmsh_falls(measured),
        dvq_competes(measured),
        fewest_codes(measured),
        best_matching(measured),
        semantic_drift(measured),
        *checked,
    ]


def richer_prior(measured: Measured, order: int) -> Claim:
    claim = (
        f"The prior must be strictly richer than an encoder of order {order}: with r = {order} the validation "
        f"precision is at least {POOR:.0f} points below that with the paper's r = {PAPERS_ORDER}, and more than "
        f"{EQUAL} below that with any r > {order}."
    )
    line = measured.line(order)
    if len(line) < len(_priors(measured, order)):
        return judged(claim, [NOT_YET])
    equal, papers = line.pop(order), line[PAPERS_ORDER]
    worst = min(line, key=lambda prior: line[prior])
    checks = [
        Check(f"{equal:.1f} with r = {order}, {papers:.1f} with r = {PAPERS_ORDER}", papers - equal >= POOR),
        Check(f"lowest of r > {order} {line[worst]:.1f} with r = {worst}", line[worst] - equal > EQUAL),
    ]
    return judged(claim, checks)


def accurate_entropy(measured: Measured) -> Claim:
    claim = (
        "An accurate estimate of the entropy takes a prior of an order well above the encoder's, which is 0: up to "
        f"r = {PAPERS_ORDER} it is more than {ACCURATE} bits too high, with some higher r it is not."
    )
    if not _all_bounds(measured):
        return judged(claim, [NOT_YET])
    excess = {r: bound["exact"] - bound["entropy"] for r, bound in measured.bounds.items()}
    high, accurate = max(excess), [r for r in sorted(excess) if excess[r] <= ACCURATE]
    first = f"first accurate with r = {accurate[0]}" if accurate else "accurate with none"
    low = [excess[r] for r in excess if r <= PAPERS_ORDER]
    shown = f"of {measured.bounds[0]['entropy']:.2f} bits, too high by {excess[0]:.2f} with r = 0"
    checks = [
        Check(f"{shown}, {excess[PAPERS_ORDER]:.2f} with r = {PAPERS_ORDER}", min(low) > ACCURATE),
        Check(f"{excess[high]:.2f} with r = {high}, {first}", bool(accurate) and accurate[0] > PAPERS_ORDER),
    ]
    return judged(claim, checks)


def gradient_prior(measured: Measured) -> Claim:
    claim = (
        "A prior fitted by gradient steps reaches the best prior of its order, which has a closed form (a check of our "
        f"own: within {REACHED} bits at every order)."
    )
    if not _all_bounds(measured):
        return judged(claim, [NOT_YET])
    gaps = {r: bound["gradient"] - bound["exact"] for r, bound in measured.bounds.items()}
    widest = max(gaps, key=lambda r: gaps[r])
    shown = f"widest gap {gaps[widest]:.3f} bits, with r = {widest}"
    return judged(claim, _counted("orders", [gap <= REACHED for gap in gaps.values()], shown))


def order_0_suffices(measured: Measured) -> Claim:
    claim = f"An encoder of order 0 suffices: order 1 is at most {EQUAL} points better (validation, each at its best)."
    lines = [measured.line(order) for order in (0, 1)]
    if any(len(line) < len(_priors(measured, order)) for order, line in enumerate(lines)):
        return judged(claim, [NOT_YET])
    zero, one = (max(line.values()) for line in lines)
    return judged(claim, [Check(f"order 0 {zero:.1f}, order 1 {one:.1f}", one - zero <= EQUAL)])


def adversary_surpasses_brute_force(measured: Measured) -> Claim:
    claim = (
        f"AMMI with the paper's r = {PAPERS_ORDER} surpasses BMMI, whose entropy is exact (validation, "
        f"{measured.scale.bits[0]} bits, the better entropy weight of each; within {EQUAL} points counts as equal, "
        "which is holding in part)."
    )
    brute, line = measured.orders.get(("bmmi", 0, 0)), measured.line(0)
    if brute is None or len(line) < len(_priors(measured, 0)):
        return judged(claim, [NOT_YET])
    papers, above = line[PAPERS_ORDER], [r for r in line if line[r] > brute + EQUAL]
    also = f"above BMMI with r = {', '.join(map(str, above)) or 'none'}"
    checks = [
        Check(f"AMMI {papers:.1f}, BMMI {brute:.1f}; {also}", papers >= brute - EQUAL),
        Check("", papers > brute + EQUAL),
    ]
    return judged(claim, checks)


def no_worse_than_brute_force(measured: Measured) -> Claim:
    bits = measured.scale.bits[0]

    def checks(ours: str) -> list[Check]:
        return [_versus(measured, ours, [BMMI], name, bits, not_behind) for name in measured.scale.sets]

    return _with_neighbours(f"AMMI is no worse than BMMI at {bits} bits, on every set ({AS_EQUAL}).", checks)


def leads(measured: Measured, bits: int) -> Claim:
    def checks(ours: str) -> list[Check]:
        return [_versus(measured, ours, RIVALS, name, bits, not_behind) for name in measured.scale.sets]

    return _with_neighbours(f"AMMI leads or shares the lead at {bits} bits, on every set ({AS_EQUAL}).", checks)


def ahead_of_bmsh(measured: Measured) -> Claim:
    bits = measured.scale.bits[-1]

    def checks(ours: str) -> list[Check]:
        return [_versus(measured, ours, [BMSH], name, bits, ahead) for name in measured.scale.sets]

    return _with_neighbours(f"AMMI is well ahead of BMSH at {bits} bits, on every set ({BEYOND}).", checks)


def best_average(measured: Measured) -> Claim:
    def checks(ours: str) -> list[Check]:
        average = measured.average(ours)
        others = {row: measured.average(row) for row in RIVALS}
        known = {row: score for row, score in others.items() if score is not None}
        if average is None or len(known) < len(others):
            return [NOT_YET]
        best = max(known, key=lambda row: known[row])
        figures = f"{ours} {average:.2f}, best of the others {best} {known[best]:.2f}"
        return [Check(figures, average >= known[best] - EQUAL), Check("", average >= known[best])]

    claim = f"AMMI has the best average over all sets and widths (second by at most {EQUAL} points is holding in part)."
    return _with_neighbours(claim, checks)


def rises_where_bmsh_falls(measured: Measured) -> Claim:
    *_, before, last = measured.scale.bits
    claim = f"From {before} to {last} bits BMSH falls while AMMI goes on rising, on every set ({BEYOND})."
    checks = []
    for name in measured.scale.sets:
        for row, rises in ((BMSH, False), (AMMI, True)):
            old, new = (measured.precision.get((row, name, bits)) for bits in (before, last))
            if old and new:
                true = ahead(new, old) if rises else ahead(old, new)
                checks.append(Check(f"{name}: {row} {mean(old):.1f} to {mean(new):.1f}", true))
            else:
                checks.append(NOT_YET)
    return judged(claim, checks)


def dvq_competes(measured: Measured) -> Claim:
    bits = measured.scale.bits[-1]
    claim = (
        f"DVQ is competitive with BMSH (average at most {EQUAL} points lower) and ahead of it at {bits} bits, on every "
        f"set ({BEYOND})."
    )
    dvq, bmsh = measured.average(DVQ), measured.average(BMSH)
    average = NOT_YET
    if dvq is not None and bmsh is not None:
        average = Check(f"averages DVQ {dvq:.2f}, BMSH {bmsh:.2f}", dvq >= bmsh - EQUAL)
    return judged(
        claim, [average, *(_versus(measured, DVQ, [BMSH], name, bits, ahead) for name in measured.scale.sets)]
    )


def fewest_codes(measured: Measured) -> Claim:
    claim = (
        "In predictive hashing AMMI has the fewest distinct codes, on every set (fewer than BMSH and DVQ by more than "
        "one standard deviation over seeds)."
    )
    checks = []
    for name in measured.scale.pair_sets:
        codes = {row: [float(one.distinct) for one in measured.pairs.get((row, name), [])] for row in (AMMI, BMSH, DVQ)}
        if not all(codes.values()):
            checks.append(NOT_YET)
            continue
        fewer = [
            mean(codes[row]) - mean(codes[AMMI]) > max(spread(codes[row]), spread(codes[AMMI])) for row in (BMSH, DVQ)
        ]
        shown = ", ".join(f"{row} {mean(counts):,.0f}" for row, counts in codes.items())
        documents = measured.pairs[AMMI, name][0].documents
        checks.append(Check(f"{name}: {shown} of {documents:,} articles", all(fewer)))
    return judged(claim, checks)


def best_matching(measured: Measured) -> Claim:
    claim = f"In predictive hashing AMMI has the best matching or shares it, BOW included, on every set ({AS_EQUAL})."
    checks = []
    for name in measured.scale.pair_sets:
        rows = (AMMI, BMSH, DVQ, BOW)
        scores = {row: [one.matching for one in measured.pairs.get((row, name), [])] for row in rows}
        if not all(scores.values()):
            checks.append(NOT_YET)
            continue
        shown = ", ".join(f"{row} {mean(matching):.1f}" for row, matching in scores.items())
        first = all(not_behind(scores[AMMI], scores[row]) for row in rows)
        checks.append(Check(f"{name}: {shown}", first))
    return judged(claim, checks)


def semantic_drift(measured: Measured) -> Claim:
    claim = (
        "Drift is semantic: the share of articles with a label in common falls with the distance of their codes (the "
        f"nearest share is at least twice the farthest, and no step of 5 bits rises by more than {UNEVEN:.0f} points; "
        f"steps with fewer than {FEW} pairs are left out), on every set."
    )
    checks = []
    for name in (name for name in measured.scale.pair_sets if name != WHO_DID_WHAT):  # which has no texts
        steps = measured.drifts.get(name, {}).get("agreement", [])
        shares = [step["shared"] for step in steps if step["pairs"] >= FEW]
        if not shares:
            checks.append(NOT_YET)
            continue
        rise = max((after - before for before, after in pairwise(shares)), default=0.0)
        shown = f"{name}: {shares[0]:.0f}% nearest, {shares[-1]:.0f}% farthest, largest rise {max(rise, 0):.1f} points"
        checks.append(Check(shown, shares[0] >= 2 * shares[-1] and rise <= UNEVEN))
    return judged(claim, checks)


def as_good_as_the_program(measured: Measured) -> Claim:
    """Not the paper's: whether the method was rebuilt well enough for the claims to be judged by it."""
    cells = [(name, bits) for name in measured.scale.sets for bits in measured.scale.bits]

    def checks(ours: str) -> list[Check]:
        pairs = [(measured.precision.get((ours, *cell)), published.program(*cell)) for cell in cells]
        known = [(own, theirs) for own, theirs in pairs if own and theirs]
        if len(known) < len(pairs):
            return [NOT_YET]
        averages = f"averages {mean(mean(own) for own, _ in known):.2f} and {mean(theirs for _, theirs in known):.2f}"
        return _counted("cells", [not_behind(own, [theirs]) for own, theirs in known], averages)

    claim = f"AMMI here is as good as the published program on the same matrices (a check of our own; {AS_EQUAL})."
    return _with_neighbours(claim, checks)


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


def _priors(measured: Measured, order: int) -> list[int]:
    """The orders of priors that figure 1 (b) has for an encoder of some order."""
    return [prior for prior in measured.scale.prior_orders if prior >= order]


def _all_bounds(measured: Measured) -> bool:
    return measured.bounds.keys() >= set(measured.scale.bound_orders)


def _counted(what: str, true: list[bool], shown: str) -> list[Check]:
    """Many checks whose figures are told together."""
    return [Check(f"{sum(true)} of {len(true)} {what}; {shown}", true[0]), *(Check("", one) for one in true[1:])]


def _versus(
    measured: Measured,
    ours: str,
    others: Iterable[str],
    name: str,
    bits: int,
    compare: Callable[[list[float], list[float]], bool],
) -> Check:
    """A line of table 1 against the best of others, on a set at a width."""
    own = measured.precision.get((ours, name, bits))
    found = {row: measured.precision.get((row, name, bits)) for row in others}
    theirs = {row: scores for row, scores in found.items() if scores}
    if not own or len(theirs) < len(found):
        return NOT_YET
    best = max(theirs, key=lambda row: mean(theirs[row]))
    figures = f"{name} {mean(own):.1f} against {mean(theirs[best]):.1f} ({best})"
    return Check(figures, all(compare(own, scores) for scores in theirs.values()))


def _with_neighbours(claim: str, checks: Callable[[str], list[Check]]) -> Claim:
    """The verdict on the paper's objective; where this package's own addition does better, its figures say so."""
    papers, own = judged(claim, checks(AMMI)), judged(claim, checks(NEIGHBOURS))
    if 0 < RANKS[papers.verdict] < RANKS[own.verdict]:
        addition = f"With neighbours, which is this package's addition and not the paper's, it {own.verdict}"
        return papers._replace(evidence=f"{papers.evidence} {addition}: {own.evidence}")
    return papers
