"""The command `ammi`: one small file a command; nothing is computed here."""

from ammi.cli.app import app, main

__all__ = ["app", "main"]
