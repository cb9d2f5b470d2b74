"""`ammi mcp`: let an assistant search and read a collection."""

import signal
from typing import Annotated

import typer
from rich.markup import escape

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import Location
from ammi.cli.screen import note
from ammi.cli.serve import Host, Names, Token, needs
from ammi.urls import shown


def mcp(
    location: Location,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, metavar="PORT", help="Listen to HTTP at this port instead; 0 chooses a free one."
        ),
    ] = None,
    host: Host = "127.0.0.1",
    token: Token = None,
    hosts: Names = None,
) -> None:
    """Let an assistant search and read a collection, by the Model Context Protocol.

    The assistant starts this command and uses its standard input and output, or, with --port, HTTP at the address /mcp.
    Its tools are search, read, like and filters. Hits have passages, and metadata such as path and page to cite.
    Nothing can be changed. The limits of ammi serve hold.

    [bold]Examples[/]

    ammi mcp notes
    ammi mcp notes --port 8078

    Settings of an assistant that starts it:

    {"mcpServers": {"notes": {"command": "ammi", "args": ["mcp", "/home/me/notes"]}}}
    """
    with needs("mcp"):
        from ammi.web.assistant import make_assistant, make_assistant_app
        from ammi.web.server import Server
        from ammi.web.settings import Settings
    settings = Settings(token=token or None, hosts=tuple(hosts or ()))
    with ammi.Collection.open(location) as collection:
        collection.ranks()  # loads the model, which may take seconds, before the first question
        with if_stopped("the server has ended"):
            if port is None:
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # the SDK waits for standard input in a thread
                make_assistant(collection, settings).run("stdio")
                return
            if hasattr(signal, "SIGPIPE"):
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that hangs up must not end the server
            server = Server(collection, host, port, settings, make_assistant_app)
            note(f"{escape(shown(location))} is at {server.address}mcp. Press Ctrl-C to stop.")
            server.run()
