"""`ammi index add`: more documents, or codes, into a collection."""

from ammi.cli.index.incoming import Incoming, codes_of
from ammi.cli.options import AsJson, Broken, Format, IdColumn, Location, OnError, Source, TextColumn, VectorColumn
from ammi.cli.sources import Documents


def add(
    location: Location,
    source: Source,
    text: TextColumn = None,
    id: IdColumn = None,
    vector: VectorColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Add documents, a file of codes, or what [bold]ammi index export[/] wrote, to a collection.

    A document whose id is there already takes the place of the old one.
    Documents without ids get the next free numbers. Codes of another model are refused.

    [bold]Examples[/]

    ammi index add index more.jsonl
    ammi index add index more-embeddings.npy
    zcat 2024-*.jsonl.gz | ammi index add index - --text body
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        codes = codes_of(source, format)
        reads = "text" if codes else collection.reads
        width = collection.model.n_features_in_ if reads == "vector" else None
        documents = Documents(source, text, id, on_error, format, vector, reads=reads, width=width)
        Incoming(documents, codes).add_to(collection, as_json)
