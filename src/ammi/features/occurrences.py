"""Find some words in many texts without splitting them: those of `alphabet.terms_of`, and parts of identifiers.

The beginning that several words share is searched for in all texts joined to one string, and the word that stands there
is looked up. That is exact for texts of plain characters. A text with other ones, such as combining marks or characters
of a script without spaces, is split by `terms_of`.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import IS_OTHER, IS_WORD, class_of, in_parts, normal, term_spans

_FOUND_BY_SEARCH = 150  # occurrences to search for one by one; a regular expression takes time to compile
_SHORT = 3  # letters: shorter beginnings are in too many words to search for them one by one
_MANY = 10  # words, as those of a prefix: they are searched for together, however short their beginning is
_CACHED = 1000  # regular expressions, and characters
_MARKS = "+#"  # which names may end with
_REST = r"\w*(?:\+\+(?![\w+])|#(?!\w))?"  # of a word, after its beginning
_LONGEST_PATTERN = 64  # characters of a beginning in a cached regular expression, which takes many bytes for each
_whole = re.compile(rf"\w{_REST}").match  # the word that begins at an offset
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Occurrences:
    """Counts of words in texts, which are divided into blocks of some characters of their normal form.

    `first` has the number of each text's first block, (n,); the blocks of a text follow one another. `np.add.reduceat`
    adds counts up by text.
    """

    def __init__(self, texts: Sequence[str], block: int):
        self._split: dict[int, dict[str, list[int]]] = {}  # the words of the texts that are not plain, by row
        self._joined, forms = "\n".join(texts), texts
        if self._joined.isascii():  # all at once
            self._joined = normal(self._joined)
        else:
            forms = [normal(text) for text in texts]
            parts = [*forms]
            for row in range(len(texts)):
                if not _all_are(_is_plain, parts[row]):
                    self._split[row], parts[row] = _split(parts[row]), ""
            self._joined, texts = "\n".join(parts), parts
        ends = np.cumsum(_lengths(texts) + 1)
        self._starts = np.concatenate([[0], ends[:-1]])  # (n,)
        blocks = np.maximum(-(-_lengths(forms) // block), 1)
        self.first = np.cumsum(blocks) - blocks
        self.n_blocks, self._block = int(blocks.sum()), block

    def counts(self, groups: Iterable[Collection[str]]) -> dict[str, NDArray[np.int64]]:
        """Return the number of times each block has each word of some groups, (B,); fastest if those of a group begin
        alike."""
        starts = {word: each for words in groups for word, each in _starts(words, self._joined).items()}
        at = np.array([start for each in starts.values() for start in each], np.int64)
        rows = np.searchsorted(self._starts, at, side="right") - 1
        blocks = self.first[rows] + (at - self._starts[rows]) // self._block
        ends = np.cumsum([len(each) for each in starts.values()], dtype=np.int64).tolist()
        found = {}
        for word, end in zip(starts, ends, strict=True):
            of_word = [blocks[end - len(starts[word]) : end]]
            for row, split in self._split.items():
                of_word.append(self.first[row] + np.array(split.get(word, []), np.int64) // self._block)
            found[word] = np.bincount(np.concatenate(of_word), minlength=self.n_blocks)
        return found


def _lengths(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(len, texts), np.int64, len(texts))


def places(text: str, groups: Iterable[Collection[str]]) -> list[tuple[int, int, int]]:
    """Return where a text has a word of each group: the start, the end and the number of the group, in order."""
    form = normal(text)
    split = None if _all_are(_is_plain, form) else _split(form)
    found = []
    for number, words in enumerate(groups):
        starts = _starts(words, form) if split is None else {word: split.get(word, []) for word in words}
        found += [(start, start + len(word), number) for word, each in starts.items() for start in each]
    return sorted(_in_text(text, found))


def phrase_places(text: str, groups: Collection[Collection[Sequence[str]]]) -> list[tuple[int, int, int]]:
    """Return where a text has a phrase of each group, which is words side by side, as `places` does for words."""
    if not groups:
        return []
    form = normal(text)
    found = set()
    for one in {form, in_parts(form)}:
        spans = term_spans(one)
        words = [one[start:end] for start, end in spans]
        for number, phrases in enumerate(groups):
            for phrase in map(list, phrases):
                for first in (n for n, word in enumerate(words) if word == phrase[0]):
                    if words[first : first + len(phrase)] == phrase:
                        found.add((spans[first][0], spans[first + len(phrase) - 1][1], number))
    return sorted(_in_text(text, found))


def _in_text(text: str, found: Collection[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
    """Return places in the normal form of a text as places in the text."""
    if not found or _all_are(_stays_one, text):
        return found
    starts_of, ends_of = _origins(text)
    return ((starts_of[start], ends_of[end - 1], number) for start, end, number in found)


def _split(form: str) -> dict[str, list[int]]:
    """Return the offsets of each term in a text in normal form, and of parts of identifiers."""
    found: dict[str, list[int]] = {}
    parts = in_parts(form)
    for start, end in term_spans(parts):
        found.setdefault(parts[start:end], []).append(start)
    for start, end in term_spans(form) if "_" in form else ():
        if "_" in form[start:end]:
            found.setdefault(form[start:end], []).append(start)
    return found


def _starts(words: Collection[str], text: str) -> dict[str, list[int]]:
    """Return the offsets at which each of these words stands in a text of plain characters, in normal form."""
    identifiers = [word for word in words if "_" in word]
    others = [word for word in words if "_" not in word] if identifiers else words
    found = _starts_alone(others, in_parts(text))
    return found | _starts_alone(identifiers, text) if identifiers else found


def _starts_alone(words: Collection[str], text: str) -> dict[str, list[int]]:
    """Return the offsets at which each of these words stands with no word character beside it."""
    starts: dict[str, list[int]] = {word: [] for word in words}
    beginning = _common_beginning(tuple(words)).rstrip(_MARKS)
    together = len(beginning) >= _SHORT or bool(beginning and len(starts) > _MANY)
    for one in {beginning} if together else {word.rstrip(_MARKS) for word in words}:
        for start, word in _words_from(one, text):
            if word in starts and (together or word.rstrip(_MARKS) == one):
                starts[word].append(start)
    return starts


def _origins(text: str) -> tuple[list[int], list[int]]:
    """Return for each character of the normal form the start and the end of the characters of the text it is from."""
    begins: list[int] = []
    for at, character in enumerate(text):
        if not at or not _joins(character) or _stands_apart(text[begins[-1] : at], character):
            begins.append(at)
    starts: list[int] = []
    ends: list[int] = []
    for start, end in zip(begins, [*begins[1:], len(text)], strict=True):
        length = len(normal(text[start:end]))
        starts += [start] * length
        ends += [end] * length
    return starts, ends


def _stands_apart(before: str, character: str) -> bool:
    """Return whether a character is no mark, and is not joined to the characters before."""
    is_mark = unicodedata.category(character).startswith("M")
    return not is_mark and normal(before + character) == normal(before) + normal(character)


def _words_from(beginning: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the offsets and the words with this beginning in a text of plain characters."""
    end = 0
    searched = len(text) if len(beginning) > _LONGEST_PATTERN else _FOUND_BY_SEARCH
    for _ in range(searched if len(beginning) >= _SHORT else 0):
        start = text.find(beginning, end)
        if start < 0:
            return
        end = start + len(beginning)
        before = text[start - 1 : start]
        if not (before.isalnum() or before == "_"):
            yield start, _whole(text, start)[0]  # type: ignore[index]  # there is one
    for match in _pattern(beginning).finditer(text, end):
        yield match.start(), match[0]


