"""Why a document was found: where the words of the query stand in its text, and the passage that has the best of them.

The passage is a part of at most LENGTH characters. Of all parts that begin with a word of the query it is the one whose
terms have the highest sum of rarities, each term counted once, and of equals the first. Some text before it is added,
and it is cut between words.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ammi.features.occurrences import places
from ammi.search.documents import Why
from ammi.search.queries import parse
from ammi.search.wanted import Term, Vocabulary, WordStatistics, look_up

LENGTH = 240  # characters of a passage
LEAD = 40  # at most so many of them stand before the first word of the query
_PRECISION = 1000  # rarities are compared as whole numbers, so that sums do not depend on their order

_BEGINNING = re.compile(r"(?<!\S)\S")  # of a word
_LAST_WORD = re.compile(r"\s\S*\Z")


def rarities(terms: Sequence[Term], statistics: WordStatistics) -> list[int]:
    """Return the weight of each term in a passage."""
    return [round(_PRECISION * statistics.rarity(term)) for term in terms]


def explained(text: str, terms: Sequence[Term], weights: Sequence[int], parts: dict[str, float]) -> Why:
    """Return why a text was found."""
    found = places(text, [term.words for term in terms])
    start, end = passage(text, *densest(found, weights))
    return Why(text[start:end], start, merged(found), parts)


class TextStore(Vocabulary, Protocol):
    """A store, as far as words are looked up in it."""

    @property
    def language(self) -> str | None: ...

    def snapshot(self) -> AbstractContextManager[object]: ...


def explanation(text: str, query: str, store: TextStore) -> Why:
    """Return where the words of a query stand in a text of a store."""
    with store.snapshot():
        (wanted,) = look_up([parse(query)], store.language, store, [lambda word: False])
        weights = rarities(wanted.terms, store._word_statistics(wanted.words))
    return explained(text, wanted.terms, weights, {})


def densest(found: Sequence[tuple[int, int, int]], weights: Sequence[int]) -> tuple[int, int]:
    """Return the start and the end of the part that has the best words, without the text around them."""
    best, chosen, behind, rarities = -1, (0, 0), 0, 0
    there = [0] * len(weights)  # how often the part has each term
    for n, (start, _, term) in enumerate(found):
        while behind < len(found) and (behind == n or found[behind][1] <= start + LENGTH):
            added = found[behind][2]
            rarities += 0 if there[added] else weights[added]
            there[added] += 1
            behind += 1
        if rarities > best:
            best, chosen = rarities, (start, max(end for _, end, _ in found[n:behind]))
        there[term] -= 1
        rarities -= 0 if there[term] else weights[term]
    return chosen


def passage(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the passage around a part of a text, as offsets."""
    if not text.strip():
        return 0, 0
    first = max(first, len(text) - len(text.lstrip()))
    last = min(max(first, last), first + LENGTH)
    start = max(0, min(first - min(LEAD, first + LENGTH - last), len(text) - LENGTH))
    end = min(start + LENGTH, len(text))
    if whole := _BEGINNING.search(text, start, first + 1):
        start = whole.start()
    after = text[last:end]
    if end < len(text) and not text[end].isspace():
        after = _LAST_WORD.sub("", after)
    return start, last + len(after.rstrip())


def merged(found: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return sorted parts of a text as parts that do not overlap."""
    parts: list[tuple[int, int]] = []
    for start, end, _ in found:
        if parts and start < parts[-1][1]:
            parts[-1] = parts[-1][0], max(end, parts[-1][1])
        else:
            parts.append((start, end))
    return parts
