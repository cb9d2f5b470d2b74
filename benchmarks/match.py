"""`Collection.match`: 400 newsgroup texts, most of them changed copies, looked up among all others.

For each kind of copy, the share whose original is named as its near-duplicate, at two thresholds, and the share whose
original is the nearest document. New texts have no near-duplicate: here the share of those for which none is named.
"""

import time
from operator import eq
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi import ITQ, Collection, DocumentHasher
from planted import KINDS, copy_of, real_texts, usable_sentences
from timing import save

OF_EACH = 50  # texts of each kind, and new ones
THRESHOLDS = (0.9, 0.6)


def right(found: list[Any], originals: list[Any]) -> float:
    return sum(map(eq, found, originals)) / len(originals)


def main() -> None:
    texts = real_texts()
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(texts)).tolist()
    fresh, originals, known = chosen[:OF_EACH], iter(chosen[OF_EACH:]), sorted(chosen[OF_EACH:])
    words, parts = [word for text in texts for word in text.split()], usable_sentences([texts[n] for n in known])
    rows: list[dict[str, Any]] = [{"kind": "new", "texts": [texts[n] for n in fresh], "originals": [None] * OF_EACH}]
    for kind in KINDS:
        sources = [next(originals) for _ in range(OF_EACH)]
        copies = [copy_of(texts[n], kind, words, parts, rng) for n in sources]
        rows.append({"kind": kind, "texts": copies, "originals": sources})
    new = [text for row in rows for text in row["texts"]]
    with TemporaryDirectory() as folder:
        model = DocumentHasher(ITQ(64, random_state=0)).fit([texts[n] for n in known])
        with Collection.create(Path(folder) / "known", model) as collection:
            collection.add([texts[n] for n in known], ids=known)
            list(collection.match(new[:10]))  # compiles
            found, cpu = {}, time.process_time()
            for threshold in THRESHOLDS:
                found[threshold] = list(collection.match(new, threshold=threshold))
            cpu = (time.process_time() - cpu) / len(THRESHOLDS)
    results = []
    for number, row in enumerate(rows):
        own = slice(number * OF_EACH, (number + 1) * OF_EACH)
        result: dict[str, Any] = {"kind": row["kind"]}
        for threshold, matches in found.items():
            named = [match.duplicate and match.duplicate[0] for match in matches[own]]
            result[f"near-duplicate at {threshold}"] = right(named, row["originals"])
        nearest = [match.nearest[0].id for match in matches[own]]
        result["nearest"] = None if row["kind"] == "new" else right(nearest, row["originals"])
        results.append(result)
    save("match", {"known": len(known), "new": len(new), "cpu_seconds": cpu, "kinds": results})
    table = Table(*results[0], title=f"{len(new)} of {len(known):,} texts, {cpu:.1f} s of one core")
    for result in results:
        table.add_row(*("" if value is None else str(value) for value in result.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
