"""The sections of the report, each a list of Markdown paragraphs: our results beside the published ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from reproduction import plots, published
from reproduction.beyond import controls_section, unseen_section
from reproduction.drifts import Article
from reproduction.figures import FigureFiles
from reproduction.findings import Findings, OrderPoint
from reproduction.page import escaped, seeds_text, table
from reproduction.plan import ARTICLE_HALVES, TABLE_1, TABLE_2, TINY, TINY_PAIRS, WHO_DID_WHAT

SETS = {
    "tmc_small": "A fifth of the paper's TMC, aviation safety reports; the whole set could not be had.",
    "ng20": "20 Newsgroups, rebuilt from the raw texts to the size of the paper's NG20.",
    "reuters": "Reuters-21578, rebuilt from the raw texts to the size of the paper's Reuters.",
    "reuters-pairs": "Pairs of Reuters-21578 articles on one event, made here in place of Who-Did-What.",
    "newsgroup-replies": "Messages of 20 Newsgroups and those they answer, made here in place of Who-Did-What.",
    ARTICLE_HALVES: "First and second halves of Reuters-21578 and 20 Newsgroups texts: the most pairs there are here.",
    WHO_DID_WHAT: "The paper's own pairs, as its authors published them; without their texts, so not in table 3.",
    TINY: "Docstrings, which are on every machine: they show that everything runs, not how good the methods are.",
    TINY_PAIRS: "Both halves of docstrings: they show that everything runs, not how good the methods are.",
}
PROGRAM = "AMMI, the published program"
FEW = 100  # pairs of articles; a share of fewer has a small point


def table1_section(findings: Findings, files: FigureFiles) -> list[str]:
    parts = [
        "## Table 1: unsupervised document hashing",
        "Top-100 precision on the test part, in percent: how many of the 100 training documents with the nearest codes "
        "have a label in common with a test document. Mean ± standard deviation over seeds where there are several; in "
        "parentheses the paper's figure, on its own version of the set; bold the best of ours in each column.",
        f"BOW compares sets of words and has no width. BMMI is for {findings.scale.bits[0]} bits.",
    ]
    rows = {row.name for row in TABLE_1}
    expected = len(findings.scale.sets) * ((len(rows) - 2) * len(findings.scale.bits) + 2)  # BOW and BMMI have one
    if sum(row in rows for row, _, _ in findings.precision) < expected:
        parts.append(f"Other cells that are empty were not run yet: {_command('table1')}.")
    for name in findings.scale.sets:
        if any(task == name for _, task, _ in findings.precision):
            alt = f"Precision of every method on {name} by the number of bits"
            picture = files.add(f"precision-{name}", alt, plots.precision_by_bits(findings, name))
            parts += [f"### {name}", SETS.get(name, ""), _precisions(findings, name), picture]
    if findings.precision:
        parts += ["### Averages", _averages(findings)]
    if published.PROGRAM.keys() >= set(findings.scale.sets):
        parts.append(
            "The published program was run on the same matrices with its authors' settings, for at most 40 epochs; on "
            "tmc_small at 32 bits with those for 64 bits, because its own gave 68.62."
        )
    return parts


def _precisions(findings: Findings, name: str) -> str:
    """Return table 1 on a set."""
    widths, columns = findings.scale.bits, []
    for bits in widths:
        scores = [findings.precision.get((row.name, name, bits), []) for row in TABLE_1]
        columns.append(_column(scores, [published.precision(row.name, name, bits) for row in TABLE_1]))
    averages = [findings.average(row.name, [name]) for row in TABLE_1]
    columns.append(
        _column([_one_score(average) for average in averages], [_published_mean(row.name, name) for row in TABLE_1])
    )
    rows = [(row.name, *cells) for row, *cells in zip(TABLE_1, *columns, strict=True)]
    program = [figure for bits in widths if (figure := published.program(name, bits))]
    if len(program) == len(widths):
        rows.append((PROGRAM, *map(_number, [*program, mean(program)])))
    return table(("method", *(f"{bits} bits" for bits in widths), "mean"), rows, numbers=True)


def _averages(findings: Findings) -> str:
    """Return the averages of table 1, by set and in all."""
    columns = []
    averages = published.AVERAGES if published.BOW.keys() >= set(findings.scale.sets) else {}
    for names in (*([name] for name in findings.scale.sets), None):
        theirs = [_published_mean(row.name, names[0]) if names else averages.get(row.name) for row in TABLE_1]
        columns.append(_column([_one_score(findings.average(row.name, names)) for row in TABLE_1], theirs))
    rows = [(row.name, *cells) for row, *cells in zip(TABLE_1, *columns, strict=True)]
    programs = [mean(published.PROGRAM[name]) for name in findings.scale.sets if name in published.PROGRAM]
    if programs:
        rows.append((PROGRAM, *map(_number, [*programs, mean(programs)])))
    return table(("method", *findings.scale.sets, "all"), rows, numbers=True)


def figure1_section(findings: Findings, files: FigureFiles) -> list[str]:
    scale, parts = findings.scale, ["## Figure 1: the Markov order of the prior"]
    if findings.bounds:
        alt = "Cross entropy by the order of the prior, and the entropy by brute force"
        parts += [
            "(a) The entropy of the codes that a partly trained BMMI gives a batch, and its cross entropy with a prior "
            "of order r, which is never lower, in bits. The best prior of an order has a closed form; the paper fits "
            "one by gradient steps, here with the best of six settings. Each seed has a BMMI after two epochs and a "
            "batch of its own.",
            files.add("figure1a", alt, plots.bound_by_order(findings)),
            _bounds(findings),
        ]
    if findings.orders:
        alt = "Validation precision by the order of the prior"
        parts += [
            "(b) The validation precision that is reached with a prior of order r, an encoder of order o, and the "
            "setting that a search found for that point.",
            files.add("figure1b", alt, plots.precision_by_order(findings)),
            _orders(findings),
        ]
    expected = len(scale.bound_orders) + sum(prior >= order for order in (0, 1) for prior in scale.prior_orders)
    if len(findings.bounds) + len(findings.orders) < expected or not findings.brute_force:
        parts.append(f"Points are missing that were not run yet: {_command('figure1')}.")
    return parts


def _bounds(findings: Findings) -> str:
    """Return figure 1 (a) as a table."""
    rows = []
    for order, bounds in findings.bounds.items():
        excess = {kind: [bound[kind] - bound["entropy"] for bound in bounds] for kind in ("exact", "gradient")}
        settings = "; ".join(f"seed {bound['seed']}: {bound['gradient_setting']}" for bound in bounds)
        entropies = [bound["entropy"] for bound in bounds]
        rows.append((str(order), *map(seeds_text, (entropies, excess["exact"], excess["gradient"])), settings))
    head = ("r", "entropy", "too high, best prior", "too high, gradient steps", "best setting of these")
    return table(head, rows)


def _orders(findings: Findings) -> str:
    """Return figure 1 (b) as a table."""
    lines: list[tuple[str, OrderPoint]] = [(f"o = {o}, r = {r}", point) for (o, r), point in findings.orders.items()]
    if findings.brute_force:
        lines.append(("BMMI", findings.brute_force))
    seeds = findings.scale.seeds
    rows = [
        (name, seeds_text(point.validation), *(f"{score:.2f}" for score in point.validation), _setting(point.setting))
        for name, point in lines
    ]
    return table(("orders", "mean", *(f"seed {seed}" for seed in seeds), "setting"), rows)


def _setting(parameters: Mapping[str, object]) -> str:
    return escaped(", ".join(f"{name} {value}" for name, value in parameters.items()))


def table2_section(findings: Findings, files: FigureFiles) -> list[str]:
    parts = [
        "## Table 2: predictive document hashing",
        f"Codes of {findings.scale.pair_bits} bits, learned from pairs of related articles. Matching: for how many "
        "test articles, in percent, the related one is among the 100 nearest. It is the easier the fewer pairs there "
        "are to choose from: the paper's test part has 7,326, of which 100 are 1.4%. "
        "Distinct codes are counted on the training articles. Bold: the fewest codes and the best matching of ours; in "
        f"parentheses the paper's, of {published.TABLE_2_DOCUMENTS:,} other articles.",
        "AMMI has the paper's two encoders, one for either side of a pair, and “AMMI, recipe” one for both.",
    ]
    if len(findings.pairs) < len(TABLE_2) * len(findings.scale.pair_sets):
        parts.append(f"What is missing was not run yet: {_command('table2')}.")
    for name in findings.scale.pair_sets:
        rows = {row for row, task in findings.pairs if task == name}
        if rows:
            about = f"{SETS.get(name, '')} Pairs for training, validation, test: {_pair_counts(findings, name)}."
            parts += [f"### {name}", about, _matchings(findings, name)]
        if rows - {"BOW"}:  # which has no codes to draw
            alt = f"Matching by the number of distinct codes on {name}"
            parts.append(files.add(f"matching-{name}", alt, plots.matching_by_codes(findings, name)))
    return parts


def _matchings(findings: Findings, name: str) -> str:
    """Return table 2 on a set of pairs."""
    scores = [findings.pairs.get((row.name, name), []) for row in TABLE_2]
    codes, matching = zip(*(published.TABLE_2.get(row.name, (None, None)) for row in TABLE_2), strict=True)
    columns = [
        [f"{seeds[0].dimension:,}" if seeds else "" for seeds in scores],
        _column([[float(score.distinct) for score in seeds] for seeds in scores], codes, best=min, form=",.0f"),
        _column([[score.matching for score in seeds] for seeds in scores], matching),
    ]
    count = next(seeds[0].documents for seeds in scores if seeds)
    head = ("method", "dimension", f"distinct codes of {count:,}", "matching, %")
    return table(head, [(row.name, *cells) for row, *cells in zip(TABLE_2, *columns, strict=True)], numbers=True)


def table3_section(findings: Findings, files: FigureFiles) -> list[str]:
    parts = [
        "## Table 3: semantic drift",
        "From an article to the nearest ones that are at least 1, 5, 10, 20, 50 and 90 bits away, under AMMI's codes "
        "of table 2.",
    ]
    for name, drift in findings.drifts.items():
        parts.append(f"### Walks in {name}")
        for walk in drift["walks"]:
            rows = [_article("from", walk["from"])] + [_article(str(step["distance"]), step) for step in walk["steps"]]
            parts.append(table(("bits away", "title", "labels", "beginning"), rows))
    if findings.drifts:
        alt = "Share of articles with a label in common, by the distance of their codes"
        parts += ["### In figures", files.add("drift", alt, plots.agreement_by_distance(findings, FEW))]
    if missing := [name for name in findings.scale.pair_sets if name not in (WHO_DID_WHAT, *findings.drifts)]:
        parts.append(f"Not run yet for {' and '.join(missing)}: {_command('table3')}.")
    return parts


def _article(distance: str, step: Article) -> tuple[str, ...]:
    texts = (step["title"], ", ".join(map(str, step["labels"])), step["beginning"])
    return (distance, *map(escaped, texts))


def sets_section(findings: Findings) -> list[str]:
    names = (*findings.scale.sets, *findings.scale.pair_sets)
    return [
        "## How the sets differ from the paper's",
        "The paper's figures are of other versions of the sets: beside ours they are near, but not of the same "
        "problem. Those of the published program are of the same matrices as ours. Who-Did-What, of the paper's table "
        "2, has 104,404, 8,928 and 7,326 pairs.",
        table(
            ("set", "what it is", "pairs for training, validation, test"),
            [(name, SETS.get(name, ""), _pair_counts(findings, name)) for name in names],
        ),
    ]


def _pair_counts(findings: Findings, name: str) -> str:
    scores = next((scores for (_, task), scores in findings.pairs.items() if task == name), [])
    return ", ".join(f"{count:,}" for score in scores[:1] for count in score.pairs)


def _column(
    scores: Sequence[list[float]],
    theirs: Sequence[float | None] | None = None,
    best: Callable[[Iterable[float]], float] = max,
    form: str = ".2f",
) -> list[str]:
    """Return a column of means over seeds, the best in bold, each with the paper's figure; empty if missing."""
    first = best([mean(seeds) for seeds in scores if seeds] or [0.0])
    cells = []
    for seeds, other in zip(scores, theirs or [None] * len(scores), strict=True):
        figure = seeds_text(seeds, form)
        figure = f"**{figure}**" if seeds and mean(seeds) == first else figure
        cells.append(f"{figure} ({other:{form}})".strip() if other is not None else figure)
    return cells


def _one_score(score: float | None) -> list[float]:
    return [] if score is None else [score]


def _published_mean(row: str, name: str) -> float | None:
    """Return the mean of the paper's figures on a set, None if a width is missing."""
    if row == "BOW":
        return published.BOW.get(name)
    figures = published.TABLE_1.get(row, {}).get(name, ())
    return mean(figures) if len(figures) == len(published.WIDTHS) else None


def _number(figure: float) -> str:
    return f"{figure:.2f}"


def _command(part: str) -> str:
    return f"`ammi paper {part}`"


SECTIONS: dict[str, Callable[[Findings, FigureFiles], list[str]]] = {
    "table1": table1_section,
    "figure1": figure1_section,
    "table2": table2_section,
    "table3": table3_section,
    "controls": controls_section,
    "unseen": unseen_section,
}
