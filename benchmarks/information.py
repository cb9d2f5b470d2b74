"""Estimates of mutual information beside the truth, on channels whose I(X, Y) is known.

A channel gives pairs (x, y): symbols, of which y is another one at random in a share of all cases; or Gaussian vectors,
whose numbers are correlated. All estimators learn from the same pairs and are measured on others. AMMI is the paper's,
with 16 bits, an encoder for either side, the gradient adversary, r = 3 and β = 1; its bounds are of `ammi.information`,
and the paper's difference of entropies H⁺(Z) - H⁺(Z|X) is its `score`. InfoNCE and NWJ are lower bounds of I(X, Y) with
a critic u(x)·v(y). Of symbols, I(X, Z) of AMMI's codes is also computed exactly, from the channel.

Runs are kept in results/information.json, and a run that is there is not run again. `--quick` runs one small channel of
either kind, and keeps nothing.
"""

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from ammi import AMMI, information
from ammi.chain.entropy import halves_of_codes
from ammi.tuning.machine import machine

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.estimators import RESULTS, estimator_rows, plot_estimators

BITS = 16
SEEDS = (0, 1, 2)
SYMBOLS, NOISES = (16, 64, 256, 1024, 4096), (0.0, 0.1, 0.5)
DIMENSIONS, CORRELATIONS = 4, (0.5, 0.9, 0.99)
CRITIC_SIZE, CRITIC_BATCH, CRITIC_RATE = 64, 512, 0.003

Pairs = tuple[NDArray, NDArray]


class Size(NamedTuple):
    """Pairs to learn from, epochs, and pairs to measure."""

    pairs: int
    epochs: int
    measured: int


FULL, QUICK = Size(40_000, 8, 4096), Size(2000, 2, 256)


@dataclass(frozen=True)
class Symbols:
    """Y is X, but in a share `noise` of all cases a symbol at random."""

    symbols: int
    noise: float

    @property
    def name(self) -> str:
        return f"{self.symbols:,} symbols, noise {self.noise:g}"

    @property
    def truth(self) -> float:
        each = self.noise / self.symbols
        same = 1 - self.noise + each
        rest = -(self.symbols - 1) * each * math.log2(each) if each else 0.0
        return math.log2(self.symbols) + same * math.log2(same) - rest

    def draw(self, n: int, rng: np.random.Generator) -> Pairs:
        x, other = rng.integers(self.symbols, size=(2, n))
        return x, np.where(rng.random(n) < self.noise, other, x)

    def rows(self, values: NDArray) -> csr_matrix:
        ones = np.ones(len(values), np.float32)
        return csr_matrix((ones, values, np.arange(len(values) + 1)), shape=(len(values), self.symbols))

    def critic(self) -> nn.Module:
        return nn.Embedding(self.symbols, CRITIC_SIZE)


@dataclass(frozen=True)
class Gaussian:
    """Vectors of X and Y, number for number with one correlation."""

    dimensions: int
    correlation: float

    @property
    def name(self) -> str:
        return f"Gaussian, {self.dimensions} × correlation {self.correlation:g}"

    @property
    def truth(self) -> float:
        return -self.dimensions / 2 * math.log2(1 - self.correlation**2)

    def draw(self, n: int, rng: np.random.Generator) -> Pairs:
        x, other = rng.standard_normal((2, n, self.dimensions), dtype=np.float32)
        return x, self.correlation * x + math.sqrt(1 - self.correlation**2) * other

    def rows(self, values: NDArray) -> NDArray:
        return values

    def critic(self) -> nn.Module:
        return nn.Sequential(nn.Linear(self.dimensions, 256), nn.ReLU(), nn.Linear(256, CRITIC_SIZE))


Channel = Symbols | Gaussian


def info_nce(scores: Tensor) -> Tensor:
    """The lower bound of critic scores (B, B), with the pairs on the diagonal; at most log B."""
    return (scores.diagonal() - scores.logsumexp(1)).mean() + math.log(len(scores))


def nwj(scores: Tensor) -> Tensor:
    """The lower bound of Nguyen, Wainwright and Jordan: E[f] - E[exp(f - 1)], the latter of pairs that do not match."""
    apart = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return scores.diagonal().mean() - torch.exp(apart.logsumexp((0, 1)) - math.log(len(scores) * (len(scores) - 1)) - 1)


