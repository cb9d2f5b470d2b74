"""Make pairs for predictive hashing: find them in a corpus, split them, and write their matrices to a folder."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ammi.data import Document, pairing
from ammi.data.pairs import SPLITS, ArticlePairs, Pair, PairTexts, Record, check_place, write_pairs
from ammi.features import FeatureMaker, PieceFeatures
from ammi.search.duplicates import duplicate_groups
from ammi.tuning.display import SILENT, Advance, Bar

Kind = Literal["articles", "replies", "halves"]
Pairs = list[tuple[Record, Record]]

_ALIKE = 0.7  # similarity of two halves, of which one is left out: pairs of a test must not be known from training


@dataclass(frozen=True)
class PairPlan:
    """How to make pairs.

    Args:
        source: name of the documents, for config.json.
        kind: news articles on one event, messages and their replies, or halves of texts.
        days: most days between two articles of a pair.
        date: column of the articles' dates.
        vocabulary_size: largest number of SentencePiece units.
        held_out: share of pairs for validation, and again for the test; the vocabulary is learned from the rest.
        seed: seed of the random choice and order of pairs.
    """

    source: str
    kind: Kind = "articles"
    days: float = 14
    date: str = "date"
    vocabulary_size: int = 20_000
    held_out: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.held_out < 0.5:
            raise ValueError(f"held_out is {self.held_out}: expected a share above 0 and below 0.5")
        if not self.days >= 0:
            raise ValueError(f"days is {self.days}: expected 0 or more")

    def describe(self) -> dict[str, object]:
        """Return the plan as config.json has it, with only what the kind uses."""
        how: dict[Kind, dict[str, object]] = {
            "articles": {"replies": False, "days": self.days, "date": self.date},
            "replies": {"replies": True},
            "halves": {"halves": True},
        }
        learned = {"vocabulary_size": self.vocabulary_size, "held_out": self.held_out, "seed": self.seed}
        return {"source": self.source, **how[self.kind], **learned}


def build_pairs(
    documents: Iterable[Document], folder: str | Path, plan: PairPlan, progress: Bar = SILENT.bar
) -> dict[str, Any]:
    """Write pairs of related documents to a folder, and return its config.json.

    `progress(title, total)` returns a context with the function to call at each step, such as a bar.
    """
    check_place(Path(folder))
    with progress("reading", None) as advance:
        records = list(_records(documents, advance))
    with progress("finding pairs", None if plan.kind == "replies" else len(records)) as advance:
        pairs = _pairs(records, plan, advance)
    texts = _split(pairs, plan.held_out, plan.seed)
    features = PieceFeatures(plan.vocabulary_size, random_state=plan.seed)
    with progress("learning the vocabulary", None):
        features.fit(record["text"] for pair in texts["train"] for record in pair)
        matrices = ArticlePairs(*(_matrices(features, texts[split]) for split in SPLITS))
    return write_pairs(folder, matrices, texts, features, {**plan.describe(), "documents": len(records)})


def _pairs(records: list[Record], plan: PairPlan, advance: Advance) -> Pairs:
    if plan.kind == "halves":
        return _halves(records, advance)
    if plan.kind == "replies":
        return [_unquoted(records[i], records[j]) for i, j in pairing.replies(records, seed=plan.seed)]
    found = pairing.related_articles(records, days=plan.days, date=plan.date, seed=plan.seed, advance=advance)
    return [(records[i], records[j]) for i, j in found]


def _records(documents: Iterable[Document], advance: Advance) -> Iterator[Record]:
    for document in documents:
        yield {**document.metadata, "id": document.id, "text": document.text}
        advance(1)


def _unquoted(message: Record, reply: Record) -> tuple[Record, Record]:
    first, second = pairing.unquoted(message["text"], reply["text"])
    return {**message, "text": first}, {**reply, "text": second}


def _halves(records: list[Record], advance: Advance) -> Pairs:
    """Pair the halves of each text, except texts with a half that is a near-duplicate: it would have two partners.

    Quotes are removed from messages (records with a message_id) first.
    """
    pairs = []
    for record in records:
        text = pairing.without_quotes(record["text"]) if record.get("message_id") else record["text"]
        if cut := pairing.halves(text):
            first, second = ({**record, "id": f"{record['id']} {n}/2", "text": half} for n, half in enumerate(cut, 1))
            pairs.append((first, second))
        advance(1)
    groups = duplicate_groups([[half["text"] for pair in pairs for half in pair]], _ALIKE)
    repeated = {half // 2 for group in groups for half, _ in group.duplicates}
    return [pair for i, pair in enumerate(pairs) if i not in repeated]


def _split(pairs: Pairs, held_out: float, seed: int) -> PairTexts:
    """Shuffle the pairs and split them; validation and test get equally many."""
    n = int(held_out * len(pairs))
    if not n:
        raise ValueError(f"too few pairs were found to hold out {held_out:.0%} of them: {len(pairs)}")
    random.Random(seed).shuffle(pairs)
    return {"train": pairs[2 * n :], "cv": pairs[:n], "test": pairs[n : 2 * n]}


def _matrices(features: FeatureMaker, pairs: Pairs) -> Pair:
    X, Y = (features.transform(record["text"] for record in side) for side in zip(*pairs, strict=True))
    return X, Y
