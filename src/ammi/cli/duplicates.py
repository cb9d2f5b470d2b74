"""`ammi duplicates`: groups of documents whose codes are all but the same."""

from typing import Annotated

import typer

from ammi.cli.options import AsJson, Index
from ammi.cli.screen import beginning, counter, document_id, documents_table, note, results, say_json


def duplicates(
    index: Index,
    radius: Annotated[int, typer.Option(min=0, help="Join documents at most so many bits apart.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Find groups of near-duplicates: documents joined by steps of at most RADIUS bits, from one to the next.

    With --json a line for each group: {"ids": [...]}.

    [bold]Examples[/]

    ammi duplicates index --radius 2
    ammi duplicates index --radius 0 --json > groups.jsonl
    """
    from ammi.search import HammingIndex, groups_within

    with HammingIndex.open(index) as opened:
        ids, codes = opened.export()
        with counter("comparing codes", len(codes)) as advance:
            groups = groups_within(codes, radius, advance)
        table = documents_table(first="group")
        for number, group in enumerate(groups, 1):
            members = [ids[position] for position in group]
            if as_json:
                say_json({"ids": members})
                continue
            for document in opened.get(members):
                table.add_row(str(number), document_id(document.id), beginning(document.text))
            table.add_section()
    if groups and not as_json:
        results.print(table)
    note(f"{len(groups):,} groups hold {sum(map(len, groups)):,} of {len(ids):,} documents")
