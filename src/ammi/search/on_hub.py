"""A collection on the Hugging Face Hub: one file, as `ammi index backup` writes it, and its digest.

It is opened as a copy that can only be read, in the user's cache: a folder for each commit.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from ammi.files import CHECKSUMS, cache_folder, checksums, file_digest, lock, parse_checksums
from ammi.hub import CARD, Repository, fetch_checksums, fetch_file, push_files
from ammi.search.checks import DamagedError
from ammi.search.copying import backup_store
from ammi.search.embedded.backup import Advance, restore_backup
from ammi.search.embedded.connections import FILE as DATABASE
from ammi.search.store import Store
from ammi.search.store_methods import Location

FILE = "collection.backup"


def push_store(source: Store, repository: Repository, card: str, private: bool, advance: Advance) -> str:
    """Push a store, as it is at one moment; return the address of the commit."""
    with TemporaryDirectory(prefix="ammi-push-") as folder:
        file = Path(folder, FILE)
        backup_store(source, file, advance=advance)
        digests = {FILE: file_digest(file)}
        files: dict[str, bytes | Path] = {FILE: file, CHECKSUMS: checksums(digests), CARD: card.encode()}
        return push_files(repository, files, lambda name: name in {FILE, CHECKSUMS}, private=private)


def fetch_store(location: Location) -> Path:
    """Return the folder of a store on the Hub: a copy in the user's cache that can only be read."""
    repository = Repository.at(location, "dataset")
    listed, commit = fetch_checksums(repository)
    owner, _, name = repository.name.partition("/")
    folder = cache_folder() / "hub" / owner / commit / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock(folder.parent, wait=True):  # others that open it wait
        if not folder.exists():
            digests = parse_checksums({CHECKSUMS: listed.read_bytes()}, repository.name)
            unfinished = folder.parent / ".unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)  # of a process that was killed
            try:
                _fetch(repository._replace(revision=commit), digests, unfinished / name)
                (unfinished / name).rename(folder)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _fetch(repository: Repository, digests: dict[str, str], folder: Path) -> None:
    """Download the file past the cache, which would keep it twice, compare its digest, and restore it to a folder."""
    if set(digests) != {FILE}:
        raise ValueError(f"{repository.name} is no collection of ammi: name another one")
    file = fetch_file(repository, FILE, folder.parent / "download")
    if file_digest(file) != digests[FILE]:
        raise DamagedError(
            f"{FILE} of {repository.name} is damaged, since {CHECKSUMS} has another digest of it: open it again, or "
            "another revision"
        )
    restore_backup(file, folder, lambda n_pages: None)
    (folder / DATABASE).chmod(0o444)
