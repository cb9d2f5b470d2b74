"""The machine and versions of a measurement, for files of results."""

import os
import platform
from datetime import date
from pathlib import Path

from ammi.version import __version__


def machine() -> dict[str, object]:
    """Return the processor, its cores, the versions and the date."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "ammi": __version__,
        "date": str(date.today()),
    }
