"""How many words of added documents were counted, and how many of them the model did not know, by month of adding.

The counts are JSON, a file of the store beside those of the model, {"model": FINGERPRINT, "months": {WHEN: [words,
unknown words]}}. Those of another model count for nothing: a rebuild begins anew.
"""

import json
import time
from contextlib import suppress
from typing import NamedTuple

FILE = "words.json"


class WordCount(NamedTuple):
    """A number of words, every occurrence counted, and of those that a model does not know."""

    words: int
    unknown: int

    @property
    def share(self) -> float:
        """The share of unknown words."""
        return self.unknown / max(self.words, 1)


def this_month() -> str:
    """Return the month, such as 2026-11, in UTC."""
    return time.strftime("%Y-%m", time.gmtime())


def parsed_counts(content: bytes | None, fingerprint: str | None) -> dict[str, WordCount]:
    """Return the counts of each month; none if there are none, or if they are of another model."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        saved = json.loads(content or b"{}")
        if saved["model"] == fingerprint:
            return {when: WordCount(*map(int, counts)) for when, counts in saved["months"].items()}
    return {}


def added_counts(content: bytes | None, fingerprint: str | None, when: str, new: WordCount) -> bytes:
    """Return the counts with those of some documents, which were added at a time."""
    months = parsed_counts(content, fingerprint)
    before = months.get(when, WordCount(0, 0))
    months[when] = WordCount(before.words + new.words, before.unknown + new.unknown)
    return json.dumps({"model": fingerprint, "months": months}).encode()
