"""Addresses of selections: counts, tables, exports; and those that tag and delete, with undo."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Query
from pydantic import ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from ammi.data.exports import csv_lines, flat_record
from ammi.data.streams import jsonl
from ammi.search import Entry
from ammi.search.documents import id_key
from ammi.web import table_schemas as schemas
from ammi.web.document_routes import Key, changes, export_of
from ammi.web.guard import Refusal
from ammi.web.handlers import Conditions, Routes, ServedHere, filter_of
from ammi.web.schemas import Document, Id, Model, Text
from ammi.web.served import Served

_AT_ONCE = 1000  # documents of an export
_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}

router = Routes("tables")


class SelectionParameters(Model):
    """A selection as query parameters."""

    model_config = ConfigDict(extra="ignore")

    q: Text | None = Field(default=None, description="A text to search for.", examples=["inverse of a matrix"])
    where: Conditions = Field(default_factory=list)
    lasso: str | None = Field(
        default=None,
        max_length=8000,
        pattern=r"^-?[0-9.]+(,-?[0-9.]+)*$",
        description="A closed line on the map, its corners x,y,x,y,… from 0 to 1: the documents inside of it.",
        examples=["0,0,0,1,1,1"],
    )
    region: schemas.Region = None

    def asked(self) -> dict[str, Any]:
        """Return the fields of the request."""
        lasso = None if self.lasso is None else [float(one) for one in self.lasso.split(",")]
        options = self.model_dump(exclude={"q", "where", "lasso"})
        return {**options, "text": self.q or None, "where": filter_of(self.where), "lasso": lasso}


class FacetParameters(SelectionParameters, schemas.FacetOptions):
    """The same as query parameters."""

    model_config = ConfigDict(extra="ignore")


class TableParameters(SelectionParameters, schemas.TableOptions):
    """The same as query parameters."""

    model_config = ConfigDict(extra="ignore")


class ExportParameters(SelectionParameters, schemas.ExportOptions):
    """The same as query parameters."""

    model_config = ConfigDict(extra="ignore")


@router.computed("GET", "/facets")
def facets(served: ServedHere, parameters: Annotated[FacetParameters, Query()]) -> schemas.FacetsAnswer:
    """Count the metadata values of a selection."""
    return facets_of(served, schemas.FacetsRequest(**parameters.asked()))


@router.computed("POST", "/facets")
def facets_of(served: ServedHere, request: schemas.FacetsRequest) -> schemas.FacetsAnswer:
    """Count the metadata values of a selection, also of documents by their ids."""

    def find() -> bytes:
        columns, total, found = served.tables.facets(request)
        answers = [schemas.FacetAnswer.model_validate(one) for one in found]
        answer = schemas.FacetsAnswer(total=total, documents=len(columns), keys=columns.keys, facets=answers)
        return answer.model_dump_json().encode()

    found = find() if request.has_area else served.cached(request, find)
    return schemas.FacetsAnswer.model_validate_json(found)


@router.computed("GET", "/table")
def table(served: ServedHere, parameters: Annotated[TableParameters, Query()]) -> schemas.TableAnswer:
    """Return a page of a selection, sorted."""
    return table_of(served, schemas.TableRequest(**parameters.asked()))


@router.computed("POST", "/table")
def table_of(served: ServedHere, request: schemas.TableRequest) -> schemas.TableAnswer:
    """Return a page of a selection, sorted, also of documents by their ids."""
    ids = _ids(served, request, request.sort)
    chosen, most = ids[request.offset : request.offset + request.limit], served.settings.most_answer
    rows: list[Document] = []
    for start in range(0, len(chosen), 100):
        rows += [served.document(one, request.length, probable=False) for one in _there(served, chosen[start:][:100])]
        if sum(len(row.text or "") for row in rows) > most:
            raise Refusal(413, f"the answer has more than {most:,} bytes: ask for fewer documents, or a length")
    return schemas.TableAnswer(total=len(ids), offset=request.offset, rows=rows)


@router.computed("GET", "/map/selected")
def points(served: ServedHere, parameters: Annotated[SelectionParameters, Query()]) -> schemas.PointsAnswer:
    """Return which points of the map are of selected documents."""
    current, (columns, rows) = served.live.map(), served.tables.selected(schemas.Selection(**parameters.asked()))
    chosen = {id_key(columns.ids[row]) for row in rows.tolist()}
    sample = current.explorer.sample
    found = [point for point, id in enumerate(sample.ids) if id_key(id) in chosen] if current.map else []
    return schemas.PointsAnswer(total=len(rows), points=found, version=current.version)


_FILE: dict[str, Any] = {
    "response_class": StreamingResponse,
    "responses": {200: {"content": {"text/csv": {}, _TYPES["jsonl"]: {}}}},
}


@router.get("/export", **_FILE)
async def export(served: ServedHere, parameters: Annotated[ExportParameters, Query()]) -> Response:
    """Return a selection as a file, with metadata as columns."""
    return await export_selected(served, schemas.ExportRequest(**parameters.asked()))


@router.post("/export", **_FILE)
async def export_selected(served: ServedHere, request: schemas.ExportRequest) -> Response:
    """Return a selection as a file, with metadata as columns, also of documents by their ids."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in served.name)
    headers = {"content-disposition": f'attachment; filename="{name}.{request.format}"'}
    return await export_of(served, lambda: _lines(served, request), _TYPES[request.format], headers)


@changes.computed("POST", "/tag")
def tag(served: ServedHere, request: schemas.TagRequest, key: Key) -> schemas.Changed:
    """Add a tag to the selected documents, or take it away."""
    changed, undo = served.tables.tag(request, key)
    return schemas.Changed(changed=changed, undo=undo)


@changes.computed("POST", "/remove")
def remove(served: ServedHere, request: schemas.ChangeRequest, key: Key) -> schemas.Changed:
    """Delete the selected documents. An undo brings them back whole; they are then the last in insertion order."""
    changed, undo = served.tables.remove(request, key)
    return schemas.Changed(changed=changed, undo=undo)


@changes.computed("POST", "/undo")
def undo(served: ServedHere, request: schemas.UndoRequest) -> schemas.Undone:
    """Take back a tag or a deletion."""
    changed, left = served.tables.undo(request.undo)
    return schemas.Undone(changed=changed, left=left)


def _ids(served: Served, request: schemas.Selection, sort: str | None) -> list[Id]:
    columns, rows = served.tables.selected(request)
    if sort:
        key = sort if sort in columns.keys else sort.removeprefix("-")
        rows = columns.in_order(rows, key, descending=key != sort)
    return [columns.ids[row] for row in rows.tolist()]


def _there(served: Served, ids: list[Id]) -> list[Entry]:
    """Return documents, without those that were deleted since they were selected."""
    try:
        return served.collection.get(ids)
    except ValueError:
        codes = served.store.codes_of(ids)
        return served.collection.get([id for id, code in zip(ids, codes, strict=True) if code is not None])


def _lines(served: Served, request: schemas.ExportRequest) -> Iterator[bytes]:
    """Yield a selection as a file, some documents at a time."""
    ids, keys = _ids(served, request, request.sort), served.tables.columns().keys
    blocks = (_there(served, ids[start : start + _AT_ONCE]) for start in range(0, len(ids), _AT_ONCE))
    entries = (entry for block in blocks for entry in block)
    if request.format == "csv":
        yield from csv_lines(entries, keys)
    else:
        yield from jsonl(flat_record(entry) for entry in entries)
