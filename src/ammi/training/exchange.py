"""How workers that train one model together share the documents of a batch, and bring together what each of them found.

What a batch needs as a whole, the mean statistics that the adversary sees and the gradient, is a mean over its
documents: the sum of what the workers found, each weighted by its share of them. So all of them take the step that one
alone would take, and hold the same model at all times. One that trains alone has the whole of each batch.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch import distributed as dist

T = TypeVar("T")


class Exchange:
    """That of one who trains alone."""

    is_first = True  # whether this is the worker that writes files and shows progress
    weight = 1.0  # of the part of the batch that is done here

    def part(self, n: int) -> slice:
        """Which of the n documents of the next batch are done here."""
        return slice(0, n)

    def mean(self, *found: Tensor) -> None:
        """Make of means over the documents here those over all documents of the batch, in place."""

    def once(self, make: Callable[[], T]) -> T:
        """What one of the workers makes, for all of them."""
        return make()


ALONE = Exchange()


class GroupExchange(Exchange):
    """That of the workers of torch's default process group, which all draw the same random numbers."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.is_first = self.rank == 0

    def part(self, n: int) -> slice:
        if n < self.size:  # too few to go round: all do all of them, and the mean of that is the same
            self.weight = 1 / self.size
            return slice(0, n)
        part = slice(n * self.rank // self.size, n * (self.rank + 1) // self.size)
        self.weight = (part.stop - part.start) / n
        return part

    def mean(self, *found: Tensor) -> None:
        for tensor in found:
            dist.all_reduce(tensor.mul_(self.weight))

    def once(self, make: Callable[[], T]) -> T:
        made: list[Any] = [None, None]
        if self.is_first:
            try:
                with torch.random.fork_rng(devices=[]):  # what is drawn here alone is drawn by nobody else
                    made[0] = make()
            except Exception as error:  # the others wait for it
                made[1] = error
        dist.broadcast_object_list(made)
        if made[1] is not None:
            raise made[1]
        return made[0]
