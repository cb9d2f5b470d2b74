"""Texts from any column: a list, an iterator, a column of pandas or Arrow. Anything else is refused."""

from collections.abc import Iterable, Iterator, Mapping

CHUNK_CHARACTERS = 1 << 20


def strings(texts: Iterable[object]) -> Iterator[str]:
    """Return the texts one by one as Python strings; the error for anything else names its position."""
    if isinstance(texts, str | bytes):
        raise ValueError(f"texts is the single string {texts[:40]!r}: pass a list of strings, [text] for one")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise ValueError(_how_to_pass_a_column(texts))
    if not hasattr(texts, "__iter__") or getattr(texts, "ndim", 1) == 0:  # numpy's scalars have __iter__, too
        raise ValueError(f"texts is {texts!r:.40}: expected a list or another iterable of strings")
    return _checked(texts)


def _checked(texts: Iterable[object]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if not isinstance(text, str) and hasattr(text, "as_py"):  # Arrow's scalars
            text = text.as_py()
        if not isinstance(text, str):
            raise ValueError(f"text {position} is {text!r:.40}: expected a string, so fill or drop missing texts first")
        yield text


def _how_to_pass_a_column(table: Iterable[object]) -> str:
    """Return how to pass a column of a table, whose iterator yields the names of its columns."""
    names = list(getattr(table, "column_names", table))  # Arrow iterates over the columns themselves
    chosen = "text" if "text" in names or not names else names[0]
    columns = ", ".join(repr(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
    return (
        f"texts is a {type(table).__name__} of the columns {columns or '(none)'}: "
        f"pass the one column that holds the texts, such as df[{chosen!r}]"
    )


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the texts in lists of about a million characters, so that threads share the work in bounded memory."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 100  # empty texts take memory, too
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
