"""Texts as users have them: lists, iterators, columns of pandas and Arrow; and what is no column of texts, refused."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CHUNK_CHARACTERS = 1 << 20


def strings(texts: Iterable[Any]) -> Iterator[str]:
    """The texts one by one, those of an Arrow column as Python's own; what is no text is refused with its position."""
    if isinstance(texts, str | bytes):
        raise ValueError(f"texts is the single string {texts[:40]!r}: pass a list of strings, [text] for one")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise ValueError(_how_to_pass_a_column(texts))
    if not hasattr(texts, "__iter__") or getattr(texts, "ndim", 1) == 0:  # numpy's single values say that they have it
        raise ValueError(f"texts is {texts!r:.40}: expected a list or another iterable of strings")
    return _checked(texts)


def _checked(texts: Iterable[Any]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if not isinstance(text, str) and hasattr(text, "as_py"):
            text = text.as_py()
        if not isinstance(text, str):
            raise ValueError(f"text {position} is {text!r:.40}: expected a string, so fill or drop missing texts first")
        yield text


def _how_to_pass_a_column(table: Any) -> str:
    """A table is gone through by its column names, which nobody means."""
    names = list(table) if isinstance(table, Mapping) else list(getattr(table, "column_names", table.columns))
    chosen = "text" if "text" in names or not names else names[0]
    columns = ", ".join(repr(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
    return (
        f"texts is a {type(table).__name__} of the columns {columns or '(none)'}: "
        f"pass the one column that holds the texts, such as df[{chosen!r}]"
    )


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in lists of about a million characters, so that work can be shared out in bounded memory."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 100  # empty texts take room, too
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
