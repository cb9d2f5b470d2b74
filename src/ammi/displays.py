"""What Jupyter shows of results: tables, strips of codes, maps.

Everything is plain HTML and SVG: no script, no style sheet, nothing from elsewhere. Text takes the colour of the
notebook's theme. What comes from documents is escaped here: every value that is not `Html` already.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Bits = NDArray[np.uint8]  # of 0 and 1
CodesOf = Callable[[list[str | int]], tuple[Bits, Bits] | None]  # of a query (m,) and documents (n, m), if there are

# Distinct with any colour vision, on white as on black.
COLOURS = ("#1f86c9", "#e08a00", "#12a37a", "#d9541e", "#6cb8ea", "#c9699f", "#b09a10", "#8a63d2")
SCALE = ("#3c4fb0", "#3f77b8", "#4a9fb0", "#5fb892", "#9acb6c", "#d9c93c", "#f2a63c", "#e8702a")
REST = "#8d8d8d"
_DIFFERS = "#e8702a"
_MARK = "<mark style='background:rgba(255,190,0,.35);color:inherit;padding:0 1px'>{}</mark>"
_CELL = "padding:3px 12px 3px 0;vertical-align:top;border:0;border-bottom:1px solid rgba(128,128,128,.3)"
_MOST_ROWS = 100
_LONGEST = 240  # characters of a value
_MOST_BITS, _ROW = 512, 64  # of a strip, and of each of its rows
_BIT, _GROUP, _HEIGHT = 4, 2, 11  # pixels: the width of a bit, the gap after every eighth, the height
_MOST_POINTS = 4000
_WIDTH, _DEPTH, _MARGIN = 660, 480, 60  # pixels of a map, and at its sides, for labels


class Html(str):
    """Markup, which is not escaped again."""


class Label(NamedTuple):
    """A text on a map, and its place from 0 to 1, from left and bottom."""

    x: float
    y: float
    text: str


class _Why(Protocol):
    @property
    def start(self) -> int: ...

    def marked(self) -> list[tuple[str, bool]]: ...


class _Hit(Protocol):
    @property
    def id(self) -> str | int: ...

    @property
    def distance(self) -> int: ...

    @property
    def score(self) -> float: ...

    @property
    def text(self) -> str | None: ...

    @property
    def metadata(self) -> Mapping[str, object]: ...

    @property
    def why(self) -> _Why | None: ...


class Rows(list[T]):
    """A list of named tuples that Jupyter shows as a table."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> "Rows[T]": ...

    def __getitem__(self, place: SupportsIndex | slice) -> "T | Rows[T]":
        return Rows(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    def _repr_html_(self) -> str:
        return framed(records(self))


def framed(*parts: Html) -> str:
    """Return a whole display. Its classes keep Jupyter from taking dollar signs in texts for formulas."""
    return f"<div class='ammi tex2jax_ignore mathjax_ignore' style='overflow-x:auto'>{''.join(parts)}</div>"


def escaped(text: str) -> Html:
    """Return a text as one line of HTML, without control characters."""
    return Html(html.escape("".join(one if one.isprintable() else " " for one in text)))


def cut(text: str, length: int = _LONGEST) -> str:
    """Return the beginning of a text, with its white space as single spaces."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else f"{line[:length].rstrip()}…"


def in_words(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:,.2f}"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(one)}" for name, one in value.items())
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], float):  # an id and its similarity
        return f"{value[0]} ({value[1]:.2f})"
    if isinstance(value, list | tuple):
        return ", ".join(str(one.id) if hasattr(one, "id") else in_words(one) for one in value[:10])
    return str(value)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = (), *, title: str = ""
) -> Html:
    """Return a table. Columns of numbers are aligned to the right."""
    align = ["right" if column in numbers else "left" for column in columns]

    def line(tag: str, cells: Sequence[object]) -> str:
        each = zip(cells, align, strict=True)
        styled = (f"<{tag} style='{_CELL};text-align:{side}'>{_cell(one)}</{tag}>" for one, side in each)
        return f"<tr style='background:none'>{''.join(styled)}</tr>"

    shown = list(rows)
    more = [note(f"and {len(shown) - _MOST_ROWS:,} more")] if len(shown) > _MOST_ROWS else []
    return Html(
        (f"<div style='margin-top:4px'><b>{escaped(title)}</b></div>" if title else "")
        + "<table class='ammi' style='border-collapse:collapse;margin:4px 0;width:auto;font-size:.93em'>"
        + (f"<thead>{line('th', columns)}</thead>" if any(columns) else "")
        + f"<tbody>{''.join(line('td', row) for row in shown[:_MOST_ROWS])}</tbody></table>"
        + "".join(more)
    )


def _cell(value: object) -> Html:
    if isinstance(value, Html):
        return value
    shown = escaped(cut(in_words(value)))
    if isinstance(value, list | tuple | Mapping):
        return Html(f"<div style='min-width:9em;overflow-wrap:anywhere'>{shown}</div>")
    return shown


def facts(values: Mapping[str, object], title: str = "") -> Html:
    """Return a table of names and values, without those that are empty."""
    rows = [(name.replace("_", " "), value) for name, value in values.items() if value not in (None, "", [], {})]
    return table(("", ""), rows, title=title)


def fields(record: NamedTuple) -> str:
    """Return the display of a named tuple: its fields, one in a row."""
    return framed(facts(record._asdict(), type(record).__name__))


def records(rows: Sequence[object]) -> Html:
    """Return a table of named tuples, a column for each of their fields."""
    if not rows:
        return note("none")
    names: tuple[str, ...] = getattr(rows[0], "_fields", ())
    numbers = [name.replace("_", " ") for name in names if isinstance(getattr(rows[0], name), float)]
    cells = ([getattr(row, name) for name in names] for row in rows)
    return table([name.replace("_", " ") for name in names], cells, numbers)


def note(text: str) -> Html:
    """Return a small line."""
    return Html(f"<div style='opacity:.75;font-size:.9em;margin:4px 0'>{escaped(text)}</div>")


def folded(summary: str, content: Html) -> Html:
    """Return content that a click opens."""
    return Html(f"<details style='margin:4px 0'><summary>{escaped(summary)}</summary>{content}</details>")


def legend(names: Iterable[tuple[str, str]]) -> Html:
    """Return names, each after a square of its colour."""
    square = "<span style='display:inline-block;width:.7em;height:.7em;background:{};margin-right:.35em'></span>"
    each = (f"<span>{square.format(colour)}{escaped(cut(name))}</span>" for name, colour in names)
    return Html(f"<div style='display:flex;flex-wrap:wrap;gap:0 1em;font-size:.9em'>{''.join(each)}</div>")


def strip(bits: Bits, others: Bits | None = None) -> Html:
    """Draw a code (m,): filled for 1, pale for 0, taller and coloured where it differs from another code."""
    differs = np.zeros(len(bits), bool) if others is None else bits != others
    paths = dict.fromkeys([(0, False), (1, False), (0, True), (1, True)], "")
    for number, kind in enumerate(zip(bits[:_MOST_BITS].tolist(), differs.tolist(), strict=False)):
        column, low = number % _ROW, 0 if kind[1] else 2
        left, top = column * _BIT + column // 8 * _GROUP, number // _ROW * (_HEIGHT + 2) + low
        paths[kind] += f"M{left} {top}h{_BIT - 1}v{_HEIGHT - 2 * low}h{1 - _BIT}z"
    fills = ("currentColor' opacity='.2", "currentColor' opacity='.7", f"{_DIFFERS}' opacity='.45", _DIFFERS)
    filled = zip(paths.values(), fills, strict=True)
    drawn = "".join(f"<path d='{path}' fill='{fill}'/>" for path, fill in filled if path)
    n = min(len(bits), _MOST_BITS)
    columns, lines = min(n, _ROW), -(-n // _ROW)
    width, height = columns * _BIT + (columns - 1) // 8 * _GROUP, lines * (_HEIGHT + 2) - 2
    label = f"a code of {len(bits)} bits" if others is None else f"differs in {differs.sum()} of {len(bits)} bits"
    return Html(
        f"<svg role='img' aria-label='{label}' width='{width}' height='{height}' viewBox='0 0 {width} {height}' "
        f"style='max-width:none;vertical-align:middle'><title>{label}</title>{drawn}</svg>"
    )


def plane(points: NDArray[np.floating], colours: Sequence[str], labels: Iterable[Label], title: str) -> Html:
    """Draw points (n, 2) from 0 to 1, each of a colour; of many points a sample is drawn."""
    chosen = np.unique(np.linspace(0, len(points) - 1, min(len(points), _MOST_POINTS)).astype(np.int64))
    paths = {REST: ""}  # first, and so below the others
    for row in chosen.tolist():
        x, y = points[row].tolist()
        paths[colours[row]] = paths.get(colours[row], "") + f"M{x * _WIDTH:.0f} {(1 - y) * _DEPTH:.0f}h0"
    size = 6 if len(chosen) <= 500 else 4 if len(chosen) <= 2000 else 3
    drawn = (f"<path d='{path}' stroke='{colour}'/>" for colour, path in paths.items() if path)
    texts = (
        f"<text x='{label.x * _WIDTH:.0f}' y='{(1 - label.y) * _DEPTH:.0f}'>{escaped(cut(label.text, 40))}</text>"
        for label in labels
    )
    return Html(
        f"<svg role='img' aria-label='{escaped(title)}' viewBox='{-_MARGIN} -10 {_WIDTH + 2 * _MARGIN} {_DEPTH + 20}' "
        f"style='width:100%;max-width:{_WIDTH + 2 * _MARGIN}px'>"
        f"<g stroke-width='{size}' stroke-linecap='round' opacity='.65' fill='none'>{''.join(drawn)}</g>"
        "<g fill='currentColor' font-family='sans-serif' font-size='12' font-weight='600' text-anchor='middle'>"
        f"{''.join(texts)}</g></svg>"
    )


def hits(found: Sequence[_Hit], codes: CodesOf | None, notes: Iterable[str]) -> str:
    """Return the display of the hits of a search, with their codes if `codes` gives them."""
    if not found:
        return framed(note("no hits"), *map(note, notes))
    columns, texts = ("", "score", "distance", "id", "text"), [_passage(hit) for hit in found[:_MOST_ROWS]]
    if there := codes and codes([hit.id for hit in found[:_MOST_ROWS]]):
        own, others = there
        texts = [Html(f"{text}<div>{strip(bits, own)}</div>") for text, bits in zip(texts, others, strict=True)]
        notes = ["Of the codes, the coloured bits differ from those of the query.", *notes]
    rows = [
        (n + 1, f"{hit.score:.2f}", hit.distance, _named(hit), text)
        for n, (hit, text) in enumerate(zip(found, texts, strict=False))
    ]
    if len(found) > len(rows):
        notes = [f"{len(found) - len(rows):,} more are not shown.", *notes]
    return framed(table(columns, rows, columns[:3]), *map(note, notes))


def hit(found: _Hit) -> str:
    """Return the display of one hit."""
    about = {"score": found.score, "distance": found.distance, **found.metadata, "text": _passage(found)}
    return framed(facts(about, str(found.id)))


def hits_in_words(found: Sequence[_Hit]) -> str:
    """Return hits as lines of text."""
    header = f"{'score':>7} {'distance':>8}  {'id':30}  text"
    lines = (
        f"{hit.score:7.2f} {hit.distance:8}  {_printable(cut(str(hit.id), 30)):30}  {_printable(cut(_found(hit), 70))}"
        for hit in found[:_MOST_ROWS]
    )
    more = [f"and {len(found) - _MOST_ROWS:,} more"] if len(found) > _MOST_ROWS else []
    return "\n".join([header, *lines, *more]) if found else "no hits"


def _printable(text: str) -> str:
    return html.unescape(escaped(text))


def _found(hit: _Hit) -> str:
    """Return the passage of a hit, or the beginning of its text."""
    return "".join(piece for piece, _ in hit.why.marked()) if hit.why else hit.text or ""


def _passage(hit: _Hit) -> Html:
    if hit.why is None:
        return escaped(cut(hit.text or ""))
    pieces = ((escaped(piece), is_match) for piece, is_match in hit.why.marked())
    marked = (_MARK.format(piece) if is_match else piece for piece, is_match in pieces)
    return Html(("…" if hit.why.start else "") + "".join(marked))


def _named(hit: _Hit) -> Html:
    """Return the id of a hit, and below it its title, if it has one."""
    title = hit.metadata.get("title")
    below = note(cut(title, 80)) if isinstance(title, str) and title else ""
    return Html(f"<div style='min-width:9em;overflow-wrap:anywhere'>{escaped(cut(str(hit.id), 80))}</div>{below}")
