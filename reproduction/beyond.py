"""Sections of the report beyond the paper: controls of this package's recipe, and sets on which nothing was chosen."""

from collections.abc import Iterable
from statistics import mean

from reproduction.figures import FigureFiles
from reproduction.findings import Findings
from reproduction.judging import difference, interval_text
from reproduction.page import seeds_text, table
from reproduction.plan import BMSH, CONTROLS, DVQ, PAPERS, RECIPE, TINY
from reproduction.unseen import MEASURES, Unseen, mean_interval, missing_package

ALONE = {PAPERS.name: RECIPE.name, BMSH.name: CONTROLS[0].name, DVQ.name: CONTROLS[1].name}
UNSEEN_SETS = {
    "agnews": "news items, 4 classes",
    "dbpedia": "descriptions of things, 14 classes",
    "stackoverflow": "titles of questions, 20 tags",
    TINY: "docstrings, which are on every machine",
}


def controls_section(findings: Findings, files: FigureFiles) -> list[str]:
    """Compare objectives on the recipe's pairs, and each objective alone with itself on these pairs."""
    scale = findings.scale
    rows = (*ALONE, *(row.name for row in CONTROLS), RECIPE.name)
    places = [(name, bits) for name in scale.sets for bits in scale.control_bits]
    scores = {row: [findings.precision.get((row, *place), []) for place in places] for row in rows}
    averages = {row: findings.seed_averages(row, widths=scale.control_bits) for row in rows}
    parts = [
        "## Controls: what the objective gives, and what the neighbours give",
        "“AMMI, recipe” learns from neighbours, while the methods of the paper see documents alone. Here BMSH, DVQ and "
        "a binary InfoNCE have the recipe's pairs: the same neighbours, found with the same first model, the same "
        f"share of words left out and as many steps; other parameters are searched for with {scale.trials} trials. The "
        "autoencoders reconstruct the words of the neighbour. Top-100 precision on the test part, in percent.",
        table(
            ("method", *(f"{name}, {bits} bits" for name, bits in places), "mean"),
            [(row, *map(seeds_text, scores[row]), seeds_text(averages[row])) for row in rows],
            numbers=True,
        ),
    ]
    if gains := [
        (alone, *_difference(averages[paired], averages[alone]))
        for alone, paired in ALONE.items()
        if averages[alone] and averages[paired]
    ]:
        parts += ["What the neighbours give, by objective:", table(("objective", "gain [95%]", "p"), gains)]
    if leads := [
        (row.name, *_difference(averages[RECIPE.name], averages[row.name]))
        for row in CONTROLS
        if averages[row.name] and averages[RECIPE.name]
    ]:
        parts += [
            "What AMMI's objective gives on the same pairs, against:",
            table(("objective", "AMMI ahead by [95%]", "p"), leads),
            "Differences of means over sets and widths, seed by seed, by Welch tests.",
        ]
    if not all(averages.values()):
        parts.append("Empty cells were not run yet: `ammi paper controls`, and `ammi paper table1`.")
    return parts


def _difference(ours: list[float], theirs: list[float]) -> tuple[str, str]:
    found = difference(ours, theirs)
    if found is None:
        return f"{mean(ours) - mean(theirs):+.2f}", ""
    return interval_text(found), f"{found.p:.3f}"


def unseen_section(findings: Findings, files: FigureFiles) -> list[str]:
    """Compare codes with the cosines of real numbers on the sets on which nothing was chosen."""
    scale = findings.scale
    parts = [
        "## Sets on which nothing was chosen",
        f"Codes of {scale.unseen_bits} bits by methods at their defaults, beside cosines of real numbers. Labels were "
        "used only for these figures: no default, epoch or parameter was chosen on these sets. Every tenth document is "
        "a query, the others are what is learned from and searched; a document is relevant if it has the label of the "
        "query. MAP ranks all documents; equal distances are in insertion order. Brackets: 95% bootstrap intervals "
        "over queries, of one model each; the last column is the difference of MAP from the recipe, query by query.",
    ]
    for name in scale.unseen_sets:
        found = {row: findings.unseen[row, name] for row in scale.unseen_rows if (row, name) in findings.unseen}
        if found:
            scores = next(iter(found.values()))
            counts = f"{scores['documents']:,} documents and {len(scores['precision']):,} queries"
            parts += [f"### {name}", f"{UNSEEN_SETS.get(name, '').capitalize()}: {counts}.", _scores(found)]
    for row in scale.unseen_rows:
        missing = [name for name in scale.unseen_sets if (row, name) not in findings.unseen]
        if missing and (package := missing_package(row)):
            parts.append(f"“{row}” is left out: the package {package} is not installed.")
        elif missing:
            parts.append(f"“{row}” was not run yet on {' and '.join(missing)}: `ammi paper unseen`.")
    return parts


def _scores(found: dict[str, Unseen]) -> str:
    first, own = next(iter(MEASURES)), found.get(RECIPE.name)
    lines = []
    for row, scores in found.items():
        figures = [_interval(scores[measure]) for measure in MEASURES]  # type: ignore[literal-required]
        beside = ""
        if own is not None and scores is not own:
            pairs = zip(scores[first], own[first], strict=True)  # type: ignore[literal-required]
            beside = interval_text(mean_interval([theirs - ours for theirs, ours in pairs]), ".1f")
        lines.append((row, f"{scores['bytes']:,}", *figures, beside))
    return table(("row", "bytes a document", *MEASURES.values(), "MAP beside the recipe"), lines, numbers=True)


def _interval(values: Iterable[float]) -> str:
    found = mean_interval(list(values))
    return f"{found.mean:.1f} [{found.low:.1f}, {found.high:.1f}]"
