"""Pairs for predictive hashing from a corpus: found, shared out, turned into matrices, and kept as a folder."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from ammi.data import ArticlePairs, Document, pairing, write_pairs
from ammi.data.pairs import SPLITS, Pair, PairTexts, Record, check_place
from ammi.features import FeatureMaker, PieceFeatures
from ammi.search.duplicates import OF_TEXTS, duplicate_groups
from ammi.tuning.display import SILENT, Advance, Bar

Kind = Literal["articles", "replies", "halves"]
Pairs = list[tuple[Record, Record]]


def build_pairs(
    documents: Iterable[Document],
    folder: str | Path,
    *,
    source: str,
    kind: Kind = "articles",
    days: float = 14,
    date: str = "date",
    vocabulary_size: int = 20_000,
    held_out: float = 0.2,
    seed: int = 0,
    progress: Bar = SILENT.bar,
) -> dict[str, Any]:
    """Write pairs of related articles, of messages and their replies, or of halves of texts; return the config.json.

    `date` names the column of the dates, which two articles of a pair have at most `days` apart; other kinds need none.
    A share `held_out` of the pairs is for validation and another one for the test; the vocabulary and its weights are
    learned from the texts of the rest. `source` is what config.json calls the documents. `progress(step, total)` gives
    a context with the function to call at each step, such as a bar.
    """
    if not 0 < held_out < 0.5:
        raise ValueError(f"held_out is {held_out}: expected a share above 0 and below 0.5")
    if not days >= 0:
        raise ValueError(f"days is {days}: expected 0 or more")
    check_place(Path(folder))
    with progress("reading", None) as advance:
        records = list(_records(documents, advance))
    with progress("finding pairs", None if kind == "replies" else len(records)) as advance:
        if kind == "halves":
            pairs = _halves(records, advance)
        elif kind == "replies":
            pairs = [_unquoted(records[i], records[j]) for i, j in pairing.replies(records, seed=seed)]
        else:
            found = pairing.related_articles(records, days=days, date=date, seed=seed, advance=advance)
            pairs = [(records[i], records[j]) for i, j in found]
    texts = _split(pairs, held_out, seed)
    features = PieceFeatures(vocabulary_size, random_state=seed)
    with progress("learning the vocabulary", None):
        features.fit(record["text"] for pair in texts["train"] for record in pair)
        matrices = ArticlePairs(*(_matrices(features, texts[split]) for split in SPLITS))
    how: dict[Kind, dict[str, Any]] = {
        "articles": {"replies": False, "days": days, "date": date},
        "replies": {"replies": True},
        "halves": {"halves": True},
    }
    about = {"source": source, "documents": len(records), **how[kind]}
    about |= {"vocabulary_size": vocabulary_size, "held_out": held_out, "seed": seed}
    return write_pairs(folder, matrices, texts, features, about)


def _records(documents: Iterable[Document], advance: Advance) -> Iterator[Record]:
    for document in documents:
        yield {**document.metadata, "id": document.id, "text": document.text}
        advance(1)


def _unquoted(message: Record, reply: Record) -> tuple[Record, Record]:
    first, second = pairing.unquoted(message["text"], reply["text"])
    return {**message, "text": first}, {**reply, "text": second}


def _halves(records: list[Record], advance: Advance) -> Pairs:
    """Both halves of each text, but for texts of which a half is a copy of another one: that would have two partners.

    Of a message, which has a message_id, what it quotes is left out before it is cut.
    """
    pairs = []
    for record in records:
        text = pairing.without_quotes(record["text"]) if record.get("message_id") else record["text"]
        if cut := pairing.halves(text):
            first, second = ({**record, "id": f"{record['id']} {n}/2", "text": half} for n, half in enumerate(cut, 1))
            pairs.append((first, second))
        advance(1)
    groups = duplicate_groups([[half["text"] for pair in pairs for half in pair]], OF_TEXTS)
    repeated = {half // 2 for group in groups for half, _ in group.duplicates}
    return [pair for i, pair in enumerate(pairs) if i not in repeated]


def _split(pairs: Pairs, held_out: float, seed: int) -> PairTexts:
    """The pairs in random order, shared out: as many for validation as for the test."""
    n = int(held_out * len(pairs))
    if not n:
        raise ValueError(f"too few pairs were found to hold out {held_out:.0%} of them: {len(pairs)}")
    random.Random(seed).shuffle(pairs)
    return {"train": pairs[2 * n :], "cv": pairs[:n], "test": pairs[n : 2 * n]}


def _matrices(features: FeatureMaker, pairs: Pairs) -> Pair:
    X, Y = (features.transform(record["text"] for record in side) for side in zip(*pairs, strict=True))
    return X, Y
