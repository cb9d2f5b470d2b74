"""psycopg, which reaches a PostgreSQL server, or an error that says how to install it."""

from typing import TypeAlias

try:
    import psycopg
    import psycopg.conninfo
    import psycopg.errors
    from psycopg.abc import Params
    from psycopg.rows import TupleRow
except ImportError as error:
    cause = str(error).splitlines()[0]
    raise ImportError(f"PostgreSQL is reached by psycopg ({cause}): pip install 'ammi[postgres]'") from error

__all__ = ["Params", "PostgresConnection", "TupleRow", "psycopg"]

PostgresConnection: TypeAlias = psycopg.Connection[TupleRow]
