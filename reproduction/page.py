"""Write Markdown tables, and turn Markdown into one self-contained HTML page."""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, stdev
from urllib.parse import unquote

COLOURED = {"✓": "yes", "◐": "partly", "✗": "no"}  # first character of bold words, and its CSS class
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d7dbe0; --faint: #f4f6f8; --link: #0a58a8;
  --yes: #0b6e4f; --partly: #8a5a00; --no: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #15181c; --line: #3a4048; --faint: #1f242a;
  --link: #7db8f0; --yes: #58c99a; --partly: #e6b450; --no: #ff8a80 } }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 .6em } h1 { margin-top: .5em }
p { max-width: 46rem } a { color: var(--link) } code { background: var(--faint); padding: .1em .3em }
.table { overflow-x: auto; margin: 1em 0 }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { padding: .35em .7em; border-bottom: 1px solid var(--line); vertical-align: top; text-align: left }
th { background: var(--faint) } td[style*=right] { white-space: nowrap }
img { max-width: 100%; height: auto; background: #fff; border-radius: 6px }
strong.yes { color: var(--yes) } strong.partly { color: var(--partly) } strong.no { color: var(--no) }
"""


def escaped(text: str) -> str:
    """Escape a text for Markdown, on one line, also inside a table."""
    return re.sub(r"([\\`*_\[\]<>&|~#!$])", r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """Return a Markdown table; with `numbers`, all columns but the first are aligned to the right."""
    rule = ["---", *(["---:" if numbers else "---"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def seeds_text(scores: Sequence[float], form: str = ".2f") -> str:
    """Return the mean over seeds, with the standard deviation if there are several; nothing of nothing."""
    if not scores:
        return ""
    return f"{mean(scores):{form}}" + (f" ± {stdev(scores):{form}}" if len(scores) > 1 else "")


def to_page(markdown: str, folder: Path, title: str) -> str:
    """Return the HTML page of a Markdown text, with its linked PNG files embedded."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(markdown)
    for image in (child for token in tokens for child in token.children or [] if child.type == "image"):
        picture = (folder / unquote(str(image.attrs["src"]))).read_bytes()
        image.attrs["src"] = f"data:image/png;base64,{b64encode(picture).decode()}"
    body = reader.renderer.render(tokens, reader.options, {})
    body = body.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
    for sign, kind in COLOURED.items():
        body = body.replace(f"<strong>{sign}", f'<strong class="{kind}">{sign}')
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
{body}</body>
</html>
"""
