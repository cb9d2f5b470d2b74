"""Plots of a search that can be read without any text around them."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from optuna import Study

    from ammi.tuning.search import TrialRow


def search_history(trials: "Sequence[TrialRow]") -> "Figure":
    """Plot the validation score of each trial, crosses for given-up ones, and the best so far as a line."""
    figure, axes = new_axes(figsize=(7, 4))
    done = [row for row in trials if row["state"] == "complete"]
    pruned = [row for row in trials if row["state"] == "pruned"]
    best = [max(row["validation"] for row in done if row["trial"] <= end["trial"]) for end in done]
    axes.step([row["trial"] for row in done], best, where="post", color="black", label="best so far")
    axes.plot([row["trial"] for row in done], [row["validation"] for row in done], "o", label="finished")
    axes.plot([row["trial"] for row in pruned], [row["validation"] for row in pruned], "x", label="given up early")
    axes.set(xlabel="trial", ylabel="validation score, %")
    axes.locator_params(axis="x", integer=True)
    axes.legend(frameon=False)
    return figure


def search_importance(study: "Study") -> "Figure | None":
    """Plot the share of the scores' variance that each parameter explains (PED-ANOVA); None for too few trials."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    try:
        with warnings.catch_warnings(action="ignore"):  # it warns about every small study
            shares = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    except (RuntimeError, ValueError):  # it needs several finished trials with different scores
        return None
    if not shares:
        return None
    figure, axes = new_axes(figsize=(7, 0.6 + 0.4 * len(shares)))
    names = list(shares)[::-1]
    bars = axes.barh(names, [shares[name] for name in names])
    axes.bar_label(bars, fmt=" %.2f")
    axes.set(xlabel="share of the variance of the validation score", xlim=(0, 1.1 * max(shares.values())))
    return figure


def new_axes(figsize: tuple[float, float]) -> "tuple[Figure, Axes]":
    """Return a figure of one panel, without lines at the top and the right."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'ammi[plots]'") from error
    figure = Figure(figsize=figsize, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
