"""The figures of a training run, epoch by epoch, and a plot of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

History = list[dict[str, float]]


def plot_history(history: Sequence[Mapping[str, float]], kept_epoch: int) -> "Figure":
    """Return a matplotlib figure: the figures of the objective above, the validation score below."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'ammi[plots]'") from error
    epochs = [row["epoch"] for row in history]
    quantities = [name for name in history[0] if name not in {"epoch", "score", "seconds", "documents_per_second"}]
    figure = Figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name in quantities:
        above.plot(epochs, [row[name] for row in history], label=name.replace("_", " "))
    above.legend(frameon=False)
    kept = history[kept_epoch - 1]
    below.plot(epochs, [row["score"] for row in history], color="black")
    below.plot(
        kept["epoch"], kept["score"], "o", color="black", label=f"kept: epoch {kept['epoch']}, {kept['score']:.2f}"
    )
    below.legend(frameon=False, loc="lower right")
    below.set(xlabel="epoch", ylabel="validation score")
    above.set(ylabel="bits" if "information" in history[0] else "")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
