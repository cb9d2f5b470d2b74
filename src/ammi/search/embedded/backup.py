"""A collection in a folder as one file, and back: SQLite's backup API copies all pages of one snapshot.

Others read and write meanwhile. The file takes the place of an older one only once it was read back whole, and a
restored collection that of the one before it in the same way as a repaired one.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from ammi.files import replacing_file
from ammi.search.checks import DamagedError
from ammi.search.embedded.acknowledged import Acknowledged, AcknowledgedFile, new_uid
from ammi.search.embedded.connections import FILE, connect, explaining, is_damage
from ammi.search.embedded.damage import NEW, change_over, making, read_back
from ammi.search.embedded.database import SqliteDatabase, check_ours, check_schema, read_state
from ammi.search.embedded.pages import is_whole
from ammi.search.locations import check_folder
from ammi.search.store_methods import Restored

Advance = Callable[[int], None]
_PAGES_AT_ONCE = 1000


def write_backup(folder: Path, file: Path, advance: Advance) -> int:
    """Write one state of a collection to a file; return its documents. `advance` gets the number of pages copied."""
    database = SqliteDatabase.open(folder)
    try:
        with replacing_file(file) as new, database.reading():
            copy = Path(new.name).absolute()
            with explaining(copy), closing(connect(copy, "mode=rw")) as target:
                target.execute("PRAGMA journal_mode = OFF")  # an unfinished file is never used
                _copy_pages(database.session.db, target, advance)
            if not is_whole(copy):
                raise OSError(f"{file} could not be read back whole and was not written: see to the disk and try again")
            return database.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
    finally:
        database.close()


def restore_backup(file: Path, folder: Path, advance: Advance) -> Restored:
    """Make the collection that a file holds; one that is there before is kept beside it, damaged or not."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}: name one that ammi index backup wrote")
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / NEW
    with making(folder, home), explaining(folder):
        home.mkdir()
        with _naming(file), closing(connect(file.absolute(), "mode=ro&immutable=1")) as source:
            check_ours(source, file, True)
            check_schema(source, file)
            with closing(connect((home / FILE).absolute(), "mode=rwc")) as target:
                _copy_pages(source, target, advance)
                # A name of its own, so that it is not taken for a part of the collection that was there.
                target.execute("UPDATE state SET uid = ?", (new_uid(),))
                state = read_state(target)
                n_documents = target.execute("SELECT COUNT(*) FROM documents").get
        AcknowledgedFile(home).make(Acknowledged(state.uid, state.change))
        read_back(folder, home, state)
        was_there = (folder / FILE).exists()
        old = change_over(folder, home, "before")
        return Restored(str(folder), n_documents, old if was_there else None)


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Name the backup where its pages are damaged, rather than the collection."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
        if isinstance(error, apsw.IOError) and not is_damage(error):
            raise
        raise DamagedError(f"{file} is damaged: use another backup") from error


def _copy_pages(source: apsw.Connection, target: apsw.Connection, advance: Advance) -> None:
    with target.backup("main", source, "main") as backup:
        done = 0
        while not backup.done:
            backup.step(_PAGES_AT_ONCE)
            now = backup.page_count - backup.remaining
            advance(now - done)
            done = now
