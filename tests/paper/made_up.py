"""Results as the paper has them, so that what should be said of them is known."""

from ammi.experiments import published
from ammi.experiments.measured import Measured, PairScore
from ammi.experiments.paper import PAPER


def as_published() -> Measured:
    """The paper's own figures, one seed, and figures 1 and 3 as its text describes them."""
    measured = Measured(PAPER)
    for row, sets in {**published.TABLE_1, "ITQ": published.TABLE_1["STH"]}.items():
        for name, figures in sets.items():
            for bits, figure in zip(published.BITS, figures, strict=False):
                measured.precision[row, name, bits] = [figure]
    for name in PAPER.sets:
        measured.precision["BOW", name, 0] = [published.BOW[name]]
    for order in (0, 1):
        for prior in range(order, 11):
            measured.orders["ammi", order, prior] = 60.0 if prior == order else 80.0 - order
    measured.orders["bmmi", 0, 0] = 79.0
    for prior in range(14):
        measured.bounds[prior] = {
            "order": prior,
            "entropy": 9.0,
            "exact": 9 + 5 / 2**prior,
            "gradient": 9 + 5 / 2**prior,
        }
    for name in PAPER.pair_sets:
        for row, (codes, matching) in published.TABLE_2.items():
            measured.pairs[row, name] = [PairScore(matching, codes, published.TABLE_2_DOCUMENTS, 128, [200, 150, 150])]
        steps = [{"distance": 5 * step, "pairs": 1000, "shared": 60 * 0.8**step} for step in range(10)]
        measured.drifts[name] = {"walks": [], "agreement": steps}
    return measured
