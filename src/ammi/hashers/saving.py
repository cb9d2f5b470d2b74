"""A model as a folder: config.json says what it is, weights.safetensors holds what it learned. Never a pickle."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ammi.files import replacing_folder
from ammi.hashers import methods
from ammi.hashers.config import CONFIG, WEIGHTS, Config, check_place, read_config, read_folder, write_config
from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher


def save_hasher(hasher: "Hasher", folder: Path) -> None:
    """Write a hasher as a folder."""
    about = {
        "n_features_in": hasher.n_features_in_,
        "hyperplanes": hasher.hyperplanes(),
        "parameters": {name: _to_json(value) for name, value in hasher.get_params(deep=False).items()},
        **hasher._facts(),
    }
    check_place(folder)
    with replacing_folder(folder) as new:
        try:
            save_file({name: np.asarray(array, order="C") for name, array in hasher._arrays().items()}, new / WEIGHTS)
        except SafetensorError as error:
            raise OSError(f"the model could not be written to {folder} ({error}): make space and try again") from error
        write_config(new, type(hasher).__name__, hasher.fingerprint_, about)


def load(folder: str | os.PathLike[str]) -> "Hasher | DocumentHasher":
    """The model that was saved to a folder: a hasher, or a DocumentHasher."""
    from ammi.hashers.documents import DocumentHasher

    config = read_config(Path(folder))
    if config["method"] == DocumentHasher.__name__:
        return DocumentHasher.load(folder)
    return load_hasher(Path(folder))


def model_to_files(model: "Hasher | DocumentHasher") -> dict[str, bytes]:
    """A fitted model as the files that it is saved as; a hasher alone as a model of vectors."""
    from ammi.hashers.documents import DocumentHasher

    whole = model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)
    with TemporaryDirectory() as beside:
        folder = Path(beside) / "model"
        whole.save(folder)
        return read_folder(folder)


def model_from_files(files: Mapping[str, bytes]) -> "DocumentHasher":
    """The model that was saved as these files."""
    from ammi.hashers.documents import DocumentHasher

    with TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, name).resolve()
            if not path.is_relative_to(Path(folder).resolve()):
                raise ValueError(f"{name!r} is no name for a file of a model, since it lies outside of its folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        model = load(folder)
        return model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)


def load_hasher(folder: Path) -> "Hasher":
    """The hasher that was saved to a folder."""
    config = read_config(folder, "n_features_in", "parameters")
    hasher = _made(_method(config["method"], folder), config["parameters"], folder)
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


def _method(name: str, folder: Path) -> "type[Hasher]":
    """The class of this name: this package's own first, so that no other one has to be imported."""
    for key in sorted(methods.names(), key=lambda key: (key != name.lower(), key)):
        method = methods.get(key)
        if method.__name__ == name:
            return method
    raise ValueError(
        f"{folder} holds a model of {name!r}, a method that this ammi ({__version__}) does not know: register its "
        "class with ammi.hashers.methods.register, or install the package that has it"
    )


def _made(method: "type[Hasher]", parameters: Config, folder: Path) -> "Hasher":
    """A hasher with these parameters."""
    try:
        return method(**{name: _from_json(value) for name, value in parameters.items()})
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{folder / CONFIG} is damaged: its parameters do not fit {method.__name__}") from error


def _to_json(value: Any) -> Any:
    """A parameter as JSON can hold it; a random state has done its work and is not kept."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.random.RandomState):
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
