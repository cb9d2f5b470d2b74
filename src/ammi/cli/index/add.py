"""`ammi index add`: more documents, or codes, into a collection."""

from ammi.cli.index.incoming import Incoming
from ammi.cli.options import AsJson, Broken, Format, IdColumn, OnError, Place, Source, TextColumn


def add(
    place: Place,
    source: Source,
    text: TextColumn = None,
    id: IdColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Add documents, a file of codes, or what [bold]ammi index export[/] wrote, to a collection.

    A document whose id is there already takes the place of the old one.
    Documents without ids get the next free numbers. Codes of another model are refused.

    [bold]Examples[/]

    ammi index add index more.jsonl
    zcat 2024-*.jsonl.gz | ammi index add index - --text body
    """
    from ammi.collection import Collection

    with Collection.open(place) as collection:
        Incoming(source, text, id, format, on_error).add_to(collection, as_json)
