"""Addresses of the views: the collection's figures, near-duplicates, the map, the bits."""

import base64
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Query
from numpy.typing import NDArray
from starlette.responses import Response

from ammi.explore.bits import Typical
from ammi.explore.explorer import Link
from ammi.version import __version__
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.parameters import PROBLEMS, Length
from ammi.web.served import Served, answer, cut
from ammi.web.views import MapState

_SECONDS_TO_ASK_AGAIN = {"computing": 0.5, "rough": 2.0, "ready": None}
_FINEST = 65535
_NAMED_BY = 3  # words
_PROBLEMS_AND_LATER: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    202: {"model": schemas.Computing, "description": "Not yet."},
}


def view_routes(served: Served) -> APIRouter:
    """The router of a collection."""
    router = APIRouter(prefix="/api", tags=["views"], responses=PROBLEMS)
    do, views = served.work.do, served.views

    @router.get("/collection", response_model=schemas.CollectionAnswer)
    async def collection() -> Response:
        """The collection and its figures."""
        return await do(lambda: answer(about_collection(served)))

    @router.get("/duplicates", response_model=schemas.DuplicatesPage, responses=_PROBLEMS_AND_LATER)
    async def duplicates(
        threshold: Annotated[
            float | None, Query(gt=0, le=1, description="The least similarity; 0.8 of texts without it.")
        ] = None,
        offset: Annotated[int, Query(ge=0, le=2**31, description="The first group.")] = 0,
        limit: Annotated[int, Query(ge=1, le=100, description="How many groups.")] = 20,
        length: Length = None,
    ) -> Response:
        """Which documents are copies, in pages. The first request for a large collection begins to compute them."""
        return await do(lambda: _duplicates(served, threshold, offset, limit, length))

    @router.get("/map", response_model=schemas.MapAnswer)
    async def map() -> Response:
        """A point in the plane for each document of a sample."""
        return await do(lambda: answer(map_as_json(views.map())))

    @router.get("/map/colours", response_model=schemas.Colours)
    async def colours(
        key: Annotated[str, Query(max_length=1000, description="A metadata key.", examples=["package"])],
    ) -> Response:
        """The value of a metadata key for each point of the map."""
        return await do(lambda: answer(colours_as_json(views.map(), key)))

    @router.post("/map/locate", response_model=schemas.LocateAnswer)
    async def locate(request: schemas.Ids) -> Response:
        """Where documents are on the map, those too that are not in the sample."""
        return await do(lambda: answer(_located(views.map(), request.ids)))

    @router.get("/bits", response_model=schemas.BitsAnswer)
    async def bits() -> Response:
        """All bits, and which ones go together."""
        return await do(lambda: answer(bits_as_json(served)))

    @router.get("/bits/{bit}", response_model=schemas.BitAnswer)
    async def bit(
        bit: Annotated[int, Path(ge=0, le=65535, description="The number of a bit, from 0.", examples=[3])],
        n: Annotated[int, Query(ge=1, le=100, description="How many words, documents and bits.")] = 10,
        length: Length = None,
    ) -> Response:
        """What a bit says: the words that push it, documents typical for 0 and 1, and the bits that go with it."""
        return await do(lambda: answer(bit_as_json(served, bit, n, length)))

    return router


def about_collection(served: Served) -> dict[str, Any]:
    """The answer of /api/collection."""
    collection, limits = served.collection, served.settings
    figures = served.views.explorer().figures
    ranks, fast = collection.ranks(), set(collection.fast_keys())
    keys = collection.store.key_kinds()
    return {
        "name": served.name,
        "documents": len(collection),
        "bits": collection.n_bits,
        "distinct_codes": figures.distinct,
        "balance": [round(share, 4) for share in figures.balance.tolist()],
        "entropy": {
            "independent": round(figures.independent, 3),
            "tree": round(figures.with_tree, 3),
            "codes": round(figures.code_entropy, 3),
        },
        "reads": collection.reads if ranks else None,
        "keys": [
            {
                "name": key,
                "documents": sum(counts.values()),
                "kinds": sorted({kind for row in counts for kind in row.split()}),
                "fast": key in fast,
            }
            for key, counts in sorted(keys.items())
        ],
        "ranks": ranks,
        "default_rank": ranks[0] if ranks else None,
        "writable": limits.writable,
        "fingerprint": collection.fingerprint,
        "state": served.views.state(),
        "version": __version__,
        "limits": {
            "k": limits.most_k,
            "query": limits.most_query,
            "body": limits.most_body,
            "ids": schemas.MOST_IDS,
        },
    }


