"""A model as a folder: config.json says what it is, weights.safetensors holds what it learned. Never a pickle.

A digest of every file is in SHA256SUMS (`ammi.files.seal`): nothing is made of one that is not as it was written.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from ammi.features import load_features
from ammi.files import replacing_folder, seal, unsealed
from ammi.hashers import methods
from ammi.hashers.config import (
    CONFIG,
    FEATURES,
    HASHER,
    WEIGHTS,
    Config,
    check_place,
    parse_config,
    read_folder,
    write_config,
)
from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.features import FeatureMaker
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher


def save_hasher(hasher: "Hasher", folder: Path) -> None:
    """Write a hasher as a folder. It says nothing of the device that it was trained on."""
    parameters = {name: value for name, value in hasher.get_params(deep=False).items() if name != "device"}
    about = {
        "n_features_in": hasher.n_features_in_,
        "hyperplanes": hasher.hyperplanes(),
        "parameters": {name: _to_json(value) for name, value in parameters.items()},
        **hasher._facts(),
    }
    check_place(folder)
    with replacing_folder(folder) as new:
        # Its own way to write a file would let nobody else read it.
        arrays = {name: np.asarray(array, order="C") for name, array in hasher._arrays().items()}
        (new / WEIGHTS).write_bytes(save_arrays(arrays))
        write_config(new, type(hasher).__name__, hasher.fingerprint_, about)
        seal(new)


def save_model(model: "DocumentHasher", folder: Path) -> None:
    """Write a model as a folder, with one for each of its two parts."""
    fingerprint = model.fingerprint_
    check_place(folder)
    with replacing_folder(folder) as new:
        write_config(new, type(model).__name__, fingerprint, {"n_bits": model.n_bits, "reads": model.reads})
        model.features_.save(new / FEATURES)
        model.hasher_.save(new / HASHER)
        seal(new)


def load(folder: str | os.PathLike[str]) -> "Hasher | DocumentHasher":
    """The model that was saved to a folder: a hasher, or a DocumentHasher."""
    return _model(read_folder(Path(folder)), Path(folder))


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

    place = Path("the model")
    model = _model(unsealed(files, place), place)
    return model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)


def _model(files: Mapping[str, bytes], folder: Path) -> "Hasher | DocumentHasher":
    """The model of files that are as they were written; the folder is for messages."""
    from ammi.hashers.documents import DocumentHasher

    config = parse_config(files[CONFIG], folder / CONFIG)
    if config["method"] != DocumentHasher.__name__:
        return _hasher(files, folder)
    model = DocumentHasher.of(
        _hasher(_part(files, HASHER), folder / HASHER), _features(_part(files, FEATURES), folder / FEATURES)
    )
    if model.fingerprint_ != config["fingerprint"]:
        raise ValueError(f"the parts of {folder} do not belong together: save the model again")
    return model


def _part(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """The files of a folder inside that of a model, by their path in it."""
    return {path.removeprefix(f"{name}/"): content for path, content in files.items() if path.startswith(f"{name}/")}


def _features(files: Mapping[str, bytes], folder: Path) -> "FeatureMaker":
    """Feature makers read a folder; this one is of the files that were checked, whatever is in the model's own now."""
    with TemporaryDirectory() as beside:
        copy = Path(beside) / FEATURES
        for name, content in files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        try:
            return load_features(copy)
        except (OSError, ValueError) as error:
            raise ValueError(str(error).replace(str(copy), str(folder))) from error


def _hasher(files: Mapping[str, bytes], folder: Path) -> "Hasher":
    """The hasher of files that are as they were written."""
    if missing := {CONFIG, WEIGHTS} - set(files):
        raise ValueError(f"{folder} lacks {' and '.join(sorted(missing))}: save the model again")
    config = parse_config(files[CONFIG], folder / CONFIG, "n_features_in", "parameters")
    hasher = _made(_method(config["method"], folder), config["parameters"], folder)
    try:
        hasher.n_features_in_ = config["n_features_in"]
        hasher._restore(load_arrays(files[WEIGHTS]), config)
    except (SafetensorError, RuntimeError, AttributeError, KeyError, TypeError, ValueError) as error:
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
    """A hasher with these parameters, each within its range."""
    known = method().get_params(deep=False)
    if not isinstance(parameters, dict) or not parameters.keys() <= known.keys():
        raise ValueError(
            f"{folder / CONFIG} is damaged, since its parameters do not fit {method.__name__}: save it again"
        )
    hasher = method(**{name: _from_json(value) for name, value in parameters.items()})
    try:
        hasher._check_parameters()
    except ValueError as error:
        raise ValueError(
            f"{folder / CONFIG} is damaged, since its parameters do not fit {method.__name__} ({error}): save it again"
        ) from error
    return hasher


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
