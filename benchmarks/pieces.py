"""A long benchmark in pieces, each measured in a process of its own and kept, so that a run goes on where it ended."""

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ammi.files import write_json


def piece(path: Path, measure: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """What a measurement gives, or gave when it was kept in this file."""
    if not path.exists():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # so that each has its own memory
            write_json(path, pool.submit(measure, *arguments).result())
    kept: dict[str, Any] = json.loads(path.read_text())
    return kept


def memory_mb(which: str) -> float:
    """What Linux calls VmRSS, the memory in use, or VmHWM, the most of it that there was."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))
