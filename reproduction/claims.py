"""The paper's claims: each is a list of checks of the results, with the figures they rest on."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import mean

from reproduction import published
from reproduction.findings import Findings, spread
from reproduction.judging import EQUAL, NOT_YET, RANKS, Check, Claim, Compare, ahead, judged, not_behind
from reproduction.plan import TABLE_1, WHO_DID_WHAT

POOR = 2.0  # points of precision
ACCURATE = 0.1  # bits of entropy
REACHED = 0.05  # bits of entropy
PAPERS_ORDER = 3  # of the prior, in all of the paper's tables
FEW = 100  # pairs of articles; a share of fewer is not judged
UNEVEN = 2.0  # points by which a share may rise from step to step

AMMI, RECIPE, BMMI, BMSH, DVQ, BOW = "AMMI", "AMMI, recipe", "BMMI", "BMSH", "DVQ", "BOW"
RIVALS = tuple(row.name for row in TABLE_1 if row.name not in (BOW, AMMI, RECIPE, BMMI))
AS_EQUAL = f"within {EQUAL} points or one standard deviation over seeds counts as equal"
BEYOND = f"by more than {EQUAL} points and one standard deviation over seeds"


def all_claims(findings: Findings) -> list[Claim]:
    """Judge every claim, in the order of the paper."""
    *_, large, largest = findings.scale.bits
    checked = [as_good_as_the_program(findings)] if published.PROGRAM.keys() >= set(findings.scale.sets) else []
    return [
        richer_prior(findings, 0),
        richer_prior(findings, 1),
        accurate_entropy(findings),
        gradient_prior(findings),
        order_0_suffices(findings),
        adversary_surpasses_brute_force(findings),
        no_worse_than_brute_force(findings),
        leads(findings, large),
        leads(findings, largest),
        ahead_of_bmsh(findings),
        best_average(findings),
        rises_where_bmsh_falls(findings),
        dvq_competes(findings),
        fewest_codes(findings),
        best_matching(findings),
        semantic_drift(findings),
        *checked,
    ]


def richer_prior(findings: Findings, order: int) -> Claim:
    claim = (
        f"The prior must be strictly richer than an encoder of order {order}: with r = {order} the validation "
        f"precision is at least {POOR:.0f} points below that with the paper's r = {PAPERS_ORDER}, and more than "
        f"{EQUAL} below that with any r > {order}."
    )
    line = _line(findings, order)
    if line is None:
        return judged(claim, [NOT_YET])
    equal, papers = line.pop(order), line[PAPERS_ORDER]
    worst = min(line, key=lambda prior: line[prior])
    checks = [
        Check(f"{equal:.1f} with r = {order}, {papers:.1f} with r = {PAPERS_ORDER}", papers - equal >= POOR),
        Check(f"lowest of r > {order} {line[worst]:.1f} with r = {worst}", line[worst] - equal > EQUAL),
    ]
    return judged(claim, checks)


def accurate_entropy(findings: Findings) -> Claim:
    claim = (
        "An accurate estimate of the entropy takes a prior of an order well above the encoder's, which is 0: up to "
        f"r = {PAPERS_ORDER} it is more than {ACCURATE} bits too high, with some higher r it is not."
    )
    if not _has_all_bounds(findings):
        return judged(claim, [NOT_YET])
    excess = {r: bound["exact"] - bound["entropy"] for r, bound in findings.bounds.items()}
    high, accurate = max(excess), [r for r in sorted(excess) if excess[r] <= ACCURATE]
    first = f"first accurate with r = {accurate[0]}" if accurate else "accurate with none"
    low = [excess[r] for r in excess if r <= PAPERS_ORDER]
    shown = f"of {findings.bounds[0]['entropy']:.2f} bits, too high by {excess[0]:.2f} with r = 0"
    checks = [
        Check(f"{shown}, {excess[PAPERS_ORDER]:.2f} with r = {PAPERS_ORDER}", min(low) > ACCURATE),
        Check(f"{excess[high]:.2f} with r = {high}, {first}", bool(accurate) and accurate[0] > PAPERS_ORDER),
    ]
    return judged(claim, checks)


def gradient_prior(findings: Findings) -> Claim:
    claim = (
        "A prior fitted by gradient steps reaches the best prior of its order, which has a closed form (a check of our "
        f"own: within {REACHED} bits at every order)."
    )
    if not _has_all_bounds(findings):
        return judged(claim, [NOT_YET])
    gaps = {r: bound["gradient"] - bound["exact"] for r, bound in findings.bounds.items()}
    widest = max(gaps, key=lambda r: gaps[r])
    shown = f"widest gap {gaps[widest]:.3f} bits, with r = {widest}"
    return judged(claim, _counted("orders", [gap <= REACHED for gap in gaps.values()], shown))


def order_0_suffices(findings: Findings) -> Claim:
    claim = f"An encoder of order 0 suffices: order 1 is at most {EQUAL} points better (validation, each at its best)."
    lines = [_line(findings, order) for order in (0, 1)]
    if None in lines:
        return judged(claim, [NOT_YET])
    order_0, order_1 = (max(line.values()) for line in lines if line)
    return judged(claim, [Check(f"order 0 {order_0:.1f}, order 1 {order_1:.1f}", order_1 - order_0 <= EQUAL)])


def adversary_surpasses_brute_force(findings: Findings) -> Claim:
    claim = (
        f"AMMI with the paper's r = {PAPERS_ORDER} surpasses BMMI, whose entropy is exact (validation, "
        f"{findings.scale.bits[0]} bits, the better entropy weight of each; within {EQUAL} points counts as equal, "
        "which is holding in part)."
    )
    brute, line = findings.orders.get(("bmmi", 0, 0)), _line(findings, 0)
    if brute is None or line is None:
        return judged(claim, [NOT_YET])
    papers, above = line[PAPERS_ORDER], [r for r in line if line[r] > brute + EQUAL]
    also = f"above BMMI with r = {', '.join(map(str, above)) or 'none'}"
    checks = [
        Check(f"AMMI {papers:.1f}, BMMI {brute:.1f}; {also}", papers >= brute - EQUAL),
        Check("", papers > brute + EQUAL),
    ]
    return judged(claim, checks)


def no_worse_than_brute_force(findings: Findings) -> Claim:
    bits = findings.scale.bits[0]
    claim = f"AMMI is no worse than BMMI at {bits} bits, on every set ({AS_EQUAL})."
    return _against(findings, claim, [BMMI], bits, not_behind)


def leads(findings: Findings, bits: int) -> Claim:
    claim = f"AMMI leads or shares the lead at {bits} bits, on every set ({AS_EQUAL})."
    return _against(findings, claim, RIVALS, bits, not_behind)


def ahead_of_bmsh(findings: Findings) -> Claim:
    bits = findings.scale.bits[-1]
    claim = f"AMMI is well ahead of BMSH at {bits} bits, on every set ({BEYOND})."
    return _against(findings, claim, [BMSH], bits, ahead)


def best_average(findings: Findings) -> Claim:
    def checks(ours: str) -> list[Check]:
        average = findings.average(ours)
        others = {row: findings.average(row) for row in RIVALS}
        known = {row: score for row, score in others.items() if score is not None}
        if average is None or len(known) < len(others):
            return [NOT_YET]
        best = max(known, key=lambda row: known[row])
        figures = f"{ours} {average:.2f}, best of the others {best} {known[best]:.2f}"
        return [Check(figures, average >= known[best] - EQUAL), Check("", average >= known[best])]

    claim = f"AMMI has the best average over all sets and widths (second by at most {EQUAL} points is holding in part)."
    return _with_recipe(claim, checks)


def rises_where_bmsh_falls(findings: Findings) -> Claim:
    *_, before, last = findings.scale.bits
    claim = f"From {before} to {last} bits BMSH falls while AMMI goes on rising, on every set ({BEYOND})."
    checks = []
    for name in findings.scale.sets:
        for row, rises in ((BMSH, False), (AMMI, True)):
            old, new = (findings.precision.get((row, name, bits)) for bits in (before, last))
            if old and new:
                true = ahead(new, old) if rises else ahead(old, new)
                checks.append(Check(f"{name}: {row} {mean(old):.1f} to {mean(new):.1f}", true))
            else:
                checks.append(NOT_YET)
    return judged(claim, checks)


def dvq_competes(findings: Findings) -> Claim:
    bits = findings.scale.bits[-1]
    claim = (
        f"DVQ is competitive with BMSH (average at most {EQUAL} points lower) and ahead of it at {bits} bits, on every "
        f"set ({BEYOND})."
    )
    dvq, bmsh = findings.average(DVQ), findings.average(BMSH)
    average = NOT_YET
    if dvq is not None and bmsh is not None:
        average = Check(f"averages DVQ {dvq:.2f}, BMSH {bmsh:.2f}", dvq >= bmsh - EQUAL)
    return judged(
        claim, [average, *(_versus(findings, DVQ, [BMSH], (name, bits), ahead) for name in findings.scale.sets)]
    )


def fewest_codes(findings: Findings) -> Claim:
    claim = (
        "In predictive hashing AMMI has the fewest distinct codes, on every set (fewer than BMSH and DVQ by more than "
        "one standard deviation over seeds)."
    )

    def check(ours: str, name: str) -> Check:
        seeds = {row: findings.pairs.get((row, name), []) for row in (ours, BMSH, DVQ)}
        codes = {row: [float(score.distinct) for score in scores] for row, scores in seeds.items()}
        if not all(codes.values()):
            return NOT_YET
        fewer = [
            mean(codes[row]) - mean(codes[ours]) > max(spread(codes[row]), spread(codes[ours])) for row in (BMSH, DVQ)
        ]
        shown = ", ".join(f"{row} {mean(counts):,.0f}" for row, counts in codes.items())
        return Check(f"{name}: {shown} of {seeds[ours][0].documents:,} articles", all(fewer))

    return _with_recipe(claim, lambda ours: [check(ours, name) for name in findings.scale.pair_sets])


def best_matching(findings: Findings) -> Claim:
    claim = f"In predictive hashing AMMI has the best matching or shares it, BOW included, on every set ({AS_EQUAL})."

    def check(ours: str, name: str) -> Check:
        rows = (ours, BMSH, DVQ, BOW)
        scores = {row: [score.matching for score in findings.pairs.get((row, name), [])] for row in rows}
        if not all(scores.values()):
            return NOT_YET
        shown = ", ".join(f"{row} {mean(matching):.1f}" for row, matching in scores.items())
        return Check(f"{name}: {shown}", all(not_behind(scores[ours], scores[row]) for row in rows))

    return _with_recipe(claim, lambda ours: [check(ours, name) for name in findings.scale.pair_sets])


def semantic_drift(findings: Findings) -> Claim:
    claim = (
        "Drift is semantic: the share of articles with a label in common falls with the distance of their codes (the "
        f"nearest share is at least twice the farthest, and no step of 5 bits rises by more than {UNEVEN:.0f} points; "
        f"steps with fewer than {FEW} pairs are left out), on every set."
    )
    checks = []
    for name in (name for name in findings.scale.pair_sets if name != WHO_DID_WHAT):  # which has no texts
        steps = findings.drifts[name]["agreement"] if name in findings.drifts else []
        shares = [step["shared"] for step in steps if step["pairs"] >= FEW]
        if not shares:
            checks.append(NOT_YET)
            continue
        rise = max((after - before for before, after in pairwise(shares)), default=0.0)
        shown = f"{name}: {shares[0]:.0f}% nearest, {shares[-1]:.0f}% farthest, largest rise {max(rise, 0):.1f} points"
        checks.append(Check(shown, shares[0] >= 2 * shares[-1] and rise <= UNEVEN))
    return judged(claim, checks)


def as_good_as_the_program(findings: Findings) -> Claim:
    """Check of our own: is this implementation good enough to judge the claims by?"""
    cells = [(name, bits) for name in findings.scale.sets for bits in findings.scale.bits]

    def checks(ours: str) -> list[Check]:
        pairs = [(findings.precision.get((ours, *cell)), published.program(*cell)) for cell in cells]
        known = [(own, theirs) for own, theirs in pairs if own and theirs]
        if len(known) < len(pairs):
            return [NOT_YET]
        averages = f"averages {mean(mean(own) for own, _ in known):.2f} and {mean(theirs for _, theirs in known):.2f}"
        return _counted("cells", [not_behind(own, [theirs]) for own, theirs in known], averages)

    claim = f"AMMI here is as good as the published program on the same matrices (a check of our own; {AS_EQUAL})."
    return _with_recipe(claim, checks)


def _line(findings: Findings, order: int) -> dict[int, float] | None:
    """Return figure 1 (b) for an encoder of this order, None if a prior is missing."""
    line = findings.line(order)
    return line if len(line) == sum(prior >= order for prior in findings.scale.prior_orders) else None


def _has_all_bounds(findings: Findings) -> bool:
    return findings.bounds.keys() >= set(findings.scale.bound_orders)


def _counted(what: str, true: list[bool], shown: str) -> list[Check]:
    """Return many checks with one sentence for all of them."""
    together = Check(f"{sum(true)} of {len(true)} {what}; {shown}", true[0])
    return [together, *(Check("", outcome) for outcome in true[1:])]


def _against(findings: Findings, claim: str, rivals: Sequence[str], bits: int, compare: Compare) -> Claim:
    """Judge a claim that compares AMMI with the best of its rivals on every set."""
    return _with_recipe(
        claim, lambda ours: [_versus(findings, ours, rivals, (name, bits), compare) for name in findings.scale.sets]
    )


def _versus(findings: Findings, ours: str, rivals: Sequence[str], column: tuple[str, int], compare: Compare) -> Check:
    """Compare a row of table 1 with the best of its rivals, on a set at a width."""
    own = findings.precision.get((ours, *column))
    theirs = {row: scores for row in rivals if (scores := findings.precision.get((row, *column)))}
    if not own or len(theirs) < len(rivals):
        return NOT_YET
    best = max(theirs, key=lambda row: mean(theirs[row]))
    figures = f"{column[0]} {mean(own):.1f} against {mean(theirs[best]):.1f} ({best})"
    return Check(figures, all(compare(own, scores) for scores in theirs.values()))


def _with_recipe(claim: str, checks: Callable[[str], list[Check]]) -> Claim:
    """Judge the paper's objective; add the figures of this package's recipe if it does better."""
    papers, own = judged(claim, checks(AMMI)), judged(claim, checks(RECIPE))
    if 0 < RANKS[papers.verdict] < RANKS[own.verdict]:
        addition = f"With the recipe, which is this package's addition and not the paper's, it {own.verdict}"
        return papers._replace(evidence=f"{papers.evidence} {addition}: {own.evidence}")
    return papers
