"""The report: the paper's claims, tables and figures beside the results, as Markdown and as one page. It only reads."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ammi.experiments import plots, published
from ammi.experiments.claims import FEW, Claim, Verdict, all_claims
from ammi.experiments.measured import Measured, read, spread
from ammi.experiments.page import escaped, table, to_page
from ammi.experiments.paper import TABLE_1, TABLE_2, WHO_DID_WHAT, Paper, tuned
from ammi.experiments.tiny import TINY, TINY_PAIRS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The paper's claims, tables and figures, run again"
NEEDED = {"matplotlib": "matplotlib", "markdown_it": "markdown-it-py"}  # module, package
SIGNS: dict[Verdict, str] = {"holds": "✓", "holds in part": "◐", "does not hold": "✗", "not run yet": "○"}
SETS = {
    "tmc_small": "A fifth of the paper's TMC, aviation safety reports; the whole set could not be had.",
    "ng20": "20 Newsgroups, rebuilt from the raw texts to the size of the paper's NG20.",
    "reuters": "Reuters-21578, rebuilt from the raw texts to the size of the paper's Reuters.",
    "reuters-pairs": "Pairs of Reuters-21578 articles on one event, made here in place of Who-Did-What.",
    "newsgroup-replies": "Messages of 20 Newsgroups and those they answer, made here in place of Who-Did-What.",
    WHO_DID_WHAT: "The paper's own pairs, as its authors published them; without their texts, so not in table 3.",
    TINY: "Docstrings, which are on every machine: they show that everything runs, not how good the methods are.",
    TINY_PAIRS: "Both halves of docstrings: they show that everything runs, not how good the methods are.",
}
PROGRAM = "AMMI, the published program"


def write_report(paper: Paper, markdown: Path) -> Path:
    """Write the Markdown, its figures and the page; the path of the page is returned."""
    _check_installed()
    measured = read(paper)
    figures = _Figures(paper.folder / "figures", markdown.parent)
    parts = [
        *_summary(all_claims(measured), tiny=TINY in paper.scale.sets),
        *_table1(measured, figures),
        *_figure1(measured, figures),
        *_table2(measured, figures),
        *_table3(measured, figures),
        *_costs(paper),
        *_sets(measured),
    ]
    text = "\n\n".join(parts) + "\n"
    page = paper.folder / "report.html"
    for path in (markdown, page):
        path.parent.mkdir(parents=True, exist_ok=True)
    markdown.write_text(text, encoding="utf-8")
    page.write_text(to_page(text, markdown.parent, TITLE), encoding="utf-8")
    return page


def write_part(paper: Paper, part: str) -> str:
    """Draw the figures of a table or figure, and return its part of the report without them."""
    _check_installed()
    parts = {"table1": _table1, "figure1": _figure1, "table2": _table2, "table3": _table3}
    written = parts[part](read(paper), _Figures(paper.folder / "figures", paper.folder))
    return "\n\n".join(text for text in written if not text.startswith("!["))


def _check_installed() -> None:
    if missing := [package for module, package in NEEDED.items() if not find_spec(module)]:
        raise ImportError(f"the report needs {' and '.join(missing)}: pip install 'ammi[paper]'")


class _Figures:
    """Draws figures into a folder and says how the Markdown links to them."""

    def __init__(self, folder: Path, seen_from: Path):
        self.folder, self.seen_from = folder, seen_from

    def add(self, name: str, alt: str, figure: "Figure") -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.png"
        figure.savefig(path, dpi=130)
        link = Path(os.path.relpath(path, self.seen_from)).as_posix()
        return f"![{alt}]({quote(link)})"


def _summary(claims: list[Claim], tiny: bool) -> list[str]:
    counts = Counter(one.verdict for one in claims)
    shown = ", ".join(f"{sign} {verdict}: {counts[verdict]}" for verdict, sign in SIGNS.items() if counts[verdict])
    rows = [(f"**{SIGNS[one.verdict]} {one.verdict}**", escaped(one.claim), escaped(one.evidence)) for one in claims]
    return [
        f"# {TITLE}",
        "The claims of *Learning Discrete Structured Representations by Adversarially Maximizing Mutual Information* "
        f"(Stratos and Wiseman, ICML 2020), judged by runs of this package. {shown}.",
        "AMMI is the paper's objective, which sees documents alone, with parameters found by a search. “AMMI, "
        "neighbours” is the default of this package, which pairs each document with its nearest neighbours. That is "
        "an addition of ours: no claim is said to hold because of it.",
        *(
            ["This is a quick run: the verdicts show that everything works, and nothing about the claims."]
            if tiny
            else []
        ),
        table(("verdict", "claim", "what it rests on"), rows),
    ]


def _table1(measured: Measured, figures: _Figures) -> list[str]:
    parts = [
        "## Table 1: unsupervised document hashing",
        "Top-100 precision on the test part, in percent: how many of the 100 training documents with the nearest codes "
        "have a label in common with a test document. Mean ± standard deviation over seeds where there are several; in "
        "parentheses the paper's figure, on its own version of the set; bold the best of ours in each column.",
        f"BOW compares sets of words and has no width. BMMI is for {measured.scale.bits[0]} bits.",
    ]
    expected = len(measured.scale.sets) * ((len(TABLE_1) - 2) * len(measured.scale.bits) + 2)  # BOW and BMMI have one
    if len(measured.precision) < expected:
        parts.append(f"Other cells that are empty were not run yet: {_command('table1')}.")
    for name in measured.scale.sets:
        if any(one == name for _, one, _ in measured.precision):
            alt = f"Precision of every method on {name} by the number of bits"
            picture = figures.add(f"precision-{name}", alt, plots.precision_by_bits(measured, name))
            parts += [f"### {name}", SETS.get(name, ""), _precisions(measured, name), picture]
    if measured.precision:
        parts += ["### Averages", _averages(measured)]
    if published.PROGRAM.keys() >= set(measured.scale.sets):
        parts.append(
            "The published program was run on the same matrices with its authors' settings, for at most 40 epochs; on "
            "tmc_small at 32 bits with those for 64 bits, because its own gave 68.62."
        )
    return parts


def _precisions(measured: Measured, name: str) -> str:
    """Table 1 on a set."""
    widths, columns = measured.scale.bits, []
    for bits in widths:
        scores = [measured.precision.get((row.name, name, bits), []) for row in TABLE_1]
        columns.append(_column(scores, [published.precision(row.name, name, bits) for row in TABLE_1]))
    averages = [measured.average(row.name, [name]) for row in TABLE_1]
    columns.append(
        _column([_alone(average) for average in averages], [_published_mean(row.name, name) for row in TABLE_1])
    )
    rows = [(row.name, *cells) for row, *cells in zip(TABLE_1, *columns, strict=True)]
    program = [published.program(name, bits) for bits in widths]
    if all(program):
        rows.append((PROGRAM, *map(_number, [*program, _mean(program)])))
    return table(("method", *(f"{bits} bits" for bits in widths), "mean"), rows, numbers=True)


def _averages(measured: Measured) -> str:
    """The last column of table 1, and of its parts."""
    columns = []
    averages = published.AVERAGES if published.BOW.keys() >= set(measured.scale.sets) else {}
    for names in (*([name] for name in measured.scale.sets), None):
        theirs = [_published_mean(row.name, names[0]) if names else averages.get(row.name) for row in TABLE_1]
        columns.append(_column([_alone(measured.average(row.name, names)) for row in TABLE_1], theirs))
    rows = [(row.name, *cells) for row, *cells in zip(TABLE_1, *columns, strict=True)]
    if programs := [_mean(published.PROGRAM[name]) for name in measured.scale.sets if name in published.PROGRAM]:
        rows.append((PROGRAM, *map(_number, [*programs, _mean(programs)])))
    return table(("method", *measured.scale.sets, "all"), rows, numbers=True)


def _figure1(measured: Measured, figures: _Figures) -> list[str]:
    scale, parts = measured.scale, ["## Figure 1: the Markov order of the prior"]
    if measured.bounds:
        alt = "Cross entropy by the order of the prior, and the entropy by brute force"
        parts += [
            "(a) The entropy of the codes that a partly trained BMMI gives a batch, and its cross entropy with a prior "
            "of order r, which is never lower. The best prior of an order has a closed form; the paper fits one by "
            "gradient steps.",
            figures.add("figure1a", alt, plots.bound_by_order(measured)),
        ]
    if measured.orders:
        alt = "Validation precision by the order of the prior"
        parts += [
            "(b) The validation precision that is reached with a prior of order r. A point is the best of the entropy "
            f"weights {' and '.join(map(str, scale.entropy_weights))} with one seed, other parameters at their "
            "defaults; the paper tunes all of them at each point.",
            figures.add("figure1b", alt, plots.precision_by_order(measured)),
        ]
    expected = len(scale.bound_orders) + 1 + sum(prior >= order for order in (0, 1) for prior in scale.prior_orders)
    if len(measured.bounds) + len(measured.orders) < expected:
        parts.append(f"Points are missing that were not run yet: {_command('figure1')}.")
    return parts


def _table2(measured: Measured, figures: _Figures) -> list[str]:
    parts = [
        "## Table 2: predictive document hashing",
        f"Codes of {measured.scale.pair_bits} bits, learned from pairs of related articles. Matching: for how many "
        "test articles, in percent, the related one is among the 100 nearest. It is the easier the fewer pairs there "
        "are to choose from: the paper's test part has 7,326, of which 100 are 1.4%. "
        "Distinct codes are counted on the training articles. Bold: the fewest codes and the best matching of ours; in "
        f"parentheses the paper's, of {published.TABLE_2_DOCUMENTS:,} other articles.",
    ]
    if len(measured.pairs) < len(TABLE_2) * len(measured.scale.pair_sets):
        parts.append(f"What is missing was not run yet: {_command('table2')}.")
    for name in measured.scale.pair_sets:
        if any(one == name for _, one in measured.pairs):
            alt = f"Matching by the number of distinct codes on {name}"
            picture = figures.add(f"matching-{name}", alt, plots.matching_by_codes(measured, name))
            about = f"{SETS.get(name, '')} Pairs for training, validation, test: {_pair_counts(measured, name)}."
            parts += [f"### {name}", about, _matchings(measured, name), picture]
    return parts


def _matchings(measured: Measured, name: str) -> str:
    """Table 2 on a set of pairs."""
    scores = [measured.pairs.get((row.name, name), []) for row in TABLE_2]
    codes, matching = zip(*(published.TABLE_2[row.name] for row in TABLE_2), strict=True)
    columns = [
        [f"{seeds[0].dimension:,}" if seeds else "" for seeds in scores],
        _column([[float(one.distinct) for one in seeds] for seeds in scores], codes, best=min, form=",.0f"),
        _column([[one.matching for one in seeds] for seeds in scores], matching),
    ]
    count = next(seeds[0].documents for seeds in scores if seeds)
    head = ("method", "dimension", f"distinct codes of {count:,}", "matching, %")
    return table(head, [(row.name, *cells) for row, *cells in zip(TABLE_2, *columns, strict=True)], numbers=True)


def _table3(measured: Measured, figures: _Figures) -> list[str]:
    parts = [
        "## Table 3: semantic drift",
        "From an article to the nearest ones that are at least 1, 5, 10, 20, 50 and 90 bits away, under AMMI's codes "
        "of table 2.",
    ]
    for name, drift in measured.drifts.items():
        parts.append(f"### Walks in {name}")
        for walk in drift["walks"]:
            steps = [{"distance": "from", **walk["from"]}, *walk["steps"]]
            parts.append(table(("bits away", "title", "labels", "beginning"), [_step(step) for step in steps]))
    if measured.drifts:
        alt = "Share of articles with a label in common, by the distance of their codes"
        parts += ["### In figures", figures.add("drift", alt, plots.agreement_by_distance(measured, FEW))]
    if missing := [name for name in measured.scale.pair_sets if name not in (WHO_DID_WHAT, *measured.drifts)]:
        parts.append(f"Not run yet for {' and '.join(missing)}: {_command('table3')}.")
    return parts


def _step(step: dict[str, Any]) -> tuple[str, ...]:
    texts = (step["title"], ", ".join(map(str, step["labels"])), step["beginning"])
    return (str(step["distance"]), *map(escaped, texts))


def _costs(paper: Paper) -> list[str]:
    runs = [json.loads(path.read_text()) for path in sorted((paper.folder / "runs").glob("*/*.json"))]
    wanted = [*product(paper.scale.sets, tuned(TABLE_1)), *product(paper.scale.pair_sets, tuned(TABLE_2))]
    searches = {key: paper.trials(*key) for key in wanted}
    trials = [trial for search in searches.values() for trial in search]
    searched = sum(_cost(trial) for trial in trials)
    fitted = sum(run.get("fit_cpu_s", run["fit_s"]) for run in runs)
    defaults = "; ".join(row.name for row in TABLE_1 if not row.tuned and row.method != "bow")
    head = ("set", "method", "trials", "given up early", "best validation, %", "in trial", "hours", "found")
    return [
        "## What was tuned, how much, and what it cost",
        f"Tuned by random search on the validation part of each set: {', '.join(map(str.upper, tuned(TABLE_2)))}, at "
        f"{paper.scale.tuned_bits} bits for table 1, whose other widths use what was found there, and at "
        f"{paper.scale.pair_bits} bits for table 2; BMMI at its {paper.scale.bits[0]} bits, which favours it a little "
        "beside AMMI. The paper searches at each width.",
        f"At their defaults: {defaults}. The defaults were chosen on validation parts of the same sets (LOG.md). Tuned "
        "methods, BMMI and “AMMI, neighbours” were "
        f"run with {len(paper.scale.seeds)} seeds, the rest with one.",
        table(head, [_search(paper, *key, done) for key, done in searches.items() if done])
        if trials
        else f"No search was run yet: {_command('table1')}.",
        f"In all: {len(trials)} trials in {_hours(searched)} hours and {len(runs)} runs in {_hours(fitted)} hours, "
        f"together {_hours(searched + fitted)} hours of one core, all runs on the labelled sets and the pairs counted, "
        "also those that no table shows. It is processor time, or the clock where that was not kept. Figure 1 (a) and "
        "table 3, some minutes, are not counted.",
        *_machines(runs),
    ]


def _search(paper: Paper, name: str, method: str, trials: list[dict[str, Any]]) -> tuple[str, ...]:
    """A line about a search."""
    given_up = sum(trial["state"] == "pruned" for trial in trials)
    best = max((trial for trial in trials if trial["state"] == "complete"), key=lambda trial: trial["validation"])
    seconds = sum(_cost(trial) for trial in trials)
    found = ", ".join(f"{parameter} {value}" for parameter, value in paper.found(name, method).items())
    place = "first, the defaults" if best["trial"] == 0 else str(best["trial"])
    figures = (str(len(trials)), str(given_up), _number(best["validation"]), place, _hours(seconds))
    return (name, method.upper(), *figures, escaped(found))


def _cost(trial: dict[str, Any]) -> float:
    return trial["cpu_seconds"] or trial["seconds"]


def _machines(runs: list[dict[str, Any]]) -> list[str]:
    """On what the runs were done, and when."""
    if not runs:
        return []
    kinds = {f"{run['processor']}, {run['cores']} cores, Python {run['python']}, ammi {run['ammi']}" for run in runs}
    first, last = min(run["date"] for run in runs), max(run["date"] for run in runs)
    return [
        f"Machine: {escaped('; '.join(sorted(kinds)))}. Runs of {first if first == last else f'{first} to {last}'}."
    ]


def _sets(measured: Measured) -> list[str]:
    names = (*measured.scale.sets, *measured.scale.pair_sets)
    return [
        "## How the sets differ from the paper's",
        "The paper's figures are of other versions of the sets: beside ours they are near, but not of the same "
        "problem. Those of the published program are of the same matrices as ours. Who-Did-What, of the paper's table "
        "2, has 104,404, 8,928 and 7,326 pairs.",
        table(
            ("set", "what it is", "pairs for training, validation, test"),
            [(name, SETS.get(name, ""), _pair_counts(measured, name)) for name in names],
        ),
    ]


def _pair_counts(measured: Measured, name: str) -> str:
    scores = next((scores for (_, one), scores in measured.pairs.items() if one == name), [])
    return ", ".join(f"{count:,}" for score in scores[:1] for count in score.pairs)


def _column(
    scores: Sequence[list[float]],
    theirs: Sequence[float | None] | None = None,
    best: Callable[[Iterable[float]], float] = max,
    form: str = ".2f",
) -> list[str]:
    """A column of means over seeds, the best in bold, each with the paper's figure; empty where there is none."""
    first = best([mean(seeds) for seeds in scores if seeds] or [0.0])
    cells = []
    for seeds, other in zip(scores, theirs or [None] * len(scores), strict=True):
        figure = f"{mean(seeds):{form}}" if seeds else ""
        figure += f" ± {spread(seeds):{form}}" if len(seeds) > 1 else ""
        figure = f"**{figure}**" if seeds and mean(seeds) == first else figure
        cells.append(f"{figure} ({other:{form}})".strip() if other is not None else figure)
    return cells


def _alone(score: float | None) -> list[float]:
    return [] if score is None else [score]


def _published_mean(row: str, name: str) -> float | None:
    """The mean of the paper's figures on a set, where it has them for all widths."""
    if row == "BOW":
        return published.BOW.get(name)
    figures = published.TABLE_1.get(row, {}).get(name, ())
    return mean(figures) if len(figures) == len(published.BITS) else None


def _mean(figures: Iterable[float | None]) -> float:
    return mean(figure for figure in figures if figure is not None)


def _number(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.2f}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f}" if seconds >= 36 else "under 0.01"


def _command(part: str) -> str:
    return f"`ammi paper {part}`"
