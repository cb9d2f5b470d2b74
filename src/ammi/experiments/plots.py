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
