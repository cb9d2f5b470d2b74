"""AMMI's defaults on collections that nothing was chosen on, short texts among them: top-100 precision, no label used.

Docstrings of Python packages and their first lines (labelled by subpackage), and one-line summaries of Debian's
packages (labelled by section, read with apt-cache, and left out where that is not there). Every fifth document is a
query. Runs are kept in results/unseen.json, and a run that is there is not run again.
"""

import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi import AMMI, ITQ
from ammi.data import every_tenth
from ammi.data.docstrings import docstring_records
from ammi.demo import PACKAGES
from ammi.evaluate import precision_at_k
from ammi.features import WordFeatures
from ammi.tuning.machine import machine

BITS = (32, 128)
COLLECTIONS = (
    "docstrings",
    "first lines of docstrings",
    *(["summaries of packages"] if shutil.which("apt-cache") else []),
)
MOST, FEWEST = 10_000, 100  # documents in all, and of a label
METHODS: dict[str, Any] = {
    "AMMI, default": lambda bits: AMMI(bits, random_state=0, verbose=False),
    "AMMI, neighbours by words alone": lambda bits: AMMI(bits, first_bits=0, random_state=0, verbose=False),
    "AMMI, documents alone": lambda bits: AMMI(bits, neighbours=0, entropy_weight=3.0, random_state=0, verbose=False),
    "ITQ": lambda bits: ITQ(bits, random_state=0),
}
RESULTS = Path(__file__).parent / "results" / "unseen.json"


def summaries() -> Iterator[tuple[str, str]]:
    """Of each Debian package its summary and its section."""
    shown = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    for record in shown.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in record.splitlines() if ": " in line)
        if "Description" in fields and "Section" in fields:
            yield fields["Description"], fields["Section"]


@cache
def collection(name: str) -> tuple[list[str], list[str]]:
    """Texts, no two the same, and a label of each."""
    if name == "summaries of packages":
        found = dict(summaries())
    else:
        short = name == "first lines of docstrings"
        records = docstring_records(PACKAGES)
        found = {one["text"].strip().split("\n")[0] if short else one["text"]: one["label"] for one in records}
    texts = sorted(found)
    np.random.default_rng(0).shuffle(texts)
    labels = np.array([found[text] for text in texts])
    names, counts = np.unique(labels, return_counts=True)
    kept = np.flatnonzero(np.isin(labels, names[counts >= FEWEST]))[:MOST]
    return [texts[i] for i in kept], labels[kept].tolist()


def run(name: str, bits: int, method: str) -> dict[str, Any]:
    texts, labels = collection(name)
    asked = every_tenth(len(texts)) | every_tenth(len(texts), nth=5)
    features = WordFeatures().fit([text for text, query in zip(texts, asked, strict=True) if not query])
    X, y = features.transform(texts), np.unique(labels, return_inverse=True)[1]
    start = time.process_time()
    hasher = METHODS[method](bits).fit(X[~asked])
    return {
        "collection": name,
        "documents": len(texts),
        "labels": len(set(labels)),
        "words": float(np.median(np.diff(X.indptr))),
        "bits": bits,
        "method": method,
        "precision": precision_at_k(hasher.encode(X[asked]), y[asked], hasher.encode(X[~asked]), y[~asked]),
        "cpu_seconds": time.process_time() - start,
        **machine(),
    }


def main() -> None:
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(one["collection"], one["bits"], one["method"]) for one in runs}
    for key in itertools.product(COLLECTIONS, BITS, METHODS):
        if key not in done:
            runs.append(run(*key))
            RESULTS.write_text(json.dumps(runs, indent=1) + "\n")
            print(*key, f"{runs[-1]['precision']:.2f}", flush=True)
    table = Table("collection", "documents", "labels", "words (median)", "bits", *METHODS)
    cells = {(one["collection"], one["bits"], one["method"]): one for one in runs}
    for name, bits in itertools.product(COLLECTIONS, BITS):
        row = [cells[name, bits, method] for method in METHODS]
        about = [f"{row[0][key]:,.0f}" for key in ("documents", "labels", "words", "bits")]
        table.add_row(name, *about, *(f"{one['precision']:.1f}" for one in row))
    Console().print(table)


if __name__ == "__main__":
    main()
