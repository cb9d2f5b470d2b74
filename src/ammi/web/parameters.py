"""Parameters that several addresses have, with the same words everywhere, and what every address may answer."""

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Path, Query

from ammi.search.filter_text import from_text
from ammi.search.filters import Where
from ammi.web.guard import Refusal
from ammi.web.schemas import Problem

_REASONS = {
    400: "The request is broken.",
    401: "The token is missing or wrong.",
    403: "Another site's page asks, or the server is read-only.",
    404: "There is no such document, bit or key.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    415: "The body is of another kind.",
    421: "The server is not known by this name.",
    422: "A value is wrong; the sentence says which.",
    500: "A fault of the server.",
    503: "Too many requests at once: try again after `Retry-After` seconds.",
    504: "The answer takes too long.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": reason} for status, reason in _REASONS.items()
}

Length = Annotated[int | None, Query(ge=0, description="At most so many characters of each text.", examples=[300])]
Shortlist = Annotated[int | None, Query(ge=1, description="Of how many candidates the best are chosen.")]
Radius = Annotated[
    int | None, Query(ge=0, description="All documents at most so many bits away; `k` is the most then.", examples=[6])
]
Conditions = Annotated[
    list[str],
    Query(
        max_length=100,
        description="Only documents with such metadata: KEY=VALUE, KEY=A,B (either), KEY!=VALUE, KEY>=VALUE (also <, "
        "<=, >), KEY (has it), !KEY (has it not). All that are given must hold.",
        examples=[["lang=en", "year>=1987"]],
    ),
]
Distances = Annotated[
    str | None,
    Query(
        pattern=r"^[0-9]{1,5}(,[0-9]{1,5}){0,4095}$",
        description="At least how many bits away, with commas between; 0,1,5,10,20,50,90 without it.",
        examples=["0,1,5,10"],
    ),
]


def _id(id: Annotated[str, Path(min_length=1, description="The id of a document.", examples=["n17"])]) -> str:
    return unquote(id, errors="replace")  # the guard has quoted it, so that it may hold a slash


DocumentId = Annotated[str, Depends(_id)]


def where_of(conditions: list[str]) -> Where | None:
    """The filter that conditions spell."""
    return from_text(conditions) or None


def distances_of(distances: str | None) -> list[int] | None:
    return None if distances is None else [int(distance) for distance in distances.split(",")]


def query_of(text: str | None, vector: list[float] | None, most: int) -> Any:
    """The text or the vector of a request, of which one must be there."""
    if (text is None) == (vector is None):
        raise Refusal(422, "give a text or a vector to look for, one of the two")
    if text is not None and len(text) > most:
        raise Refusal(422, f"the text has {len(text):,} characters, and {most:,} are the most: shorten it")
    return vector if text is None else text
