"""Requests and answers of the API: the contract between the server, the page, the report and the Python client.

A code is hexadecimal, two digits a byte, as numpy.packbits packs it: bit 0 is the highest bit of the first byte. An id
is a string or a whole number, and 17 and "17" are the same id.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PrivateAttr,
    model_validator,
)

MOST_IDS = 10_000  # of documents in a request
MOST_K = 1000
MOST_CHARACTERS = 10_000  # of a query
MOST_QUERIES = 100  # in a request

Id = str | int
Metadata = dict[str, Any]
Code = Annotated[str, Field(description="The code, two hexadecimal digits a byte.", examples=["c3a4f01b"])]
Share = Annotated[float, AfterValidator(partial(round, ndigits=4))]
Information = Annotated[float, AfterValidator(partial(round, ndigits=5))]
Coordinate = Annotated[float, AfterValidator(partial(round, ndigits=5))]
Probabilities = Annotated[
    list[Share] | None,
    Field(description="The probability of each bit that it is 1; null if the model has no probabilities."),
]
Vector = Annotated[list[FiniteFloat], Field(min_length=1, max_length=100_000, examples=[[0.12, -0.53, 0.07]])]
Reads = Literal["text", "vector"]
Rank = Literal["distance", "asymmetric", "text", "vectors"]
MapState = Literal["computing", "rough", "ready"]
Where = Annotated[
    Mapping[str, Any] | None,
    Field(description="A filter on metadata.", examples=[{"lang": "en", "year": {">=": 1987}}]),
]
Text = Annotated[str, Field(max_length=MOST_CHARACTERS, description="The query.", examples=["inverse of a matrix"])]
K = Annotated[int, Field(ge=1, le=MOST_K, description="Number of documents.")]
Radius = Annotated[
    int | None,
    Field(ge=0, description="Return all documents at most this many bits away, up to `k`.", examples=[6]),
]
Shortlist = Annotated[int | None, Field(ge=1, description="Number of candidates the best are chosen from.")]
Distinct = Annotated[bool, Field(description="Whether to leave out near-duplicates of it, and of each other.")]
Length = Annotated[int | None, Field(ge=0, description="Cut each text after this many characters.", examples=[300])]
Offset = Annotated[int, Field(ge=0, le=2**31, description="Leave out so many documents at the beginning.")]
Limit = Annotated[int, Field(ge=1, le=1000, description="Number of documents.")]


def _split(names: object) -> object:
    """Return names that a query parameter separates by commas, as a list."""
    return [one for name in names for one in str(name).split(",")] if isinstance(names, list) else names


_FIELDS = (
    "Fields of each document to return, separated by commas in an address; by default all. The id is always there."
)
HitFields = Annotated[
    list[Literal["id", "distance", "score", "text", "metadata", "code", "why"]] | None,
    BeforeValidator(_split),
    Field(description=_FIELDS, examples=[["score", "metadata"]]),
]
DocumentFields = Annotated[
    list[Literal["id", "text", "metadata", "code", "probabilities", "vector", "why"]] | None,
    BeforeValidator(_split),
    Field(description=_FIELDS, examples=[["text", "metadata"]]),
]


class Model(BaseModel):
    """A request or an answer. Unknown fields are refused, so that a misspelt one does not go unnoticed."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)
    _left_out: Any = PrivateAttr(None)  # of the JSON, as pydantic spells it

    def with_only(self, fields: Sequence[str] | None, *within: str) -> Self:
        """Leave all other fields but the id out of this document's JSON, or of those in a list (of a list) of it."""
        if fields is not None:
            self._left_out = (Hit.model_fields.keys() | Document.model_fields.keys()) - {"id", *fields}
            for name in reversed(within):
                self._left_out = {name: {"__all__": self._left_out}}
        return self

    def as_json(self) -> str:
        return self.model_dump_json(exclude=self._left_out)


_ONLY_ID_REQUIRED = ConfigDict(json_schema_extra={"required": ["id"]})  # a request can leave out the other fields


class Problem(Model):
    """What went wrong, in one sentence."""

    error: str = Field(examples=["no document has the id 'n17': GET /api/documents lists all of them"])


