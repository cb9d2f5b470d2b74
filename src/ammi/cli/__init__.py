"""The command `ammi`: one small file a command; nothing is computed here."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from ammi.cli.app import run  # in here, so that Ctrl-C has its answer while this is imported, too

        run()
    except KeyboardInterrupt:
        print("Stopped before anything was done.", file=sys.stderr)
        sys.exit(130)
