"""The paper's claims: each is a list of comparisons of the results, with the figures they rest on."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from statistics import mean

from reproduction import published
from reproduction.findings import Findings, spread
from reproduction.judging import RANKS, Check, Claim, Comparison, by_tests, judged
from reproduction.plan import PAPERS_ORDER, WHO_DID_WHAT

AMMI, RECIPE, BMMI, BMSH, DVQ, BOW = "AMMI", "AMMI, recipe", "BMMI", "BMSH", "DVQ", "BOW"
RIVALS = (BMSH, DVQ)  # searched for as AMMI was; the others have their defaults and one seed

Comparisons = list[Comparison | None]  # None: a figure is missing


def all_claims(findings: Findings) -> list[Claim]:
    """Judge every claim, in the order of the paper."""
    *_, large, largest = findings.scale.bits
    checked = [as_good_as_the_program(findings)] if published.PROGRAM.keys() >= set(findings.scale.sets) else []
    return [
        richer_prior(findings, 0),
        richer_prior(findings, 1),
        accurate_entropy(findings),
        order_0_suffices(findings),
        adversary_surpasses_brute_force(findings),
        better_than_brute_force(findings),
        ahead_of_both(findings, large),
        ahead_of_bmsh(findings, largest),
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
        f"The prior must be strictly richer than an encoder of order {order}: with every r > {order} the validation "
        f"precision is higher than with r = {order}."
    )
    line = findings.line(order)
    richer = [prior for prior in findings.scale.prior_orders if prior > order]
    comparisons: Comparisons = [
        Comparison(f"r = {prior}", line[prior], line[order]) if line.keys() >= {prior, order} else None
        for prior in richer
    ]
    return by_tests(claim, comparisons)


def accurate_entropy(findings: Findings) -> Claim:
    claim = (
        "An accurate estimate of the entropy takes a prior of an order well above the encoder's, which is 0: it is not "
        f"accurate with r = {PAPERS_ORDER}, and accurate with every r > 10 (accurate: too high by less than the "
        "standard deviation of the entropy over the models and batches of the seeds)."
    )
    orders = [order for order in findings.scale.bound_orders if order > 10] or [max(findings.scale.bound_orders)]
    if not findings.bounds.keys() >= {PAPERS_ORDER, *orders}:
        return judged(claim, [None])
    varies = spread([bound["entropy"] for bound in findings.bounds[PAPERS_ORDER]])
    entropy = mean(bound["entropy"] for bound in findings.bounds[PAPERS_ORDER])
    excess = {r: mean(bound["exact"] - bound["entropy"] for bound in findings.bounds[r]) for r in findings.bounds}
    papers = excess[PAPERS_ORDER]
    shown = f"entropy {entropy:.2f} ± {varies:.2f} bits, with r = {PAPERS_ORDER} too high by {papers:.2f}"
    return judged(
        claim,
        [
            Check(shown, 1 if papers > varies else -1),
            *(Check(f"with r = {r} by {excess[r]:.2f}", 1 if excess[r] < varies else -1) for r in orders),
        ],
    )


def order_0_suffices(findings: Findings) -> Claim:
    claim = "An encoder of order 0 suffices: its validation precision is above that of order 1 (each with its best r)."
    best = [_best(findings.line(order), findings.scale.prior_orders, order) for order in (0, 1)]
    if not all(best):
        return by_tests(claim, [None])
    (zero, scores_0), (one, scores_1) = (found for found in best if found)
    return by_tests(claim, [Comparison(f"o = 0 with r = {zero} and o = 1 with r = {one}", scores_0, scores_1)])


def adversary_surpasses_brute_force(findings: Findings) -> Claim:
    claim = (
        f"AMMI with the paper's r = {PAPERS_ORDER} surpasses BMMI, whose entropy is exact (validation precision of "
        f"figure 1, {findings.scale.bits[0]} bits)."
    )
    line, brute = findings.line(0), findings.brute_force
    if brute is None or PAPERS_ORDER not in line:
        return by_tests(claim, [None])
    return by_tests(claim, [Comparison("AMMI and BMMI", line[PAPERS_ORDER], brute.validation)])


def better_than_brute_force(findings: Findings) -> Claim:
    bits = findings.scale.bits[0]
    claim = f"AMMI is better than BMMI at {bits} bits, on every set."
    return _against(findings, claim, [BMMI], bits)


def ahead_of_both(findings: Findings, bits: int) -> Claim:
    return _against(findings, f"AMMI is ahead of BMSH and DVQ at {bits} bits, on every set.", RIVALS, bits)


def ahead_of_bmsh(findings: Findings, bits: int) -> Claim:
    return _against(findings, f"AMMI is ahead of BMSH at {bits} bits, on every set.", [BMSH], bits)


def best_average(findings: Findings) -> Claim:
    def comparisons(ours: str) -> Comparisons:
        return [_averages(findings, ours, rival) for rival in RIVALS]

    return _with_recipe("AMMI has a better average over all sets and widths than BMSH and DVQ.", comparisons)


def rises_where_bmsh_falls(findings: Findings) -> Claim:
    *_, before, last = findings.scale.bits
    claim = f"From {before} to {last} bits BMSH falls while AMMI goes on rising, on every set."
    comparisons: Comparisons = []
    for name, (row, falls) in product(findings.scale.sets, ((BMSH, True), (AMMI, False))):
        first, second = (before, last) if falls else (last, before)
        what = f"{name}, {row} at {first} and {second} bits"
        comparisons.append(_comparison(findings, what, (row, name, first), (row, name, second)))
    return by_tests(claim, comparisons)


def dvq_competes(findings: Findings) -> Claim:
    bits = findings.scale.bits[-1]
    claim = f"DVQ achieves a higher precision than BMSH at {bits} bits, on every set."
    return by_tests(claim, _all_versus(findings, DVQ, [BMSH], bits))


def fewest_codes(findings: Findings) -> Claim:
    claim = "In predictive hashing AMMI has fewer distinct codes than BMSH and DVQ, on every set."

    def comparison(ours: str, rival: str, name: str) -> Comparison | None:
        fewer, more = findings.pairs.get((ours, name)), findings.pairs.get((rival, name))
        if not fewer or not more:
            return None
        many, few = ([float(score.distinct) for score in scores] for scores in (more, fewer))
        return Comparison(f"{name}, {rival} and {ours}", many, few, form=",.0f")

    return _with_recipe(
        claim, lambda ours: [comparison(ours, rival, name) for name in findings.scale.pair_sets for rival in RIVALS]
    )


def best_matching(findings: Findings) -> Claim:
    claim = "In predictive hashing AMMI has a better matching than BMSH, DVQ and BOW, on every set."

    def comparison(ours: str, rival: str, name: str) -> Comparison | None:
        own, theirs = findings.pairs.get((ours, name)), findings.pairs.get((rival, name))
        if not own or not theirs:
            return None
        first, second = ([score.matching for score in seeds] for seeds in (own, theirs))
        papers = published.TABLE_2[AMMI][1] - published.TABLE_2[rival][1]
        return Comparison(f"{name}, {ours} and {rival}", first, second, papers if ours == AMMI else None)

    rivals = (*RIVALS, BOW)
    return _with_recipe(
        claim, lambda ours: [comparison(ours, rival, name) for name in findings.scale.pair_sets for rival in rivals]
    )


def semantic_drift(findings: Findings) -> Claim:
    claim = (
        "Drift is semantic, on every set: articles without a common label are farther away than those with one (mean "
        "difference in bits over articles, t test against 0)."
    )
    names = [name for name in findings.scale.pair_sets if name != WHO_DID_WHAT]  # which has no texts
    comparisons: Comparisons = [
        Comparison(f"{name}, bits farther", findings.drifts[name]["farther"], [0.0])
        if name in findings.drifts
        else None
        for name in names
    ]
    return by_tests(claim, comparisons)


def as_good_as_the_program(findings: Findings) -> Claim:
    """Check of our own: is this implementation good enough to judge the claims by?"""
    claim = (
        "AMMI here is better than the published program on the same matrices (a check of our own: averages over all "
        "sets and widths, the program's one run taken as it is)."
    )
    programs = [published.program(name, bits) for name in findings.scale.sets for bits in findings.scale.bits]
    program = [mean(figure for figure in programs if figure is not None)]

    def comparisons(ours: str) -> Comparisons:
        averages = findings.seed_averages(ours)
        return [Comparison(f"{ours} and the program", averages, program) if averages and all(programs) else None]

    return _with_recipe(claim, comparisons)


def _best(line: dict[int, list[float]], orders: Iterable[int], order: int) -> tuple[int, list[float]] | None:
    """Return the best order of the prior and its scores, None if one is missing."""
    wanted = [prior for prior in orders if prior >= order]
    if not line.keys() >= set(wanted):
        return None
    best = max(wanted, key=lambda prior: mean(line[prior]))
    return best, line[best]


def _averages(findings: Findings, ours: str, rival: str) -> Comparison | None:
    """Compare the averages of two rows over all sets and widths, seed by seed."""
    own, theirs = findings.seed_averages(ours), findings.seed_averages(rival)
    if not own or not theirs:
        return None
    papers = published.AVERAGES
    known = {ours, rival} <= papers.keys()
    return Comparison(f"{ours} and {rival}", own, theirs, papers[ours] - papers[rival] if known else None)


def _against(findings: Findings, claim: str, rivals: Sequence[str], bits: int) -> Claim:
    """Judge a claim that compares AMMI with each of its rivals on every set."""
    return _with_recipe(claim, lambda ours: _all_versus(findings, ours, rivals, bits))


def _all_versus(findings: Findings, ours: str, rivals: Sequence[str], bits: int) -> Comparisons:
    return [
        _comparison(findings, f"{name}, {ours} and {rival}", (ours, name, bits), (rival, name, bits))
        for name in findings.scale.sets
        for rival in rivals
    ]


def _comparison(
    findings: Findings, what: str, ours: tuple[str, str, int], theirs: tuple[str, str, int]
) -> Comparison | None:
    """Compare two cells of table 1, None if one is missing."""
    if ours not in findings.precision or theirs not in findings.precision:
        return None
    own, their = published.precision(*ours), published.precision(*theirs)
    papers = own - their if own is not None and their is not None else None
    return Comparison(what, findings.precision[ours], findings.precision[theirs], papers)


def _with_recipe(claim: str, comparisons: Callable[[str], Comparisons]) -> Claim:
    """Judge the paper's objective; add the figures of this package's recipe if it does better."""
    papers, own = by_tests(claim, comparisons(AMMI)), by_tests(claim, comparisons(RECIPE))
    if 0 < RANKS[papers.verdict] < RANKS[own.verdict]:
        addition = f"With the recipe, which is this package's addition and not the paper's, it {own.verdict}"
        return papers._replace(evidence=f"{papers.evidence} {addition}: {own.evidence}")
    return papers