class Why(Model):
    """Why a search for words returned a document; offsets count the characters (code points) of its whole text."""

    passage: str = Field(description="The part of the text with the most, and the rarest, words of the query.")
    start: int = Field(description="The offset at which the passage begins.", examples=[120])
    words: list[tuple[int, int]] = Field(
        description="Start and end of words of the query, in any form: the first 1,000, and those of the passage.",
        examples=[[[127, 134]]],
    )
    parts: dict[str, float] = Field(
        description="The parts of the score, which is their sum.", examples=[{"words": 5.8, "code": 1.45}]
    )


class Hit(Model):
    """A document that a search returned."""

    model_config = _ONLY_ID_REQUIRED

    id: Id = Field(examples=["scipy.linalg.inv"])
    distance: int = Field(description="Number of bits in which its code differs from the query's.", examples=[3])
    score: float = Field(description="The score that orders the hits; more is better.", examples=[7.25])
    text: str | None = Field(description="The text, cut to `length` characters.")
    metadata: Metadata = Field(examples=[{"package": "scipy", "label": "scipy.linalg"}])
    code: Code | None = Field(description="Null if the document was deleted since it was found.")
    why: Why | None = Field(default=None, description="Null unless the words of a query were looked for.")


_TOTAL: Any = Field(
    description="Number of documents found: all within the radius, or those up to the last page; null before the last "
    "page of a search without a radius, which orders all documents.",
    examples=[12],
)
_NEXT: Any = Field(description="The offset of the next page; null on the last one.", examples=[10])


class Query(Model):
    """A query as the model reads it."""

    text: str | None = Field(examples=["inverse of a matrix"])
    code: Code
    probabilities: Probabilities
    known: bool = Field(description="False if the model knows no word of the text, whose code then says nothing.")


class QueryRequest(Model):
    """A text or a vector, whichever the collection reads."""

    text: Text | None = Field(default=None, examples=["inverse of a matrix"])
    vector: Vector | None = None

    @model_validator(mode="after")
    def _check_query(self) -> Self:
        if (self.text is None) == (self.vector is None):
            raise ValueError("give a text or a vector to look for, one of the two")
        return self

    @property
    def query(self) -> str | list[float]:
        """The text or the vector."""
        return (self.vector or []) if self.text is None else self.text


class Paged(Model):
    """Which of the documents found to return, and what of them."""

    k: K = 10
    offset: Offset = 0
    length: Length = None
    fields: HitFields = None

    @model_validator(mode="after")
    def _check_page(self) -> Self:
        if self.offset + self.k > MOST_K and self.offset:
            raise ValueError(
                f"offset {self.offset:,} and k {self.k:,} go beyond the first {MOST_K:,} documents, which pages can "
                "reach: narrow the search, or use where"
            )
        return self


class SearchOptions(Paged):
    """How to answer a search."""

    radius: Radius = None
    rank: Rank | None = Field(default=None, description="The score that orders the hits; by default `default_rank`.")
    shortlist: Shortlist = None


class SearchRequest(QueryRequest, SearchOptions):
    """A query, and how to answer it."""

    where: Where = None


class SearchManyRequest(SearchOptions):
    """Several queries, and how to answer each."""

    queries: list[QueryRequest] = Field(
        min_length=1, max_length=MOST_QUERIES, examples=[[{"text": "inverse of a matrix"}, {"text": "json"}]]
    )
    where: Where = None

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        n = len(self.queries) * (self.offset + self.k)
        if n > MOST_IDS:
            raise ValueError(
                f"the queries ask for {n:,} documents, and {MOST_IDS:,} at most are searched for at a time"
            )
        return self


class SearchAnswer(Model):
    """The documents found, the best first."""

    query: Query
    unknown: list[str] = Field(
        description="Words of the text that no document has, and quoted phrases.", examples=[["xyzzy"]]
    )
    corrected: dict[str, str] = Field(
        description="Words of the text that no document has, and those searched for instead; matri* stands for all "
        "words that begin so.",
        examples=[{"matirx": "matrix"}],
    )
    rank: Rank = Field(description="The score that orders the hits.")
    hits: list[Hit]
    total: int | None = _TOTAL
    next: int | None = _NEXT


class SearchManyAnswer(Model):
    """The answer to each query, in their order."""

    answers: list[SearchAnswer]


