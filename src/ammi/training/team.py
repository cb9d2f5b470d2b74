"""Threads that work through a kernel together: they claim blocks of work, and wait for each other between phases.

Every thread runs the same compiled function without the GIL. A phase is a fixed list of blocks; which thread does a
block is decided while it runs, what a block computes is not. So results do not depend on the number of threads.
The phases of a training step take some 100 µs, too short for the locks of Python or the operating system.
"""

import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

import numpy as np
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

Team = NDArray[np.int64]  # counters that the threads of one call share
Result = TypeVar("Result")

# The counters, each on a cache line of its own.
_ARRIVED, _PHASE, _CLAIMED, _ABORTED, _LENGTH = 0, 8, 16, 24, 32
_SPINS = 2000  # loads before a waiting thread offers its core to others: a few microseconds
_yield_core = types.ExternalFunction("sched_yield" if os.name == "posix" else "SwitchToThread", types.int32())


def run_together(pool: Executor, n_threads: int, work: Callable[[Team], Result]) -> Result:
    """Call the work on n threads, this one among them; return the result of this one."""
    team: Team = np.zeros(_LENGTH, np.int64)

    def run() -> Result:
        try:
            return work(team)
        except BaseException:
            team[_ABORTED] = 1  # or the others would wait for this thread for ever
            raise

    try:
        others = [pool.submit(run) for _ in range(n_threads - 1)]
    except BaseException:
        team[_ABORTED] = 1
        raise
    result = run()
    for other in others:
        other.result()
    return result


def _pointer(context, builder, array_type, array, index):
    return cgutils.get_item_pointer(
        context, builder, array_type, make_array(array_type)(context, builder, array), [index]
    )


@intrinsic
def _fetch_add(_context, counters, _index, _amount):
    """Add to a counter atomically; return what it was."""

    def generate(context, builder, signature, arguments):
        counters, index, amount = arguments
        pointer = _pointer(context, builder, signature.args[0], counters, index)
        return builder.atomic_rmw("add", pointer, amount, "seq_cst")

    return types.int64(counters, types.intp, types.int64), generate


@intrinsic
def _load(_context, counters, _index):
    """Read a counter atomically."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(context, builder, signature.args[0], *arguments), "seq_cst", 8)

    return types.int64(counters, types.intp), generate


@njit(nogil=True, cache=True)
def claim(team):
    """Return the number of the next block of this phase that no thread has claimed yet."""
    return _fetch_add(team, _CLAIMED, 1)


@njit(nogil=True, cache=True)
def meet(team, n_threads):
    """Wait until all threads have finished the phase, and begin the next one; False if one of them failed."""
    phase = _load(team, _PHASE)
    if _fetch_add(team, _ARRIVED, 1) == n_threads - 1:
        team[_ARRIVED] = 0
        team[_CLAIMED] = 0
        _fetch_add(team, _PHASE, 1)  # everything written before it is seen by the threads that read it
        return _load(team, _ABORTED) == 0
    spins = 0
    while _load(team, _PHASE) == phase:
        if _load(team, _ABORTED):
            return False
        spins += 1
        if spins > _SPINS:
            _yield_core()
    return _load(team, _ABORTED) == 0
