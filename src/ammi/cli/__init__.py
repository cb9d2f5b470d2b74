"""The `ammi` command: parses options, calls the library, and prints what it returns."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from ammi.cli.app import run  # imported here, so that Ctrl-C during the import is handled below

        run()
    except KeyboardInterrupt:
        print("Stopped before anything was done.", file=sys.stderr)
        sys.exit(130)
