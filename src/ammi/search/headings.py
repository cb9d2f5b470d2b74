"""The heading of a document, whose words count more than those of its text: its title, and the words of its id."""

import re

from ammi.features.alphabet import terms_of, with_parts
from ammi.search.documents import Id, Metadata, id_key

TITLE_KEYS = ("title", "subject", "headline", "name")  # of metadata, the first that has a text; the page's, too
_LONGEST_TITLE = 200  # characters
_has_digit = re.compile(r"\d").search


def words_beside(id: Id, metadata: Metadata) -> str:
    """Return what is searched beside the text: the title in the metadata, and the words of the id that have no digit.

    Numbers, dates and digests in ids would be a new word for each document, and say nothing.
    """
    return _joined(id, title_in(metadata))


def heading_of(id: Id, text: str, metadata: Metadata) -> str:
    """Return the heading: without a title in the metadata, the first paragraph of a text is it, if it is short."""
    return _joined(id, title_in(metadata) or first_paragraph(text))


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a text if it is short and others follow."""
    end = text.find("\n\n", 0, _LONGEST_TITLE)
    return text[:end] if end > 0 else ""


def searched_text(id: Id, text: str, metadata: Metadata) -> str:
    """Return the text whose words the word index has."""
    beside = words_beside(id, metadata)
    return with_parts(f"{beside}\n{text}" if beside else text)


def _joined(id: Id, title: str) -> str:
    if isinstance(id, int) or isinstance(id_key(id), int):
        return title
    return " ".join([title, *(word for word in terms_of(id) if not _has_digit(word))])


def title_in(metadata: Metadata) -> str:
    for key in TITLE_KEYS if metadata else ():
        value = metadata.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