def _duplicates(served: Served, threshold: float | None, offset: int, limit: int, length: int | None) -> Response:
    found = served.views.copies(threshold)
    if isinstance(found, float):
        return answer({"state": "computing", "progress": found}, 202, retry_after="1")
    page = found[offset : offset + limit]
    texts = {}
    for group in page:
        for id in (group.kept, *(id for id, _ in group.copies)):
            if id in served.collection:  # it may have been deleted since
                texts[id] = cut(served.collection.get(id).text, length)
    groups = [
        {
            "kept": group.kept,
            "text": texts.get(group.kept),
            "copies": [{"id": id, "similarity": round(share, 4), "text": texts.get(id)} for id, share in group.copies],
        }
        for group in page
    ]
    end = offset + len(page)
    return answer(
        {
            "groups": groups,
            "total": len(found),
            "copies": sum(len(group.copies) for group in found),
            "offset": offset,
            "next": end if page and end < len(found) else None,
        }
    )


def map_as_json(state: MapState) -> dict[str, Any]:
    """The answer of /api/map."""
    sample, map = state.explorer.sample, state.map
    places = np.empty((0, 2)) if map is None else map.places
    whole = np.round(places * _FINEST).astype("<u2")
    return {
        "state": state.state,
        "progress": state.progress,
        "step": state.step,
        "retry": _SECONDS_TO_ASK_AGAIN[state.state],
        "version": state.version,
        "documents": state.explorer.n_documents,
        "points": len(places),
        "ids": sample.ids if map else [],
        "x": _base64(whole[:, 0]),
        "y": _base64(whole[:, 1]),
        "region": _base64(map.region_of) if map else "",
        "regions": [
            {"x": round(region.x, 4), "y": round(region.y, 4), "words": region.words, "documents": region.n_places}
            for region in (map.regions if map else [])
        ],
        "colours": list(sample.columns) if map and (map.regions or state.state == "ready") else [],
    }


def colours_as_json(state: MapState, key: str) -> dict[str, Any]:
    """The answer of /api/map/colours."""
    found = state.explorer.colours(key)
    if found is None:
        raise Refusal(404, f"no document on the map has the metadata key {key!r:.60}")
    return {**found._asdict(), "key": key, "values": _base64(found.values), "version": state.version}


def _located(state: MapState, ids: list[schemas.Id]) -> dict[str, Any]:
    if state.map is None:
        return {"places": [], "version": state.version}
    places = [
        {
            "id": one.id,
            "x": round(float(state.map.places[one.point, 0]), 5),
            "y": round(float(state.map.places[one.point, 1]), 5),
            "point": one.point,
            "exact": one.exact,
        }
        for one in state.explorer.locate(ids)
    ]
    return {"places": places, "version": state.version}


def bits_as_json(served: Served) -> dict[str, Any]:
    """The answer of /api/bits."""
    explorer = served.views.explorer()
    figures, words = explorer.figures, explorer.words
    rows = []
    for bit in range(explorer.n_bits):
        strongest = explorer.links_of(bit, 1)
        rows.append(
            {
                "bit": bit,
                "balance": round(float(figures.balance[bit]), 4),
                "entropy": round(float(figures.entropy[bit]), 5),
                "before": round(float(figures.information[bit, bit - 1]), 5) if bit else None,
                "partner": strongest[0].b if strongest else None,
                "words": [word for word, _ in words.up(bit, _NAMED_BY)],
            }
        )
    return {
        "bits": rows,
        "links": [_link(link) for link in explorer.links],
        "documents": explorer.n_documents,
    }


def bit_as_json(served: Served, bit: int, n: int, length: int | None) -> dict[str, Any]:
    """The answer of /api/bits/{bit}."""
    explorer = served.views.explorer()
    if bit >= explorer.n_bits:
        raise Refusal(404, f"there is no bit {bit}: the codes have bits 0 to {explorer.n_bits - 1}")
    figures, words = explorer.figures, explorer.words
    codes = explorer.sample.codes

    def typical(one: Typical) -> dict[str, Any]:
        code = codes[one.point].tobytes().hex()
        sure = None if one.probability is None else round(one.probability, 4)
        return {"id": one.id, "text": cut(one.text, length), "code": code, "probability": sure}

    return {
        "bit": bit,
        "balance": round(float(figures.balance[bit]), 4),
        "entropy": round(float(figures.entropy[bit]), 5),
        "up": [{"word": word, "weight": round(weight, 4)} for word, weight in words.up(bit, n)],
        "down": [{"word": word, "weight": round(weight, 4)} for word, weight in words.down(bit, n)],
        "source": words.source,
        "ones": [typical(one) for one in explorer.typical.of(bit, 1, n)],
        "zeros": [typical(one) for one in explorer.typical.of(bit, 0, n)],
        "links": [_link(link) for link in explorer.links_of(bit, n)],
    }


def _link(link: Link) -> dict[str, Any]:
    return {**link._asdict(), "information": round(link.information, 5)}


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
