"""Newsgroup texts that are no copies of each other, and copies of some of them put among them."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ammi.data import corpus_path, read_documents

CHANGED = (0, 5, 10, 20, 30)  # percent of the words
KINDS = (*(f"{percent} % changed" for percent in CHANGED), "truncated", "quoted")
SHORTEST, LONGEST = 30, 2000  # words of a text
FEW_TEXTS = 200_000  # for which there are sentences enough
MOST_IN_COMMON = 0.15  # of the three-word phrases of the shorter of two texts that are no copies
FEWEST_WORDS, MOST_WORDS = 5, 40  # of a sentence, counted as `n_words` does


class Planted(NamedTuple):
    """Texts in any order, and the pairs of positions of a text and its copy, by the kind of the copy."""

    texts: list[str]
    pairs: dict[str, set[tuple[int, int]]]


def phrases(text: str) -> set[tuple[str, ...]]:
    """Three words in a row, as sets of them are compared here and given to datasketch."""
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def plant(n_texts: int, seed: int = 0) -> Planted:
    """So many texts, and for each kind a copy of one in a hundred of them, every one of another text."""
    rng = np.random.default_rng(seed)
    real = real_texts()
    words = [word for text in real for word in text.split()]
    parts = usable_sentences(real) if n_texts <= FEW_TEXTS else pieces(words, rng)
    originals = (real + recombined(parts, max(0, n_texts - len(real)), rng))[:n_texts]
    sources = rng.permutation(n_texts)[: len(KINDS) * (n_texts // 100)].reshape(len(KINDS), -1)
    texts, kinds, source_of = list(originals), [""] * n_texts, list(range(n_texts))
    for kind, chosen in zip(KINDS, sources.tolist(), strict=True):
        for source in chosen:
            texts.append(copy_of(originals[source], kind, words, parts, rng))
            kinds.append(kind)
            source_of.append(source)
    location = rng.permutation(len(texts))
    pairs: dict[str, set[tuple[int, int]]] = {kind: set() for kind in KINDS}
    for position in range(n_texts, len(texts)):
        pairs[kinds[position]].add(as_pair(location[position], location[source_of[position]]))
    return Planted([texts[position] for position in np.argsort(location)], pairs)


def as_pair(a: int, b: int) -> tuple[int, int]:
    return (int(min(a, b)), int(max(a, b)))


def real_texts() -> list[str]:
    """What the authors of 20 Newsgroups wrote themselves: lines that they quote are left out, and copies, too."""
    quoting = re.compile(r"^\s*([>|:}#]|In article|\w+[>}]).*\n?|^.*(writes|wrote|says):?\s*\n", re.MULTILINE)
    texts = [quoting.sub("", document.text or "") for document in read_documents(corpus_path("newsgroups"))]
    texts = [text for text in texts if SHORTEST <= len(text.split()) <= LONGEST]
    numbers: dict[tuple[str, ...], int] = {}
    rows = [[numbers.setdefault(phrase, len(numbers)) for phrase in phrases(text)] for text in texts]
    sizes = np.array([len(row) for row in rows])
    columns, starts = np.concatenate([np.array(row, np.int64) for row in rows]), np.append(0, np.cumsum(sizes))
    X = csr_matrix((np.ones(len(columns), np.int32), columns, starts))
    dropped = np.zeros(len(texts), bool)
    for first in range(0, len(texts), 500):
        common = (X[first : first + 500] @ X.T).tocoo()
        row, other = common.row + first, common.col
        near = (other < row) & (common.data > MOST_IN_COMMON * np.minimum(sizes[row], sizes[other]))
        for position, earlier in sorted(zip(row[near].tolist(), other[near].tolist(), strict=True)):
            dropped[position] |= not dropped[earlier]
    return [text for text, drop in zip(texts, dropped, strict=True) if not drop and len(phrases(text)) > SHORTEST]


def n_words(part: str) -> int:
    """By spaces, or by letters and digits where that makes more: so no part is most of a text to either program."""
    return max(len(part.split()), len(re.findall(r"\w+", part)))


def usable_sentences(texts: list[str]) -> list[str]:
    """Sentences that are each a small part of their text, so that it has no copy where one of them is used."""
    found = []
    for text in texts:
        sentences = [part for part in re.split(r"(?<=[.!?])\s+", text) if FEWEST_WORDS <= n_words(part) <= MOST_WORDS]
        found += sentences if len(sentences) >= 10 else []
    return list(dict.fromkeys(found))


def pieces(words: list[str], rng: np.random.Generator) -> list[str]:
    """What was written, cut into runs of 3 to 15 words."""
    starts = np.cumsum(rng.integers(3, 16, len(words) // 9)).tolist()
    found = (" ".join(words[start:end]) for start, end in pairwise(starts) if end <= len(words))
    return [part for part in found if n_words(part) <= MOST_WORDS]


def recombined(parts: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """New texts of 8 to 20 parts of different authors."""
    drawn = (rng.integers(0, len(parts), rng.integers(8, 21)).tolist() for _ in range(n))
    return ["\n".join(parts[i] for i in chosen) for chosen in drawn]


def copy_of(text: str, kind: str, vocabulary: list[str], parts: list[str], rng: np.random.Generator) -> str:
    """A copy with words changed for such as others use, the beginning alone, or all of it within a longer text."""
    words = text.split()
    if kind == "truncated":
        return " ".join(words[: int(len(words) * rng.uniform(0.4, 0.8))])
    if kind == "quoted":
        quotation = "\n".join(f"> {line}" for line in text.splitlines())
        before, after = recombined(parts, 2, rng)
        return f"{before}\n\n{quotation}\n\n{after}"
    n_changed = round(len(words) * int(kind.split()[0]) / 100)
    for location in rng.choice(len(words), n_changed, replace=False).tolist():
        words[location] = vocabulary[int(rng.integers(len(vocabulary)))]
    return " ".join(words)
