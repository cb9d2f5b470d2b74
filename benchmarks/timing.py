"""What the benchmarks share: the time of a job, the machine, and a JSON file beside the scripts."""

import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path


def seconds(job: Callable[[], object], repeats: int = 5) -> float:
    """The shortest time of a job, after one run to warm up: what else the machine does can only add to it."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> dict[str, object]:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "date": str(date.today()),
    }


def save(name: str, results: object) -> None:
    """Write benchmarks/results/NAME.json."""
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")