@lru_cache(_CACHED)
def _common_beginning(words: tuple[str, ...]) -> str:
    """Return the letters with which all of these words begin."""
    first, last = min(words, default=""), max(words, default="")
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


@lru_cache(_CACHED)
def _pattern(beginning: str) -> re.Pattern[str]:
    """Return the pattern of words; it checks the character before them last, because that is faster."""
    word = re.escape(beginning)
    return re.compile(rf"{word}(?<!\w{word}){_REST}")


@lru_cache(_CACHED)
def _is_plain(character: str) -> bool:
    r"""Return whether \w decides if a character belongs to words: it is no mark, and of no script without spaces."""
    kind = class_of(character)
    return kind == IS_OTHER or (kind == IS_WORD and _is_word_character(character))


def _all_are(test: Callable[[str], bool], text: str) -> bool:
    """Return whether all characters of a text that are not ASCII pass a test."""
    return text.isascii() or all(map(test, set(_NOT_ASCII.findall(text))))


@lru_cache(_CACHED)
def _stays_one(character: str) -> bool:
    """Return whether a character is one character in normal form, too, whatever stands beside it."""
    return len(normal(character)) == 1 and not _joins(character)


@lru_cache(_CACHED)
def _joins(character: str) -> bool:
    """Return whether the normal form may join a character to the one before: it is a mark, or a later part of Hangul's
    syllables."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff"


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"
