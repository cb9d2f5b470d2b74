"""Why a document was found: where the words of the query stand in its text, and the passage that has the best of them.

The passage is a part of at most LENGTH characters. Of all parts that begin with a word of the query it is the one whose
terms have the highest sum of rarities, each term counted once, and of equals the first. If the text has a quoted phrase
of the query, the part begins with one. Some text before it is added, and it is cut between words.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ammi.features.occurrences import phrase_places, places
from ammi.search.documents import Why
from ammi.search.queries import parse
from ammi.search.wanted import Term, Vocabulary, Wanted, WordStatistics, look_up

LENGTH = 240  # characters of a passage
LEAD = 40  # at most so many of them stand before the first word of the query
_MOST_PLACES = 1000  # of words in a text: more are told only of the passage
_PRECISION = 1000  # rarities are compared as whole numbers, so that sums do not depend on their order

_BEGINNING = re.compile(r"(?<!\S)\S")  # of a word
_LAST_WORD = re.compile(r"\s\S*\Z")


def rarities(terms: Sequence[Term], statistics: WordStatistics) -> list[int]:
    """Return the weight of each term in a passage."""
    return [round(_PRECISION * statistics.rarity(term)) for term in terms]


def explained(text: str, wanted: Wanted, weights: Sequence[int], parts: dict[str, float]) -> Why:
    """Return why a text was found; the weights are those of the terms."""
    found = places(text, [term.words for term in wanted.terms])
    start, end = passage(text, *_best_part(text, found, wanted, weights))
    words = merged(found)
    of_passage = [place for place in words[_MOST_PLACES:] if start < place[1] and place[0] < end]
    return Why(text[start:end], start, words[:_MOST_PLACES] + of_passage, parts)


def _best_part(
    text: str, found: Sequence[tuple[int, int, int]], wanted: Wanted, weights: Sequence[int]
) -> tuple[int, int]:
    """Return the part of a text that begins with a quoted phrase of the query, if it has one, or else with a word."""
    n = len(weights)
    phrases = [(start, end, n + group) for start, end, group in phrase_places(text, wanted.required)]
    if not phrases:
        return densest(found, weights)
    return densest(sorted([*found, *phrases]), [*weights, *(sum(weights) + 1 for _ in wanted.required)], n)


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
    return explained(text, wanted, weights, {})


def densest(found: Sequence[tuple[int, int, int]], weights: Sequence[int], first: int = 0) -> tuple[int, int]:
    """Return the start and the end of the part that has the best words, without the text around them.

    It begins with a term whose number is `first` or more.
    """
    best, chosen, behind, rarities = -1, (0, 0), 0, 0
    there = [0] * len(weights)  # how often the part has each term
    for n, (start, _, term) in enumerate(found):
        while behind < len(found) and (behind == n or found[behind][1] <= start + LENGTH):
            added = found[behind][2]
            rarities += 0 if there[added] else weights[added]
            there[added] += 1
            behind += 1
        if rarities > best and term >= first:
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
