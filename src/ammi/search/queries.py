"""A query as people type it, parsed into a value.

    "crude oil"       documents must have these words side by side
    -gas, -"oil gas"  documents must not have the word, or the words side by side
    oil OR petroleum  either word counts as the same word
    petro*            at the end of a query: all words that begin like this

A text of several lines, or of more than 20 words, was pasted and not typed: in it the signs mean nothing. Elsewhere
"e-mail", "--help", "5 - 3", "-5", 19" and a quote that is not closed are plain text, too, as is OR among words in
capitals.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from ammi.features.alphabet import terms_of

_MOST_TYPED = 20  # words of a query in which signs have a meaning
_PART = re.compile(r'(-?)["“]([^"“”]*)["”](?![^\s.,;:!?])|-(?=[^\W\d_][^\s.,;:!?])(\S+)|(\S+)')
_PREFIX = re.compile(r"[^*]*\w\w\*")

Phrase = tuple[str, ...]  # words side by side


class Parsed(NamedTuple):
    """What a query says."""

    text: str  # without signs and excluded words: for the model
    single: str  # the part of the text whose words count one by one
    alternatives: Sequence[Phrase] = ()  # words that count as one
    required: Sequence[tuple[Phrase, ...]] = ()  # groups of phrases: a document must have one of each
    excluded: Sequence[Phrase] = ()  # phrases that a document must not have
    prefix: str = ""  # that words may begin with
    is_typed: bool = False  # rather than pasted


def parse(text: str) -> Parsed:
    """Return what a query says."""
    text = text.strip()
    if "\n" in text or len(text.split()) > _MOST_TYPED:
        return Parsed(text, text)
    parts = [part for match in _PART.finditer(text) if (part := _Part.of(match)).words]
    groups = _groups([part for part in parts if not part.is_excluded])
    has_prefix = bool(groups) and parts[-1].is_plain and bool(_PREFIX.fullmatch(parts[-1].text))
    if not groups or (len(groups) == len(parts) and all(part.is_plain for part in parts) and not has_prefix):
        return Parsed(text, text, is_typed=True)
    quoted = [any(part.is_quoted for part in group) for group in groups]
    each = list(zip(groups, quoted, strict=True))
    return Parsed(
        text=" ".join(part.text for group in groups for part in group),
        single=" ".join(part.text for group, is_quoted in each if is_quoted or len(group) == 1 for part in group),
        alternatives=tuple(
            tuple(word for part in group for word in part.words)
            for group, is_quoted in each
            if not is_quoted and len(group) > 1
        ),
        required=tuple(tuple(part.words for part in group) for group, is_quoted in each if is_quoted),
        excluded=tuple(part.words for part in parts if part.is_excluded),
        prefix=parts[-1].words[-1] if has_prefix else "",
        is_typed=True,
    )


def pasted(text: str) -> str:
    """Return a query in which the signs of a text mean nothing."""
    return text if parse(text).single == text.strip() else f"{text}\n."  # of two lines


class _Part(NamedTuple):
    """A phrase in quotes, or whatever else stands between spaces."""

    text: str
    words: Phrase
    is_quoted: bool
    is_excluded: bool

    @property
    def is_plain(self) -> bool:
        return not self.is_quoted and not self.is_excluded

    @classmethod
    def of(cls, match: re.Match[str]) -> Self:
        minus, phrase, excluded, other = match.groups()
        text = phrase or excluded or other or ""
        return cls(text, tuple(terms_of(text)), phrase is not None, bool(minus or excluded))


def _groups(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return parts in groups: those that OR joins, and every other one alone."""
    in_capitals = " ".join(part.text for part in parts if part.text != "OR").isupper()
    groups: list[list[_Part]] = []
    joins = False
    for part in parts:
        if part.text == "OR" and not part.is_quoted and not in_capitals and groups and part is not parts[-1]:
            joins = True
        elif joins:
            groups[-1].append(part)
            joins = False
        else:
            groups.append([part])
    return groups
