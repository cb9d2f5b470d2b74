"""Addresses of the explorer: the collection's figures, near-duplicates, the map, the bits."""

import base64
from typing import Annotated, Any

import numpy as np
from fastapi import Path, Query
from numpy.typing import NDArray
from starlette.responses import Response

from ammi.collection import Duplicates
from ammi.explore import Explorer
from ammi.explore.bits import TypicalDocument, Weighted
from ammi.explore.explorer import Map
from ammi.explore.regions import levels_of
from ammi.explore.topics import topics_of
from ammi.version import __version__
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.handlers import Routes, ServedHere, answer
from ammi.web.live import MapProgress
from ammi.web.served import Served, cut

_SECONDS_TO_ASK_AGAIN: dict[schemas.MapState, float | None] = {"computing": 0.5, "rough": 2.0, "ready": None}
_FINEST = 65535  # of the coordinates of points
_WORDS_IN_NAME = 3  # of a bit

_REGION_FIELDS = ("level", "parent", "x", "y", "words")

Bit = Annotated[int | None, Query(ge=0, le=65535, description="The number of a bit, from 0.", examples=[3])]

router = Routes("views")


@router.computed("GET", "/collection")
def collection(served: ServedHere) -> schemas.CollectionAnswer:
    """Return the collection and its figures."""
    collection, settings = served.collection, served.settings
    figures = served.live.explorer().figures
    ranks, indexed = served.ranks(), set(collection.indexed_keys())
    return schemas.CollectionAnswer(
        name=served.name,
        documents=len(collection),
        bits=collection.n_bits,
        distinct_codes=figures.distinct,
        balance=figures.balance.tolist(),
        entropy=schemas.Entropy(
            independent=round(figures.independent, 3),
            tree=round(figures.with_tree, 3),
            codes=round(figures.code_entropy, 3),
        ),
        reads=served.reads(),
        language=served.store.language,
        keys=[
            schemas.Key(
                name=key,
                documents=sum(counts.values()),
                kinds=sorted({kind for kinds in counts for kind in kinds.split()}),
                indexed=key in indexed,
            )
            for key, counts in sorted(served.store.key_kinds().items())
        ],
        ranks=ranks,
        default_rank=ranks[0] if ranks else None,
        writable=settings.writable,
        fingerprint=collection.fingerprint,
        state=served.live.state(),
        version=__version__,
        limits=schemas.Limits(
            k=schemas.MOST_K, query=schemas.MOST_CHARACTERS, body=settings.most_body, ids=schemas.MOST_IDS
        ),
    )


@router.get(
    "/duplicates",
    response_model=schemas.DuplicatesPage,
    responses={202: {"model": schemas.Computing, "description": "Not yet."}},
)
async def duplicates(
    served: ServedHere,
    threshold: Annotated[
        float | None, Query(gt=0, le=1, description="The least similarity; by default 0.9 for texts.")
    ] = None,
    offset: Annotated[int, Query(ge=0, le=2**31, description="The first group.")] = 0,
    limit: Annotated[int, Query(ge=1, le=100, description="Number of groups.")] = 20,
    length: schemas.Length = None,
) -> Response:
    """Return near-duplicates, in pages. The first request for a large collection starts to compute them."""

    def find() -> Response:
        found = served.live.duplicates(threshold)
        if isinstance(found, float):
            return answer(schemas.Computing(progress=found), 202, {"retry-after": "1"})
        return answer(_page(served, found, slice(offset, offset + limit), length))

    return await served.work.do(find)


@router.computed("GET", "/map")
def map(served: ServedHere) -> schemas.MapAnswer:
    """Return a point in the plane for each document of a sample."""
    current = served.live.map()
    sample, map = current.explorer.sample, current.map
    layout = np.empty((0, 2)) if map is None else map.layout
    coordinates = np.round(layout * _FINEST).astype("<u2")
    return schemas.MapAnswer(
        state=current.state,
        progress=current.progress,
        step=current.step,
        retry=_SECONDS_TO_ASK_AGAIN[current.state],
        version=current.version,
        documents=current.explorer.n_documents,
        points=len(layout),
        ids=sample.ids if map else [],
        x=_base64(coordinates[:, 0]),
        y=_base64(coordinates[:, 1]),
        region=_base64(map.region_of) if map else "",
        regions=[
            schemas.Region(documents=region.n_points, **{name: getattr(region, name) for name in _REGION_FIELDS})
            for region in (map.regions if map else [])
        ],
        colours=list(current.colours),
    )


@router.computed("GET", "/map/colours")
def colours(
    served: ServedHere,
    key: Annotated[str | None, Query(max_length=1000, description="A metadata key.", examples=["package"])] = None,
    bit: Bit = None,
) -> schemas.Colours:
    """Return the value of a metadata key, or of a bit, for each point of the map."""
    if (key is None) == (bit is None):
        raise Refusal(422, "give a key or a bit to colour by, one of the two")
    current = served.live.map()
    if bit is not None:
        _check_bit(current.explorer, bit)
        key, found = f"bit {bit}", current.explorer.colours_of_bit(bit)
    else:
        assert key is not None
        known = current.colours.get(key) or current.explorer.colours(key)
        if known is None:
            raise Refusal(404, f"no document on the map has the metadata key {key!r:.60}")
        found = known
    fields = found._asdict() | {"values": _base64(found.values)}
    return schemas.Colours(key=key, version=current.version, **fields)


