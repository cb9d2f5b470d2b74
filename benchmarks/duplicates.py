"""Near-duplicates: planted copies found by ammi and by datasketch's MinHash LSH, on one thread each.

For each kind of copy its recall; over all of them the precision of pairs, the seconds and the memory that are taken
beyond the texts. datasketch gets the three-word phrases as sets and 128 permutations. What its LSH finds is compared,
phrase set with phrase set, and is a pair if it has the Jaccard similarity asked for. Seconds are of CPU, which a
machine that does other work, too, changes less than those of the clock.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import datasketch
from rich.console import Console
from rich.table import Table

from ammi.search.duplicates import duplicate_groups
from pieces import memory_mb, piece
from planted import KINDS, as_pair, phrases, plant
from timing import save

PERMUTATIONS = 128
REMEMBERED = 500  # sets of phrases, while pairs are compared
Pairs = set[tuple[int, int]]
Find = Callable[[list[str]], Pairs]


def ours(threshold: float) -> Find:
    def find(texts: list[str]) -> Pairs:
        blocks = (texts[start : start + 1000] for start in range(0, len(texts), 1000))
        groups = duplicate_groups(blocks, threshold)
        return {as_pair(group.kept, copy) for group in groups for copy, _ in group.duplicates}

    return find


def minhash_lsh(threshold: float) -> Find:
    def find(texts: list[str]) -> Pairs:
        lsh = datasketch.MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
        sets = ([" ".join(phrase).encode() for phrase in phrases(text)] for text in texts)
        found: Pairs = set()
        for position, sketch in enumerate(datasketch.MinHash.generator(sets, num_perm=PERMUTATIONS)):
            found |= {as_pair(other, position) for other in lsh.query(sketch)}
            lsh.insert(position, sketch)
        known = lru_cache(REMEMBERED)(lambda position: phrases(texts[position]))
        return {(a, b) for a, b in sorted(found) if jaccard(known(a), known(b)) >= threshold}

    return find


def jaccard(a: set[Any], b: set[Any]) -> float:
    return len(a & b) / max(len(a | b), 1)


# Where a share s of the words is left, here and there, s³ of the phrases are, and their Jaccard similarity is
# s³ / (2 - s³): 0.34 for 0.8, 0.12 for 0.6, and 0.2 for the copies of which 30 % were changed.
METHODS: dict[str, Find] = {
    "ammi, threshold 0.8": ours(0.8),
    "ammi, threshold 0.6": ours(0.6),
    "datasketch, Jaccard 0.34": minhash_lsh(0.34),
    "datasketch, Jaccard 0.2": minhash_lsh(0.2),
    "datasketch, Jaccard 0.12": minhash_lsh(0.12),
}
# The last stays with the fewest texts: the pairs that its LSH has to compare grow with the square of their number.
RUNS = {20_000: list(METHODS), 200_000: list(METHODS)[:-1], 1_000_000: list(METHODS)[:1]}


def measure(method: str, n_texts: int) -> dict[str, Any]:
    planted = plant(n_texts)
    find = METHODS[method]
    find(planted.texts[:100])  # compiles
    Path("/proc/self/clear_refs").write_text("5")  # forgets how much memory was in use at most, for the planting
    before = memory_mb("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    found = find(planted.texts)
    result: dict[str, Any] = {"method": method, "texts": n_texts, "seconds": time.perf_counter() - start}
    result["cpu_seconds"] = time.process_time() - cpu
    result["memory_mb"] = memory_mb("VmHWM") - before
    right = set().union(*planted.pairs.values())
    result["pairs"], result["wrong_pairs"] = len(found), len(found - right)
    result["precision"] = len(found & right) / max(len(found), 1)
    result["recall"] = len(found & right) / len(right)
    return result | {kind: len(found & pairs) / len(pairs) for kind, pairs in planted.pairs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="where what was measured is kept, for a run that goes on")
    parser.add_argument("--most", type=int, default=1_000_000, help="leave out runs of more texts")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    results = []
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        runs = ((n, method) for n, methods in RUNS.items() for method in methods if n <= arguments.most)
        for n_texts, method in runs:
            results.append(piece(home / f"{n_texts} texts, {method}.json", measure, method, n_texts))
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
