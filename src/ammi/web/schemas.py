"""What the API takes and gives: the contract between the server, the page, the report and the Python client.

A code is hexadecimal, two digits a byte, as numpy.packbits packs it: bit 0 is the highest bit of the first byte. An id
is a string or a whole number, and 17 and "17" are one id.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

MOST_IDS = 10_000  # in a request
Id = str | int
Metadata = dict[str, Any]
Code = Annotated[str, Field(description="The code, two hexadecimal digits a byte.", examples=["c3a4f01b"])]
Probabilities = Annotated[
    list[float] | None,
    Field(description="For each bit the probability that it is 1; null where it cannot be told."),
]
Vector = Annotated[list[FiniteFloat], Field(min_length=1, max_length=100_000, examples=[[0.12, -0.53, 0.07]])]
Rank = Literal["distance", "asymmetric", "text", "vectors"]
Where = Annotated[
    dict[str, Any] | None,
    Field(description="A filter on metadata.", examples=[{"lang": "en", "year": {">=": 1987}}]),
]


class Model(BaseModel):
    """Unknown fields of a request are refused: a misspelt one would go unnoticed."""

    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """What went wrong, in one sentence."""

    error: str = Field(examples=["no document has the id 'n17': GET /api/documents lists all of them"])


class Hit(Model):
    """A document that a search found."""

    id: Id = Field(examples=["scipy.linalg.inv"])
    distance: int = Field(description="Bits in which its code differs from that of the query.", examples=[3])
    score: float = Field(description="What the hits are in order of, more for a better one.", examples=[7.25])
    text: str | None = Field(description="The text, or its beginning where `length` asks for that.")
    metadata: Metadata = Field(examples=[{"package": "scipy", "label": "scipy.linalg"}])
    code: Code | None = Field(description="Null where the document was deleted since it was found.")


class Query(Model):
    """What was asked for, as the model sees it."""

    text: str | None = Field(examples=["inverse of a matrix"])
    code: Code
    probabilities: Probabilities
    known: bool = Field(description="False where the model knows no word of it: it is then like an empty document.")


class QueryRequest(Model):
    """A text or a vector: whichever the collection reads."""

    text: str | None = Field(None, examples=["inverse of a matrix"])
    vector: Vector | None = None


class SearchRequest(QueryRequest):
    """What to look for."""

    k: int = Field(10, ge=1, description="How many documents.")
    radius: int | None = Field(None, ge=0, description="All documents at most so many bits away; k is the most then.")
    where: Where = None
    rank: Rank | None = Field(None, description="What puts the hits in order; the collection's default without it.")
    shortlist: int | None = Field(None, ge=1, description="Of how many candidates the best are chosen.")
    length: int | None = Field(None, ge=0, description="At most so many characters of each text.")


class SearchAnswer(Model):
    """The documents found, the best first."""

    query: Query
    rank: Rank = Field(description="What put the hits in order.")
    hits: list[Hit]
    total: int = Field(description="How many were found; more than the hits where a radius found more than k.")


class Document(Model):
    """A document of the collection."""

    id: Id = Field(examples=["scipy.linalg.inv"])
    text: str | None = Field(examples=["Compute the inverse of a matrix."])
    metadata: Metadata = Field(examples=[{"package": "scipy"}])
    code: Code
    probabilities: Probabilities
    vector: list[float] | None = Field(None, description="Where it is kept and was asked for.")


class LikeRequest(Model):
    """A document, and what to find near it."""

    id: Id = Field(examples=["scipy.linalg.inv"])
    k: int = Field(10, ge=1, description="How many documents.")
    radius: int | None = Field(None, ge=0, description="All documents at most so many bits away; k is the most then.")
    where: Where = None
    length: int | None = Field(None, ge=0, description="At most so many characters of each text.")


class Near(Model):
    """The documents nearest to one of the collection, itself left out."""

    document: Document
    hits: list[Hit]
    total: int = Field(description="How many were found; more than the hits where a radius found more than k.")


class Drift(Model):
    """Documents at growing distance: for each distance the nearest that is at least that far away.

    One that answers two distances is named once.
    """

    start: Document | Query
    steps: list[Hit]


class DriftRequest(QueryRequest):
    """Where to start, and the distances."""

    distances: list[Annotated[int, Field(ge=0)]] | None = Field(None, max_length=4096, examples=[[0, 1, 5, 10]])
    length: int | None = Field(None, ge=0, description="At most so many characters of each text.")


class DuplicateCopy(Model):
    """A copy: the share of it that is in the document that is kept."""

    id: Id
    similarity: float = Field(examples=[0.93])
    text: str | None


class DuplicateGroup(Model):
    """A document to keep, and its copies, the most similar first."""

    kept: Id
    text: str | None
    copies: list[DuplicateCopy]


class DuplicatesPage(Model):
    """Groups `offset` to `offset + limit` of all, in insertion order of the documents that are kept."""

    groups: list[DuplicateGroup]
    total: int = Field(description="How many groups there are.", examples=[128])
    copies: int = Field(description="How many copies there are in all groups.", examples=[311])
    offset: int
    next: int | None = Field(description="The offset of the next page; null on the last one.", examples=[20])


class Computing(Model):
    """What was asked for is being computed: ask again in a second."""

    state: Literal["computing"]
    progress: float = Field(description="0 to 1.", examples=[0.3])


class Key(Model):
    """A metadata key."""

    name: str = Field(examples=["package"])
    documents: int = Field(description="How many documents have a value for it.", examples=[26_000])
    kinds: list[str] = Field(description="Of its values: text, number, bool, other.", examples=[["text"]])
    fast: bool = Field(description="Whether filters on it are fast.")


class Entropy(Model):
    """How many bits of information the codes hold: three upper bounds or estimates, each lower than the one before."""

    independent: float = Field(description="If all bits were independent: the sum of their entropies.", examples=[62.1])
    tree: float = Field(description="With the dependence along the best tree of bits taken off.", examples=[57.9])
    codes: float = Field(
        description="Of the codes that there are, each as often as it is; at most log2 of the documents.",
        examples=[14.5],
    )


class CollectionAnswer(Model):
    """The collection and its figures."""

    name: str = Field(description="The last part of its location.", examples=["docstrings"])
    documents: int = Field(examples=[26_000])
    bits: int = Field(examples=[64])
    distinct_codes: int = Field(examples=[24_512])
    balance: list[float] = Field(description="For each bit the share of documents in which it is 1.")
    entropy: Entropy
    reads: Literal["text", "vector"] | None = Field(description="What a query is; null where there is no model.")
    keys: list[Key]
    ranks: list[Rank] = Field(description="The rankings there are.", examples=[["text", "asymmetric", "distance"]])
    default_rank: Rank | None
    writable: bool = Field(description="Whether documents can be added, replaced and deleted.")
    fingerprint: str | None = Field(description="That of the model that makes the codes.", examples=["5f0c9a2b"])
    state: str = Field(description="Changes with every change of the documents.", examples=["81b2c7"])
    version: str = Field(description="Of ammi.", examples=["0.2.0"])
    limits: "Limits"


class Limits(Model):
    """What a request may ask for at most."""

    k: int = Field(examples=[1000])
    query: int = Field(description="Characters of a text that is looked for.", examples=[10_000])
    body: int = Field(description="Bytes of a request.", examples=[16_777_216])
    ids: int = Field(description="Ids in a request.", examples=[MOST_IDS])


class Region(Model):
    """A part of the map, named by the words that are typical of its documents."""

    x: float = Field(description="Its middle, 0 to 1.", examples=[0.31])
    y: float = Field(examples=[0.72])
    words: list[str] = Field(examples=[["matrix", "inverse", "eigenvalues"]])
    documents: int = Field(description="Of the points of the map.", examples=[412])


class MapAnswer(Model):
    """The map: a point in the plane for each document of a sample, near to each other where codes are alike.

    `x` and `y` are base64 of little-endian uint16, a number a point: 0 is left or bottom, 65535 right or top. While
    `state` is "computing" there are no points yet; "rough" is a first layout, and a better one is on its way: ask again
    after `retry` seconds; "ready" stays.
    """

    state: Literal["computing", "rough", "ready"]
    progress: float = Field(description="0 to 1.", examples=[0.4])
    step: str = Field(description="What is being done.", examples=["neighbours of 20,000 codes"])
    retry: float | None = Field(description="Ask again after so many seconds; null where nothing will change.")
    version: str = Field(description="Changes when the points do.", examples=["81b2c7-ready"])
    documents: int = Field(description="Of the collection.", examples=[1_000_000])
    points: int = Field(description="Documents on the map; fewer than `documents` where it is a sample.")
    ids: list[Id] = Field(description="The document of each point.")
    x: str
    y: str
    region: str = Field(description="base64 of uint8: the number of the region of each point; 255 for none.")
    regions: list[Region]
    colours: list[str] = Field(description="The metadata keys that /api/map/colours can colour by.")


class Colours(Model):
    """A metadata value for each point of the map.

    `values` is base64 of uint8, one a point, in the order of the map's points: for categories the position in `names`, for
    numbers 0 (least) to 254 (most); 255 where there is no value, or one that is not among the names.
    """

    key: str = Field(examples=["package"])
    kind: Literal["category", "number"]
    names: list[str] = Field(description="The most frequent values, at most 12.", examples=[["numpy", "scipy"]])
    counts: list[int] = Field(description="Points of each name.", examples=[[8123, 7411]])
    low: float | None = Field(description="Of numbers: what 0 stands for.")
    high: float | None = Field(description="Of numbers: what 254 stands for.")
    values: str
    version: str = Field(description="Of the map that the points are of.")


class Located(Model):
    """Where a document is: its own point, or near that of the document on the map whose code is nearest."""

    id: Id
    x: float = Field(description="0 to 1.")
    y: float
    point: int = Field(description="The point of the map.")
    exact: bool = Field(description="Whether the point is that of this document.")


class LocateAnswer(Model):
    """Places on the map, in the order of the ids; unknown ids are left out."""

    places: list[Located]
    version: str


class Link(Model):
    """Two bits that go together."""

    a: int = Field(examples=[3])
    b: int = Field(examples=[17])
    information: float = Field(description="Mutual information, in bits.", examples=[0.214])
    same: bool = Field(description="Whether they tend to be equal; false where they tend to be opposite.")


class BitSummary(Model):
    """A bit, in short."""

    bit: int = Field(examples=[3])
    balance: float = Field(description="Share of documents in which it is 1.", examples=[0.498])
    entropy: float = Field(description="In bits: 1 where it is balanced.", examples=[0.99998])
    before: float | None = Field(description="Mutual information with the bit before it in the chain.")
    partner: int | None = Field(description="The bit that it goes with most.")
    words: list[str] = Field(description="A few words that push it up, to call it by.", examples=[["matrix", "axis"]])


class BitsAnswer(Model):
    """All bits, and which ones go together."""

    bits: list[BitSummary]
    links: list[Link] = Field(description="The best tree of bits, and other strong pairs, strongest first.")
    documents: int


class Push(Model):
    """A word that pushes a bit up (positive) or down (negative)."""

    word: str = Field(examples=["matrix"])
    weight: float = Field(examples=[1.83])


class Typical(Model):
    """A document that is very sure of a bit."""

    id: Id
    text: str | None
    code: Code
    probability: float | None = Field(description="That the bit is 1; null where the model does not tell.")


class BitAnswer(Model):
    """One bit: what it says, and with which others."""

    bit: int
    balance: float
    entropy: float
    up: list[Push] = Field(description="Words that push it to 1, the strongest first.")
    down: list[Push] = Field(description="Words that push it to 0, the strongest first.")
    source: Literal["weights", "documents"] | None = Field(
        description="Where the words are from: the weights of the model, or how much more often documents with the bit "
        "have a word than those without it; null where there are no words."
    )
    ones: list[Typical] = Field(description="Documents typical for 1.")
    zeros: list[Typical] = Field(description="Documents typical for 0.")
    links: list[Link] = Field(description="The bits that it goes with, the strongest first.")


class Contents(Model):
    """What a document says: a text or a vector, whichever the collection reads, and its metadata."""

    text: str | None = Field(None, examples=["The inverse of a matrix."])
    vector: Vector | None = None
    metadata: Metadata = Field(default_factory=dict, examples=[{"lang": "en"}])


class NewDocument(Contents):
    """A document to add; one that has its id is replaced."""

    id: Annotated[str, Field(min_length=1)] | int | None = Field(
        None, description="Without one it gets the next free number.", examples=["n17"]
    )


class NewDocuments(Model):
    """Documents to add or to replace; all have ids, or none has. A thousand are written at a time, each for good."""

    documents: list[NewDocument] = Field(min_length=1)


class Added(Model):
    """The ids of documents that were added, on the disk when this is answered."""

    ids: list[Id] = Field(examples=[["n17", 18]])


class Ids(Model):
    """Documents by their ids."""

    ids: list[Id] = Field(max_length=MOST_IDS, examples=[["n17", 18]])


class GetRequest(Ids):
    """Documents to get."""

    vectors: bool = Field(False, description="Whether to give the vectors that are kept, too.")


class Deleted(Model):
    """How many documents were deleted."""

    deleted: int = Field(examples=[1])


class MetadataRequest(Ids):
    """Metadata keys to set; the others stay as they are."""

    metadata: Metadata | list[Metadata] = Field(
        description="One object for all, or one for each id.", examples=[{"checked": True}]
    )


class Documents(Model):
    """Documents, in the order of the ids that were asked for."""

    documents: list[Document]


class Health(Model):
    """Whether the collection can be read."""

    status: Literal["ok"]


CollectionAnswer.model_rebuild()
