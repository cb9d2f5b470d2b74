"""Pairs of related documents: articles about the same event, found by BM25, messages with their replies, and halves.

`related_articles` and `replies` take records (a text and other columns) and yield pairs of their positions, in which a
record occurs at most once; `halves` cuts one text. Words that a pair shares only because one text was copied into the
other would make it trivial to match the two again, so copies and quotations are left out.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

Record = Mapping[str, Any]

MIN_WORDS = 20
MIN_QUERY = 10
MAX_QUERY = 60  # words of a first sentence that are looked for, where a text has no full stop
RARE = 0.002  # a word that tells events apart is in at most this share of the articles, or in ten
MIN_RELEVANCE = 0.4  # as a share of the BM25 score that the first article itself has for its first sentence
MAX_COPIED = 0.2  # of the runs of three words of the shorter text
SIGNATURE_LINES = 12
SECONDS_A_DAY = 86_400

_PARAGRAPH = re.compile(r"\n\s*\n|\n[ \t]{2,}")
_SENTENCE_END = re.compile(
    r"""(?<!\b\w)(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\bInc)(?<!\bCorp)(?<!\bCo)(?<!\bLtd)"""
    r"""[.!?]["')\]]*(?=\s|$)|[。！？]"""
)
_QUOTED = re.compile(r"^[^\S\n]*(?:\w{1,4}>|[>|:}\]]).*$", re.MULTILINE)
# "In article <1@a.edu> joe@b.edu (Joe) writes:", also over three lines; "Joe <joe@b.edu> wrote:"; "Joe writes" before
# what was a quotation; "In article <1@a.edu>"; "Quoted from <1@a.edu>:".
_ATTRIBUTION = re.compile(
    r"^(?:[ \t]*(?:In|From|On)\b.*[<@\d].*(?:\n.+){0,2}?|.*@.*(?:\n.+)??|.{0,60}?)"
    r"\b(?:(?:writes|wrote|written|says|said|asks|asked|responds|responded|replies|replied)[ \t]*(?:[:>]|\.\.).{0,3}$"
    r"|(?:writes|wrote)[ \t]*$(?=\n[ \t]*$|\Z))"
    r"|^[ \t]*(?:In|From)\b(?: article| message| post)?[ ]*<.*$|^.*<\S+@\S+>.*:[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_HEADER = re.compile(
    r"^[ \t]*(?:From|To|Subject|Date|Message-ID|References|Newsgroups|Organization|Reply-To|Sender|Lines):.*$",
    re.MULTILINE | re.IGNORECASE,
)


def related_articles(
    records: Sequence[Record],
    *,
    days: float = 14,
    date: str = "date",
    seed: int = 0,
    advance: Callable[[float], None] = lambda steps: None,
) -> Iterator[tuple[int, int]]:
    """Draw articles at random, and yield each with the article that best matches its first sentence.

    The match is the article with the highest BM25 score of those that are in no pair yet, are at most `days` older or
    younger, and are no copies. It shares a rare word of the sentence, such as a name, and has at least 0.4 of the score
    of the first article itself; otherwise there is no pair. Articles of fewer than 20 words or without a date are left
    out; `date` names the column. `advance` is called for every article drawn.
    """
    when = np.array([seconds(record.get(date)) for record in records])
    if not np.isfinite(when).any():
        raise ValueError(
            f"none of {len(records)} documents has a date in its column {date!r}: expected one such as "
            "1987-03-20T13:15:48 or Fri, 20 Mar 1987 13:15:48 GMT"
        )
    tokens = [words(record["text"]) for record in records]
    frequency = Counter(word for each in tokens for word in set(each))
    common = {word for word, n in frequency.items() if n > max(10, RARE * len(records))}
    free = np.isfinite(when) & np.array([len(each) >= MIN_WORDS for each in tokens])
    scores = _bm25(tokens)
    for first in random.Random(seed).sample(range(len(records)), len(records)):
        advance(1)
        query = words(first_sentence(records[first]["text"]))[:MAX_QUERY]
        if not free[first] or len(set(query)) < MIN_QUERY:
            continue
        relevance = scores(query)
        names = {word for word in query if word not in common and not word.isdecimal()}
        near = abs(when - when[first]) <= days * SECONDS_A_DAY
        candidates = np.flatnonzero(free & near & (relevance >= MIN_RELEVANCE * relevance[first]))
        best_first = candidates[np.argsort(-relevance[candidates], kind="stable")].tolist()
        same_event = (i for i in best_first if i != first and not names.isdisjoint(tokens[i]))
        second = next((i for i in same_event if not is_copy(tokens[first], tokens[i])), None)
        if second is not None:
            free[[first, second]] = False
            yield first, second


