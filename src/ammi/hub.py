"""The Hugging Face Hub: files of a repository are pushed in one commit, and fetched from one commit.

`hf://OWNER/NAME` names a repository, and `hf://OWNER/NAME@REVISION` a branch, a tag or a commit of it. A repository of
ammi has a SHA256SUMS; nothing is fetched that it does not name. Fetched files are in the cache of huggingface_hub,
which others use: they are read, never changed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ammi.files import CHECKSUMS, Files, parse_checksums, verified

if TYPE_CHECKING:
    from huggingface_hub import HfApi

SCHEME = "hf://"
CARD = "README.md"
_LOCATION = re.compile(r"(?:hf:/{1,2})?([\w.-]+/[\w.-]+)(?:@(.+))?", re.ASCII)  # as a Path it has one slash
_OF_THE_HUB = {CARD, ".gitattributes"}  # files of any repository
_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN"


class Repository(NamedTuple):
    """A repository, and the revision that is meant."""

    name: str
    kind: str  # "model", or "dataset" for a collection
    revision: str | None = None

    @classmethod
    def at(cls, location: str | PathLike[str], kind: str) -> "Repository":
        """Return the repository that hf://OWNER/NAME or hf://OWNER/NAME@REVISION names."""
        found = _LOCATION.fullmatch(fspath(location))
        if not found:
            raise ValueError(f"{location} names no repository: write {SCHEME}OWNER/NAME or {SCHEME}OWNER/NAME@REVISION")
        return cls(found[1], kind, found[2])

    @property
    def what(self) -> str:
        return "collection" if self.kind == "dataset" else "model"


def is_on_hub(location: str | PathLike[str]) -> bool:
    """Return whether a location, also as a Path, is on the Hub."""
    return fspath(location).startswith("hf:/")


def fetch_checksums(repository: Repository) -> tuple[Path, str]:
    """Fetch SHA256SUMS; return it, in the cache, and the commit that the revision is."""
    file = fetch_file(repository, CHECKSUMS)
    return file, file.parent.name  # the cache has a folder for each commit


def fetch_files(repository: Repository, is_wanted: Callable[[str], bool]) -> Files:
    """Return the files of one commit if each has its digest; without a network, those that were fetched before.

    A SHA256SUMS that names a file that is not wanted is refused.
    """
    listed, commit = fetch_checksums(repository)
    files = {CHECKSUMS: listed.read_bytes()}
    pinned = repository._replace(revision=commit)
    for name in parse_checksums(files, repository.name):
        if not is_wanted(name):
            raise ValueError(f"{repository.name} names {name!r:.80}, which is no file of a {repository.what}: refused")
        files[name] = fetch_file(pinned, name).read_bytes()
    return verified(files, repository.name)


def fetch_file(repository: Repository, name: str, folder: Path | None = None) -> Path:
    """Return a file in the cache of huggingface_hub; or download it to a folder, past the cache."""
    with _explained(repository):
        from huggingface_hub import hf_hub_download

        revision = repository.revision
        return Path(
            hf_hub_download(repository.name, name, repo_type=repository.kind, revision=revision, local_dir=folder)
        )


def push_files(
    repository: Repository, files: Mapping[str, bytes | Path], replaces: Callable[[str], bool], *, private: bool = False
) -> str:
    """Make one commit of files, and return its address.

    The repository is made if there is none. Files of an earlier push (`replaces`) that are not among the new ones are
    deleted. A repository with files of something else is refused, and so is a public one if it is to be private.
    """
    with _explained(repository, pushes=True):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

        api = HfApi()
        api.create_repo(repository.name, repo_type=repository.kind, private=private or None, exist_ok=True)
        there = _files_there(api, repository, private)
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationDelete(name) for name in there if replaces(name) and name not in files
        ]
        operations += [CommitOperationAdd(name, content) for name, content in files.items()]
        message = f"Push a {repository.what} of ammi"
        return str(
            api.create_commit(repository.name, operations, commit_message=message, repo_type=repository.kind).commit_url
        )


