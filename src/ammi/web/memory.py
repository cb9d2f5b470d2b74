"""Memory of a process that serves: what requests have needed goes back to the system."""

import ctypes
import gc

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # parameters of glibc's mallopt
_LARGE = 1 << 20  # bytes


def return_memory() -> None:
    """Let all threads share two heaps with large blocks apart, and look for garbage among new objects only.

    By default glibc gives each thread a heap, and each keeps the most that a request to it ever needed; and Python
    looks through all objects only once a quarter of them is new, until when connections that have ended are kept.
    """
    gc.collect()
    gc.freeze()
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_ARENA_MAX, 2)
    mallopt(_MMAP_THRESHOLD, _LARGE)
    mallopt(_TRIM_THRESHOLD, _LARGE)
