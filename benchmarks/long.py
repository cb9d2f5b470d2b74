"""Long texts: questions whose answer stands in the middle of one.

Three test collections, each document between four newsgroup messages, so that it is a fifth of a text; and threads of
newsgroups, from which one message of each was taken: forty of its own words must find the thread. `ammi` is
`Collection.search` as users call it. Beside it the score of whole texts alone, and windows as documents of their own,
each with a code, by a model that was learned from them: a text is as good as its best window.
"""

import argparse
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi import AMMI, Collection, DocumentHasher
from ammi.data import Document, corpus_path, read_documents
from ammi.search import ranking
from retrieval import DEEP, Ask, Questions, figures, interval, load
from timing import save

NAMES = ("cranfield", "cacm", "cisi", "threads")
WAYS = WHOLE, WINDOWS, OURS = "whole texts alone", "windows as documents", "ammi"
LENGTH, STEP = ranking.WINDOW, 800  # characters of a window, and to the next one
FILLED = 1500  # characters of a message beside a document
ASKED, FEWEST, LONGEST, SHORTEST = 400, 4, 40, 20  # threads; messages of one; words of a question, most and fewest


@cache
def messages() -> list[Document]:
    return list(read_documents(corpus_path("newsgroups")))


def buried(name: str) -> Questions:
    """A test collection, each document between other texts."""
    data, rng = load(name), np.random.default_rng(1)
    others = [(message.text or "")[:FILLED] for message in messages()[::4]]

    def beside() -> list[str]:
        return [others[row] for row in rng.integers(0, len(others), 2)]

    texts = ["\n\n".join([*beside(), text, *beside()]) for text in data.texts]
    return Questions(texts, data.questions, data.answers)


def threads() -> Questions:
    """Messages of one subject as one text; a message from the middle of a thread asks for it."""
    groups: dict[tuple[str, str], list[str]] = {}
    for message in messages():
        subject = re.sub(r"(?i)^((re|fwd?)\s*:\s*)+", "", message.metadata["subject"]).strip().lower()
        groups.setdefault((subject, message.metadata["labels"][0]), []).append(message.text or "")
    texts: list[str] = []
    asked: list[tuple[str, int]] = []
    for (subject, _), thread in groups.items():
        if len(thread) >= FEWEST and subject:
            lines = thread.pop(len(thread) // 2).splitlines()
            quoted = re.compile(r"\s*[>|:}]|.*(writes|wrote|article)\b").match
            own = " ".join(line for line in lines if line.strip() and not quoted(line)).split()
            if len(own) >= SHORTEST:
                asked.append((" ".join(own[:LONGEST]), len(texts)))
        texts.append("\n\n".join(thread))
    chosen = [asked[n] for n in sorted(np.random.default_rng(2).permutation(len(asked))[:ASKED])]
    return Questions(texts, [question for question, _ in chosen], [{row} for _, row in chosen])


def windows(text: str) -> list[str]:
    """Parts of a text that overlap, cut between words."""
    parts, start = [], 0
    while len(text) - start > LENGTH:
        end = text.rfind(" ", start + LENGTH // 2, start + LENGTH)
        parts.append(text[start : end if end > 0 else start + LENGTH])
        start = text.find(" ", start + STEP)
        if start < 0:
            return parts
    return [*parts, text[start:]]


def collection_of(texts: list[str], rows: list[int], home: Path, name: str) -> Collection:
    """A collection of texts, each with its row; its model is kept."""
    model = home / f"model of {name}"
    if not model.exists():
        DocumentHasher(AMMI(64, random_state=0, verbose=False)).fit(texts).save(model)
    location = home / name
    if not Collection.exists(location):
        with Collection.create(location, model) as new:
            new.add({"id": n, "text": text, "row": row} for n, (text, row) in enumerate(zip(texts, rows, strict=True)))
    return Collection.open(location)


def ask_in(collection: Collection, k: int) -> Ask:
    def ask(question: str) -> list[int]:
        found = collection.search(question, k)
        return list(dict.fromkeys(hit.metadata["row"] for hit in found))[:DEEP]

    return ask


def ask_by(way: str, name: str, texts: list[str], home: Path) -> Ask:
    """How to ask a collection; the settings of a way hold until the next one is made."""
    if way == WINDOWS:
        each = [(part, row) for row, text in enumerate(texts) for part in windows(text)]
        parts, rows = [part for part, _ in each], [row for _, row in each]
        return ask_in(collection_of(parts, rows, home, f"windows of {name}"), 3 * DEEP)
    ranking.WINDOW = LENGTH if way == OURS else 3 * max(map(len, texts))
    return ask_in(collection_of(texts, [*range(len(texts))], home, name), DEEP)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="where models and collections are kept, for a run that goes on")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        for name in NAMES:
            data = threads() if name == "threads" else buried(name)
            for way in WAYS:
                ask = ask_by(way, name, data.texts, home)
                found = [figures(ask(q), right) for q, right in zip(data.questions, data.answers, strict=True)]
                ndcg, recall, _ = zip(*found, strict=True)
                rows.append(
                    {"collection": name, "way": way, "ndcg": interval([[*ndcg]]), "recall": interval([[*recall]])}
                )
                print(f"{name}, {way}: {rows[-1]['ndcg'][0]:.3f}", flush=True)
    table = Table("way", *NAMES)
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        table.add_row(way, *(f"{row['ndcg'][0]:.3f}, {row['recall'][0]:.3f}" for row in mine))
    Console(width=120).print(table)
    save("long", rows)


if __name__ == "__main__":
    main()
