"""Known items: a document's title must find the document, by every rank, beside plain BM25 and tf-idf cosine over all.

Titles of reuters and subjects of newsgroups are the questions; they are not in the texts that are searched. The same
questions are asked again among so many more documents, which are made of the sentences of real ones. Each question is
asked once and alone, in one thread of a process that answers in no other way. It ends with the demo's questions, and
with what the word index costs.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.sparse import vstack

import ammi
from ammi import AMMI, Collection, DocumentHasher
from ammi.data import corpus_path, read_documents
from ammi.data.docstrings import docstring_records
from ammi.features import WordFeatures
from ammi.features.alphabet import words_of
from pieces import memory_mb, piece
from timing import save

QUESTIONS, K, BLOCK = 2000, 10, 10_000
RANKS = ("distance", "asymmetric", "text")
BM25, COSINE = "BM25 over all (bm25s)", "tf-idf cosine over all"
DEMO = {"inverse of a matrix": ("numpy.linalg.inv", "scipy.linalg.inv")}
Ask = Callable[[str, int], list[int]]  # a question and a number k: the positions of the k best documents


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


def by_bm25(texts: Iterator[str]) -> Ask:
    """BM25 over all documents, by bm25s."""
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(word, len(vocabulary)) for word in words_of(text)] for text in texts]
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index((numbers, vocabulary), show_progress=False)

    def ask(question: str, k: int) -> list[int]:
        words = [word for word in dict.fromkeys(words_of(question)) if word in vocabulary]
        return index.retrieve([words], k=k, show_progress=False).documents[0].tolist() if words else []

    return ask


def by_cosine(features: WordFeatures, texts: Iterator[str]) -> Ask:
    """The cosine of tf-idf rows over all documents, by the lists of documents that have a word."""
    blocks = iter(lambda: list(islice(texts, BLOCK)), [])
    columns = vstack([features.transform(block) for block in blocks]).T.tocsr()

    def ask(question: str, k: int) -> list[int]:
        scores = (features.transform([question]) @ columns).toarray()[0]
        best = np.argpartition(-scores, k)[:k]
        return best[np.lexsort((best, -scores[best]))].tolist()

    return ask


def by_rank(collection: Collection, rank: str) -> Ask:
    """A rank of a collection whose ids are the positions of the documents."""
    return lambda question, k: [int(hit.id) for hit in collection.search(question, k, rank=rank)]


def measured(ask: Ask, questions: list[tuple[str, int]]) -> dict[str, Any]:
    """The reciprocal rank of each answer among the first K, or 0, and milliseconds of a core for each question."""
    ask(questions[0][0], K)  # reads what is read once
    reciprocal_ranks, times = [], []
    for question, right in questions:
        start = time.process_time()
        found = ask(question, K)
        times.append(1000 * (time.process_time() - start))
        reciprocal_ranks.append(1 / (1 + found.index(right)) if right in found else 0.0)
    return {
        "mrr": float(np.mean(reciprocal_ranks)),
        "recall_at_10": float(np.mean(np.array(reciprocal_ranks) > 0)),
        "ms": float(np.mean(times)),
        "median_ms": float(np.median(times)),
        "memory_mb": memory_mb("VmRSS"),
        "reciprocal_ranks": reciprocal_ranks,
    }


def build(name: str, n: int, home: Path) -> dict[str, Any]:
    """Fill the collection of a corpus of n documents, from where an earlier run ended."""
    texts, _ = known_items(name)
    location, model = home / f"{name} {n}", fitted(name, texts, home)
    start = time.process_time()
    with Collection.open(location) if Collection.exists(location) else Collection.create(location, model) as collection:
        collection.add(islice(recombined(texts, n), len(collection), None))
    return {"seconds": time.process_time() - start}


def answer(name: str, n: int, way: str, home: Path) -> dict[str, Any]:
    """The questions of a corpus of n documents, answered in one way."""
    texts, questions = known_items(name)
    if way in RANKS:
        with Collection.open(home / f"{name} {n}") as collection:
            found = measured(by_rank(collection, way), questions)
    elif way == BM25:
        found = measured(by_bm25(recombined(texts, n)), questions)
    else:
        found = measured(by_cosine(fitted(name, texts, home).features_, recombined(texts, n)), questions)
    return {"corpus": name, "documents": n, "rank": way, **found}


def compare(name: str, n: int, home: Path) -> list[dict[str, Any]]:
    """Every way to answer on a corpus of n documents, and what its MRR is beyond that of BM25."""
    piece(home / f"{name} {n} built.json", build, name, n, home)
    ways = (*RANKS, BM25, COSINE)
    found = {way: piece(home / f"{name} {n}, {way}.json", answer, name, n, way, home) for way in ways}
    ranks = {way: np.array(row.pop("reciprocal_ranks")) for way, row in found.items()}
    for way, row in found.items():
        row["mrr_beyond_bm25"] = interval(ranks[way] - ranks[BM25])
    return list(found.values())


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of paired differences lies in it with 95 %."""
    mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))
    return float(mean - 1.96 * error), float(mean + 1.96 * error)


def demo(home: Path) -> dict[str, Any]:
    """Where the right answers to the demo's question stand."""
    records = list(docstring_records())
    model = fitted("docstrings", [record["text"] for record in records], home)
    results = []
    with TemporaryDirectory(dir=home) as folder, Collection.create(Path(folder) / "location", model) as collection:
        collection.add(records)
        for question, right in DEMO.items():
            for rank in RANKS:
                found = [hit.id for hit in collection.search(question, 1000, rank=rank)]
                places = {id: found.index(id) + 1 if id in found else None for id in right}
                results.append({"question": question, "rank": rank, "places": places, "first": found[:5]})
    return {"demo": results}


def cost_of_words(home: Path) -> dict[str, Any]:
    """Seconds to add the documents of reuters, and the size of their index, with a word index and without."""
    texts, _ = known_items("reuters")
    model, results = fitted("reuters", texts, home), []
    model.encode(texts[:10])
    for text_index in (False, True):
        with TemporaryDirectory(dir=home) as folder:
            start = time.perf_counter()
            with Collection.create(Path(folder) / "location", model, text_index=text_index) as collection:
                collection.add(texts)
            spent = time.perf_counter() - start
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            results.append({"text_index": text_index, "seconds_to_add": spent, "megabytes": size / 1e6})
    return {"word_index": results, "texts_megabytes": sum(len(text.encode()) for text in texts) / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000, help="of the large corpus; 0 leaves it out")
    parser.add_argument("--home", type=Path, help="where models and what was measured are kept, for a run that goes on")
    arguments = parser.parse_args()
    console = Console(width=160)
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        sizes = [("reuters", 21_578), ("newsgroups", 19_466), ("reuters", arguments.documents)]
        found = [result for name, n in sizes if n for result in compare(name, n, home)]
        more = piece(home / "demo.json", demo, home) | piece(home / "words.json", cost_of_words, home)
    table = Table("corpus", "documents", "rank", "MRR", "beyond BM25", "recall at 10", "ms", "median ms", "MB")
    for row in found:
        beyond = "{:+.3f} to {:+.3f}".format(*row["mrr_beyond_bm25"])
        figures = (f"{row['mrr']:.3f}", beyond, f"{row['recall_at_10']:.3f}", f"{row['ms']:.2f}")
        cost = (f"{row['median_ms']:.2f}", f"{row['memory_mb']:,.0f}")
        table.add_row(row["corpus"], f"{row['documents']:,}", row["rank"], *figures, *cost)
    console.print(table, more)
    save("ranking", {"known_items": found, **more})


if __name__ == "__main__":
    main()
