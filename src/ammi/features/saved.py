"""Feature makers as folders: features.json says what they are and what they learned; larger things are files beside it.

It is read here without scikit-learn, since a search needs no more than what is in these files.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ammi.files import SEAL, read_sealed, replacing_folder, seal
from ammi.plain import from_json, plain

if TYPE_CHECKING:
    from ammi.features.base import FeatureMaker

FORMAT = 3
FILE = "features.json"
FILE_OF_FORMAT_1 = "vectorizer.json"


def write_saved(
    folder: str | Path,
    maker: "FeatureMaker",
    parameters: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
    **learned: Any,
) -> None:
    """Write features.json, and other files, as a folder that replaces the features that are there as a whole.

    Args:
        parameters: those to make it again with, where they are not simply the ones it has.
        files: what else the folder is to hold, by name.
        learned: what JSON can hold.
    """
    saved = {
        "format": FORMAT,
        "features": maker.name,
        "parameters": plain(maker.get_params(deep=False) if parameters is None else parameters),
        "fingerprint": maker.fingerprint_,
        **learned,
    }
    folder = Path(folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / FILE).is_file():
        raise ValueError(f"{folder} is there and does not hold features: choose another folder")
    with replacing_folder(folder) as new:
        (new / FILE).write_bytes(json.dumps(saved, ensure_ascii=False).encode())
        for name, content in (files or {}).items():
            (new / name).write_bytes(content)
        seal(new)


def read_saved(folder: str | Path, name: str | None = None) -> dict[str, Any]:
    """What features.json of a folder holds; with a name, only if it is of that kind."""
    path = Path(folder, FILE)
    if Path(folder, FILE_OF_FORMAT_1).exists() and not path.exists():
        raise ValueError(
            f"{Path(folder, FILE_OF_FORMAT_1)} has format 1, expected {FORMAT} in {FILE}: fit and save the model again"
        )
    try:
        content = read_sealed(Path(folder))[FILE]
    except (OSError, ValueError, KeyError):
        _check_features(path)
        raise
    saved = parse_saved(content, str(path))
    if name is not None and saved["features"] != name:
        raise ValueError(f"{path} holds features of the kind {saved['features']!r}, not {name!r}: use load_features")
    return saved


def _check_features(path: Path) -> None:
    """Refuse what are no features, or those of an older ammi, which wrote no seal."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {FILE} in {path.parent}: name a folder that a feature maker was saved to")
    if not path.with_name(SEAL).exists():
        parse_saved(path.read_bytes(), str(path))


def parse_saved(content: bytes, source: str = FILE) -> dict[str, Any]:
    """What the bytes of features.json hold."""
    try:
        saved = from_json(content)
    except ValueError as error:
        raise ValueError(f"{source} is damaged: save the features again ({error})") from error
    if not isinstance(saved, dict) or "format" not in saved:
        raise ValueError(f"{source} says no format: expected what a feature maker saved, so save it again")
    if saved["format"] != FORMAT:
        raise ValueError(f"{source} has format {saved['format']}, expected {FORMAT}: use the ammi that wrote it")
    if not isinstance(saved.get("features"), str) or not isinstance(saved.get("fingerprint"), str):
        raise ValueError(f"{source} is damaged: save the features again (its kind or its fingerprint is missing)")
    return saved


@contextmanager
def naming_damage(place: str | Path) -> Iterator[None]:
    """Say which saved features are damaged, whatever goes wrong when something is made of them."""
    try:
        yield
    except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"the features in {place} are damaged: save them again ({reason})") from error


def digest(*parts: str | bytes) -> str:
    """A fingerprint of texts and bytes, which depends on where each of them ends."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()


def terms_fingerprint(name: str, terms: list[str] | bytes, idf: NDArray[np.float64]) -> str:
    """That of a kind of tf-idf rows: its terms, or the model that finds them, and their weights."""
    return digest(name, terms if isinstance(terms, bytes) else "\0".join(terms), idf.tobytes())
