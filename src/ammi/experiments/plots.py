"""Pictures of searches and of the paper's results, each understood without the text around it."""

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from optuna import Study


def search_history(trials: list[dict[str, Any]]) -> "Figure":
    """Each trial's validation score, those given up as crosses, and the best so far as a line."""
    figure, axes = _axes(figsize=(7, 4))
    done = [row for row in trials if row["state"] == "complete"]
    pruned = [row for row in trials if row["state"] == "pruned"]
    best = [max(row["validation"] for row in done if row["trial"] <= end["trial"]) for end in done]
    axes.step([row["trial"] for row in done], best, where="post", color="black", label="best so far")
    axes.plot([row["trial"] for row in done], [row["validation"] for row in done], "o", label="finished")
    axes.plot([row["trial"] for row in pruned], [row["validation"] for row in pruned], "x", label="given up early")
    axes.set(xlabel="trial", ylabel="validation score, %")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
    return figure


def search_importance(study: "Study") -> "Figure | None":
    """How much of the scores' variance each parameter explains (PED-ANOVA), or None where too few trials finished."""
    from optuna.importance import get_param_importances

    try:
        with warnings.catch_warnings(action="ignore"):  # it finds every small study inaccurate
            shares = get_param_importances(study)
    except (RuntimeError, ValueError):  # it wants several finished trials, of different scores
        return None
    if not shares:
        return None
    figure, axes = _axes(figsize=(7, 0.6 + 0.4 * len(shares)))
    names = list(shares)[::-1]
    bars = axes.barh(names, [shares[name] for name in names])
    axes.bar_label(bars, fmt=" %.2f")
    axes.set(xlabel="share of the variance of the validation score", xlim=(0, 1.1 * max(shares.values())))
    return figure


def _axes(figsize: tuple[float, float]) -> tuple["Figure", Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'ammi[tune]'") from error
    figure = Figure(figsize=figsize, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def precision_by_bits(measured: "Measured") -> "Figure":
    """Table 1, one panel a set: the methods that matter in colour, the others in grey, each named at its last point."""
    scale = measured.scale
    figure, panels = _panels(len(scale.sets), width=4.6, height=5.2)
    for axes, name in zip(panels, scale.sets, strict=True):
        labels = []
        for row in dict.fromkeys(row for row, one, _ in measured.precision if one == name and row != "BOW"):
            line = {bits: measured.precision.get((row, name, bits)) for bits in scale.bits}
            means = {bits: mean(scores) for bits, scores in line.items() if scores}
            colour, is_main = COLOURS.get(row, "0.65"), row in COLOURS
            axes.plot(means.keys(), means.values(), "o-", color=colour, lw=2 if is_main else 1, ms=5 if is_main else 3)
            labels.append((means[max(means)], row, colour if is_main else "0.45"))
        theirs = {bits: published.program(name, bits) for bits in scale.bits}
        if known := {bits: score for bits, score in theirs.items() if score}:
            axes.plot(known.keys(), known.values(), "s--", color="black", lw=1, ms=3)
            labels.append((known[max(known)], "published program", "black"))
        axes.set_xscale("log", base=2)
        axes.set_xticks(scale.bits, [str(bits) for bits in scale.bits])
        axes.set(title=name, xlabel="bits")
        _label_ends(axes, scale.bits[-1] * 1.08, labels)
    panels[0].set_ylabel("top-100 precision on the test part, %")
    figure.suptitle("Precision of codes by their width; the paper has AMMI in front at the right", fontweight="bold")
    return figure


def bound_by_order(measured: "Measured") -> "Figure":
    """Figure 1 (a): the bound on the entropy by the order of the prior, and the entropy itself."""
    figure, axes = _axes(figsize=(7, 4.4))
    bounds = measured.bounds
    entropy = next(iter(bounds.values()))["entropy"]
    axes.axhline(entropy, color="black", lw=1)
    axes.plot(bounds.keys(), [bound["exact"] for bound in bounds.values()], "-", color=BLUE, lw=2)
    axes.plot(bounds.keys(), [bound["gradient"] for bound in bounds.values()], "o", color=ORANGE, ms=7, mfc="none", mew=2)
    first, second = list(bounds.values())[0], list(bounds.values())[min(1, len(bounds) - 1)]
    right = {"textcoords": "offset points", "va": "bottom", "ha": "left"}
    axes.annotate("best prior of order r (line)", (first["order"], first["exact"]), (12, 6), color=BLUE, **right)
    axes.annotate("prior fitted by gradient steps", (second["order"], second["gradient"]), (12, 6), color=ORANGE, **right)
    axes.annotate(f"entropy by brute force, {entropy:.2f} bits", (first["order"], entropy), (0, -4), "data", va="top")
    axes.set(xlabel="Markov order r of the prior", ylabel="cross entropy of a batch of codes, bits")
    return figure


def precision_by_order(measured: "Measured") -> "Figure":
    """Figure 1 (b): validation precision by the order of the prior, for encoders of order 0 and 1, and of BMMI."""
    figure, axes = _axes(figsize=(7, 4.4))
    labels = []
    for order, colour in ((0, ORANGE), (1, BLUE)):
        if line := measured.line(order):
            axes.plot(line.keys(), line.values(), "o-", color=colour, lw=2)
            axes.plot(order, line.get(order), "o", color="white", ms=4, zorder=3)
            labels.append((line[max(line)], f"AMMI, o = {order}", colour))
    if brute := measured.orders.get(("bmmi", 0, 0)):
        axes.axhline(brute, color="black", lw=1)
        labels.append((brute, "BMMI, exact entropy", "black"))
    return figure
