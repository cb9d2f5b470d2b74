"""Share work between processes: each file is made by one of them, and by another if that one dies."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

try:
    from filelock import FileLock, Timeout
except ImportError as error:
    raise ImportError("keeping results needs filelock: pip install 'ammi[tune]'") from error

T = TypeVar("T")


def lock_for(path: Path, timeout: float = -1) -> FileLock:
    """Return the lock to hold while making a file or folder; it is released when its process ends.

    Entering it raises Timeout if another process holds it for `timeout` seconds; -1 waits for ever.
    """
    lock = path.parent / ".locks" / path.stem
    lock.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(lock, timeout=timeout)


def make_missing(
    items: Iterable[T], path_of: Callable[[T], Path], is_missing: Callable[[T], bool], make: Callable[[T], None]
) -> None:
    """Make the missing items. Items that another process is making come last, and only if that process dies."""
    items = list(items)
    for timeout in (0, -1):
        for item in filter(is_missing, items):
            with suppress(Timeout), lock_for(path_of(item), timeout):
                if is_missing(item):  # another process may just have made it
                    make(item)
