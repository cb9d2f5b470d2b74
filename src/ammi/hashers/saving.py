"""A model as a folder: config.json says what it is, weights.safetensors holds what it learned. Never a pickle."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ammi.hashers.base import Hasher
from ammi.version import __version__

FORMAT = 1
CONFIG, WEIGHTS = "config.json", "weights.safetensors"


def save(hasher: Hasher, folder: Path) -> None:
    """Write a hasher as a folder."""
    more = {
        "n_features_in": hasher.n_features_in_,
        "parameters": {name: _plain(value) for name, value in hasher.get_params(deep=False).items()},
    }
    with replacing(folder) as new:
        try:
            save_file({name: np.ascontiguousarray(array) for name, array in hasher._arrays().items()}, new / WEIGHTS)
        except SafetensorError as error:
            raise OSError(f"the model could not be written to {folder} ({error}): make space and try again") from error
        write_config(new, hasher, more)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which then moves to its place whole, so that a model is never half written."""
    check_place(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as beside:
        new, old = Path(beside) / "new", Path(beside) / "old"
        new.mkdir()
        yield new
        if folder.exists():
            os.replace(folder, old)
        os.replace(new, folder)
        shutil.rmtree(old, ignore_errors=True)


def check_place(folder: Path) -> None:
    """Refuse to write a model over what is none."""
    if folder.is_file() or (folder.exists() and not (folder / CONFIG).is_file() and any(folder.iterdir())):
        raise ValueError(f"{folder} is there and is not a model: choose another folder")


def write_config(folder: Path, model: Any, more: dict[str, Any]) -> None:
    """config.json: what the model in a folder is."""
    config = {
        "format": FORMAT,
        "ammi": __version__,
        "method": type(model).__name__,
        "fingerprint": model.fingerprint_,
        **more,
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


def load(folder: str | Path) -> Any:
    """The model that was saved to a folder: a hasher, or a DocumentHasher."""
    from ammi.hashers.documents import DocumentHasher

    config = read_config(Path(folder))
    if config["method"] == DocumentHasher.__name__:
        return DocumentHasher.load(folder)
    return load_hasher(Path(folder))


def load_hasher(folder: Path) -> Hasher:
    """The hasher that `save` wrote to a folder."""
    config = read_config(folder, "n_features_in", "parameters")
    hasher = _method(config["method"], folder)(**config["parameters"])
    try:
        arrays = load_file(folder / WEIGHTS)
        hasher.n_features_in_ = config["n_features_in"]
        hasher._set_arrays(arrays)
    except (OSError, SafetensorError, RuntimeError, KeyError, ValueError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} is damaged or does not belong to {CONFIG}: save the model again"
        ) from error
    if hasher.fingerprint_ != config["fingerprint"]:
        raise ValueError(f"{folder / WEIGHTS} is not the one {CONFIG} was written with: save the model again")
    return hasher


def read_config(folder: Path, *more: str) -> dict[str, Any]:
    """config.json of a model folder, checked to have what every model writes there, and more."""
    path = folder / CONFIG
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    if not path.is_file():
        raise ValueError(f"{folder} is not a model of ammi: there is no {CONFIG} in it")
    try:
        config = json.loads(path.read_text())
        version = config["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or is not a model of ammi") from error
    if version != FORMAT:
        raise ValueError(f"{path} has format {version}, this ammi ({__version__}) reads {FORMAT}: install a newer ammi")
    missing = {"method", "fingerprint", *more} - set(config)
    if missing:
        raise ValueError(f"{path} is damaged: it lacks {', '.join(sorted(missing))}")
    return config


def _method(name: str, folder: Path) -> type[Hasher]:
    from ammi.hashers import METHODS

    methods = {method.__name__: method for method in METHODS.values()}
    if name not in methods:
        raise ValueError(f"{folder} holds a model of {name!r}, a method that this ammi ({__version__}) does not know")
    return methods[name]


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it; a random state has done its work and is not kept."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return None if isinstance(value, (np.random.RandomState, np.random.Generator)) else value
