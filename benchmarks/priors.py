"""AMMI against chains of order 3 and 5, the sampled prior and trees; and the noise of the sampled gradient.

Documents alone, the paper's objective. Labels of the validation part choose the epoch, as in the paper, and with seed 0
the weight β of H⁺(Z) of each prior and cell, from BETAS; the test part is only reported. Runs are kept in
results/priors.json, and a run that is there is not run again: start it again to go on.
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from ammi import AMMI
from ammi.chain import Tree
from ammi.data import benchmark
from ammi.evaluate import precision_at_k
from ammi.nets.rows import to_rows
from ammi.training.sampled import SampledAdversary, by_bits, by_codes
from ammi.tuning.machine import machine
from quality import BITS, SEEDS, SETS

BETAS = (1.0, 1.25, 1.5, 2.25)
DRAWS, REPEATS, BATCH = 8, 200, 128
RESULTS = Path(__file__).parent / "results" / "priors.json"

Row = dict[str, Any]


def binary_tree(bits: int) -> Tree:
    return Tree(bits, tuple((bit - 1) // 2 for bit in range(bits)))  # the root's parent is -1


def parameters(prior: str, bits: int) -> Row:
    of_prior: dict[str, Row] = {
        "chain, r = 3": {"prior_order": 3},
        "chain, r = 5": {"prior_order": 5},
        "sampled": {"adversary": "sampled"},
        "tree": {"prior": binary_tree(bits)},
        "encoder a tree, chain r = 3": {"structure": binary_tree(bits), "prior_order": 3},
    }
    return of_prior[prior]


PRIORS = ("chain, r = 3", "chain, r = 5", "sampled", "tree", "encoder a tree, chain r = 3")


def run(key: Row) -> Row:
    data, bits = benchmark(key["set"]), key["bits"]
    settings = {"entropy_weight": key["beta"], "random_state": key["seed"], **parameters(key["prior"], bits)}
    hasher = AMMI(bits, neighbours=0, verbose=False, **settings)
    start = time.process_time()
    hasher.fit(data.train, data.train_labels, validation=(data.cv, data.cv_labels))
    seconds, base = time.process_time() - start, hasher.encode(data.train)
    return {
        **key,
        "validation": precision_at_k(hasher.encode(data.cv), data.cv_labels, base, data.train_labels),
        "test": precision_at_k(hasher.encode(data.test), data.test_labels, base, data.train_labels),
        "epochs": len(hasher.history_),
        "cpu_seconds": seconds,
    }


def wanted(runs: list[Row]) -> Iterator[Row]:
    """The runs in the order of their use: few bits first, the chains and the sampled prior before the trees."""
    stages = [(priors, widths) for priors in (PRIORS[:3], PRIORS[3:]) for widths in (BITS[:2], BITS[2:3], BITS[3:])]
    for priors, widths in stages:
        names = [(name, bits, prior) for bits in widths for name in SETS for prior in priors]
        cells: list[Row] = [{"set": name, "bits": bits, "prior": prior} for name, bits, prior in names]
        for cell in cells:
            yield from ({**cell, "beta": beta, "seed": 0} for beta in BETAS)
        for seed in SEEDS[1:]:
            for cell in cells:
                yield {**cell, "beta": chosen(runs, *cell.values())[0]["beta"], "seed": seed}


def chosen(runs: list[Row], name: str, bits: int, prior: str) -> list[Row]:
    """The runs of a cell with the β that is best on validation with seed 0; none if not every β was tried."""
    cell = [one for one in runs if (one["set"], one["bits"], one["prior"]) == (name, bits, prior)]
    first = [one for one in cell if one["seed"] == 0]
    if len(first) < len(BETAS):
        return []
    best = max(first, key=lambda one: one["validation"])["beta"]
    return [one for one in cell if one["beta"] == best]


def variance(bits: int) -> list[Row]:
    """The noise of each estimate of the gradient of H⁺(Z) in the logits of a batch, halfway in the training."""
    data = benchmark("reuters")
    hasher = AMMI(bits, neighbours=0, adversary="sampled", entropy_weight=1.25, epochs=3, random_state=0)
    objective: Any = hasher.set_params(verbose=False).fit(data.train).objective_
    assert isinstance(objective.adversary, SampledAdversary)
    prior = objective.adversary.prior
    with torch.no_grad():
        logits = objective.distributions(to_rows(data.train[:BATCH], torch.device("cpu"))).logits

    def gradient(estimate: Any, **arguments: Any) -> torch.Tensor:
        leaf = logits.clone().requires_grad_()
        surrogate, _ = estimate(objective.structure.read(leaf), prior, **arguments)
        surrogate.backward()
        return leaf.grad.flatten()

    estimates = {
        "score function": (by_codes, {"draws": DRAWS, "baseline": False}),
        "score function, baseline of the other codes": (by_codes, {"draws": DRAWS}),
        "each bit summed out": (by_bits, {"draws": 1}),
    }
    rows, true = [], torch.stack([gradient(by_bits, draws=DRAWS) for _ in range(REPEATS)]).mean(0)
    for name, (estimate, arguments) in estimates.items():
        start = time.process_time()
        found = torch.stack([gradient(estimate, **arguments) for _ in range(REPEATS)])  # (REPEATS, B m)
        seconds = (time.process_time() - start) / REPEATS
        noise = found.var(0).sum().item() / true.square().sum().item()
        row = {"bits": bits, "estimate": name, "codes": arguments["draws"], "noise": noise}
        rows.append({**row, "ms": 1000 * seconds})
    return rows


def report(found: Row) -> None:
    table = Table("bits", "estimate", "codes a document", "variance / squared gradient", "ms of CPU")
    for row in found["variance"]:
        numbers = f"{row['noise']:.3g}", f"{row['ms']:.1f}"
        table.add_row(str(row["bits"]), row["estimate"], str(row["codes"]), *numbers)
    Console().print(table)
    table = Table("set", "bits", *PRIORS, title="top-100 precision on test, mean of the seeds (their number)")
    for name in SETS:
        for bits in BITS:
            cells = [chosen(found["runs"], name, bits, prior) for prior in PRIORS]
            table.add_row(name, str(bits), *(f"{mean(cell):.2f} ({len(cell)})" if cell else "" for cell in cells))
    Console().print(table)


def mean(runs: list[Row], figure: str = "test") -> float:
    return statistics.mean(one[figure] for one in runs)


def main() -> None:
    found = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {"variance": [], "runs": []}

    def keep() -> None:
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps({"machine": machine(), "results": found}, indent=1) + "\n")
        new.replace(RESULTS)

    if not found["variance"]:
        found["variance"] = [row for bits in (16, 64) for row in variance(bits)]
        keep()
    if "--report" not in sys.argv:
        for key in wanted(found["runs"]):
            if not any(key.items() <= one.items() for one in found["runs"]):
                found["runs"].append(run(key))
                keep()
                print(*key.values(), f"{found['runs'][-1]['test']:.2f}", flush=True)
    report(found)


if __name__ == "__main__":
    main()
