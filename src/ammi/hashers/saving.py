"""A model as a folder: config.json says what it is, weights.safetensors holds what it learned. Never a pickle."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ammi.files import replacing_folder
from ammi.hashers import methods
from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher

FORMAT = 2
CONFIG, WEIGHTS = "config.json", "weights.safetensors"

Config = dict[str, Any]  # config.json


def save_hasher(hasher: "Hasher", folder: Path) -> None:
    """Write a hasher as a folder."""
    about = {
        "n_features_in": hasher.n_features_in_,
        "linear": hasher.linear() is not None,
        "parameters": {name: _to_json(value) for name, value in hasher.get_params(deep=False).items()},
        **hasher._facts(),
    }
    check_place(folder)
    with replacing_folder(folder) as new:
        try:
            save_file({name: np.ascontiguousarray(array) for name, array in hasher._arrays().items()}, new / WEIGHTS)
        except SafetensorError as error:
            raise OSError(f"the model could not be written to {folder} ({error}): make space and try again") from error
        write_config(new, type(hasher).__name__, hasher.fingerprint_, about)


def check_place(folder: Path) -> None:
    """Refuse to write a model over what is none."""
    if folder.is_file() or (folder.exists() and not holds_model(folder) and any(folder.iterdir())):
        raise ValueError(f"{folder} is there and is not a model: choose another folder")


def holds_model(folder: str | Path) -> bool:
    """Whether there is a model in a folder."""
    return (Path(folder) / CONFIG).is_file()


def write_config(folder: Path, method: str, fingerprint: str, about: Config) -> None:
    """config.json: what the model in a folder is."""
    config = {"format": FORMAT, "ammi": __version__, "method": method, "fingerprint": fingerprint, **about}
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


def load(folder: str | Path) -> "Hasher | DocumentHasher":
    """The model that was saved to a folder: a hasher, or a DocumentHasher."""
    from ammi.hashers.documents import DocumentHasher

    config = read_model_config(Path(folder))
    if config["method"] == DocumentHasher.__name__:
        return DocumentHasher.load(folder)
    return load_hasher(Path(folder))


def load_hasher(folder: Path) -> "Hasher":
    """The hasher that was saved to a folder."""
    config = read_model_config(folder, "n_features_in", "parameters")
    hasher = _method(config["method"], folder)(**_parameters(config["parameters"], folder))
    try:
        arrays = load_file(folder / WEIGHTS)
        hasher.n_features_in_ = config["n_features_in"]
        hasher._restore(arrays, config)
    except (OSError, SafetensorError, RuntimeError, KeyError, ValueError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} is damaged or does not belong to {CONFIG}: save the model again"
        ) from error
    if hasher.fingerprint_ != config["fingerprint"]:
        raise ValueError(f"{folder / WEIGHTS} is not the one {CONFIG} was written with: save the model again")
    return hasher


def read_model_config(folder: Path, *more: str) -> Config:
    """config.json of a model folder, checked to have what every model writes there, and more."""
    path = folder / CONFIG
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    if not path.is_file():
        raise ValueError(f"{folder} is not a model of ammi: there is no {CONFIG} in it")
    return parse_config(path.read_bytes(), path, *more)


def parse_config(content: bytes, path: Path, *more: str) -> Config:
    """What config.json holds; the path is for messages."""
    try:
        config = json.loads(content)
        version = config["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or is not a model of ammi") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has format {version}, this ammi ({__version__}) reads {FORMAT}: fit the model again, or use the ammi "
            "that wrote it"
        )
    missing = {"method", "fingerprint", *more} - set(config)
    if missing:
        raise ValueError(f"{path} is damaged: it lacks {', '.join(sorted(missing))}")
    return config


def _method(name: str, folder: Path) -> "type[Hasher]":
    """The class of this name: this package's own first, so that no other one has to be imported."""
    for key in sorted(methods.names(), key=lambda key: (key != name.lower(), key)):
        method = methods.get(key)
        if method.__name__ == name:
            return method
    raise ValueError(f"{folder} holds a model of {name!r}, a method that this ammi ({__version__}) does not know")


def _parameters(saved: Config, folder: Path) -> Config:
    """The parameters as the constructor takes them."""
    try:
        return {name: _from_json(value) for name, value in saved.items()}
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{folder / CONFIG} is damaged: its parameters cannot be read") from error


def _to_json(value: Any) -> Any:
    """A parameter as JSON can hold it; a random state has done its work and is not kept."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if callable(value):
        from ammi.nets.networks import network_to_json

        return network_to_json(value)
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict) and "network" in value:
        from ammi.nets.networks import network_from_json

        return network_from_json(value)
    return value
