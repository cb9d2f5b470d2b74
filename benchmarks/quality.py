"""Top-100 precision of AMMI's defaults on the benchmark sets, three seeds, beside the published program.

One set of hyperparameters for all sets and all numbers of bits; only the epoch is chosen, on the validation part. The
published program's figures are with hyperparameters tuned for each cell. Runs are kept in results/quality.json, and a
run that is there is not run again.
"""

import itertools
import json
import statistics
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ammi import AMMI
from ammi.data import benchmark
from ammi.evaluate import precision_at_k
from ammi.paper.published import PROGRAM
from ammi.tuning.machine import machine

BITS = (16, 32, 64, 128)
SEEDS = (0, 1, 2)
PUBLISHED = {name: PROGRAM[name] for name in ("reuters", "ng20", "tmc_small")}
VARIANTS: dict[str, dict] = {
    "default": {},
    "documents alone, exact adversary": {"neighbours": 0, "entropy_weight": 3.0, "adversary": "exact"},
    "documents alone, gradient adversary": {"neighbours": 0, "entropy_weight": 3.0, "adversary": "gradient"},
    "neighbours, gradient adversary": {"adversary": "gradient"},
    "order 1": {"order": 1, "prior_order": 3},
    "order 2": {"order": 2, "prior_order": 4},
}
RESULTS = Path(__file__).parent / "results" / "quality.json"


def run(name: str, bits: int, variant: str, seed: int) -> dict:
    data = benchmark(name)
    hasher = AMMI(bits, random_state=seed, verbose=False, **VARIANTS[variant])
    hasher.fit(data.train, data.train_labels, validation=(data.cv, data.cv_labels))
    base = hasher.encode(data.train)
    return {
        "set": name,
        "bits": bits,
        "variant": variant,
        "seed": seed,
        "validation": hasher.history_[hasher.best_epoch_ - 1]["score"],
        "test": precision_at_k(hasher.encode(data.test), data.test_labels, base, data.train_labels),
        "epochs": len(hasher.history_),
        **machine(),
    }


def all_runs() -> list[tuple[str, int, str, int]]:
    """The default at every width with three seeds, and the other variants at 64 and 16 bits with one."""
    wanted = list(itertools.product(PUBLISHED, BITS, ["default"], SEEDS))
    return wanted + list(itertools.product(PUBLISHED, (64, 16), list(VARIANTS)[1:], SEEDS[:1]))


def report(runs: list[dict]) -> None:
    tests: dict[tuple[str, int, str], list[float]] = {}
    for one in runs:
        tests.setdefault((one["set"], one["bits"], one["variant"]), []).append(one["test"])
    table = Table("set", "bits", "published", *VARIANTS, title="Top-100 precision on test")
    for name, (bits, published) in itertools.chain(
        *([(name, pair) for pair in zip(BITS, PUBLISHED[name], strict=True)] for name in PUBLISHED)
    ):
        cells = [tests.get((name, bits, variant), []) for variant in VARIANTS]
        table.add_row(name, str(bits), f"{published:.2f}", *(_cell(cell) for cell in cells))
    default = [statistics.mean(v) for (_, _, variant), v in tests.items() if variant == "default"]
    if default:
        published = statistics.mean(itertools.chain(*PUBLISHED.values()))
        table.add_row("mean", "", f"{published:.2f}", f"{statistics.mean(default):.2f}")
    Console().print(table)


def _cell(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else ""
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"


def main() -> None:
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(one["set"], one["bits"], one["variant"], one["seed"]) for one in runs}
    for key in all_runs():
        if key in done:
            continue
        runs.append(run(*key))
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps(runs, indent=1) + "\n")
        new.replace(RESULTS)
        print(*key, f"{runs[-1]['test']:.2f}", flush=True)
    report(runs)


if __name__ == "__main__":
    main()
