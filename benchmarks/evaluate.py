"""Seconds to evaluate ng20 (3,892 queries, 11,678 documents, top 100), beside a plain numpy ranking of its codes."""

from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi.data import benchmark
from ammi.evaluate import precision_at_k
from ammi.hashers import LSH
from timing import save, seconds


def plain_precision(queries: np.ndarray, query_labels: np.ndarray, base: np.ndarray, base_labels: np.ndarray) -> float:
    """Every distance, a stable sort, and the labels of the first hundred."""
    shares = []
    for code, labels in zip(queries, query_labels, strict=True):
        distances = np.bitwise_count(base ^ code).sum(1)
        nearest = np.argsort(distances, kind="stable")[:100]
        shares.append((base_labels[nearest] & labels).any(1).mean())
    return float(np.mean(shares) * 100)


def main() -> None:
    data = benchmark("ng20")
    table = Table("bits", "ammi s", "plain numpy s", "times faster", title="Top-100 precision of ng20's test part")
    results = []
    for bits in (16, 64, 128):
        hasher = LSH(bits, random_state=0).fit(data.train)
        job = (hasher.encode(data.test), data.test_labels, hasher.encode(data.train), data.train_labels)
        assert np.isclose(precision_at_k(*job), plain_precision(*job))
        ours, plain = seconds(partial(precision_at_k, *job)), seconds(partial(plain_precision, *job), 1)
        table.add_row(str(bits), f"{ours:.3f}", f"{plain:.2f}", f"{plain / ours:.0f}")
        results.append({"bits": bits, "ammi_s": ours, "plain_s": plain, "ratio": plain / ours})
    Console().print(table)
    save("evaluate", results)


if __name__ == "__main__":
    main()
