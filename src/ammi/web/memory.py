"""Memory of a process that serves: what requests have needed goes back to the system."""

import ctypes
import gc

import apsw

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # parameters of glibc's mallopt
_LARGE = 1 << 20  # bytes
_PAGE_CACHES = 32 << 20  # bytes of all connections, each of which would keep 6 MB of pages


def return_memory() -> None:
    """Let all threads share two heaps with large blocks apart, bound SQLite's memory, and look for new garbage only.

    By default glibc gives each thread a heap, and each keeps the most that a request to it ever needed; and Python
    looks through all objects only once a quarter of them is new, until when connections that have ended are kept.
    Above its limit SQLite reuses the pages of a cache instead of taking more memory; it never fails.
    """
    apsw.soft_heap_limit(_PAGE_CACHES)
    gc.collect()
    gc.freeze()
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_ARENA_MAX, 2)
    mallopt(_MMAP_THRESHOLD, _LARGE)
    mallopt(_TRIM_THRESHOLD, _LARGE)
