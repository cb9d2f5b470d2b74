"""Feature makers as files: features.json with name, parameters and learned values, and files for larger parts.

Reading them does not import scikit-learn, because a search needs only these files.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ammi.files import Files
from ammi.plain import from_json, plain

if TYPE_CHECKING:
    from ammi.features.base import FeatureMaker

FORMAT = 3
FILE = "features.json"

Saved = dict[str, Any]  # the content of features.json


def features_files(maker: "FeatureMaker", parameters: Mapping[str, object] | None = None, **learned: object) -> Files:
    """Return features.json of a fitted feature maker, by its name; the maker may add files of its own.

    Args:
        maker: the fitted feature maker.
        parameters: constructor arguments to make it again with, if they are not those that it has.
        learned: what else it needs, as JSON can hold it.
    """
    saved = {
        "format": FORMAT,
        "features": maker.name,
        "parameters": plain(maker.get_params(deep=False) if parameters is None else parameters),
        "fingerprint": maker.fingerprint_,
        **learned,
    }
    return {FILE: json.dumps(saved, ensure_ascii=False).encode()}


def parse_features(files: Mapping[str, bytes], name: str | None = None, location: str | Path = "") -> Saved:
    """Return the content of features.json; with a name, only if it is of that kind. `location` is for messages."""
    source = Path(location, FILE)
    if FILE not in files:
        raise ValueError(f"{source} is missing: save the features again, or copy all of their files")
    try:
        saved = from_json(files[FILE])
    except ValueError as error:
        raise ValueError(f"{source} is damaged: save the features again ({error})") from error
    if not isinstance(saved, dict) or "format" not in saved:
        raise ValueError(f"{source} says no format: expected what a feature maker saved, so save it again")
    if saved["format"] != FORMAT:
        raise ValueError(f"{source} has format {saved['format']}, expected {FORMAT}: use the ammi that wrote it")
    if not isinstance(saved.get("features"), str) or not isinstance(saved.get("fingerprint"), str):
        raise ValueError(f"{source} is damaged: save the features again (its kind or its fingerprint is missing)")
    if name is not None and saved["features"] != name:
        raise ValueError(
            f"{source} holds features of the kind {saved['features']!r}, not {name!r}: use features_from_files"
        )
    return saved


@contextmanager
def naming_damage(location: str | Path) -> Iterator[None]:
    """Turn any error about the content of features into one that says they are damaged."""
    try:
        yield
    except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"the features in {location} are damaged: save them again ({reason})") from error


def check_fingerprint(found: str, saved: Saved) -> None:
    """Refuse features whose content has another fingerprint than features.json says."""
    if found != saved["fingerprint"]:
        raise ValueError(f"the fingerprint is {found}, it was {saved['fingerprint']}")


def digest(*parts: str | bytes) -> str:
    """Return a fingerprint of texts and bytes, which depends on where each of them ends."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()


def terms_fingerprint(name: str, terms: list[str] | bytes, idf: NDArray[np.float64]) -> str:
    """Return the fingerprint of tf-idf rows: of their terms, or the model that finds them, and their weights."""
    return digest(name, terms if isinstance(terms, bytes) else "\0".join(terms), idf.tobytes())