def critic_bound(channel: Channel, bound: Callable[[Tensor], Tensor], train: Pairs, measured: Pairs, steps: int):
    """Train the two networks of a critic to make a bound large; the bound on other pairs, in bits."""
    networks = channel.critic(), channel.critic()
    optimiser = torch.optim.Adam([p for network in networks for p in network.parameters()], CRITIC_RATE)
    x, y = map(torch.from_numpy, train)

    def scores(x: Tensor, y: Tensor) -> Tensor:
        return networks[0](x) @ networks[1](y).T / math.sqrt(CRITIC_SIZE)

    for _ in range(steps):
        rows = torch.randint(len(x), (CRITIC_BATCH,))
        optimiser.zero_grad()
        (-bound(scores(x[rows], y[rows]))).backward()
        nn.utils.clip_grad_norm_([p for network in networks for p in network.parameters()], 1.0)
        optimiser.step()
    with torch.no_grad():
        return float(bound(scores(*map(torch.from_numpy, measured)))) / math.log(2)


def exact_information(bit_probabilities: NDArray, channel: Symbols) -> float:
    """I(X, Z) in bits, over all 2^m codes, from the probability (symbols, m) of each bit to be 1."""
    probs = torch.from_numpy(bit_probabilities).double().clamp(1e-12, 1 - 1e-12)
    blocks = probs.logit().unsqueeze(-1).split(128)

    def codes(block: Tensor) -> Tensor:
        ((prefixes, suffixes),) = halves_of_codes(block)
        return (prefixes.unsqueeze(2) * suffixes.unsqueeze(1)).flatten(1)  # (128, 2**m)

    mixture = torch.stack([codes(block).sum(0) for block in blocks]).sum(0) / channel.symbols
    given = [
        torch.special.entr((1 - channel.noise) * codes(block) + channel.noise * mixture).sum(1) for block in blocks
    ]
    return float(torch.special.entr(mixture).sum() - torch.cat(given).mean()) / math.log(2)


def run(channel: Channel, seed: int, size: Size) -> dict[str, Any]:
    """Learn from some pairs, and measure others; critics see as many pairs in all as AMMI does."""
    start = time.process_time()
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    train, measured = channel.draw(size.pairs, rng), channel.draw(size.measured, rng)
    hasher = AMMI(
        BITS,
        related_encoder="own",
        adversary="gradient",
        prior_order=3,
        entropy_weight=1.0,
        hidden_layers=int(isinstance(channel, Gaussian)),
        hidden_size=256,
        epochs=size.epochs,
        random_state=seed,
        verbose=False,
    )
    hasher.fit(channel.rows(train[1]), related=channel.rows(train[0]))
    y, x = channel.rows(measured[1]), channel.rows(measured[0])
    found = information(hasher, y, related=x)
    codes = None
    if isinstance(channel, Symbols):
        codes = exact_information(hasher.bit_probabilities(channel.rows(np.arange(channel.symbols))), channel)
    steps = size.pairs * size.epochs // CRITIC_BATCH
    return {
        "channel": channel.name,
        "kind": type(channel).__name__,
        **vars(channel),
        "seed": seed,
        "pairs": size.pairs,
        "measured": size.measured,
        "truth": channel.truth,
        "codes": codes,
        "at_least": found.at_least.value,
        "at_most": found.at_most.value,
        "difference": hasher.score(y, related=x),
        "info_nce": critic_bound(channel, info_nce, train, measured, steps),
        "nwj": critic_bound(channel, nwj, train, measured, steps),
        "cpu_seconds": time.process_time() - start,
        **machine(),
    }


def all_channels() -> list[Channel]:
    symbols = [Symbols(n, noise) for noise in NOISES for n in SYMBOLS]
    return [*symbols, *(Gaussian(DIMENSIONS, correlation) for correlation in CORRELATIONS)]


def report(runs: list[dict[str, Any]]) -> None:
    head, *rows = estimator_rows(runs)
    table = Table(*head, title="Bits of information, means over seeds")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    if arguments == ["--quick"]:
        report([run(channel, 0, QUICK) for channel in (Symbols(16, 0.1), Gaussian(2, 0.9))])
        return
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(one["channel"], one["seed"]) for one in runs}
    for seed in SEEDS:
        for channel in all_channels():
            if (channel.name, seed) in done:
                continue
            runs.append(run(channel, seed, FULL))
            new = RESULTS.with_suffix(".new")
            new.write_text(json.dumps(runs, indent=1) + "\n")
            new.replace(RESULTS)
            print(channel.name, seed, f"{runs[-1]['cpu_seconds']:.1f} s", flush=True)
    report(runs)
    plot_estimators(runs).savefig(RESULTS.with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main(sys.argv[1:])