class Document(Model):
    """A document of the collection."""

    model_config = _ONLY_ID_REQUIRED

    id: Id = Field(examples=["scipy.linalg.inv"])
    text: str | None = Field(examples=["Compute the inverse of a matrix."])
    metadata: Metadata = Field(examples=[{"package": "scipy"}])
    code: Code
    probabilities: Probabilities
    vector: list[float] | None = Field(default=None, description="The kept vector, if it was asked for.")
    why: Why | None = Field(default=None, description="Where the words of `q` stand in it, if they were asked for.")


class LikeOptions(Paged):
    """Which documents near another one to find."""

    radius: Radius = None
    distinct: Distinct = False


class LikeRequest(LikeOptions):
    """A document, and which documents to find near it."""

    id: Id = Field(examples=["scipy.linalg.inv"])
    where: Where = None


class Near(Model):
    """The documents nearest to one of the collection, without itself."""

    document: Document
    hits: list[Hit]
    total: int | None = _TOTAL
    next: int | None = _NEXT


class Drift(Model):
    """Documents at growing distance: for each distance the nearest that is at least that far away.

    A document that answers two distances is listed once.
    """

    start: Document | Query
    steps: list[Hit]


class DriftRequest(QueryRequest):
    """A query to start from, and the least distances."""

    distances: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, max_length=4096, examples=[[0, 1, 5, 10]])
    distinct: Distinct = False
    length: Length = None


class Duplicate(Model):
    """A near-duplicate, and the share of it that stands in the kept document."""

    id: Id
    similarity: Share = Field(examples=[0.93])
    text: str | None


class DuplicateGroup(Model):
    """A document to keep, and its near-duplicates, the most similar first."""

    kept: Id
    text: str | None
    duplicates: list[Duplicate]


class DuplicatesPage(Model):
    """Groups `offset` to `offset + limit`, in insertion order of the kept documents."""

    groups: list[DuplicateGroup]
    total: int = Field(description="Number of groups.", examples=[128])
    duplicates: int = Field(description="Number of near-duplicates in all groups.", examples=[311])
    offset: int
    next: int | None = Field(description="The offset of the next page; null on the last one.", examples=[20])


class Computing(Model):
    """The answer is still being computed: ask again in a second."""

    state: Literal["computing"] = "computing"
    progress: float = Field(description="0 to 1.", examples=[0.3])


class Key(Model):
    """A metadata key."""

    name: str = Field(examples=["package"])
    documents: int = Field(description="Number of documents with a value for it.", examples=[26_000])
    kinds: list[str] = Field(description="Kinds of its values: text, number, bool, other.", examples=[["text"]])
    indexed: bool = Field(description="Whether the key is indexed, so that filters on it are fast.")


class Entropy(Model):
    """Three upper bounds or estimates of the information in the codes, in bits, from the highest to the lowest."""

    independent: float = Field(description="The sum of the entropies of all bits.", examples=[62.1])
    tree: float = Field(description="The same, less the information along the best tree of bits.", examples=[57.9])
    codes: float = Field(
        description="The entropy of the codes as they occur; at most log2 of the number of documents.",
        examples=[14.5],
    )


class Limits(Model):
    """The most that a request may ask for."""

    k: int = Field(examples=[MOST_K])
    query: int = Field(description="Characters of a query.", examples=[MOST_CHARACTERS])
    body: int = Field(description="Bytes of a request.", examples=[16_777_216])
    ids: int = Field(description="Ids in a request.", examples=[MOST_IDS])


class CollectionAnswer(Model):
    """The collection and its figures."""

    name: str = Field(description="The last part of its location.", examples=["docstrings"])
    documents: int = Field(examples=[26_000])
    bits: int = Field(examples=[64])
    distinct_codes: int = Field(examples=[24_512])
    balance: list[Share] = Field(description="For each bit the share of documents in which it is 1.")
    entropy: Entropy
    reads: Reads | None = Field(description="The kind of a query; null without a model.")
    language: str | None = Field(description="The language of the texts' words; null if unknown.", examples=["english"])
    keys: list[Key]
    ranks: list[Rank] = Field(description="The available scores.", examples=[["text", "asymmetric", "distance"]])
    default_rank: Rank | None
    writable: bool = Field(description="Whether documents can be added, replaced and deleted.")
    fingerprint: str | None = Field(description="The fingerprint of the model.", examples=["5f0c9a2b"])
    state: str = Field(description="Changes with every change of the documents.", examples=["81b2c7"])
    version: str = Field(description="The version of ammi.", examples=["0.2.0"])
    limits: Limits


