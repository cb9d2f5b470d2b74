"""The heading of a document, whose words count more than those of its text: its title, and the words of its id."""

import re

from ammi.features.alphabet import terms_of
from ammi.search.documents import Id, Metadata, id_key

TITLE_KEYS = ("title", "subject", "headline", "name")  # of metadata, the first that has a text; the page's, too
_LONGEST_TITLE = 200  # characters
_has_digit = re.compile(r"\d").search


def words_beside(id: Id, metadata: Metadata) -> str:
    """Return what is searched beside the text: the title in the metadata, and the words of the id that have no digit.

    Numbers, dates and digests in ids would be a new word for each document, and say nothing.
    """
    title = _title_in(metadata)
    if isinstance(id_key(id), int):
        return title
    return " ".join([title, *(word for word in terms_of(str(id)) if not _has_digit(word))])


def heading_of(id: Id, text: str, metadata: Metadata) -> str:
    """Return the heading: without a title in the metadata, the first paragraph of a text is it, if it is short."""
    beside = words_beside(id, metadata)
    paragraph = 0 if _title_in(metadata) else max(text.find("\n\n", 0, _LONGEST_TITLE), 0)
    return f"{beside} {text[:paragraph]}"


def searched_text(id: Id, text: str, metadata: Metadata) -> str:
    """Return the text whose words the word index has."""
    beside = words_beside(id, metadata)
    return f"{beside}\n{text}" if beside else text


def _title_in(metadata: Metadata) -> str:
    values = (metadata.get(key) for key in TITLE_KEYS)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")
