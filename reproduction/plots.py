"""Plots of the paper's results that can be read without any text around them."""

from collections.abc import Sequence
from itertools import accumulate
from statistics import mean
from typing import TYPE_CHECKING, Any

from ammi.tuning.plots import new_axes
from reproduction import published
from reproduction.findings import Findings, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that the colour-blind tell apart (Okabe and Ito's).
RED, BLUE, GREEN, YELLOW, PINK, VIOLET, GREY = "#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "0.7"
PROGRAM = "published program"
COLOURS = {
    "AMMI": RED,
    "AMMI, exact adversary": VIOLET,
    "AMMI, recipe": YELLOW,
    "BMSH": BLUE,
    "DVQ": GREEN,
    "BMMI": PINK,
    PROGRAM: "black",
}
Label = tuple[float, str, str]  # height, text, colour


def precision_by_bits(findings: Findings, name: str) -> "Figure":
    """Plot a set of table 1: methods of the claims in colour, the others in grey, labelled at their ends."""
    figure, axes = new_axes(figsize=(7, 5.2))
    widths, labels = findings.scale.bits, []
    curves = {row: findings.curve(row, name) for row in dict.fromkeys(row for row, _, _ in findings.precision)}
    curves[PROGRAM] = [(bits, score) for bits in widths if (score := published.program(name, bits))]
    for row, points in curves.items():
        colour = COLOURS.get(row, GREY)
        style: dict[str, Any] = {"lw": 2} if row in COLOURS and row != PROGRAM else {"lw": 1, "ms": 3}
        style |= {"marker": "o", "ls": "--" if row == PROGRAM else "-", "zorder": 1 if colour == GREY else 2}
        axes.plot(*zip(*points, strict=True), color=colour, **style)
        if len(points) == 1:
            axes.annotate(row, points[0], (-7, 0), textcoords="offset points", color=colour, va="center", ha="right")
        elif points:
            labels.append((points[-1][1], row, "0.45" if colour == GREY else colour))
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(bits) for bits in widths])
    axes.minorticks_off()
    axes.set_xlim(widths[0] / 1.4, widths[-1] * 1.05)
    axes.set(xlabel="bits of the code", ylabel="top-100 precision on the test part, %")
    _title(axes, f"{name}: precision by the width of the code", "the paper: AMMI (red) leads if codes are long")
    _label_ends(axes, labels)
    return figure


def bound_by_order(findings: Findings) -> "Figure":
    """Plot figure 1 (a): the bound on the entropy by the order of the prior, and the entropy itself, over seeds."""
    figure, axes = new_axes(figsize=(7, 4.4))
    orders = sorted(findings.bounds)
    entropies = [bound["entropy"] for bound in findings.bounds[orders[0]]]
    axes.axhline(mean(entropies), color="black", lw=1.2)
    axes.axhspan(mean(entropies) - spread(entropies), mean(entropies) + spread(entropies), color="0.9", zorder=0)
    exact = [[bound["exact"] for bound in findings.bounds[order]] for order in orders]
    gradient = [[bound["gradient"] for bound in findings.bounds[order]] for order in orders]
    _error_bars(axes, orders, exact, color=BLUE, lw=2, label="best prior of that order")
    fitted: dict[str, Any] = {"ls": "", "marker": "o", "ms": 8, "mfc": "none", "mew": 1.8}
    axes.plot(orders, list(map(mean, gradient)), color=RED, label="prior fitted by gradient steps", **fitted)
    axes.legend(frameon=False, labelcolor="linecolor")
    above: dict[str, Any] = {"textcoords": "offset points", "va": "bottom"}
    shown = f"entropy by brute force, {mean(entropies):.2f} bits"
    axes.annotate(shown, (orders[0], mean(entropies)), (0, 4), **above)
    axes.set(xlabel="Markov order r of the prior (of the encoder: 0)", ylabel="cross entropy of a batch of codes, bits")
    axes.set_xticks(orders)
    _title(axes, "The entropy bound by the order of the prior", "the paper: it reaches the entropy only for r > 10")
    return figure


