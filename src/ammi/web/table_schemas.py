"""Requests and answers of tables, facets, exports and changes of a selection."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, FiniteFloat, model_validator

from ammi.search.filter_text import from_text
from ammi.web.schemas import MOST_IDS, Document, Id, Length, Model, Text, Where

MOST_ROWS = 1000  # of a page of a table
MOST_FOUND = 1000  # documents that a text selects
MOST_CHANGED = 10_000  # documents in a change of a selection

Limit = Annotated[int, Field(ge=1, le=MOST_ROWS, description="Number of documents.")]
Offset = Annotated[int, Field(ge=0, le=2**31, description="The first document.")]
Sort = Annotated[
    str | None,
    Field(
        max_length=1000,
        description="A metadata key to sort by, with - before it for descending; documents without a value are last. "
        "By default as found, or in insertion order.",
        examples=["-year"],
    ),
]
Lasso = Annotated[
    list[FiniteFloat] | None,
    Field(
        max_length=400,
        description="The corners of a closed line on the map, x and y in turn, 0 to 1: documents inside it.",
    ),
]
Region = Annotated[
    str | None,
    Field(max_length=1000, description="The words of a region of the map.", examples=["matrix inverse eigenvalues"]),
]


class Selection(Model):
    """Documents: all, or those that satisfy everything given here.

    A text selects the 1,000 documents that answer it best at most; those with its words, if any has them.
    """

    text: Text | None = Field(default=None, examples=["inverse of a matrix"])
    where: Annotated[
        Where, BeforeValidator(lambda where: from_text(where) or None if isinstance(where, list) else where)
    ] = Field(
        default=None,
        description="A filter on metadata, as an object or as a list of conditions.",
        examples=[{"lang": "en", "year": {">=": 1987}}, ["lang=en", "year>=1987"]],
    )
    ids: list[Id] | None = Field(default=None, max_length=MOST_IDS)
    lasso: Lasso = None
    region: Region = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.lasso is not None and (len(self.lasso) < 6 or len(self.lasso) % 2):
            raise ValueError("lasso has no three corners: give x and y of each")
        return self

    @property
    def has_area(self) -> bool:
        """Whether it depends on the map."""
        return self.lasso is not None or self.region is not None

    @property
    def is_plain(self) -> bool:
        """Whether it is a filter, or nothing."""
        return self.text is None and self.ids is None and not self.has_area


class FacetOptions(Model):
    """Which counts to return."""

    keys: list[str] | None = Field(
        default=None, max_length=100, description="Metadata keys; by default those with few values, numbers and dates."
    )
    contains: str = Field(default="", max_length=1000, description="Only values that contain this text, in any case.")
    offset: Annotated[int, Field(ge=0, le=2**31, description="The first value of each key.")] = 0
    limit: Annotated[int, Field(ge=0, le=1000, description="Number of values of each key.")] = 12


class FacetsRequest(Selection, FacetOptions):
    """A selection, and which counts of it to return."""


class CountedValue(Model):
    """A value of a metadata key, or an item of its lists."""

    value: str | bool | int | float
    selected: int = Field(description="Number of selected documents.")
    all: int = Field(description="Number of documents in the collection.")


class HistogramBin(Model):
    """A bin: documents with low <= value < high, as the filter KEY>=LOW, KEY<HIGH finds them."""

    low: str | int | float
    high: str | int | float
    selected: int
    all: int


class FacetAnswer(Model):
    """The values of a metadata key; its own filter does not count here, so that other values can be chosen."""

    key: str = Field(examples=["year"])
    kind: Literal["category", "number", "date", "text"] = Field(
        description="How to show the values: one by one, as a histogram, or not at all, since each names a document."
    )
    documents: int = Field(description="Number of selected documents with a value.")
    distinct: int = Field(description="Number of values, that contain the text if there is one.")
    values: list[CountedValue] = Field(description="The most frequent values first.")
    bins: list[HistogramBin] = Field(description="The histogram of numbers or dates; of more values none.")


class FacetsAnswer(Model):
    """Counts of a selection."""

    total: int = Field(description="Number of selected documents.")
    documents: int = Field(description="Number of documents in the collection.")
    keys: list[str] = Field(description="The metadata keys of all documents.")
    facets: list[FacetAnswer]


class TableOptions(Model):
    """Which documents of a selection to return, and in which order."""

    sort: Sort = None
    offset: Offset = 0
    limit: Limit = 50
    length: Length = 300


class TableRequest(Selection, TableOptions):
    """A selection, and the page of it to return."""


class TableAnswer(Model):
    """A page of the selected documents."""

    total: int = Field(description="Number of selected documents.")
    offset: int
    rows: list[Document]


class PointsAnswer(Model):
    """Selected documents on the map."""

    total: int = Field(description="Number of selected documents.")
    points: list[int] = Field(description="The numbers of their points.")
    version: str = Field(description="The version of the map.")


class ExportOptions(Model):
    """How to write a selection."""

    format: Literal["csv", "jsonl"] = Field(default="csv", description="The format of the file.", examples=["csv"])
    sort: Sort = None


class ExportRequest(Selection, ExportOptions):
    """A selection, and how to write it."""


class ChangeRequest(Selection):
    """A selection to change."""

    expected: int = Field(
        ge=1, description="Number of selected documents: if there are others now, nothing is changed.", examples=[12]
    )


class TagRequest(ChangeRequest):
    """A tag to add to the selected documents, or to take away."""

    tag: str = Field(min_length=1, max_length=200, examples=["to read"])
    key: str = Field(default="tags", min_length=1, max_length=200, description="The metadata key of the tags, a list.")
    remove: bool = False


class Changed(Model):
    """A change of a selection, which is on disk when this is answered."""

    changed: int = Field(description="Number of changed documents.", examples=[12])
    undo: str | None = Field(
        description="What POST /api/undo takes back this change by, while the server runs and remembers it: the last "
        "20 changes. Null if the same request was answered before.",
    )


class UndoRequest(Model):
    """A change to take back."""

    undo: str = Field(min_length=1, max_length=100)


class Undone(Model):
    """A change that was taken back."""

    changed: int = Field(description="Number of documents that are as before.")
    left: list[Id] = Field(description="Documents that others have deleted, or added again, since: they stay so.")
