"""On what a figure was measured: it goes into every file of results."""

import os
import platform
from datetime import date
from pathlib import Path

from ammi.version import __version__


def machine() -> dict[str, object]:
    """The processor, its cores, and the versions and the date of a run."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "ammi": __version__,
        "date": str(date.today()),
    }
