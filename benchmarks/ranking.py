"""What a search for words costs among a million documents, and what the word index costs.

Documents are those of reuters and more, made of their sentences. A question is three words, drawn from all words of
four letters or more, so that hardly any is asked twice; it is asked once and alone, in one thread of a process that
asks for one rank. The word index is measured on the documents of reuters: seconds of a core to add them without it,
with it, and with an index of the words of texts alone: no stems, titles, parts of identifiers, or merged segments.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

import ammi
from ammi import AMMI, Collection, DocumentHasher
from ammi.data import corpus_path, read_documents
from ammi.search import HammingIndex
from ammi.search.embedded import embedded_tables
from pieces import memory_mb, piece
from timing import save

QUESTIONS, ASKED, WARMING, K, RUNS = 2000, 500, 20, 10, 5  # known items, and questions of three words
RANKS = ("text", "asymmetric", "distance")
WITHOUT, PLAIN, WITH = "no word index", "words of texts alone", "word index"


def known_items(name: str) -> tuple[list[str], list[tuple[str, int]]]:
    """The texts of a corpus, and questions with the position of the one document that has that title."""
    documents = list(read_documents(corpus_path(name)))
    texts = [document.text or "" for document in documents]
    key = "title" if name == "reuters" else "subject"
    titles = [re.sub(r"^((re|fwd?)\s*:\s*)+", "", document.metadata[key].strip(), flags=re.I) for document in documents]
    often = Counter(titles)
    single = [n for n, title in enumerate(titles) if title and often[title] == 1]
    unsaid = [n for n in single if titles[n] not in texts[n]]
    fresh = sorted(set(unsaid) - used_for_weights(single, unsaid))
    chosen = np.random.default_rng(2).choice(fresh, QUESTIONS, replace=False)
    return texts, [(titles[n], int(n)) for n in sorted(chosen)]


def used_for_weights(single: list[int], unsaid: list[int]) -> set[int]:
    """The draws of questions that were looked at when the weights of the score by words were chosen."""
    draws = ((0, single), (1, single), (0, unsaid))
    return {int(n) for seed, pool in draws for n in np.random.default_rng(seed).choice(pool, 1000, replace=False)}


def recombined(texts: list[str], n: int) -> Iterator[str]:
    """The texts, and then more, until there are n: each of sentences that were drawn from all of them."""
    yield from texts
    sentences = [sentence for text in texts for sentence in text.split(".\n") if sentence.strip()]
    rng, each = np.random.default_rng(1), round(len(sentences) / len(texts))
    for _ in range(n - len(texts)):
        yield ".\n".join(sentences[drawn] for drawn in rng.integers(0, len(sentences), each))


def fitted(name: str, texts: list[str], home: Path) -> DocumentHasher:
    """A model of 64 bits with the defaults, learned once for a home."""
    if not (home / name).exists():
        DocumentHasher(AMMI(64, random_state=0, verbose=False)).fit(texts).save(home / name)
    return ammi.load(home / name)


def build(n: int, home: Path) -> Path:
    """A collection of n documents, unless an earlier run has left it, and a file of words beside it."""
    texts, _ = known_items("reuters")
    location = home / f"served {n}"
    if not Collection.exists(location):
        with Collection.create(location, fitted("reuters", texts, home)) as collection:
            collection.add(
                {"text": text, "year": 1900 + i % 100} for i, text in enumerate(islice(recombined(texts, n), n))
            )
    words = sorted({word for text in texts for word in re.findall("[a-z]{4,}", text.lower())})
    (home / "words.txt").write_text("\n".join(words))
    return location


def three_words(rank: str, n: int, home: Path) -> dict[str, Any]:
    """Milliseconds of one core for each question of three words."""
    words = np.array((home / "words.txt").read_text().split())
    rng, times = np.random.default_rng(1), []
    with Collection.open(home / f"served {n}") as collection:
        for _ in range(ASKED + WARMING):
            question = " ".join(rng.choice(words, 3))
            start = time.process_time()
            collection.search(question, K, rank=rank)
            times.append(1000 * (time.process_time() - start))
    mean, median, late = np.mean(times[WARMING:]), np.median(times[WARMING:]), np.quantile(times[WARMING:], 0.95)
    figures = {"ms": float(mean), "median_ms": float(median), "p95_ms": float(late)}
    return {"rank": rank, "documents": n, **figures, "memory_mb": memory_mb("VmRSS")}


def cost_of_words(home: Path) -> dict[str, Any]:
    """Seconds of a core to add the documents of reuters, and the size of their index; of some runs the fastest."""
    texts, _ = known_items("reuters")
    model = fitted("reuters", texts, home)
    model.encode(texts[:10])
    results: dict[str, dict[str, float]] = {}
    for way in RUNS * (WITHOUT, PLAIN, WITH):
        with TemporaryDirectory(dir=home) as folder, ExitStack() as plainly:
            if way == PLAIN:
                plainly.enter_context(patch.object(embedded_tables, "searched_text", lambda id, text, metadata: text))
                plainly.enter_context(patch.object(embedded_tables.EmbeddedTables, "learn_words", lambda *of: None))
                plainly.enter_context(patch.object(HammingIndex, "optimize", lambda index: None))
            start = time.process_time()
            with Collection.create(Path(folder) / "location", model, text_index=way != WITHOUT) as collection:
                collection.add(texts)
            spent = time.process_time() - start
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            least = min(spent, results.get(way, {}).get("seconds_to_add", spent))
            results[way] = {"seconds_to_add": least, "megabytes": size / 1e6}
    return {"word_index": results, "texts_megabytes": sum(len(text.encode()) for text in texts) / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--home", type=Path, help="where models and what was measured are kept, for a run that goes on")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        home, n = arguments.home or Path(temporary), arguments.documents
        build(n, home)
        searches = [piece(home / f"three words of {n}, {rank}.json", three_words, rank, n, home) for rank in RANKS]
        costs = piece(home / "words.json", cost_of_words, home)
    table = Table("rank", "ms", "median ms", "95th percentile", "MB", title=f"three words, {n:,} documents")
    for row in searches:
        table.add_row(row["rank"], *(f"{row[key]:.2f}" for key in ("ms", "median_ms", "p95_ms", "memory_mb")))
    Console().print(table, costs)
    save("ranking", {"three_words": searches, **costs})


if __name__ == "__main__":
    main()
