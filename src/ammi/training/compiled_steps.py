"""The compiled steps of AMMI on all cores: the arrays that the kernels work on, and the threads that run them."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch
from scipy.sparse import csr_matrix, vstack
from torch import Tensor, nn

from ammi.nets.divergences import BITS_PER_NAT
from ammi.training.adversaries import ExactAdversary
from ammi.training.batches import Batches, Numbers
from ammi.training.kernels import (
    Batch,
    Documents,
    Linear,
    Pairs,
    Prior,
    Run,
    Settings,
    Work,
    new_batch,
    new_work,
    take_steps,
)
from ammi.training.steps import State, Steps
from ammi.training.team import Team, run_together


class CompiledSteps(Steps):
    """The steps of `TorchSteps` for AMMI with independent bits, a linear encoder, an exact adversary and sparse rows.

    They run on as many threads as torch is set to use, with the same result on any number.

    Args:
        weight: (V, m), trained in place.
        bias: (m,), trained in place.
        adversary: whose prior is a chain.
    """

    def __init__(
        self,
        weight: nn.Parameter,
        bias: nn.Parameter,
        adversary: ExactAdversary,
        *,
        entropy_weight: float,
        learning_rate: float,
        clip: float,
    ):
        self._trained, self._adversary = (weight, bias), adversary
        self._means = [torch.zeros_like(one.detach()) for one in (weight, bias, weight, bias)]
        self._entropy_weight, self._learning_rate, self._clip = entropy_weight, learning_rate, clip
        self._n_steps = 0
        self._buffers: _Buffers | None = None

    def epoch(self, batches: Batches) -> dict[str, float]:
        y, x = batches.draw()
        x = np.empty(0, np.int64) if x is None else x if batches.X is None else x + batches.Y.shape[0]
        self._buffers = self._buffers or _Buffers(batches, self._adversary.windows)
        documents, double, work = self._buffers.documents, *self._buffers.for_epoch(y, x)
        linear = Linear(*(np.atleast_2d(tensor.detach().numpy()) for tensor in (*self._trained, *self._means)))
        sums = np.zeros(3)  # of H⁺(Z), H(Z|·) and the squares of the gradients
        start, n_threads = 0, torch.get_num_threads()
        with ThreadPoolExecutor(max(1, n_threads - 1)) as pool:
            while start < len(y):  # as many batches at once as see the bits in one order
                n_batches = self._adversary.begin()
                end = len(y) if n_batches is None else min(len(y), start + n_batches * batches.batch_size)
                pairs = Pairs(y[start:end], x[start:end], batches.batch_size)
                order = self._adversary.order.numpy()
                prior = Prior(self._adversary.windows.numpy(), order, np.argsort(order))
                rates = self._learning_rate, self._clip, self._n_steps
                settings = Settings(self._entropy_weight, batches.word_dropout, self._adversary.decay, *rates)
                run = Run(documents, pairs, linear, prior, settings)

                def take(team: Team, run: Run = run) -> tuple[float, float, float]:
                    with _without_denormals():
                        return take_steps(team, n_threads, run, double, work, batches.rng)

                sums += run_together(pool, n_threads, take)
                taken = math.ceil((end - start) / batches.batch_size)
                self._adversary.took(taken)
                self._n_steps, start = self._n_steps + taken, end
        if not math.isfinite(sums[2]):
            return {"gradient": math.sqrt(sums[2])}
        entropy, conditional = (sums[:2] / len(y) * BITS_PER_NAT).tolist()
        return {"entropy": entropy, "conditional_entropy": conditional, "information": entropy - conditional}

    def state_dict(self) -> State:
        return {"steps": self._n_steps, "means": self._means}

    def load_state_dict(self, state: State) -> None:
        self._n_steps, self._means = state["steps"], state["means"]


class _Buffers:
    """The documents of a run as the kernels read them, and room for its batches, which all steps use again."""

    def __init__(self, batches: Batches, windows: Tensor):
        # The related documents stand behind the others, so that one number names a row of either.
        rows: csr_matrix = batches.Y if batches.X is None else vstack([batches.Y, batches.X], format="csr")
        self.documents = Documents(rows.indptr, rows.indices, rows.data.astype(np.float32, copy=False))
        self._batch_size, self._n_words = batches.batch_size, rows.shape[1]
        self._windows = windows.shape[0], windows.shape[1]
        self._largest = -1
        self._room: tuple[tuple[Batch, Batch], Work] | None = None

    def for_epoch(self, y: Numbers, x: Numbers) -> tuple[tuple[Batch, Batch], Work]:
        """Return two batches and the work of a step, with room for the largest batch of an epoch."""
        starts = np.arange(0, len(y), self._batch_size)
        n_entries = np.diff(self.documents.starts)
        entries = sum(np.add.reduceat(n_entries[rows], starts) for rows in (y, x) if len(rows))
        if (largest := int(np.max(entries))) > self._largest:
            n_rows = min(self._batch_size, len(y)) * (2 if len(x) else 1)
            batch, other = (new_batch(n_rows, largest, self._n_words) for _ in range(2))
            n_slots = 1 + min(largest, self._n_words)
            self._room = (batch, other), new_work(n_rows, n_slots, self._n_words, self._windows)
            self._largest = largest
        assert self._room
        return self._room


@contextmanager
def _without_denormals() -> Iterator[None]:
    """Let this thread round products of small probabilities to 0: the processor is slow with smaller numbers."""
    already = np.float32(1e-30) * np.float32(1e-10) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(bool(already))
