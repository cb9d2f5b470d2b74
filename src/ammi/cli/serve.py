"""`ammi serve`: serve a page to explore a collection, and an HTTP API."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.markup import escape

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import Location
from ammi.cli.progress import counter
from ammi.cli.screen import note, results
from ammi.urls import shown

PORT = 8077
Host = Annotated[str, typer.Option(metavar="HOST", help="Address to listen at.")]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        envvar="AMMI_TOKEN",
        help="Token that requests must have; required if other machines can reach HOST.",
        show_default=False,
        show_envvar=True,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name", metavar="NAME", help="Another host name of the server, such as that of a proxy. May be repeated."
    ),
]


def serve(
    location: Location,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 chooses a free one.")] = PORT,
    token: Token = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Allow requests to add, replace and delete documents.")
    ] = False,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title of the page; by default the name of the folder.", show_default=False),
    ] = None,
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            metavar="URL",
            help="Origin whose pages may use the API, such as https://example.org. May be repeated.",
        ),
    ] = None,
    hosts: Names = None,
    searchers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=64,
            help="Number of additional processes that answer searches, such as one per core.",
        ),
    ] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Serve a page to explore a collection, and an HTTP API, until Ctrl-C.

    The page searches as you type, walks from document to document, and shows a map and the meaning of each bit.
    Its address /docs describes the API; in Python, Collection.open("http://...") uses it.
    Only this machine can connect unless --host is set, and nothing can be changed without --writable.

    [bold]Examples[/]

    ammi serve articles --open
    ammi serve articles --port 8080 --writable
    ammi serve articles --searchers 4
    AMMI_TOKEN=$(openssl rand -hex 16) ammi serve articles --host 0.0.0.0
    """
    if ammi.search.is_served(location):
        raise ValueError(f"{shown(location)} is a server already: open it in a browser, or name the collection itself")
    with needs("web"):
        from ammi.web.memory import return_memory
        from ammi.web.server import Server
        from ammi.web.settings import Settings, checked_origin
    settings = Settings(
        writable=writable,
        token=token or None,
        title=title or None,
        origins=tuple(map(checked_origin, origins or ())),
        hosts=tuple(hosts or ()),
        searchers=searchers,
    )
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that hangs up must not end the server
    with ammi.Collection.open(location) as collection:
        with counter("loading the model"):
            collection.ranks()  # loads the model, which may take seconds, before the page asks for it
        server = Server(collection, host, port, settings)
        served = escape(shown(location))
        results.print(f"{served} is at [bold]{server.address}[/]. Press Ctrl-C to stop.", soft_wrap=True)
        if token:
            note(f"The page asks for the token, or takes it from the address: {server.address}#token=TOKEN")
        if open_page:
            typer.launch(server.address)
        return_memory()
        with if_stopped("the server has ended"):
            server.run()


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn the import of a missing package into an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ammi"):
            raise
        raise ModuleNotFoundError(f"{error.name} is not installed: run pip install 'ammi[{extra}]'") from error
