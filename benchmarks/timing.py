"""What the benchmarks share: the time of a job, and a JSON file beside the scripts."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from ammi.tuning.machine import machine


def seconds(job: Callable[[], object], repeats: int = 5) -> float:
    """The shortest time of a job, after one run to warm up: what else the machine does can only add to it."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def save(name: str, results: object) -> None:
    """Write benchmarks/results/NAME.json."""
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")


def save_part(name: str, part: str, results: object) -> None:
    """Write one part of benchmarks/results/NAME.json, and keep the others."""
    path = Path(__file__).parent / "results" / f"{name}.json"
    before = json.loads(path.read_text())["results"] if path.exists() else {}
    save(name, (before if isinstance(before, dict) else {}) | {part: results})
