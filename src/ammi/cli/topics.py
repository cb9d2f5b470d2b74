"""`ammi topics`: what the documents of a collection are about, as a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import ammi
from ammi.cli.options import Location, TableOptions
from ammi.cli.progress import counter
from ammi.cli.screen import beginning, new_table, note, plain, results, say_csv, say_json
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.any_collection import Topic

_SHOWN_WORDS, _SHOWN_KEYS = 5, 2  # in a table on the screen
_WIDE = 100  # or more characters, for more than one key


def topics(
    location: Location,
    n: Annotated[int, typer.Option("-n", min=1, max=216, help="Number of topics; small collections have fewer.")] = 24,
    *,
    output: TableOptions,
) -> None:
    """Show what the documents are about: topics with their size, words, categories and documents.

    Topics are the regions of the map that [bold]ammi serve[/] shows: documents with similar codes.
    The map is computed if it is not kept with the collection yet, which takes up to a minute.
    Typical documents have the most probable codes of a topic, odd ones the least probable.

    With --json, print one line per topic, the largest first: {"words": [...], "documents": NUMBER, "share": 0 to 1,
    "typical": [ID, ...], "odd": [ID, ...], "categories": {KEY: {VALUE: SHARE, ...}, ...}}.

    [bold]Examples[/]

    ammi topics articles
    ammi topics articles -n 8
    ammi topics articles -n 72 --csv > topics.csv
    """
    from ammi.search.headings import title_in

    with ammi.Collection.open(location) as collection:
        with counter("drawing the map"):
            found = collection.topics(n)
        n_documents = len(collection)
        shown_ids = [topic.typical[0] for topic in found]
        typical = [] if output.is_piped else collection.get(shown_ids)
    if output.as_json:
        for topic in found:
            say_json(topic._asdict())
    elif output.as_csv:
        _say_csv(found)
    elif found:
        _show(found, [title_in(entry.metadata) or entry.text for entry in typical])
    note(f"{len(found):,} {'topic' if len(found) == 1 else 'topics'} in {n_documents:,} documents of {shown(location)}")


def _say_csv(found: "Sequence[Topic]") -> None:
    keys = _keys(found)
    header = ["words", "documents", "share", *keys, "typical", "odd"]
    rows = (
        [
            " ".join(topic.words),
            topic.documents,
            f"{topic.share:.4f}",
            *(_values(topic, key) for key in keys),
            " ".join(map(str, topic.typical)),
            " ".join(map(str, topic.odd)),
        ]
        for topic in found
    )
    say_csv(header, rows)


def _show(found: "Sequence[Topic]", typical: "Sequence[str | None]") -> None:
    keys = _keys(found)[: _SHOWN_KEYS if results.width >= _WIDE else 1]
    names = [plain(key).plain for key in keys]
    table = new_table("documents", "share", "words", *names, numbers=["documents", "share"])
    table.expand, table.columns[2].ratio = True, 1
    table.add_column("a typical document", no_wrap=True, overflow="ellipsis", ratio=1)
    for topic, text in zip(found, typical, strict=True):
        cells = [", ".join(topic.words[:_SHOWN_WORDS]), *(_values(topic, key, 1) for key in keys)]
        table.add_row(f"{topic.documents:,}", f"{topic.share:.0%}", *map(plain, cells), beginning(text))
    results.print(table)


def _keys(found: "Sequence[Topic]") -> list[str]:
    return list(dict.fromkeys(key for topic in found for key in topic.categories))


def _values(topic: "Topic", key: str, n: int = 3) -> str:
    """Return the most frequent values of a key with their shares, such as "grain 81%, corn 12%"."""
    shares = topic.categories.get(key, {})
    return ", ".join(f"{value} {share:.0%}" for value, share in list(shares.items())[:n])