class Region(Model):
    """A region of the map, named by the words typical of its documents."""

    level: int = Field(description="0 for the coarsest level.", examples=[1])
    parent: int | None = Field(description="The number of its region one level up.", examples=[3])
    x: Share = Field(description="Its middle, 0 to 1.", examples=[0.31])
    y: Share = Field(examples=[0.72])
    words: list[str] = Field(examples=[["matrix", "inverse", "eigenvalues"]])
    documents: int = Field(description="Number of its points.", examples=[412])


class MapAnswer(Model):
    """The map: a point in the plane for each document of a sample, close together where codes are alike.

    `x` and `y` are base64 of little-endian uint16, a number a point: 0 is left or bottom, 65535 right or top. While
    `state` is "computing" there are no points; "rough" is a first layout, and a better one will follow: ask again
    after `retry` seconds. Once it is "ready", the points stay where they are.
    """

    state: MapState
    progress: float = Field(description="0 to 1.", examples=[0.4])
    step: str = Field(description="The current step.", examples=["neighbours of 20,000 codes"])
    retry: float | None = Field(description="Ask again after this many seconds; null if nothing will change.")
    version: str = Field(description="Changes when the points do.", examples=["81b2c7-ready"])
    documents: int = Field(description="Number of documents in the collection.", examples=[1_000_000])
    points: int = Field(description="Number of points; less than `documents` if the map shows a sample.")
    ids: list[Id] = Field(description="The document of each point.")
    x: str
    y: str
    region: str = Field(
        description="base64 of little-endian uint16: the number of each point's region of the finest level; 65535 for "
        "none."
    )
    regions: list[Region] = Field(description="The regions of all levels, the coarsest first.")
    colours: list[str] = Field(description="The metadata keys worth colouring by, the one that tells most first.")


class Colours(Model):
    """The value of a metadata key, or of a bit, for each point of the map.

    `values` is base64 of uint8, one a point, in the order of the points. For categories and bits it is the position in
    `names`, for numbers and dates a place on a scale, 0 (least) to 254 (most); 255 stands for no value, or one that is
    not among the names.
    """

    key: str = Field(examples=["package"])
    kind: Literal["category", "number", "date", "bit"]
    names: list[str] = Field(description="The most frequent values, at most 12.", examples=[["numpy", "scipy"]])
    counts: list[int] = Field(description="Number of points of each name.", examples=[[8123, 7411]])
    low: float | str | None = Field(description="The number, or date, at 0.")
    high: float | str | None = Field(description="The number, or date, at 254.")
    ticks: list[float] | list[str] = Field(description="The numbers, or dates, at 0, 25, 50, 75 and 100% of the scale.")
    values: str
    version: str = Field(description="The version of the map.")


class Located(Model):
    """The position of a document on the map: its own point, or that of the document with the nearest code."""

    id: Id
    x: Coordinate = Field(description="0 to 1.")
    y: Coordinate
    point: int = Field(description="The number of the point.")
    exact: bool = Field(description="Whether the point is that of this document.")


class LocateAnswer(Model):
    """Positions on the map, in the order of the ids, without unknown ids."""

    places: list[Located]
    version: str


class Link(Model):
    """Two bits that depend on each other."""

    a: int = Field(examples=[3])
    b: int = Field(examples=[17])
    information: Information = Field(description="Mutual information, in bits.", examples=[0.214])
    same: bool = Field(description="Whether they tend to be equal; false if they tend to be opposite.")


class BitSummary(Model):
    """A bit, in short."""

    bit: int = Field(examples=[3])
    balance: Share = Field(description="Share of documents in which it is 1.", examples=[0.498])
    entropy: Information = Field(description="In bits: 1 if it is balanced.", examples=[0.99998])
    before: Information | None = Field(description="Mutual information with the bit before it in the chain.")
    partner: int | None = Field(description="The bit with which it has the most mutual information.")
    words: list[str] = Field(description="A few of its own words for 1, as its name.", examples=[["matrix", "axis"]])
    zeros: list[str] = Field(description="A few of its own words for 0.", examples=[["date", "month"]])


