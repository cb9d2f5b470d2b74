"""The file of an embedded store, page by page: checksums, and a copy that SQLite can open."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from ammi.search.checks import DamagedError
from ammi.search.embedded.acknowledged import FILE as ACKNOWLEDGED
from ammi.search.embedded.connections import CHECKSUM_BYTES, FILE, SqliteFile, explaining, intact_pages

JOURNAL = "-wal"
_MAGIC = b"SQLite format 3\0"
_MOST_TIMES = 1000  # a header that claims more than this times the pages of the file is not trusted
_PAGES_AT_ONCE = 4096
_LOOKS_AT_A_PAGE = 8  # reads before a page counts as damaged: another process may be writing it


@contextmanager
def readable_folder(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield a folder that SQLite can open, the original or a copy with header and length restored, and what is lost."""
    size, pages, lost = (0, 0, []) if _opens(folder) else _measured(folder / FILE)
    if not lost:
        yield folder, []
        return
    with TemporaryDirectory(prefix="ammi-repair-") as copy:
        for name in (FILE, f"{FILE}{JOURNAL}", ACKNOWLEDGED):
            if (folder / name).exists():
                shutil.copyfile(folder / name, Path(copy, name))
        with open(Path(copy, FILE), "r+b") as mended:
            mended.write(_MAGIC)
            mended.truncate(size * pages)
        yield Path(copy), lost


def _opens(folder: Path) -> bool:
    """Return whether SQLite reads header and journal; the file alone does not tell while others write."""
    try:
        with explaining(folder), closing(SqliteFile(folder).connect()) as db:
            db.execute("SELECT 1 FROM sqlite_master").fetchall()
    except DamagedError:
        return False
    return True


def _measured(file: Path) -> tuple[int, int, list[str]]:
    """Return the bytes of a page, the expected number of pages, and a list of what is missing."""
    with open(file, "rb") as opened:
        size = _page_size(opened.read(100))
        opened.seek(0)
        first = opened.read(size)
    if not size or len(first) < size:
        return 0, 0, []
    whole = _MAGIC + first[len(_MAGIC) :]
    there, pages = file.stat().st_size // size, int.from_bytes(first[28:32], "big")
    if pages > _MOST_TIMES * there or not all(intact_pages([whole])):
        return 0, 0, []  # the header is not to be trusted
    lost = [] if first == whole else [f"the first bytes of {FILE} are not those of a database"]
    if there < pages:
        lost.append(f"of {pages:,} pages of {FILE} the last {pages - there:,} are missing")
    return size, max(pages, there), lost


def is_whole(file: Path) -> bool:
    """Return whether a file has as many pages as its header says, each with its checksum."""
    size, _, lost = _measured(file)
    return size > 0 and not lost and not wrong_pages(file)


def _page_size(header: bytes) -> int:
    """Return the bytes of a page, from the first 100 bytes of a file; 0 if they are not a valid header."""
    size = int.from_bytes(header[16:18], "big")
    return size if size >= 512 and not size & (size - 1) and header[20] == CHECKSUM_BYTES else 0


def wrong_pages(file: Path) -> list[int]:
    """Return the numbers of the pages whose checksum is wrong."""
    with open(file, "rb", buffering=0) as opened:  # what was read before is read again
        size = _page_size(opened.read(100))
        if not size:
            return [1]
        n_pages = -(-file.stat().st_size // size)
        chunks = (range(first, min(first + _PAGES_AT_ONCE, n_pages)) for first in range(0, n_pages, _PAGES_AT_ONCE))
        wrong = [page for chunk in chunks for page in _wrong_among(chunk, opened, size)]
        for look in range(1, _LOOKS_AT_A_PAGE):
            if wrong:
                time.sleep(0.001 * 2**look)
                wrong = _wrong_among(wrong, opened, size)
    return [page + 1 for page in wrong]


def _wrong_among(pages: Sequence[int], opened: BinaryIO, size: int) -> list[int]:
    """Return which of these pages, counted from 0, exist and have a wrong checksum."""
    contents = {page: _read_page(opened, size, page) for page in pages}
    there = [page for page, content in contents.items() if content]  # not where a file became shorter
    return [
        page for page, intact in zip(there, intact_pages([contents[page] for page in there]), strict=True) if not intact
    ]


def _read_page(opened: BinaryIO, size: int, page: int) -> bytes:
    opened.seek(page * size)
    return opened.read(size)