def replies(records: Sequence[Record], *, seed: int = 0) -> Iterator[tuple[int, int]]:
    """Yield messages with a reply: the last of its `references` is the `message_id` of the message.

    The ends of threads choose first, which leaves the fewest messages without a pair. A pair is left out if, without
    quotations, one of the two has fewer than 20 words or is a copy of the other.
    """
    position = {record["message_id"]: i for i, record in enumerate(records) if record.get("message_id")}
    references = [_references(record) for record in records]
    answers = [i for i, ids in enumerate(references) if ids]
    if not position or not answers:
        raise ValueError(
            f"none of {len(records)} documents answers another: expected the columns 'message_id', and 'references' "
            "with the ids of the messages it answers"
        )
    random.Random(seed).shuffle(answers)
    used = set[int]()
    for second in sorted(answers, key=lambda i: -len(references[i])):
        first = position.get(references[second][-1], second)
        if first == second or {first, second} & used:
            continue
        if _are_pair(*unquoted(records[first]["text"], records[second]["text"])):
            used |= {first, second}
            yield first, second


def halves(text: str) -> tuple[str, str] | None:
    """Return a text cut at the end of the sentence nearest to its middle; None if the halves make no pair.

    They make none if one of them has fewer than 20 words or is a copy of the other, or if the text has no sentences,
    such as a table.
    """
    ends = (sentence.end() for sentence in _SENTENCE_END.finditer(text))
    cut = min(ends, key=lambda end: abs(end - len(text) / 2), default=0)
    first, second = text[:cut].strip(), text[cut:].strip()
    return (first, second) if _are_pair(first, second) else None


def _are_pair(first: str, second: str) -> bool:
    """Return whether both texts are long enough and neither is a copy of the other."""
    one, other = words(first), words(second)
    return min(len(one), len(other)) >= MIN_WORDS and not is_copy(one, other)


def _references(record: Record) -> list[str]:
    """Return the ids of the messages that a message answers, oldest first, from a list or from the header of a mail."""
    ids = record.get("references") or []
    return ids.split() if isinstance(ids, str) else list(ids)


def unquoted(message: str, reply: str) -> tuple[str, str]:
    """Return both texts without quotations; the reply also without unmarked lines of the message."""
    copied = {tuple(words(line)) for line in message.splitlines()} - {()}
    lines = without_quotes(reply).splitlines()
    return without_quotes(message), "\n".join(line for line in lines if tuple(words(line)) not in copied).strip()


def without_quotes(text: str) -> str:
    """Return a message without quoted lines, their attributions, pasted headers, and its signature."""
    text = "\n".join(text.splitlines())
    lines = _ATTRIBUTION.sub("", _HEADER.sub("", _QUOTED.sub("", text))).splitlines()
    marks = [i for i, line in enumerate(lines) if line.rstrip() == "--"]
    if marks and len(lines) - marks[-1] <= SIGNATURE_LINES:
        lines = lines[: marks[-1]]
    return re.sub(r"\n\s*\n\s*", "\n\n", "\n".join(lines)).strip()


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop that does not end an abbreviation, or the end of the paragraph."""
    paragraph = _PARAGRAPH.split(text.strip(), maxsplit=1)[0]
    end = _SENTENCE_END.search(paragraph)
    return " ".join((paragraph[: end.end()] if end else paragraph).split())


def words(text: str) -> list[str]:
    """Return the runs of letters and digits, in lower case."""
    # Not the words of `ammi.features`: other words draw other pairs, and results/paper was measured on these.
    return re.findall(r"\w+", text.lower())


def is_copy(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether more than a fifth of the runs of three words of the shorter text are in the other."""
    one, other = (set(zip(each, each[1:], each[2:], strict=False)) for each in (tokens, others))
    return len(one & other) > MAX_COPIED * min(len(one), len(other))


def seconds(date: object) -> float:
    """Return a date as in ISO 8601, mail or newswire (20-MAR-1987 13:15:48.20), in seconds; nan if it is none."""
    text = re.sub(r"Z$", "+00:00", str(date or "").strip())
    mail = re.sub(r"^(\d+)-([A-Za-z]{3})-(\d+)", r"\1 \2 \3", re.sub(r"(:\d\d)\.\d.*", r"\1", text))
    for read, written in ((datetime.fromisoformat, text), (parsedate_to_datetime, mail)):
        try:
            moment = read(written)
        except ValueError:
            continue
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return float("nan")


def _bm25(tokens: list[list[str]]) -> Callable[[list[str]], NDArray[np.float32]]:
    """Return a function that scores all documents for a query."""
    try:
        from bm25s import BM25
    except ImportError as error:
        raise ImportError("finding related articles needs bm25s: pip install 'ammi[paper]'") from error
    index = BM25()
    index.index(tokens, show_progress=False)
    return index.get_scores
