r"""The rule for words, on which features, duplicates and page agree, and that for search, in plain Python.

A text is put into Unicode's normal form NFKC and into lower case. Its words are then the matches of

    W{2,}              two or more word characters: letters, digits, marks, the underscore
    U(?=U)             a character of a script written without spaces, taken together with the next one
    (?<!U)U(?!U)       such a character alone

where W leaves out U, the characters of `UNSPACED`. On text without U or combining marks these are the words that
scikit-learn finds with its `(?u)\b\w\w+\b`. A search can also be for a single W, and for names such as C++ and C#:
`terms_of` finds W+ followed by ++ or # if no other name begins there. An identifier such as parse_date is a word, and
a search finds its parts, too, which are the words of `in_parts`.

Three modules follow the same rule for other purposes, and tests compare them with one reference: `tokens` in compiled
loops for many texts (and for duplicates, where single characters count, too), `occurrences` for some words in the texts
of a shortlist, and `web/page/tokenizer.js` in the browser.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

# Han and kana, Thai, Lao, Tibetan, Myanmar, Khmer: pairs of neighbouring characters stand in for words.
UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u103f"
    "\u1780-\u17d3"
)
IS_OTHER, IS_WORD, IS_UNSPACED = 0, 1, 2

_IS_UNSPACED = re.compile(f"[{UNSPACED}]").match
_WORD = re.compile("(WW+|(?<!U)U(?!U))|U(?=U)")  # over the letters of the characters' classes
_TERM = re.compile(r"(W+(?:\+\+(?![W+])|#(?!W))?|(?<!U)U(?!U))|U(?=U)")
_SIGNS = "+#⁺₊﬩﹟﹢＃＋"  # all that are + or # in NFKC
_ASCII_TERM = re.compile(r"[a-z0-9_]+(?:\+\+(?![a-z0-9_+])|#(?![a-z0-9_]))?")
_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128)}


def normal(text: str) -> str:
    """Return the form of a text in which its words are looked for."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def class_of(character: str) -> int:
    """Return whether a character is a word character, an unspaced one, or neither."""
    if _IS_UNSPACED(character):
        return IS_UNSPACED
    is_word = character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    return IS_WORD if is_word else IS_OTHER


class _ClassLetters(dict[int, str]):
    """By code point, W or U or a space, filled in as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = " WU"[class_of(chr(code))]
        return self[code]


_CLASS_LETTERS = _ClassLetters()
_TERM_LETTERS = _ClassLetters({ord("+"): "+", ord("#"): "#"})


def words_of(text: str) -> list[str]:
    """Return the words of a text, in their order."""
    return _found(_WORD, normal(text), _CLASS_LETTERS)


def terms_of(text: str) -> list[str]:
    """Return the words of a text that a search can be for, in their order."""
    text = normal(text)
    return _ASCII_TERM.findall(text) if text.isascii() else _found(_TERM, text, _TERM_LETTERS)


def in_parts(form: str) -> str:
    """Return a text in normal form with spaces for underscores: the words that a search finds in it besides its own."""
    return form.replace("_", " ")


def identifiers_in(form: str) -> list[str]:
    """Return the words with underscores of a text in normal form."""
    return [word for word in terms_of(form) if "_" in word] if "_" in form else []


def searched_terms(text: str) -> list[str]:
    """Return the words of a text with identifiers in parts, and then the identifiers."""
    form = normal(text)
    return terms_of(in_parts(form)) + identifiers_in(form)


def with_parts(text: str) -> str:
    """Return a text whose words are those of `searched_terms`."""
    form = text if text.isascii() else normal(text)
    return f"{in_parts(form)}\n{' '.join(identifiers_in(form))}" if "_" in form else text


def term_spans(text: str) -> list[tuple[int, int]]:
    """Return where the terms of a text stand, which is in its normal form already."""
    return _spans(_TERM, text, _TERM_LETTERS)


def has_names(text: str) -> bool:
    """Return whether a text may have names such as C++ and C#; otherwise its terms are words of any length."""
    return any(map(text.__contains__, _SIGNS))


def is_plain(text: str) -> bool:
    """Return whether the terms of a text are its runs of ASCII letters, digits and underscores."""
    return text.isascii() and not has_names(text)


def distinct_terms(texts: Iterable[str]) -> set[str]:
    """Return the different terms of texts, some times faster than `terms_of` each."""
    found: set[str] = set()
    plain: list[str] = []
    for text in texts:
        if is_plain(text):
            plain.append(text)
        else:
            found.update(terms_of(text))
    return found.union("\n".join(plain).translate(_ASCII_WORDS).split())


def _found(pattern: re.Pattern[str], text: str, letters: _ClassLetters) -> list[str]:
    return [text[start:end] for start, end in _spans(pattern, text, letters)]


def _spans(pattern: re.Pattern[str], text: str, letters: _ClassLetters) -> list[tuple[int, int]]:
    matches = pattern.finditer(text.translate(letters))
    return [(match.start(), match.end() + (match[1] is None)) for match in matches]


@cache
def character_classes() -> NDArray[np.uint8]:
    """`class_of` every code point at once, for compiled loops. (0x110000,)"""
    everything = np.arange(sys.maxunicode + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    classes = np.full(len(everything), IS_OTHER, np.uint8)
    for run in re.finditer(r"\w+", everything):
        classes[run.start() : run.end()] = IS_WORD
    for code in (*range(0x20000), *range(0xE0100, 0xE01F0)):  # all marks there are
        if unicodedata.category(everything[code]).startswith("M"):
            classes[code] = IS_WORD
    for run in re.finditer(f"[{UNSPACED}]+", everything):
        classes[run.start() : run.end()] = IS_UNSPACED
    return classes
