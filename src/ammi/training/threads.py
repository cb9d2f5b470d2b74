"""Work on several threads, with results that do not depend on their number."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import faiss
import torch

Block = TypeVar("Block")
Result = TypeVar("Result")


@contextmanager
def torch_threads(n: int | None) -> Iterator[None]:
    """Let torch, and with it all of a fit, use n threads for as long as the block lasts; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def for_each(work: Callable[[Block], Result], blocks: Sequence[Block]) -> Iterator[Result]:
    """Do the work of each block on as many threads as torch uses; yield the results in the order of the blocks."""
    n_threads = min(torch.get_num_threads(), len(blocks))
    with ThreadPoolExecutor(max(1, n_threads), initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        try:
            yield from pool.map(work, blocks)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or Ctrl-C would wait for all of them
            raise


def blocks_of(n: int, size: int) -> list[slice]:
    """Cut n rows into blocks of a fixed size, the last one smaller."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
