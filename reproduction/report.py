"""Write the report: claims, tables and figures beside the results, as Markdown and as one HTML page."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

from ammi.files import write_text
from reproduction.claims import all_claims
from reproduction.costs import costs_section
from reproduction.deviations import deviations_section
from reproduction.estimators import estimators_section
from reproduction.figures import FigureFiles
from reproduction.findings import read_findings
from reproduction.folder import PaperFolder
from reproduction.judging import RULE, Claim, Verdict
from reproduction.page import escaped, table, to_page
from reproduction.plan import TINY
from reproduction.sections import SECTIONS, sets_section

TITLE = "The paper's claims, tables and figures, run again"
NEEDED = {"matplotlib": "matplotlib", "markdown_it": "markdown-it-py"}  # module, package
SIGNS: dict[Verdict, str] = {
    "holds": "✓",
    "holds in part": "◐",
    "not decided": "?",
    "does not hold": "✗",
    "not run yet": "○",
}


def write_report(folder: PaperFolder, markdown: Path) -> Path:
    """Write the Markdown, its figures and the page; return the path of the page."""
    _check_installed()
    findings = read_findings(folder)
    files = FigureFiles(folder.figures, markdown.parent)
    parts = [
        *_summary(all_claims(findings), tiny=TINY in folder.scale.sets),
        *(paragraph for section in SECTIONS.values() for paragraph in section(findings, files)),
        *estimators_section(files),
        *deviations_section(),
        *costs_section(folder),
        *sets_section(findings),
    ]
    text = "\n\n".join(map(_wrapped, parts)) + "\n"
    write_text(markdown, text)
    write_text(folder.page, to_page(text, markdown.parent, TITLE))
    return folder.page


def write_part(folder: PaperFolder, part: str) -> str:
    """Write the plots of a table or figure, and return its section without them."""
    _check_installed()
    paragraphs = SECTIONS[part](read_findings(folder), FigureFiles(folder.figures, folder.folder))
    return "\n\n".join(_wrapped(text) for text in paragraphs if not text.startswith("!["))


def _wrapped(paragraph: str) -> str:
    """Wrap prose at 100 characters; tables, headings and pictures stay as they are."""
    is_prose = "\n" not in paragraph and not paragraph.startswith(("|", "#", "!["))
    return fill(paragraph, 100, break_long_words=False, break_on_hyphens=False) if is_prose else paragraph


def _check_installed() -> None:
    if missing := [package for module, package in NEEDED.items() if not find_spec(module)]:
        raise ImportError(f"the report needs {' and '.join(missing)}: pip install 'ammi[paper]'")


def _summary(claims: list[Claim], tiny: bool) -> list[str]:
    counts = Counter(claim.verdict for claim in claims)
    shown = ", ".join(f"{sign} {verdict}: {counts[verdict]}" for verdict, sign in SIGNS.items() if counts[verdict])
    rows = [
        (f"**{SIGNS[claim.verdict]} {claim.verdict}**", escaped(claim.claim), escaped(claim.evidence))
        for claim in claims
    ]
    return [
        f"# {TITLE}",
        "The claims of *Learning Discrete Structured Representations by Adversarially Maximizing Mutual Information* "
        f"(Stratos and Wiseman, ICML 2020), judged by runs of this package. {shown}.",
        "AMMI is the paper's method: its objective, which sees documents alone, or pairs with an encoder for either "
        "side, its adversary, which takes gradient steps, and parameters found by a search. “AMMI, exact adversary” is "
        "the same with the best prior in closed form. “AMMI, recipe” is the default of this package: each document is "
        "predicted from near ones, which the codes of a first model help to find; one encoder reads both documents of "
        "a pair, some of their words left out; and the bits change their order. That is an addition of ours: no claim "
        "is said to hold because of it.",
        *(
            ["This is a quick run: the verdicts show that everything works, and nothing about the claims."]
            if tiny
            else []
        ),
        RULE,
        table(("verdict", "claim", "what it rests on"), rows),
    ]
