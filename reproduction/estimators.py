"""The section on estimators: bits of information beside the truth, as benchmarks/information.py measured them."""

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from ammi.files import read_json
from reproduction.figures import FigureFiles
from reproduction.findings import spread
from reproduction.page import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "information.json"
ESTIMATES = {
    "codes": "I(X,Z) of the codes",
    "at_least": "AMMI, at least",
    "at_most": "AMMI, at most",
    "difference": "paper's difference",
    "info_nce": "InfoNCE",
    "nwj": "NWJ",
}

Run = dict[str, Any]


def estimator_rows(runs: list[Run]) -> list[tuple[str, ...]]:
    """Return the head of the table and a row for each channel: means over seeds, with their standard deviation."""
    rows: list[tuple[str, ...]] = [("channel", "I(X,Y)", *ESTIMATES.values())]
    for name, seeds in _by_channel(runs).items():
        cells = [_cell([one[key] for one in seeds]) for key in ESTIMATES]
        rows.append((name, f"{seeds[0]['truth']:.2f}", *cells))
    return rows


def _by_channel(runs: list[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for one in runs:
        found.setdefault(one["channel"], []).append(one)
    return found


def _cell(values: list[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return ""
    return f"{mean(numbers):.2f}" + (f" ± {spread(numbers):.2f}" if len(numbers) > 1 else "")


def plot_estimators(runs: list[Run]) -> "Figure":
    """Draw the estimates by the size of a channel, a panel for each kind of channel."""
    from matplotlib.figure import Figure

    symbols = [one for one in runs if one["kind"] == "Symbols"]
    panels = [
        (f"symbols, noise {noise:g}", "symbols", [one for one in symbols if one["noise"] == noise])
        for noise in sorted({one["noise"] for one in symbols})
    ]
    gaussian = [one for one in runs if one["kind"] == "Gaussian"]
    panels += [("Gaussian vectors", "correlation", gaussian)] if gaussian else []
    figure = Figure(figsize=(3.4 * len(panels), 4), layout="constrained")
    for axes, (title, size, members) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _panel(axes, size, members)
        axes.set(title=title, xlabel=size, ylim=(0, 17))
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("bits")
    handles = dict(zip(*reversed(figure.axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


def _panel(axes: Any, size: str, runs: list[Run]) -> None:
    channels = sorted(_by_channel(runs).values(), key=lambda seeds: seeds[0][size])
    x = range(len(channels))
    axes.set_xticks(x, [f"{seeds[0][size]:,}" for seeds in channels])

    def line(key: str) -> list[float]:
        return [mean(one[key] for one in seeds) for seeds in channels]

    axes.fill_between(
        x, line("at_least"), line("at_most"), color="tab:blue", alpha=0.25, label="AMMI's bounds on I(X,Z)"
    )
    axes.plot(x, line("difference"), "--", color="tab:red", label=ESTIMATES["difference"])
    axes.plot(x, line("info_nce"), "v-", color="tab:green", markersize=4, label="InfoNCE, lower bound")
    axes.plot(x, line("nwj"), "s-", color="tab:orange", markersize=3, label="NWJ, lower bound")
    if all(one["codes"] is not None for one in runs):
        axes.plot(x, line("codes"), "o", color="tab:blue", markersize=5, label="I(X,Z) of AMMI's codes, exact")
    axes.plot(x, line("truth"), "k_", markersize=16, markeredgewidth=2, label="I(X,Y), the truth")


def _summary(runs: list[Run]) -> str:
    """Say how far the estimates are from the truth."""

    def errors(key: str, other: str) -> str:
        found = [mean(one[key] - one[other] for one in seeds) for seeds in _by_channel(runs).values()]
        return f"{min(found):+.2f} to {max(found):+.2f}"

    symbols = [one for one in runs if one["kind"] == "Symbols"]
    below = mean(one["codes"] - one["at_least"] for one in symbols)
    return (
        f"By channel, the paper's difference is {errors('difference', 'truth')} bits from I(X,Y), InfoNCE "
        f"{errors('info_nce', 'truth')} and NWJ {errors('nwj', 'truth')}. On symbols, AMMI's lower bound is "
        f"{below:.2f} bits below the exact I(X,Z) of its codes on average. The codes of Gaussian vectors differ "
        "from seed to seed: the epoch is chosen by the objective, which says little about the codes."
    )


def estimators_section(files: FigureFiles) -> list[str]:
    """Return the section, or nothing if the benchmark was not run."""
    if not RESULTS.exists():
        return []
    runs = read_json(RESULTS)
    head, *rows = estimator_rows(runs)
    hours = sum(one["cpu_seconds"] for one in runs) / 3600
    return [
        "## Estimators of information",
        "The paper proposes its difference of entropies, H⁺(Z) - H⁺(Z|X), as an estimator of mutual information that "
        "is “neither an upper bound nor a lower bound”. Here it stands beside others on channels whose I(X,Y) is known "
        "(`benchmarks/information.py`): AMMI as in the paper, with 16 bits, an encoder for either side of "
        f"{runs[0]['pairs']:,} pairs, the gradient adversary, r = 3 and β = 1, measured on {runs[0]['measured']:,} "
        "other pairs. A symbol is replaced by one at random in a share of all cases, the noise; vectors of "
        "four Gaussian numbers are correlated number by number.",
        "“At least” and “at most” are the bounds on I(X,Z) that [`ammi.information`](information.md) reports; I(X,Z) "
        "of the codes is computed exactly from the channel, and no code has more than I(X,Y). InfoNCE and NWJ "
        "are lower bounds on I(X,Y), each with a critic of its own. Means over seeds ± standard deviation, in bits.",
        table(head, rows, numbers=True),
        _summary(runs),
        files.add("information", "Estimates of information beside the truth, by channel", plot_estimators(runs)),
        f"{len(runs)} runs in {hours:.2f} hours of one core ({runs[-1]['processor']}, {runs[-1]['date']}).",
    ]
