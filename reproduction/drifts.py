"""Table 3: articles at growing distance from chosen ones, and how often articles at a distance share a label."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from ammi.data.pairs import SPLITS, ArticlePairs, PairTexts, Record
from ammi.evaluate import drift, label_matrix
from ammi.hashers import Hasher

CHOSEN: dict[str, tuple[str | int, ...]] = {  # articles to start from, of different subjects, from the test parts
    "reuters-pairs": (21216, 6957, 9315, 11826),
    "newsgroup-replies": ("sci.med/58810", "rec.sport.baseball/104376", "sci.crypt/15817", "talk.religion.misc/84253"),
    "article-halves": ("19684 1/2", "12135 1/2", "sci.space/60935 1/2", "rec.sport.hockey/54367 1/2"),
}
QUERIES = 500
STEP = 5  # bits between two points of the figure


class Article(TypedDict):
    """What a reader judges an article by."""

    id: str | int
    title: str
    labels: list[str]
    beginning: str


class Step(Article):
    """An article of a walk, with its distance from the start."""

    distance: int


Walk = TypedDict("Walk", {"from": Article, "steps": list[Step]})  # an article, and others at growing distance


class Agreement(TypedDict):
    """Articles at least `distance` bits apart: how many pairs, and the percentage with a label in common."""

    distance: int
    pairs: int
    shared: float


class Drift(TypedDict):
    """Table 3 for a set of pairs.

    `farther` has, for each of some articles, how many bits farther away articles without a common label are on average
    than those with one.
    """

    walks: list[Walk]
    agreement: list[Agreement]
    farther: list[float]


def drift_of(name: str, pairs: ArticlePairs, texts: PairTexts, hasher: Hasher) -> Drift:
    """Walk from the chosen articles of a set, and count how often articles at each distance share a label."""
    records = [pair[side] for split in SPLITS for side in (0, 1) for pair in texts[split]]
    codes = np.concatenate([hasher.encode(getattr(pairs, split)[side]) for split in SPLITS for side in (0, 1)])
    positions = {record["id"]: position for position, record in enumerate(records)}
    starts = [positions[id] for id in CHOSEN.get(name, ()) if id in positions] or [len(records) - 1]
    distances, shared = _distances(codes, [record.get("labels") for record in records])
    return {
        "walks": [_walk(start, codes, records) for start in starts],
        "agreement": _agreement(distances, shared),
        "farther": _farther(distances, shared),
    }


def _walk(start: int, codes: np.ndarray, records: Sequence[Record]) -> Walk:
    others = np.delete(np.arange(len(codes)), start)
    steps = drift(codes[start], codes[others])
    return {
        "from": _article(records[start]),
        "steps": [{"distance": step.distance, **_article(records[others[step.position]])} for step in steps],
    }


def _article(record: Record) -> Article:
    title = record.get("title") or record.get("subject") or ""
    return {
        "id": record["id"],
        "title": title,
        "labels": record.get("labels") or [],
        "beginning": " ".join(record["text"].removeprefix(title).split())[:160],
    }


def _distances(codes: np.ndarray, labels: Sequence[object]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of some labelled articles to all, -1 to themselves, and whether they share a label."""
    targets = label_matrix(labels)
    labelled = np.flatnonzero(np.diff(targets.indptr))
    codes, rows = codes[labelled], targets[labelled].astype(np.int32)
    queries = np.random.default_rng(0).permutation(len(codes))[:QUERIES]
    distances = np.bitwise_count(codes[queries][:, None] ^ codes).sum(-1, dtype=np.int64)
    distances[np.arange(len(queries)), queries] = -1  # an article is no neighbour of itself
    return distances, (rows[queries] @ rows.T).toarray() > 0


def _agreement(distances: np.ndarray, shared: np.ndarray) -> list[Agreement]:
    """Count, for each distance in steps of 5 bits, the pairs of articles and those with a label in common."""
    steps = range(0, int(distances.max()) + 1, STEP)
    inside = [(start, (distances >= start) & (distances < start + STEP)) for start in steps]
    return [
        {"distance": start, "pairs": int(there.sum()), "shared": float(shared[there].mean() * 100)}
        for start, there in inside
        if there.any()
    ]


def _farther(distances: np.ndarray, shared: np.ndarray) -> list[float]:
    """Return the mean distance to articles without a common label minus that to those with one, query by query."""
    differences = []
    for away, common in zip(distances, shared, strict=True):
        near, far = away[common & (away >= 0)], away[~common]
        if len(near) and len(far):
            differences.append(round(float(far.mean() - near.mean()), 3))
    return differences
