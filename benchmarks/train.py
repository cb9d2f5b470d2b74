"""How long AMMI trains on ng20: beside version 0.1.0's way, beside the paper's algorithm, and where a step's time goes.

Both of the others are written out below: version 0.1.0's neighbours by a sparse product, its loss and its steps by
torch; and a plain dense version of the paper, the prior repeated for each document, G gradient steps of the adversary
on every batch. All are run on the same documents in the same run, and the shortest of several times counts. How the
time grows is in growth.py.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize
from torch import Tensor

from ammi import AMMI
from ammi.chain import Chain, Distributions
from ammi.data import benchmark
from ammi.nets.encoder import Encoder, initialise
from ammi.training import kernels
from ammi.training.adversaries import ExactAdversary
from ammi.training.batches import Batch, Batches
from ammi.training.compiled import choose_steps
from ammi.training.information import AMMIObjective, Reader
from ammi.training.loop import TrainingRun, train
from ammi.training.neighbours import nearest_documents
from ammi.training.objective import Objective
from ammi.training.progress import Silent
from ammi.training.recipe import Recipe
from ammi.training.steps import TorchSteps
from ammi.training.validation import hold_out, mean_figures
from timing import save

BATCH, BITS, ORDER, STEPS = 128, 64, 3, 4
RATE, CLIP = 0.01, 10.0
WANTED = {"neighbours": 3.0, "epoch": 2.5, "fit": 1.0}  # times faster than version 0.1.0
SIMILARITIES_AT_ONCE = 2**22

Row = dict[str, Any]
Near = NDArray[np.int32]


def measure(job: Callable[[], object], repeats: int = 5, warm: bool = True) -> dict[str, float]:
    """The shortest times of a job, by the clock and of the processor: what else the machine does can only add."""
    if warm:
        job()
    times = []
    for _ in range(repeats):
        start, cpu = time.perf_counter(), time.process_time()
        job()
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    return {"seconds": min(clock for clock, _ in times), "cpu_seconds": min(cpu for _, cpu in times)}


# Version 0.1.0


def nearest_before(X: csr_matrix, k: int, among: NDArray[np.integer]) -> Near:
    """The nearest of each document by the cosine, from blocks of a sparse product."""
    columns = normalize(X[among]).T.tocsr()
    found = np.empty((X.shape[0], k), np.int32)
    step = max(1, SIMILARITIES_AT_ONCE // len(among))
    for start in range(0, X.shape[0], step):
        similarity = (X[start : start + step] @ columns).toarray()
        rows = np.arange(len(similarity))
        location = np.searchsorted(among, start + rows)
        itself = among[np.minimum(location, len(among) - 1)] == start + rows
        similarity[rows[itself], location[itself]] = -np.inf
        near = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(similarity, near, 1), axis=1, kind="stable")
        found[start : start + step] = among[np.take_along_axis(near, order, 1)]
    return found


class ObjectiveBefore(AMMIObjective):
    """Half H(Z|Y) and half H⁺(Z|X), H⁺(Z) of the codes of y alone; as a subclass it is trained by torch."""

    def conditional_entropy(self, batch: Batch) -> tuple[Tensor, Distributions]:
        if batch.x is None:
            return super().conditional_entropy(batch)
        p, q = self.distributions(batch.y), self.distributions(batch.x)
        return torch.stack([p.entropy().mean(), p.cross_entropy(q).mean()]).mean(), p


def objective_before(n_words: int) -> ObjectiveBefore:
    encoder = Encoder(n_words, BITS)
    initialise(encoder, 0.1)
    return ObjectiveBefore(ExactAdversary(Chain(BITS, ORDER)), Reader(encoder, Chain(BITS, 0)), None, 1.75)


def fit_before(X: csr_matrix) -> TrainingRun:
    """Its defaults: ten neighbours by words, 40 epochs at most, the best one by the objective on a tenth held out."""
    torch.manual_seed(0)
    rng, cpu, run = np.random.default_rng(0), torch.device("cpu"), TrainingRun()
    rows, held_out = hold_out(X.shape[0], rng)
    objective = objective_before(X.shape[1])
    batches = Batches(X, rows=rows, neighbours=nearest_before(X, 10, rows), batch_size=BATCH, rng=rng)
    train(
        Recipe(objective, epochs=40, learning_rate=RATE, batch_size=BATCH, clip=CLIP, rising="information"),
        batches,
        lambda: -mean_figures(objective, X[held_out], None, cpu)["loss"],
        run=run,
        checkpoint=None,
        callbacks=(),
        progress=Silent(),
    )
    return run


def now(bits: int = BITS) -> AMMI:
    return AMMI(bits, batch_size=BATCH, random_state=0, verbose=False)


def against_before(X: csr_matrix) -> list[Row]:
    """Each part as it was and as it is."""
    new, everything = now(), np.arange(X.shape[0])
    runs_before: list[TrainingRun] = []
    rng = np.random.default_rng(0)
    near_before, near = nearest_before(X, 10, everything), nearest_documents(X, 10, everything, rng)
    fits = {
        "0.1.0": measure(lambda: runs_before.append(fit_before(X)), 2, warm=False),
        "now": measure(lambda: new.fit(X), 3, warm=False),
    }
    first = now(128).set_params(first_bits=0, neighbours=10, reorder=0, epochs=11).fit(X)
    codes = 2 * first.bit_probabilities(X) - 1

    def epoch(objective: Objective, neighbours: Near, dropout: float, by_torch: bool = False) -> dict[str, float]:
        torch.manual_seed(0)
        batches = Batches(
            X, neighbours=neighbours, batch_size=BATCH, word_dropout=dropout, rng=np.random.default_rng(0)
        )
        objective.train()
        steps = TorchSteps(objective, RATE, CLIP) if by_torch else choose_steps(objective, batches, RATE, CLIP)
        return measure(lambda: steps.epoch(batches))

    def objective_now(bits: int = BITS) -> Objective:
        return now(bits).objective(X.shape[1], predictive=False)

    table: list[tuple[str, str, dict[str, float]]] = [
        ("neighbours", "0.1.0: sparse product", measure(lambda: nearest_before(X, 10, everything), 3)),
        ("neighbours", "first graph, by words", measure(lambda: nearest_documents(X, 10, everything, rng), 3)),
        (
            "neighbours",
            "second graph, by codes",
            measure(lambda: nearest_documents(X, new.neighbours, everything, rng, codes=codes), 3),
        ),
        ("epoch", "0.1.0: torch", epoch(objective_before(X.shape[1]), near_before, 0.0)),
        ("epoch", "compiled steps", epoch(objective_now(), near, new.word_dropout)),
        ("epoch", "the same by torch", epoch(objective_now(), near, new.word_dropout, by_torch=True)),
        ("epoch", "compiled steps, 128 bits (the first model's)", epoch(objective_now(128), near, new.word_dropout)),
        ("fit", f"0.1.0: {len(runs_before[-1].history)} epochs", fits["0.1.0"]),
        ("fit", f"both graphs and models, {len(new.history_)} epochs of the second", fits["now"]),
    ]
    base = {part: times for part, name, times in table if name.startswith("0.1.0")}
    return [
        {
            "part": part,
            "method": name,
            **times,
            "ratio": base[part]["seconds"] / times["seconds"],
            "cpu_ratio": base[part]["cpu_seconds"] / times["cpu_seconds"],
            "wanted": WANTED[part],
        }
        for part, name, times in table
    ]


# The parts of a compiled step


@njit(fastmath=True)
def touch(weights, mean, square, factor):
    """Read and write as many numbers as Adam: 6 × V × m × 4 bytes."""
    a, b, c = weights.ravel(), mean.ravel(), square.ravel()
    for i in range(len(a)):
        a[i], b[i], c[i] = factor * a[i], factor * b[i], factor * c[i]


def sums_of_rows(rows: csr_matrix, dense: NDArray[np.float32]) -> Callable[[], Tensor]:
    """A sparse product, by torch."""
    starts, words, values, matrix = map(torch.from_numpy, (rows.indptr, rows.indices, rows.data, dense))
    return lambda: F.embedding_bag(
        words, matrix, starts, mode="sum", per_sample_weights=values, include_last_offset=True
    )


def step_parts(X: csr_matrix) -> list[Row]:
    """Milliseconds a step of each kernel, all in turn on the batches of an epoch, and what a step cannot do without."""
    n, V = X.shape
    rng = np.random.default_rng(0)
    near = nearest_documents(X, 10, np.arange(n), rng)
    documents = kernels.Documents(X.indptr, X.indices, X.data)
    weights, biases = rng.uniform(-0.1, 0.1, (V, BITS)).astype(np.float32), np.zeros((1, BITS), np.float32)
    zeros = [np.zeros_like(one) for one in (weights, biases, weights, biases)]
    linear = kernels.Linear(weights, biases, *zeros)
    others = [weights.copy() for _ in range(3)]
    settings = kernels.Settings(2.25, 0.3, 0.9, RATE, CLIP, 0)
    order = rng.permutation(BITS)
    prior = kernels.Prior(np.zeros((BITS, 2 ** (ORDER + 1)), np.float32), order, np.argsort(order))
    largest = int(np.sort(np.diff(X.indptr))[-2 * BATCH :].sum())
    batch = kernels.new_batch(2 * BATCH, largest, V)
    work = kernels.new_work(2 * BATCH, 1 + min(largest, V), V, (BITS, 2 ** (ORDER + 1)))
    scratch, one = kernels._scratch(work, prior), np.float32(1)
    epochs: list[dict[str, float]] = []
    torch.set_flush_denormal(True)
    for _ in range(6):
        spent: dict[str, float] = {}

        def timed(name: str, job: Callable[[], Any], spent: dict[str, float] = spent) -> None:
            start = time.perf_counter()
            job()
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        y = rng.permutation(n)
        pairs = kernels.Pairs(y, near[y, rng.integers(near.shape[1], size=n)].astype(np.int64), BATCH)
        for number in range(n // BATCH):
            timed("prepare", partial(kernels.prepare, documents, pairs, number, batch, settings.dropout, rng))
            for phase, name in enumerate(PHASES):
                timed(name, partial(run_phase, phase, batch, linear, prior, work, settings, scratch))
            timed("floor: Adam's bytes read and written", partial(touch, *others, one))  # type: ignore[call-arg]
            n_entries = batch.starts[2 * BATCH]
            entries = batch.values[:n_entries], batch.words[:n_entries], batch.starts
            sparse = csr_matrix(entries, shape=(2 * BATCH, V))
            timed("floor: logits, torch's sparse product", sums_of_rows(sparse, linear.weights))
            turned = sparse.T.tocsr()
            timed("floor: gradient by weights, torch's sparse product", sums_of_rows(turned, work.by_logits))
        epochs.append({name: 1e3 * seconds / (n // BATCH) for name, seconds in spent.items()})
    torch.set_flush_denormal(False)
    return [{"part": name, "milliseconds": min(row[name] for row in epochs[1:])} for name in epochs[0]]


PHASES = ("logits", "probabilities", "windows and prior", "gradient by logits", "gradient by weights", "Adam")


@njit
def run_phase(phase, batch, linear, prior, work, settings, scratch):
    """All blocks of one phase of a step, on this thread."""
    n, n_rows = batch.counts[0], batch.counts[1]
    n_words, m = linear.weights.shape
    if phase == 0:
        for block in range(kernels._blocks(n_rows, kernels._ROWS)):
            kernels.logits_of(batch, linear, work, block)
    elif phase == 1:
        for block in range(kernels._blocks(m, kernels._BITS)):
            kernels.probabilities_of(n_rows, prior, work, block)
    elif phase == 2:
        for position in range(m):
            kernels.window_of(n_rows, prior, work, settings.decay, scratch, position)
    elif phase == 3:
        for block in range(kernels._blocks(m, kernels._BITS)):
            kernels.gradient_by_logits(n, n_rows, prior, work, settings.entropy_weight, block)
    elif phase == 4:
        for block in range(kernels._blocks(n_words, kernels._WORDS)):
            kernels.gradient_by_weights(batch, work, block)
    else:
        for block in range(kernels._blocks(n_words, kernels._WORDS)):
            kernels.update(linear, batch, work, 1.0, 1, settings, block)


# The paper's algorithm


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


VARIANTS: dict[str, dict[str, Any]] = {
    "documents alone, gradient adversary (torch)": {"adversary": "gradient"},
    "documents alone, exact adversary (compiled)": {},
}


def epoch_seconds(X: csr_matrix, **parameters: Any) -> float:
    """The shortest of five epochs on documents alone, validation left out."""
    hasher = AMMI(BITS, neighbours=0, epochs=5, batch_size=BATCH, random_state=0, verbose=False, **parameters)
    hasher.fit(X, validation=lambda _: 0.0)
    return min(row["seconds"] for row in hasher.history_)


def against_paper(X: csr_matrix, default: float) -> list[Row]:
    """Epochs beside one of the plain version; that of the default recipe is already known."""
    dense, seeds = X.toarray(), iter(range(6))
    plain = measure(lambda: plain_epoch(dense, batches(len(dense), next(seeds))))["seconds"]
    times = {"plain dense version, gradient adversary": plain}
    times |= {name: epoch_seconds(X, **parameters) for name, parameters in VARIANTS.items()}
    times["default: pairs, exact adversary (compiled)"] = default
    return [{"method": name, "seconds": seconds, "ratio": plain / seconds} for name, seconds in times.items()]


def main() -> None:
    console, load = Console(width=120), [os.getloadavg()[0]]
    X = benchmark("ng20").train.tocsr().astype(np.float32)
    rows = against_before(X)
    load.append(os.getloadavg()[0])
    table = Table("ng20, 64 bits, batch 128", "", "seconds", "CPU", "times faster", "by CPU", "wanted")
    for row in rows:
        figures = (row["seconds"], row["cpu_seconds"], row["ratio"], row["cpu_ratio"], row["wanted"])
        table.add_row(row["part"], row["method"], *(f"{figure:.2f}" for figure in figures))
    console.print(table)
    parts = step_parts(X)
    table = Table("a step by compiled kernels", "ms")
    for row in parts:
        table.add_row(row["part"], f"{row['milliseconds']:.3f}")
    for name, of_floor in (("kernels together", False), ("floor together", True)):
        total = sum(row["milliseconds"] for row in parts if row["part"].startswith("floor") == of_floor)
        table.add_row(name, f"{total:.3f}")
    console.print(table)
    compared = against_paper(X, next(row["seconds"] for row in rows if row["method"] == "compiled steps"))
    table = Table("an epoch of ng20, 64 bits, batch 128", "seconds", "times faster")
    for row in compared:
        table.add_row(row["method"], f"{row['seconds']:.2f}", f"{row['ratio']:.1f}")
    console.print(table)
    load.append(os.getloadavg()[0])
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    save("train", {"load": load, "threads": threads, "before": rows, "step": parts, "compared": compared})


if __name__ == "__main__":
    main()
