"""Known items: a document's title must find the document, by every rank, beside plain BM25 and tf-idf cosine over all.

Titles of reuters and subjects of newsgroups are the questions; they are not in the texts that are searched. The same
questions are asked again among so many more documents, which are made of the sentences of real ones. Each question is
asked alone, in one thread. It ends with the demo's questions, and with what the word index costs.
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
from rich.console import Console
from rich.table import Table
from scipy.sparse import vstack

import ammi
from ammi import AMMI, Collection, DocumentHasher
from ammi.data import corpus_path, read_documents
from ammi.data.docstrings import docstring_records
from ammi.features import WordFeatures
from ammi.features.alphabet import words_of
from timing import save

QUESTIONS, DEPTH, TIMED, BLOCK = 1000, 100, 200, 1000
RANKS = ("distance", "asymmetric", "text")
DEMO = {"inverse of a matrix": ("numpy.linalg.inv", "scipy.linalg.inv")}
Ask = Callable[[str, int], list[int]]  # a question and a number k: the positions of the k best documents


def known_items(name: str) -> tuple[list[str], list[tuple[str, int]]]:
    """The texts of a corpus, and questions with the position of the one document that has that title."""
    documents = list(read_documents(corpus_path(name)))
    texts = [document.text for document in documents]
    key = "title" if name == "reuters" else "subject"
    titles = [re.sub(r"^((re|fwd?)\s*:\s*)+", "", document.metadata[key].strip(), flags=re.I) for document in documents]
    often = Counter(titles)
    alone = [n for n, title in enumerate(titles) if title and often[title] == 1 and title not in texts[n]]
    chosen = np.random.default_rng(0).choice(alone, QUESTIONS, replace=False)
    return texts, [(titles[n], int(n)) for n in sorted(chosen)]


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
    blocks = iter(lambda: list(islice(texts, 10 * BLOCK)), [])
    columns = vstack([features.transform(block) for block in blocks]).T.tocsr()

    def ask(question: str, k: int) -> list[int]:
        scores = (features.transform([question]) @ columns).toarray()[0]
        best = np.argpartition(-scores, k)[:k]
        return best[np.lexsort((best, -scores[best]))].tolist()

    return ask


def measured(ask: Ask, questions: list[tuple[str, int]]) -> dict[str, float]:
    """Mean reciprocal rank among the first DEPTH, recall at 10, and milliseconds of a core for one question with ten answers."""
    ranks = []
    for question, right in questions:
        found = ask(question, DEPTH)
        ranks.append(1 + found.index(right) if right in found else np.inf)
    times = []
    for question, _ in questions[:TIMED]:
        start = time.process_time()
        ask(question, 10)
        times.append(1000 * (time.process_time() - start))
    reciprocal = float(np.mean(1 / np.array(ranks)))
    recall = float(np.mean(np.array(ranks) <= 10))
    return {
        "mrr": reciprocal,
        "recall_at_10": recall,
        "ms": float(np.mean(times)),
        "median_ms": float(np.median(times)),
    }


def compare(name: str, n: int, home: Path, console: Console) -> list[dict[str, Any]]:
    """Every way to answer, on a corpus of n documents."""
    texts, questions = known_items(name)
    n = n or len(texts)
    model = fitted(name, texts, home)
    results = []

    def note(way: str, ask: Ask) -> None:
        results.append({"corpus": name, "documents": n, "rank": way, **measured(ask, questions)})
        console.print(results[-1])

    with TemporaryDirectory(dir=home) as folder, Collection.create(Path(folder) / "place", model) as collection:
        collection.add(recombined(texts, n))
        for rank in RANKS:
            note(rank, lambda text, k, rank=rank: [hit.id for hit in collection.search(text, k, rank=rank)])
    note("BM25 over all (bm25s)", by_bm25(recombined(texts, n)))
    note("tf-idf cosine over all", by_cosine(model.features_, recombined(texts, n)))
    return results


def demo(home: Path) -> list[dict[str, Any]]:
    """Where the right answers to the demo's question stand."""
    records = list(docstring_records())
    model = fitted("docstrings", [record["text"] for record in records], home)
    results = []
    with TemporaryDirectory(dir=home) as folder, Collection.create(Path(folder) / "place", model) as collection:
        collection.add(records)
        for question, right in DEMO.items():
            for rank in RANKS:
                found = [hit.id for hit in collection.search(question, 1000, rank=rank)]
                places = {id: found.index(id) + 1 if id in found else None for id in right}
                results.append({"question": question, "rank": rank, "places": places, "first": found[:5]})
    return results


def cost_of_words(home: Path) -> list[dict[str, Any]]:
    """Seconds to add the documents of reuters, and the size of their index, with a word index and without."""
    texts, _ = known_items("reuters")
    model, results = fitted("reuters", texts, home), []
    model.encode(texts[:10])
    for text_index in (False, True):
        with TemporaryDirectory(dir=home) as folder:
            start = time.perf_counter()
            with Collection.create(Path(folder) / "place", model, text_index=text_index) as collection:
                collection.add(texts)
            spent = time.perf_counter() - start
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            results.append({"text_index": text_index, "seconds_to_add": spent, "megabytes": size / 1e6})
    results.append({"texts_megabytes": sum(len(text.encode()) for text in texts) / 1e6})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000, help="of the large corpus; 0 leaves it out")
    parser.add_argument("--home", type=Path, help="where models are kept for the next run")
    arguments = parser.parse_args()
    console = Console(width=160)
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        words, questions = cost_of_words(home), demo(home)
        sizes = [("reuters", 0), ("newsgroups", 0)] + [("reuters", arguments.documents)] * bool(arguments.documents)
        found = [result for name, n in sizes for result in compare(name, n, home, console)]
    table = Table("corpus", "documents", "rank", "MRR", "recall at 10", "ms", "median ms")
    for row in found:
        figures = (f"{row['mrr']:.3f}", f"{row['recall_at_10']:.3f}", f"{row['ms']:.2f}", f"{row['median_ms']:.2f}")
        table.add_row(row["corpus"], f"{row['documents']:,}", row["rank"], *figures)
    console.print(table, questions, words)
    save("ranking", {"known_items": found, "demo": questions, "word_index": words})


if __name__ == "__main__":
    main()
