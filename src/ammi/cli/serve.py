"""`ammi serve`: a page to explore a collection, and an API for programs."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.markup import escape

from ammi.cli.command import if_stopped
from ammi.cli.options import Location
from ammi.cli.screen import counter, note, results
from ammi.urls import shown

PORT = 8077


def serve(
    location: Location,
    host: Annotated[str, typer.Option(metavar="HOST", help="Listen at this address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen at this port; 0 takes a free one.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="AMMI_TOKEN",
            help="What requests must bring; needed for any HOST that other machines can reach.",
            show_default=False,
            show_envvar=True,
        ),
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let requests add, replace and delete documents.")
    ] = False,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="A further name that the server is called by, such as that of a proxy; may be given several times.",
        ),
    ] = None,
    searchers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=64,
            help="Answer searches by so many processes beside the server's own, such as one for each core.",
        ),
    ] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Serve a collection: a page to explore it, and an HTTP API, until Ctrl-C.

    The page searches as you type, walks from document to document, shows a map and what each bit says.
    The API is described at /api/openapi.json, and Collection.open("http://...") of Python speaks it.
    It listens to this machine alone unless --host says otherwise, and changes nothing without --writable.

    [bold]Examples[/]

    ammi serve index --open
    ammi serve index --port 8080 --writable
    ammi serve index --searchers 4
    AMMI_TOKEN=$(openssl rand -hex 16) ammi serve index --host 0.0.0.0
    """
    from ammi.collection import Collection
    from ammi.search import is_served

    if is_served(location):
        words = "is a server already: open it in a browser, or name the collection that it serves"
        raise ValueError(f"{shown(location)} {words}")
    with needs_web():
        from ammi.web.server import Server
        from ammi.web.settings import Settings
    settings = Settings(writable=writable, token=token or None, hosts=tuple(hosts or ()), searchers=searchers)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that hangs up ends its connection, not the server
    with Collection.open(location) as collection:
        with counter("loading the model"):
            collection.ranks()  # the page asks for it first, and a model of vectors takes seconds to load
        server = Server(collection, host, port, settings)
        served = escape(shown(location))
        results.print(f"{served} is at [bold]{server.address}[/], and Ctrl-C ends it.", soft_wrap=True)
        if token:
            note(f"The page asks for the token, or takes it from the address: {server.address}#token=TOKEN")
        if open_page:
            typer.launch(server.address)
        with if_stopped("the server has ended; the collection is whole"):
            server.run()


@contextmanager
def needs_web() -> Iterator[None]:
    """Name the extra where what is imported inside stands on a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ammi"):
            raise
        raise ModuleNotFoundError(f"{error.name} is not installed: run pip install 'ammi[web]'") from error
