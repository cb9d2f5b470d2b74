"""config.json, which says what the model in a folder is, and the names of what else is there."""

import json
from pathlib import Path
from typing import Any

from ammi.files import SEAL, check_writable, read_sealed
from ammi.plain import from_json
from ammi.version import __version__

FORMAT = 3
CONFIG, WEIGHTS = "config.json", "weights.safetensors"
FEATURES, HASHER = "features", "hasher"  # the parts of a DocumentHasher
_OF_A_MODEL = {CONFIG, WEIGHTS, FEATURES, HASHER, SEAL}

Config = dict[str, Any]  # what the file holds


def write_config(folder: Path, method: str, fingerprint: str, about: Config) -> None:
    """Write it into a folder."""
    config = {"format": FORMAT, "ammi": __version__, "method": method, "fingerprint": fingerprint, **about}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


def holds_model(folder: str | Path) -> bool:
    """Whether there is a model in a folder, be it a damaged one; pairs of articles have a config.json, too."""
    try:
        return b'"kind"' not in (Path(folder) / CONFIG).read_bytes()
    except OSError:
        return False


def check_place(folder: Path) -> None:
    """Refuse to write a model over what is none, or where nothing can be written."""
    if folder.is_file() or (folder.exists() and not holds_model(folder) and any(folder.iterdir())):
        raise ValueError(f"{folder} is there and is not a model: choose another folder")
    check_writable(folder)
    if others := sorted(path.name for path in folder.glob("*") if path.name not in _OF_A_MODEL):
        raise ValueError(f"{folder} holds {others[0]} beside a model, and would be replaced: choose another folder")


def read_config(folder: Path, *more: str) -> Config:
    """config.json of a model folder, checked to have what every model writes there, and more."""
    return parse_config(read_folder(folder)[CONFIG], folder / CONFIG, *more)


def read_folder(folder: Path) -> dict[str, bytes]:
    """All files of a model's folder, by their path in it; one that is not as it was written is named."""
    try:
        files = read_sealed(folder)
    except (OSError, ValueError):
        _check_model(folder)
        raise
    if CONFIG not in files:
        raise ValueError(f"{folder} is not a model of ammi: there is no {CONFIG} in it")
    return files


def _check_model(folder: Path) -> None:
    """Refuse what is no model, or that of an older ammi, which wrote no seal."""
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    if not holds_model(folder):
        raise ValueError(f"{folder} is not a model of ammi: there is no {CONFIG} in it")
    if not (folder / SEAL).exists():
        parse_config((folder / CONFIG).read_bytes(), folder / CONFIG)


def parse_config(content: bytes, path: Path, *more: str) -> Config:
    """What config.json holds; the path is for messages."""
    try:
        config = from_json(content)
        version = config["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or is not a model of ammi: save the model again") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has format {version}, this ammi ({__version__}) reads {FORMAT}: fit the model again, or use "
            "the ammi that wrote it"
        )
    missing = {"method", "fingerprint", *more} - set(config)
    if missing:
        raise ValueError(f"{path} is damaged, since it lacks {', '.join(sorted(missing))}: save the model again")
    return config
