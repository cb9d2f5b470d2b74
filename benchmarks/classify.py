"""Few labels: `Collection.classify` on three collections, with 5, 10 and 20 labelled documents of each label.

The share of the other documents whose label is right, in percent, beside tf-idf with logistic regression of
scikit-learn, which has its best settings: words or words and pairs of words, and C of 0.1 to 1,000, both by
cross-validation on the labelled documents of each draw. A draw takes the labelled documents of each label at random.
Codes are learned from all texts, without labels. `ammi` with codes alone shows what these give by themselves.

Then outliers: 20 documents of another collection among 6,000 of one, before and after a model is learned, and how many
of them are among the first 20, 40 and 300. The settings of both were chosen on newsgroups, Reuters and their titles;
those of outliers on the pairs with * as well.
"""

import argparse
import gzip
import json
import os
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from ammi import AMMI, Collection, DocumentHasher
from timing import save_part

LABELLED = ("agnews", "dbpedia", "stackoverflow")
OF_EACH, DRAWS = (5, 10, 20), 5
C = [0.1, 1, 10, 100, 1000]
MOST, ODD = 6000, 20
FIRST = (20, 40, 300)
PAIRS = (
    ("newsgroups", "cranfield", True),
    ("agnews", "cacm", True),
    ("reuters", "newsgroups", True),
    ("stackoverflow", "agnews", True),
    ("dbpedia", "cisi", True),
    ("reuters", "cranfield", False),
    ("agnews", "stackoverflow", False),
    ("dbpedia", "newsgroups", False),
    ("stackoverflow", "lisa", False),
)


def read(name: str) -> list[dict[str, Any]]:
    folder = Path(os.environ["AMMI_DATA"])
    places = (folder / f"{name}.jsonl.gz", folder / "labelled" / f"{name}.jsonl.gz")
    place = next((path for path in places if path.exists()), folder / "retrieval" / name / "documents.jsonl.gz")
    with gzip.open(place, "rt") as lines:
        return [json.loads(line) for line in lines]


def fitted(texts: list[str]) -> DocumentHasher:
    return DocumentHasher(AMMI(64, random_state=0, verbose=False)).fit(texts)


def few_labels(name: str) -> list[dict[str, Any]]:
    """The accuracy of each way, for each number of labelled documents."""
    documents = read(name)
    texts, labels = [one["text"] for one in documents], np.array([one["label"] for one in documents])
    rows_of_pairs = {n: TfidfVectorizer(sublinear_tf=True, ngram_range=(1, n)).fit_transform(texts) for n in (1, 2)}
    results = []
    with TemporaryDirectory() as folder:
        model = fitted(texts)
        with (
            Collection.create(Path(folder) / "texts", model) as collection,
            Collection.create_for_codes(Path(folder) / "codes", 64, model.fingerprint_) as codes_alone,
        ):
            collection.add(texts, ids=range(len(texts)))
            codes_alone.add_codes(collection.codes()[1], range(len(texts)), fingerprint=model.fingerprint_)
            for n in OF_EACH:
                right: dict[str, list[float]] = {"ammi": [], "ammi, codes alone": [], "tf-idf": []}
                sure = []
                for seed in range(DRAWS):
                    rng = np.random.default_rng(seed)
                    chosen = [
                        row for one in sorted(set(labels)) for row in rng.permutation(np.flatnonzero(labels == one))[:n]
                    ]
                    known = {int(row): str(labels[row]) for row in chosen}
                    for way, of in (("ammi", collection), ("ammi, codes alone", codes_alone)):
                        found = of.classify(known)
                        hits = np.array([one.label == labels[one.id] for one in found])
                        right[way].append(100 * float(hits.mean()))
                        if way == "ammi":
                            half = len(hits) // 2  # the unsure ones come first
                            sure.append((100 * float(hits[:half].mean()), 100 * float(hits[half:].mean())))
                    others = np.setdiff1d(np.arange(len(texts)), chosen)
                    right["tf-idf"].append(rival(rows_of_pairs, labels, np.array(chosen), others))
                unsure_half, sure_half = np.mean(sure, axis=0).tolist()
                results.append(
                    {"labelled of each": n, "draws": right, "unsure half": unsure_half, "sure half": sure_half}
                )
                Console().print(name, n, {way: round(float(np.mean(each)), 2) for way, each in right.items()})
    return results


def rival(rows_of_pairs: dict[int, Any], labels: np.ndarray, chosen: np.ndarray, others: np.ndarray) -> float:
    """The accuracy of tf-idf and logistic regression with its best settings by cross-validation."""
    best: tuple[float, Any, Any] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for every_row in rows_of_pairs.values():
            rows = every_row[:, np.unique(every_row[chosen].indices)]  # the weights of all other columns would be 0
            search = GridSearchCV(LogisticRegression(max_iter=300), {"C": C}, cv=5)
            search.fit(rows[chosen], labels[chosen])
            if best is None or search.best_score_ > best[0]:
                best = search.best_score_, search.best_estimator_, rows
    assert best is not None
    _, model, rows = best
    return 100 * float((model.predict(rows[others]) == labels[others]).mean())


def outliers(base: str, other: str) -> dict[str, list[int]]:
    """How many of the odd documents are among the first, with a model learned without them and with them."""
    rng = np.random.default_rng(1)
    usual, long = read(base), [one["text"] for one in read(other) if len(one["text"]) > 60]
    texts = [usual[row]["text"] for row in rng.permutation(len(usual))[:MOST]]
    odd = [long[row] for row in rng.permutation(len(long))[:ODD]]
    found = {}
    for name, learned in (("added later", texts), ("learned, too", texts + odd)):
        with TemporaryDirectory() as folder, Collection.create(Path(folder) / "all", fitted(learned)) as collection:
            collection.add(texts + odd, ids=range(len(texts) + ODD))
            ids = [one.id for one in collection.outliers(max(FIRST))]
            found[name] = [sum(int(id) >= len(texts) for id in ids[:first]) for first in FIRST]
    return found


def show_labels(console: Console) -> None:
    results = {name: few_labels(name) for name in LABELLED}
    save_part("classify", "labels", results)
    table = Table("collection", "of each", *results[LABELLED[0]][0]["draws"], "unsure half", "sure half")
    for name, rows in results.items():
        for row in rows:
            cells = [f"{np.mean(each):.1f} ± {np.std(each):.1f}" for each in row["draws"].values()]
            halves = (f"{row['unsure half']:.1f}", f"{row['sure half']:.1f}")
            table.add_row(name, str(row["labelled of each"]), *cells, *halves)
    console.print(table)


def show_outliers(console: Console) -> None:
    rows: list[dict[str, Any]] = [
        {"base": base, "odd": odd, "chosen on": seen, **outliers(base, odd)} for base, odd, seen in PAIRS
    ]
    save_part("classify", "outliers", rows)
    table = Table("collection", "odd documents", "added later", "learned, too", title=f"of {ODD} in the first {FIRST}")
    for found in rows:
        counts = (" ".join(map(str, found[name])) for name in ("added later", "learned, too"))
        table.add_row(str(found["base"]), f"{found['odd']}{'*' if found['chosen on'] else ''}", *counts)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"labels": show_labels, "outliers": show_outliers}
    parser.add_argument("parts", nargs="*", help="labels, outliers; by default both")
    for part in parser.parse_args().parts or [*parts]:
        parts[part](Console())


if __name__ == "__main__":
    main()
