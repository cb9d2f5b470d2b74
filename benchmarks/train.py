"""Seconds an epoch of AMMI beside a plain dense version of the paper's algorithm, and how they grow.

The plain version is written below: dense input, the prior repeated for each document, G gradient steps of the
adversary on every batch. Both are trained on the same batches of ng20 in the same run.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from torch import Tensor

from ammi import AMMI
from ammi.data import benchmark
from timing import save

BATCH, BITS, ORDER, STEPS = 128, 64, 3, 4
SIZES: dict[str, Any] = {"documents": 10_000, "words": 10_000, "bits": BITS, "order": 0, "prior_order": ORDER}
VARIANTS: dict[str, dict[str, Any]] = {
    "documents alone, gradient adversary": {"neighbours": 0, "adversary": "gradient"},
    "documents alone, exact adversary": {"neighbours": 0},
    "default: exact adversary, neighbours": {},
}


def plain_cross_entropy(p: Tensor, q: Tensor) -> Tensor:
    """Mean cross entropy of order-0 codes with probabilities p (B, m) and chains q (B, m, 2**r)."""
    order = q.shape[-1].bit_length() - 1
    ones = torch.ones(len(p), order)  # bits before the first are 0
    zero = torch.cat((ones, 1 - p), dim=1)
    one = torch.cat((torch.zeros_like(ones), p), dim=1)
    total = torch.zeros(len(p))
    for window in range(2 ** (order + 1)):
        bits = [(window >> (order - j)) & 1 for j in range(order + 1)]
        mass = torch.ones_like(p)
        for j, bit in enumerate(bits):
            mass = mass * (one if bit else zero)[:, j : j + p.shape[1]]
        logit = q[:, :, window >> 1]
        total = total - (mass * F.logsigmoid(logit if bits[-1] else -logit)).sum(1)
    return total.mean()


def plain_epoch(X: np.ndarray, order: Iterator[np.ndarray]) -> None:
    """One epoch of the paper's Algorithm AdversarialMMI with dense tensors."""
    encoder = torch.nn.Linear(X.shape[1], BITS)
    prior = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2**ORDER))
    theta = torch.nn.Parameter(torch.empty(BITS, 16).uniform_(-0.1, 0.1))
    optimiser = torch.optim.Adam(encoder.parameters(), lr=0.01)
    adversary = [theta, *prior.parameters()]
    for rows in order:
        logits = encoder(torch.from_numpy(X[rows]))
        p = torch.sigmoid(logits)
        inner = torch.optim.Adam(adversary, lr=0.03)
        for _ in range(STEPS):
            inner.zero_grad()
            plain_cross_entropy(p.detach(), prior(theta).repeat(len(rows), 1, 1)).backward()
            torch.nn.utils.clip_grad_norm_(adversary, 10)
            inner.step()
        bound = plain_cross_entropy(p, prior(theta).repeat(len(rows), 1, 1))
        loss = plain_cross_entropy(p, logits.unsqueeze(-1)) - 3 * bound
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 10)
        optimiser.step()


def batches(n: int, seed: int = 0) -> Iterator[np.ndarray]:
    order = np.random.default_rng(seed).permutation(n)
    return (order[start : start + BATCH] for start in range(0, n, BATCH))


def epoch_seconds(X: Any, bits: int = BITS, **parameters: Any) -> float:
    """The shortest of five epochs, validation left out: what else the machine does can only add to it."""
    hasher = AMMI(bits, epochs=5, patience=5, batch_size=BATCH, random_state=0, verbose=False, **parameters)
    hasher.fit(X, validation=lambda _: 0.0)
    return min(row["seconds"] for row in hasher.history_)


def compare(X: csr_matrix) -> list[dict]:
    dense = X.toarray()
    times = []
    for seed in range(5):
        start = time.perf_counter()
        plain_epoch(dense, batches(len(dense), seed))
        times.append(time.perf_counter() - start)
    plain = min(times)
    rows = [{"method": "plain dense version, gradient adversary", "seconds": plain, "ratio": 1.0}]
    for name, parameters in VARIANTS.items():
        seconds = epoch_seconds(X, **parameters)
        rows.append({"method": name, "seconds": seconds, "ratio": plain / seconds})
    return rows


def growth() -> list[dict]:
    """Seconds an epoch as one size grows and the others stay."""
    settings: list[dict[str, Any]] = [
        *({"documents": n} for n in (5_000, 10_000, 20_000, 40_000)),
        *({"words": words} for words in (5_000, 20_000, 40_000)),
        *({"bits": bits} for bits in (16, 32, 128, 256)),
        *({"order": o, "prior_order": o + 2} for o in (0, 1, 2)),
        *({"prior_order": r} for r in (1, 3, 5, 7)),
    ]
    rows = []
    for setting in settings:
        full: dict[str, Any] = {
            "documents": 10_000,
            "words": 10_000,
            "bits": BITS,
            "order": 0,
            "prior_order": 3,
        } | setting
        X = random_sparse(full["documents"], full["words"], 70 / full["words"], "csr", np.float32, random_state=0)
        seconds = epoch_seconds(X, full["bits"], order=full["order"], prior_order=full["prior_order"], neighbours=0)
        rows.append({**full, "seconds": seconds})
    return rows


def main() -> None:
    console = Console()
    compared = compare(benchmark("ng20").train)
    table = Table("an epoch of ng20, 64 bits, batch 128", "seconds", "times faster")
    for row in compared:
        table.add_row(row["method"], f"{row['seconds']:.2f}", f"{row['ratio']:.1f}")
    console.print(table)
    grown = growth()
    table = Table("documents", "words", "bits", "order", "prior order", "seconds an epoch")
    for row in grown:
        table.add_row(*(f"{row[key]:,}" for key in list(row)[:-1]), f"{row['seconds']:.2f}")
    console.print(table)
    save("train", {"compared": compared, "growth": grown})


if __name__ == "__main__":
    main()
