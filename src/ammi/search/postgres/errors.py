"""Errors of a PostgreSQL server as sentences that say what to do, without passwords."""

from collections.abc import Iterator
from contextlib import contextmanager

from ammi.search.checks import DamagedError, UncertainError
from ammi.search.postgres.address import Address
from ammi.search.postgres.driver import psycopg


@contextmanager
def explaining(address: Address, *, commits: bool = False) -> Iterator[None]:
    """Turn errors of the server into helpful ones; `commits` if the block commits a change."""
    try:
        yield
    except psycopg.Error as error:
        raise _explained(error, address, commits) from error


def no_connection(location: str, error: psycopg.Error) -> OSError:
    """Return the error for a failed connection."""
    cause = _cause(error)
    if "password" in cause or "authentication" in cause or "role" in cause:
        return PermissionError(
            f"the server of {location} refused the user ({cause}): name the right user in the URL, and give the "
            "password in PGPASSWORD or in ~/.pgpass"
        )
    if "database" in cause and "does not exist" in cause:
        return FileNotFoundError(f"{location} has no such database ({cause}): create it, or name another one")
    return ConnectionError(f"no connection to {location} ({cause}): check the address, and that the server runs")


def _cause(error: psycopg.Error) -> str:
    """Return the first line of the server's message, without psycopg's prefix."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return first.removeprefix("connection failed: ").removeprefix("consuming input failed: ")


def _explained(error: psycopg.Error, address: Address, commits: bool) -> Exception:
    cause, errors, location = _cause(error), psycopg.errors, address.shown
    match error:
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            advice = f"let the owner of the schema {address.schema!r} grant it, or use another user"
            if "for database" in cause:
                advice = f"let the owner of the database GRANT CREATE on it, or make an empty schema {address.schema!r}"
            return PermissionError(f"the server of {location} does not allow it ({cause}): {advice}")
        case errors.LockNotAvailable():
            return TimeoutError(f"another process has been writing to {location} for a minute: try again")
        case errors.QueryCanceled() | errors.IdleInTransactionSessionTimeout():
            return TimeoutError(
                f"the server of {location} stopped the statement ({cause}): try again, or raise its timeout"
            )
        case errors.UndefinedTable() | errors.InvalidSchemaName():
            return FileNotFoundError(
                f"{location} was deleted or replaced after it was opened: open it again, or restore "
                f"the schema if only a table of it is missing ({cause})"
            )
        case errors.UndefinedColumn():
            return ValueError(
                f"{location} has tables of another version of ammi ({cause}): upgrade ammi, or export its documents "
                "with the ammi that wrote it, and build it again from them"
            )
        case errors.DiskFull() | errors.OutOfMemory():
            return OSError(
                f"{location} could not be written ({cause}) and has all changes before this one: make space on the "
                "server and try again"
            )
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return DamagedError(f"{location} is damaged ({cause}): restore a copy of the database")
        case errors.ProgramLimitExceeded():
            return ValueError(
                f"a text, a vector or a file is too long for {location} ({cause}): PostgreSQL takes a billion bytes"
            )
        case psycopg.OperationalError() | psycopg.InterfaceError():
            lost = f"the connection to {location} was lost"
            if commits:
                advice = "check whether it was made, and make it again if not"
                return UncertainError(f"{lost} while a change was committed ({cause}): {advice}")
            return ConnectionError(f"{lost} ({cause}), and the change was not made: try again when the server is back")
    return ValueError(f"the server of {location} refused the statement ({cause}): see its log")
