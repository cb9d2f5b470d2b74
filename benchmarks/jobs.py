"""Subject and kind: top-100 precision of codes of words, by labels of either sort, with AMMI, with ITQ and with halves.

Docstrings of Python packages have both labels: the subpackage (subject) and module, class or function (kind). Sections
of Debian's packages are either kinds or subjects (read with apt-cache, and left out where that is not there). The other
collections are labelled by subject. A fifth of at most 6,000 documents is asked for, the rest is learned from and
searched, without labels. Half of a code by each method is what `DocumentHasher(AMMI(m), beside=DocumentHasher(ITQ(m)))`
makes.
"""

import argparse
import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi import AMMI, ITQ
from ammi.data.docstrings import docstring_records
from ammi.evaluate import label_matrix, precision_at_k
from ammi.features import WordFeatures
from pieces import piece
from timing import save
from unseen import summaries

MOST, PARTS = 6000, (32, 64, 128)
SUBJECTS = {
    "newsgroups": "newsgroups.jsonl.gz",
    "reuters": "reuters.jsonl.gz",
    "AG News": "labelled/agnews.jsonl.gz",
    "StackOverflow": "labelled/stackoverflow.jsonl.gz",
}
DOCSTRINGS, DEBIAN = "docstrings", "Debian"
KINDS = {"libs", "libdevel", "doc", "python", "perl", "haskell", "rust", "golang", "javascript", "java", "ruby", "php"}
SECTIONS = {
    "games",
    "sound",
    "science",
    "graphics",
    "fonts",
    "web",
    "math",
    "mail",
    "editors",
    "database",
    "video",
    "net",
}
WAYS = [f"{method}, {bits} bits" for bits in (64, 128) for method in ("AMMI", "ITQ", "half AMMI, half ITQ")]


def documents(name: str) -> tuple[list[str], dict[str, list[Any]]]:
    """Texts, and their labels of each sort."""
    records: list[dict[str, Any]]
    if name == DOCSTRINGS:
        records = [*docstring_records()]
        sorts = {"docstrings, kind": "kind", "docstrings, subject": "label"}
    elif name == DEBIAN:
        found = [(text, section) for text, section in dict(summaries()).items() if section in KINDS | SECTIONS]
        records = [{"text": text, "kind" if section in KINDS else "subject": section} for text, section in found]
        sorts = {"Debian packages, kind": "kind", "Debian packages, subject": "subject"}
    else:
        with gzip.open(Path(os.environ["AMMI_DATA"]) / SUBJECTS[name], "rt") as lines:
            records = [record for line in lines if (record := json.loads(line)).get("labels") or record.get("label")]
        sorts = {name: "labels" if "labels" in records[0] else "label"}
    chosen = np.random.default_rng(0).permutation(len(records))[:MOST]
    texts = [records[row]["text"] for row in chosen]
    return texts, {sort: [records[row].get(key) for row in chosen] for sort, key in sorts.items()}


def measured(name: str) -> dict[str, Any]:
    """Precision of every way on a collection, by each sort of labels."""
    texts, labels = documents(name)
    asked = np.arange(len(texts)) % 5 == 4
    features = WordFeatures().fit([text for text, is_asked in zip(texts, asked, strict=True) if not is_asked])
    X = features.transform(texts)
    codes = {}
    for bits in PARTS:
        codes["AMMI", bits] = AMMI(bits, random_state=0, verbose=False).fit(X[~asked]).encode(X)
        codes["ITQ", bits] = ITQ(bits, random_state=0).fit(X[~asked]).encode(X)
    ways = {f"{method}, {bits} bits": made for (method, bits), made in codes.items() if bits in (64, 128)}
    for bits in (64, 128):
        both = [codes[method, bits // 2] for method in ("AMMI", "ITQ")]
        ways[f"half AMMI, half ITQ, {bits} bits"] = np.hstack(both)
    found: dict[str, Any] = {}
    for sort, names in labels.items():
        L, queries = label_matrix(names), asked & np.array([name is not None for name in names])
        found[sort] = {
            way: precision_at_k(made[queries], L[queries], made[~asked], L[~asked], 100) for way, made in ways.items()
        }
    return found


def rows(home: Path) -> Iterator[dict[str, Any]]:
    home.mkdir(parents=True, exist_ok=True)
    for name in (DOCSTRINGS, *([DEBIAN] if shutil.which("apt-cache") else []), *SUBJECTS):
        for sort, found in piece(home / f"{name}.json", measured, name).items():
            yield {"labels": sort, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="where what was measured is kept, for the next run")
    results = [*rows(parser.parse_args().home)]
    save("jobs", results)
    table = Table("labels", *WAYS)
    for row in results:
        table.add_row(row["labels"], *(f"{row[way]:.1f}" for way in WAYS))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
