"""Near-duplicates: planted copies found by ammi and by datasketch's MinHash LSH, on one thread each.

For each kind of copy its recall; over all of them the precision of pairs, the seconds and the memory that are taken
beyond the texts. datasketch gets the three-word phrases as sets, 128 permutations, and takes for pairs what its LSH
finds; once more with those left out of which its own estimate is below the threshold.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import datasketch
from rich.console import Console
from rich.table import Table

from ammi.search.copies import copy_groups
from planted import KINDS, as_pair, phrases, plant
from timing import save

BOTH, ALONE = (20_000, 200_000), 1_000_000  # texts: for both programs, and for ammi's default
PERMUTATIONS = 128
Pairs = set[tuple[int, int]]


def ours(threshold: float) -> Callable[[list[str]], Pairs]:
    def find(texts: list[str]) -> Pairs:
        blocks = (texts[start : start + 1000] for start in range(0, len(texts), 1000))
        groups = copy_groups(blocks, threshold)
        return {as_pair(group.kept, copy) for group in groups for copy, _ in group.copies}

    return find


def minhash_lsh(threshold: float, checked: bool) -> Callable[[list[str]], Pairs]:
    def find(texts: list[str]) -> Pairs:
        lsh = datasketch.MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
        sets = ([" ".join(phrase).encode() for phrase in phrases(text)] for text in texts)
        hashes = [sketch.copy() for sketch in datasketch.MinHash.generator(sets, num_perm=PERMUTATIONS)]
        found: Pairs = set()
        for position, sketch in enumerate(hashes):
            found |= {as_pair(other, position) for other in lsh.query(sketch)}
            lsh.insert(position, sketch)
        return {(a, b) for a, b in found if not checked or hashes[a].jaccard(hashes[b]) >= threshold}

    return find


METHODS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "ammi, threshold 0.8": (ours, (0.8,)),
    "ammi, threshold 0.6": (ours, (0.6,)),
    "datasketch, Jaccard 0.5": (minhash_lsh, (0.5, False)),
    "datasketch, Jaccard 0.2": (minhash_lsh, (0.2, False)),
    "datasketch, Jaccard 0.2, checked": (minhash_lsh, (0.2, True)),
}


def memory_mb(which: str) -> float:
    """What Linux calls VmRSS, the memory in use, or VmHWM, the most of it that there was."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))


def measure(method: str, n_texts: int) -> dict[str, Any]:
    planted = plant(n_texts)
    make, arguments = METHODS[method]
    find = make(*arguments)
    find(planted.texts[:100])  # compiles
    Path("/proc/self/clear_refs").write_text("5")  # forgets how much memory was in use at most, for the planting
    before = memory_mb("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    found = find(planted.texts)
    result: dict[str, Any] = {"method": method, "texts": n_texts, "seconds": time.perf_counter() - start}
    result["cpu_seconds"] = time.process_time() - cpu
    result["memory_mb"] = memory_mb("VmHWM") - before
    right = set().union(*planted.pairs.values())
    result["precision"] = len(found & right) / max(len(found), 1)
    result["recall"] = len(found & right) / len(right)
    return result | {kind: len(found & pairs) / len(pairs) for kind, pairs in planted.pairs.items()}


def main() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    results = []
    for n_texts, method in [*product(BOTH, METHODS), (ALONE, next(iter(METHODS)))]:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # so that each has its own memory
            results.append(pool.submit(measure, method, n_texts).result())
        save("duplicates", results)
    table = Table("texts", "method", "precision", "recall", *KINDS, "CPU seconds", "MB", title="Planted copies")
    for row in results:
        shares = [f"{row[name]:.3f}" for name in ("precision", "recall", *KINDS)]
        table.add_row(
            f"{row['texts']:,}", row["method"], *shares, f"{row['cpu_seconds']:.1f}", f"{row['memory_mb']:,.0f}"
        )
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