class BitsAnswer(Model):
    """All bits, and which of them depend on each other."""

    bits: list[BitSummary]
    links: list[Link] = Field(description="The best tree of bits, and other strong pairs, strongest first.")
    documents: int


class Topic(Model):
    """A topic: a region of the map."""

    words: list[str] = Field(examples=[["matrix", "inverse", "eigenvalues"]])
    documents: int = Field(description="About how many, if the map shows a sample.", examples=[412])
    share: Share = Field(description="Of all documents.")
    typical: list[Id]
    odd: list[Id] = Field(description="Documents whose codes are least like those of the others.")
    categories: dict[str, dict[str, Share]] = Field(
        description="For each key its most frequent values, and their share of the documents.",
        examples=[{"package": {"scipy": 0.81, "numpy": 0.12}}],
    )


class TopicsAnswer(Model):
    """What the documents are about, the largest topic first."""

    topics: list[Topic]
    documents: int = Field(description="Number of documents in the collection.")
    levels: list[int] = Field(description="Numbers of topics that are levels of the map.", examples=[[8, 24, 72, 216]])


class Push(Model):
    """A word of a bit."""

    word: str = Field(examples=["matrix"])
    weight: Share = Field(
        description="How much it goes with this bit, the other bits being equal, and with no other bit; below 0 for 0.",
        examples=[11.83],
    )


class BitRegion(Model):
    """A region of the map, by the values of a bit."""

    words: list[str] = Field(examples=[["matrix", "inverse", "eigenvalues"]])
    ones: Share = Field(description="Share of its documents in which the bit is 1.", examples=[0.93])
    documents: int


class Typical(Model):
    """A document with a high or low probability of a bit."""

    id: Id
    text: str | None
    code: Code
    probability: Share | None = Field(description="That the bit is 1; null if the model has no probabilities.")


class BitAnswer(Model):
    """One bit: its words, its typical documents, and the bits it depends on."""

    bit: int
    balance: Share
    entropy: Information
    up: list[Push] = Field(description="Its own words for 1, the strongest first.")
    down: list[Push] = Field(description="Its own words for 0, the strongest first.")
    regions: list[BitRegion] = Field(description="The regions of the map, those with most ones first.")
    map: MapState = Field(description="There are no regions until the map is ready.")
    ones: list[Typical] = Field(description="Documents typical of 1.")
    zeros: list[Typical] = Field(description="Documents typical of 0.")
    links: list[Link] = Field(description="The bits it depends on, the strongest first.")


class Contents(Model):
    """The contents of a document: a text or a vector, whichever the collection reads, and its metadata."""

    text: str | None = Field(default=None, examples=["The inverse of a matrix."])
    vector: Vector | None = None
    metadata: Metadata = Field(default_factory=dict, examples=[{"lang": "en"}])


class NewDocument(Contents):
    """A document to add; it replaces a document with the same id."""

    id: Annotated[str, Field(min_length=1)] | int | None = Field(
        default=None, description="Without an id it gets the next free number.", examples=["n17"]
    )


class NewDocuments(Model):
    """Documents to add or to replace; all have ids, or none has."""

    documents: list[NewDocument] = Field(min_length=1, max_length=MOST_IDS)


class Added(Model):
    """The ids of added documents, which are on disk when this is answered."""

    ids: list[Id] = Field(examples=[["n17", 18]])


class Ids(Model):
    """Documents by their ids."""

    ids: list[Id] = Field(max_length=MOST_IDS, examples=[["n17", 18]])


class GetRequest(Ids):
    """Documents to get."""

    vectors: bool = Field(default=False, description="Whether to include the kept vectors.")


class Deleted(Model):
    """The number of deleted documents."""

    deleted: int = Field(examples=[1])


class MetadataRequest(Ids):
    """Metadata keys to set; other keys stay as they are."""

    metadata: Metadata | list[Metadata] = Field(
        description="One object for all, or one for each id.", examples=[{"checked": True}]
    )


class Documents(Model):
    """Documents, in the order of the requested ids."""

    documents: list[Document]


class DocumentsPage(Documents):
    """Documents `offset` to `offset + limit` of those that pass the filter, in insertion order."""

    total: int = Field(description="Number of documents that pass the filter.", examples=[412])
    offset: int
    next: int | None = _NEXT


class Health(Model):
    """Whether the collection can be read."""

    status: Literal["ok"] = "ok"
