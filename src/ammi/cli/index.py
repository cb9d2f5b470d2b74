"""`ammi index build`, `add` and `delete`: documents and codes into an index, and out of it."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.options import AsJson, Broken, IdColumn, Index, OnError, OtherModel, Source, TextColumn
from ammi.cli.screen import counter, note, results, say_json
from ammi.cli.sources import BLOCK_DOCUMENTS, Documents, blocks

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher
    from ammi.search import HammingIndex

Part = dict[str, Any]  # what HammingIndex.add takes

app = typer.Typer(no_args_is_help=True, help="Build an index of documents, add to it, delete from it.")


@app.command()
def build(
    index: Index,
    source: Source,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", show_default=False, help="The folder of a model. Files of codes need none."),
    ] = None,
    text: TextColumn = None,
    id: IdColumn = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Build an index of documents, or of the codes that [bold]ammi encode[/] wrote to a file.

    Texts and all other columns are kept beside the codes. A thousand documents are written at a time.
    What interrupts the building leaves an index of those before it, and ammi index add goes on.

    [bold]Examples[/]

    ammi index build index articles.jsonl --model model
    ammi index build index codes.npz
    """
    from ammi.search import HammingIndex

    incoming = Incoming(source, text, id, on_error)
    hasher = _load(model) if model else None
    if incoming.codes is None and hasher is None:
        raise typer.BadParameter("documents are encoded by a model: name its folder.", param_hint="'--model'")
    n_bits, fingerprint = incoming.kind(hasher)
    parts = incoming.parts(hasher)
    first = list(islice(parts, 1))  # what cannot be read at all leaves no empty index behind
    place = str(model.resolve()) if model else None
    try:
        created = HammingIndex.create(index, n_bits, fingerprint=fingerprint, model=place)
    except FileExistsError:
        raise FileExistsError(f"{index} holds an index: use ammi index add, or name another folder") from None
    with created:
        _add(created, chain(first, parts), incoming, as_json)


@app.command()
def add(
    index: Index,
    source: Source,
    model: OtherModel = None,
    text: TextColumn = None,
    id: IdColumn = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Add documents, or a file of codes, to an index.

    A document whose id is there already takes the place of the old one.
    Documents without ids get the next free numbers. Codes of another model are refused.

    [bold]Examples[/]

    ammi index add index more.jsonl
    zcat 2024-*.jsonl.gz | ammi index add index - --text body
    """
    from ammi.search import HammingIndex

    with HammingIndex.open(index) as opened:
        incoming = Incoming(source, text, id, on_error)
        hasher = _model_of(opened, model) if incoming.codes is None else None
        _add(opened, incoming.parts(hasher), incoming, as_json)


@app.command()
def delete(
    index: Index,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", show_default=False, help="Ids, or [bold]-[/] for one a line from a pipe."),
    ],
    as_json: AsJson = False,
) -> None:
    """Delete documents from an index: all of them, or none where one is not there.

    [bold]Examples[/]

    ammi index delete index 17 18
    cat old-ids.txt | ammi index delete index -
    """
    from ammi.search import HammingIndex

    if ids == ["-"]:
        ids = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    with HammingIndex.open(index) as opened:
        opened.delete([known_id(opened, id) for id in ids])
        if as_json:
            say_json({"index": str(index), "deleted": len(ids), "documents": len(opened)})
        else:
            results.print(f"{len(ids):,} deleted; {len(opened):,} documents are left in {index}")


def known_id(index: "HammingIndex", text: str) -> str | int:
    """The id that a user typed: the text, or the number that it spells."""
    ids: list[str | int] = [text]
    if text.removeprefix("-").isdecimal():
        ids.append(int(text))
    for id in ids:
        try:
            index.get([id])
        except ValueError:
            continue
        return id
    raise ValueError(f"no document in {index.folder} has the id {text!r}")


class Incoming:
    """What comes into an index: documents, or codes from a file."""

    def __init__(self, source: str, text: str | None, id: str | None, on_error: OnError):
        from ammi.data.codes import holds_codes, read_codes

        self.codes = read_codes(source) if holds_codes(source) else None
        self.documents = Documents(source, text, id, on_error)

    def kind(self, hasher: "DocumentHasher | None") -> tuple[int, str]:
        """The number of bits and the fingerprint of the codes."""
        makers = [(hasher.n_bits, hasher.fingerprint_)] if hasher else []
        if self.codes:
            makers.append((self.codes.n_bits, self.codes.fingerprint))
        if makers[0] != makers[-1]:
            raise ValueError(
                f"the codes in {self.documents.name} are of model {makers[-1][1]}, and --model names {makers[0][1]}: "
                "name the model that made them, or none"
            )
        return makers[0]

    def parts(self, hasher: "DocumentHasher | None") -> Iterator[Part]:
        """Block by block, what to add."""
        if self.codes:
            fingerprint = self.codes.fingerprint
            for start in range(0, len(self.codes.ids), BLOCK_DOCUMENTS):
                some = slice(start, start + BLOCK_DOCUMENTS)
                yield {"codes": self.codes.codes[some], "ids": self.codes.ids[some], "fingerprint": fingerprint}
        else:
            assert hasher
            for block in blocks(self.documents):
                texts = [document.text for document in block]
                yield {
                    "codes": hasher.encode(texts),
                    "ids": None if block[0].numbered else [document.id for document in block],
                    "texts": texts,
                    "metadata": [document.metadata for document in block],
                    "fingerprint": hasher.fingerprint_,
                }


def _add(index: "HammingIndex", parts: Iterable[Part], incoming: Incoming, as_json: bool) -> None:
    """Add all parts, each for good, and say what was done, also when it ends too early."""
    before, added = len(index), 0
    try:
        with counter(f"adding {incoming.documents.name}") as advance:
            for part in parts:
                added += len(index.add(**part))
                advance(len(part["codes"]))
    except BaseException:
        if added:
            note(f"{added:,} documents were added before this, and stay in {index.folder}")
        raise
    after = len(index)
    report = {"added": added, "replaced": before + added - after, "skipped": incoming.documents.skipped}
    if as_json:
        say_json({"index": str(index.folder), **report, "documents": after})
    else:
        said = ", ".join(f"{n:,} {what}" for what, n in report.items() if n or what == "added")
        results.print(f"{said}; {after:,} documents are in {index.folder}")


def _load(model: Path) -> "DocumentHasher":
    from ammi.hashers import DocumentHasher

    return DocumentHasher.load(model)


def _model_of(index: "HammingIndex", model: Path | None) -> "DocumentHasher":
    from ammi.hashers import model_of

    return model_of(index, model)
