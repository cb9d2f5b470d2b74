"""A collection for assistants: tools of the Model Context Protocol, which search and read, and change nothing."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from ammi.collection import Collection
from ammi.search import Entry, Hit
from ammi.search.headings import title_in
from ammi.version import __version__
from ammi.web import schemas
from ammi.web.guard import App, Guard, Refusal
from ammi.web.handlers import CONDITIONS, filter_of
from ammi.web.served import Served
from ammi.web.settings import Settings

T = TypeVar("T")

_PASSAGE = 500  # characters of a hit without a passage of its own
_LONGEST_VALUE = 200  # characters of a metadata value, so that ten hits do not fill an assistant's context
_INSTRUCTIONS = (
    'Search and read the {n:,} documents of the collection "{name}". Search first: a hit has the passage that answers '
    "best. Read more of a document before you rely on it. Cite documents by title or id, and by `path` and `page` of "
    "their metadata where these are given."
)

Conditions = Annotated[
    list[str],
    Field(
        max_length=100,
        description=f"{CONDITIONS} The tool `filters` lists the keys.",
        examples=[["language=en", "year>=1987"]],
    ),
]
Few = Annotated[int, Field(ge=1, le=50, description="Number of documents to return.")]
Id = Annotated[str, Field(min_length=1, description="The id of a document, as a hit has it.")]


class Source(BaseModel):
    """A document that was found, with the passage to show."""

    id: str | int
    title: str | None
    passage: str
    start: Annotated[int, Field(description="Where the passage begins in the text.")]
    characters: Annotated[int, Field(description="Length of the whole text.")]
    score: float
    metadata: dict[str, Any]


class Found(BaseModel):
    """Documents, the best first."""

    documents: list[Source]
    unknown: Annotated[list[str], Field(description="Words of the query that no document has.")] = []


class Part(BaseModel):
    """A part of a document."""

    id: str | int
    title: str | None
    text: str
    start: int
    characters: Annotated[int, Field(description="Length of the whole text.")]
    metadata: dict[str, Any]


class Topics(BaseModel):
    """What the documents are about, the largest topic first."""

    topics: list[schemas.Topic]


class Filters(BaseModel):
    """The metadata keys of a collection."""

    documents: Annotated[int, Field(description="Number of documents of the collection.")]
    keys: Annotated[dict[str, int], Field(description="Number of documents that have a value for each key.")]


def make_assistant(collection: Collection, settings: Settings) -> MCPServer:
    """Return a server with tools that read a collection, which the caller opens and closes."""
    served = Served(collection, settings)

    @asynccontextmanager
    async def running(server: MCPServer) -> AsyncIterator[None]:
        yield
        served.work.close()

    server: MCPServer = MCPServer(
        served.name,
        version=__version__,
        instructions=_INSTRUCTIONS.format(n=len(collection), name=served.name),
        lifespan=running,
        log_level="ERROR",
    )
    tool = server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))

    async def answer(job: Callable[[], T]) -> T:
        """Do a job under the limits of the server; its errors are sentences for the assistant."""
        try:
            return await served.work.do(job)
        except (Refusal, ValueError) as error:
            raise ToolError(served.without_location(str(error))) from None
        except OSError:
            raise ToolError("the collection cannot be read now") from None

    @tool
    async def search(
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=10_000,
                description='Words, a question or a text. "Quoted phrases", -excluded words, OR and prefix* work.',
            ),
        ],
        k: Few = 5,
        where: Conditions = [],  # noqa: B006  # the schema shows it; nobody changes it
    ) -> Found:
        """Find the documents that answer a query best, each with its best passage."""

        def find() -> Found:
            hits = collection.search(query, k, filter_of(where))
            return Found(documents=[_source(hit) for hit in hits], unknown=[*hits.unknown])

        return await answer(find)

    @tool
    async def read(
        id: Id,
        start: Annotated[int, Field(ge=0, description="Where to begin, in characters.")] = 0,
        length: Annotated[int, Field(ge=1, le=20_000, description="Characters to return at most.")] = 4000,
    ) -> Part:
        """Read a part of a document; to read on, begin where the last part ended."""

        def part() -> Part:
            (entry,) = served.entries([id])
            text = entry.text or ""
            return Part(**_about(entry), text=text[start : start + length], start=start)

        return await answer(part)

    @tool
    async def like(id: Id, k: Few = 5) -> Found:
        """Find the documents nearest to one of the collection."""

        def find() -> Found:
            (entry,) = served.entries([id])
            return Found(documents=[_source(hit) for hit in collection.like(entry.id, k)])

        return await answer(find)

    @tool
    async def topics(
        n: Annotated[int, Field(ge=1, le=72, description="Number of topics to return at most.")] = 8,
    ) -> Topics:
        """Tell what the documents are about: topics with their words, size and typical documents.

        The first call may take long, or be refused after half a minute: ask again then.
        """
        return await answer(lambda: Topics(topics=[schemas.Topic(**one._asdict()) for one in collection.topics(n)]))

    @tool
    async def filters() -> Filters:
        """List the metadata keys that `where` can filter by."""
        return await answer(lambda: Filters(documents=len(collection), keys=collection.keys()))

    return server


def make_assistant_app(collection: Collection, settings: Settings) -> App:
    """Return an assistant's tools as an ASGI application at /mcp, behind the guard of `ammi serve`."""
    app = make_assistant(collection, settings).streamable_http_app(
        json_response=True,
        stateless_http=True,
        # The guard checks the names of hosts and origins.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, settings)


def _source(hit: Hit) -> Source:
    passage, start = (hit.why.passage, hit.why.start) if hit.why else ((hit.text or "")[:_PASSAGE], 0)
    return Source(**_about(hit), passage=passage, start=start, score=round(hit.score, 3))


def _about(document: Hit | Entry) -> dict[str, Any]:
    metadata = {key: _shortened(value) for key, value in document.metadata.items()}
    return {
        "id": document.id,
        "title": title_in(document.metadata) or None,
        "characters": len(document.text or ""),
        "metadata": metadata,
    }


def _shortened(value: object) -> object:
    return f"{value[:_LONGEST_VALUE]}…" if isinstance(value, str) and len(value) > _LONGEST_VALUE else value