@router.get(
    "/topics",
    response_model=schemas.TopicsAnswer,
    responses={202: {"model": schemas.Computing, "description": "Not yet."}},
)
async def topics(
    served: ServedHere,
    n: Annotated[int, Query(ge=1, le=216, description="Number of topics; a small collection has fewer.")] = 24,
) -> Response:
    """Return what the documents are about: the regions of the map, with words, documents and categories."""

    def find() -> Response:
        current = served.live.map()
        if current.state != "ready" or not current.explorer.has_words:
            return answer(schemas.Computing(progress=min(current.progress, 0.99)), 202, {"retry-after": "1"})
        return answer(topics_answer(current, n))

    return await served.work.do(find)


def topics_answer(current: MapProgress, n: int) -> schemas.TopicsAnswer:
    """Return n topics of a map that is ready."""
    assert current.map is not None
    found = topics_of(current.explorer, current.map, current.colours, n)
    return schemas.TopicsAnswer(
        topics=[schemas.Topic(**topic._asdict()) for topic in found],
        documents=current.explorer.n_documents,
        levels=sizes_of(current.map),
    )


def sizes_of(map: Map) -> list[int]:
    """Return the number of regions at each level of a map, the coarsest first."""
    return [len(level) for level in levels_of(map.regions)]


@router.computed("POST", "/map/locate")
def locate(served: ServedHere, request: schemas.Ids) -> schemas.LocateAnswer:
    """Return where documents are on the map, including those that are not in the sample."""
    current = served.live.map()
    if current.map is None:
        return schemas.LocateAnswer(places=[], version=current.version)
    places = []
    for id, point, exact in current.explorer.locate(request.ids):
        x, y = current.map.layout[point].tolist()
        places.append(schemas.Located(id=id, x=x, y=y, point=point, exact=exact))
    return schemas.LocateAnswer(places=places, version=current.version)


@router.computed("GET", "/bits")
def bits(served: ServedHere) -> schemas.BitsAnswer:
    """Return all bits, and which of them depend on each other."""
    explorer = served.live.explorer()
    figures = explorer.figures
    summaries = []
    for bit in range(explorer.n_bits):
        strongest = explorer.pairs_of(bit, 1)
        summaries.append(
            schemas.BitSummary(
                bit=bit,
                balance=figures.balance[bit],
                entropy=figures.entropy[bit],
                before=figures.information[bit, bit - 1] if bit else None,
                partner=strongest[0].b if strongest else None,
                words=[word for word, _ in explorer.words.up(bit, _WORDS_IN_NAME)],
                zeros=[word for word, _ in explorer.words.down(bit, _WORDS_IN_NAME)],
            )
        )
    links = [schemas.Link.model_validate(pair) for pair in explorer.pairs]
    return schemas.BitsAnswer(bits=summaries, links=links, documents=explorer.n_documents)


@router.computed("GET", "/bits/{bit}")
def bit(
    served: ServedHere,
    bit: Annotated[int, Path(ge=0, le=65535, description="The number of a bit, from 0.", examples=[3])],
    n: Annotated[int, Query(ge=1, le=100, description="Number of words, documents and bits.")] = 10,
    length: schemas.Length = None,
) -> schemas.BitAnswer:
    """Return the words, regions and typical documents of 0 and 1, and the bits that a bit depends on."""
    explorer, current = served.live.explorer(), served.live.map()
    _check_bit(explorer, bit)
    state: schemas.MapState = current.state if current.explorer is explorer else "computing"

    def typical(document: TypicalDocument) -> schemas.Typical:
        code = explorer.sample.codes[document.point].tobytes().hex()
        text, probability = cut(document.text, length), document.probability
        return schemas.Typical(id=document.id, text=text, code=code, probability=probability)

    return schemas.BitAnswer(
        bit=bit,
        balance=explorer.figures.balance[bit],
        entropy=explorer.figures.entropy[bit],
        up=_pushes(explorer.words.up(bit, n)),
        down=_pushes(explorer.words.down(bit, n)),
        regions=_regions_of(bit, current) if state == "ready" else [],
        map=state,
        ones=[typical(document) for document in explorer.typical.of(bit, 1, n)],
        zeros=[typical(document) for document in explorer.typical.of(bit, 0, n)],
        links=[schemas.Link.model_validate(pair) for pair in explorer.pairs_of(bit, n)],
    )


def _page(served: Served, found: list[Duplicates], wanted: slice, length: int | None) -> schemas.DuplicatesPage:
    def text(id: schemas.Id) -> str | None:
        # A document may have been deleted since the near-duplicates were found.
        return cut(served.collection.get(id).text, length) if id in served.collection else None

    groups = [
        schemas.DuplicateGroup(
            kept=group.kept,
            text=text(group.kept),
            duplicates=[schemas.Duplicate(id=id, similarity=share, text=text(id)) for id, share in group.duplicates],
        )
        for group in found[wanted]
    ]
    return schemas.DuplicatesPage(
        groups=groups,
        total=len(found),
        duplicates=sum(len(group.duplicates) for group in found),
        offset=wanted.start,
        next=wanted.stop if wanted.stop < len(found) else None,
    )


def _regions_of(bit: int, current: MapProgress) -> list[schemas.BitRegion]:
    map = current.map
    assert map is not None
    regions = [(map.regions[found.region], found.ones) for found in current.explorer.regions_of_bit(bit, map)]
    return [schemas.BitRegion(words=region.words, ones=ones, documents=region.n_points) for region, ones in regions]


def _check_bit(explorer: Explorer, bit: int) -> None:
    if bit >= explorer.n_bits:
        raise Refusal(404, f"there is no bit {bit}: the codes have bits 0 to {explorer.n_bits - 1}")


def _pushes(words: Weighted) -> list[schemas.Push]:
    return [schemas.Push(word=word, weight=weight) for word, weight in words]


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