def checked_name(name: str, kind: str) -> Repository:
    """Return the repository to push to, OWNER/NAME; a revision is refused."""
    repository = Repository.at(name, kind)
    if repository.revision is not None:
        raise ValueError(f"{name} names a revision, which a push makes anew: write {repository.name}")
    return repository


def _files_there(api: "HfApi", repository: Repository, private: bool) -> list[str]:
    about = api.repo_info(repository.name, repo_type=repository.kind)
    if private and not about.private:
        raise ValueError(
            f"{repository.name} is there and is public, so nothing was pushed: name another repository, or make it "
            "private on its page"
        )
    there = [file.rfilename for file in about.siblings or []]
    if CHECKSUMS not in there and (others := sorted(set(there) - _OF_THE_HUB)):
        raise ValueError(
            f"{repository.name} holds {others[0]} and no {repository.what} of ammi, so nothing was pushed: name "
            "another repository"
        )
    return there


@contextmanager
def _explained(repository: Repository, *, pushes: bool = False) -> Iterator[None]:
    """Turn errors of the Hub into sentences that say what to do."""
    try:
        from huggingface_hub import constants, errors
    except ImportError as error:
        raise ImportError(f"the Hub is reached by huggingface_hub ({error}): pip install 'ammi[hub]'") from error
    what, name = repository.what, repository.name
    try:
        yield
    except errors.HFValidationError as error:
        raise ValueError(f"{name!r} cannot be the name of a repository: write OWNER/NAME") from error
    except errors.GatedRepoError as error:
        raise PermissionError(f"{name} is for those whom its owner lets in: ask on its page, and {_LOG_IN}") from error
    except errors.RevisionNotFoundError as error:
        revision = repository.revision
        raise FileNotFoundError(
            f"{name} has no revision {revision!r}: name a branch, a tag or a whole commit"
        ) from error
    except errors.LocalEntryNotFoundError as error:
        raise ConnectionError(_unreachable(constants.ENDPOINT, f", and {name} was not fetched before")) from error
    except errors.EntryNotFoundError as error:
        raise FileNotFoundError(f"{name} is not a {what} of ammi, or lacks a file of it: name another one") from error
    except errors.OfflineModeIsEnabled as error:
        raise ConnectionError(f"the Hub cannot be reached for {name} while HF_HUB_OFFLINE is set: unset it") from error
    except errors.HfHubHTTPError as error:
        raise _refused(error.response.status_code, str(error), repository, pushes) from error
    except RuntimeError as error:
        if not pushes:
            raise
        cause = _first_line(error.__cause__ or error)  # of an upload that failed
        raise OSError(f"{name} is as it was, since a file could not be sent ({cause}): try again") from error
    except errors.HTTPError as error:  # of the network
        raise ConnectionError(_unreachable(constants.ENDPOINT, f" for {name} ({_first_line(error)})")) from error


def _refused(status: int, cause: str, repository: Repository, pushes: bool) -> Exception:
    """Return the error for a request that the Hub refuses."""
    if pushes and status in (401, 403, 404):
        return PermissionError(
            f"the Hub does not let you write to {repository.name}: {_LOG_IN}, with a token that may write"
        )
    if status in (401, 403, 404):
        other = "model" if repository.kind == "dataset" else "collection"
        return FileNotFoundError(
            f"the Hub has no {repository.what} {repository.name} that you may read: check its name, and that it is not "
            f"a {other}; if it is private, {_LOG_IN}"
        )
    return OSError(f"the Hub refused what was asked of {repository.name} ({_first_line(cause)}): try again later")


def _unreachable(endpoint: str, about: str) -> str:
    return f"the Hub cannot be reached at {endpoint}{about}: see to the network and try again"


def _first_line(cause: object) -> str:
    return (str(cause).strip() or type(cause).__name__).splitlines()[0].rstrip(".:")