def precision_by_order(findings: Findings) -> "Figure":
    """Plot figure 1 (b): validation precision by the order of the prior, for encoders of order 0 and 1, and BMMI."""
    figure, axes = new_axes(figsize=(7, 4.4))
    labels: list[Label] = []
    for order, colour in ((0, RED), (1, BLUE)):
        if line := findings.line(order):
            _error_bars(axes, list(line), list(line.values()), color=colour, lw=2, marker="o")
            labels.append((mean(line[max(line)]), f"AMMI, o = {order}", colour))
    if findings.brute_force:
        brute = findings.brute_force.validation
        axes.axhline(mean(brute), color="black", lw=1.2)
        axes.axhspan(mean(brute) - spread(brute), mean(brute) + spread(brute), color="0.9", zorder=0)
        labels.append((mean(brute), "BMMI", "black"))
    axes.set(xlabel="Markov order r of the prior (of the encoder: o)", ylabel="validation precision, %")
    axes.set_xticks(findings.scale.prior_orders)
    about = f"{findings.scale.figure_set}, {findings.scale.bits[0]} bits"
    _title(
        axes, f"Precision by the order of the prior ({about})", "the paper: poor if r = o, good above, better than BMMI"
    )
    _label_ends(axes, labels)
    return figure


def matching_by_codes(findings: Findings, name: str) -> "Figure":
    """Plot table 2 on a set: top-100 matching by the share of distinct codes."""
    figure, axes = new_axes(figsize=(7, 4.4))
    for (row, pair_set), scores in findings.pairs.items():
        if pair_set == name and row != "BOW":
            share = [100 * score.distinct / score.documents for score in scores]
            matching = [score.matching for score in scores]
            axes.plot(share, matching, "o", color=COLOURS[row], ms=8, alpha=0.8, label=row)
    axes.legend(frameon=False, labelcolor="linecolor")
    axes.margins(0.2)
    axes.set(xlabel="distinct codes, % of the training articles", ylabel="top-100 matching on the test part, %")
    _title(axes, f"{name}: matching by the number of distinct codes", "the paper: AMMI highest and farthest left")
    return figure


def agreement_by_distance(findings: Findings, few: int) -> "Figure":
    """Plot how often articles share a label by the distance of their codes; small points have few pairs."""
    figure, axes = new_axes(figsize=(7, 4.4))
    labels: list[Label] = []
    for (name, drift), colour in zip(findings.drifts.items(), (RED, BLUE, GREEN), strict=False):
        steps = drift["agreement"]
        distances, shares = [step["distance"] for step in steps], [step["shared"] for step in steps]
        axes.plot(distances, shares, color=colour, lw=2)
        axes.scatter(distances, shares, [20 if step["pairs"] >= few else 4 for step in steps], color=colour)
        labels.append((shares[-1], name, colour))
    axes.set_ylim(0)
    axes.set(xlabel="Hamming distance of the codes, bits (steps of 5)", ylabel="articles with a label in common, %")
    _title(axes, "Shared labels by the distance of codes", f"drift is semantic if they fall; small: under {few} pairs")
    _label_ends(axes, labels)
    return figure


def _error_bars(axes: "Axes", x: Sequence[int], scores: Sequence[list[float]], **style: Any) -> None:
    """Draw means over seeds with bars of one standard deviation."""
    axes.errorbar(x, [mean(seeds) for seeds in scores], [spread(seeds) for seeds in scores], capsize=3, **style)


def _title(axes: "Axes", title: str, expected: str) -> None:
    """Write the title, and below it what the paper expects."""
    axes.set_title(f"{title}\n", loc="left", fontweight="bold")
    axes.text(0, 1.02, expected, transform=axes.transAxes, va="bottom", color="0.35")


def _label_ends(axes: "Axes", labels: list[Label]) -> None:
    """Label lines at their right ends, without overlaps."""
    labels = sorted(labels)
    heights = [height for height, _, _ in labels]
    low, high = axes.get_ylim()
    gap = 0.05 * (high - low)
    raised = list(accumulate(heights, lambda below, own: max(own, below + gap)))
    lowered = list(accumulate(heights[::-1], lambda above, own: min(own, above - gap)))[::-1]
    right = axes.get_yaxis_transform()
    for (height, text, colour), up, down in zip(labels, raised, lowered, strict=True):
        middle = (up + down) / 2  # the mean of two spaced lists is spaced as well
        axes.plot((1, 1.03), (height, middle), color=colour, lw=0.6, transform=right, clip_on=False)
        axes.text(1.035, middle, text, color=colour, va="center", transform=right)
