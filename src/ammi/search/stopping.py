"""Work that can be stopped: a server stops the work of a request that took too long, or whose client has gone.

Stores ask where they may wait or read for long. A change is stopped before it is made, or not at all.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

_thread = local()


class StoppedError(Exception):
    """The work was stopped; if it was a change, the change was not made."""


@contextmanager
def stoppable(asked: Callable[[], bool]) -> Iterator[None]:
    """Let the work of this thread inside of the block end with StoppedError once `asked` returns True."""
    _thread.asked = asked
    try:
        yield
    finally:
        _thread.asked = None


def is_stopped() -> bool:
    """Return whether the work of this thread should end."""
    asked = getattr(_thread, "asked", None)
    return asked is not None and asked()


def check_stopped() -> None:
    """End the work of this thread, if it should."""
    if is_stopped():
        raise StoppedError
