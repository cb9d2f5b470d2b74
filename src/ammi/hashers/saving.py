"""Models as files: config.json says what a model is, weights.safetensors holds what it learned. Never a pickle.

    config.json, weights.safetensors, SHA256SUMS              a hasher
    config.json, features/..., hasher/..., SHA256SUMS         a DocumentHasher: the files of its two parts
    beside/config.json, beside/features/..., beside/hasher/...        and of a second DocumentHasher beside it

A folder, a store and a message to a worker hold the same files. Nothing is made of a file whose digest is wrong.
Importing this module loads neither torch nor scikit-learn, since a search reads no more than the files.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from ammi.features import features_from_files
from ammi.features.saved import parse_features
from ammi.files import CHECKSUMS, Files, check_writable, in_folder, of_folder, read_folder, verified, with_checksums
from ammi.hashers import methods
from ammi.hub import Repository, fetch_files, is_on_hub
from ammi.parts import is_part, part_from_json, part_to_json
from ammi.plain import from_json
from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher
    from ammi.hashers.model import Model

FORMAT = 3
CONFIG, WEIGHTS = "config.json", "weights.safetensors"
FEATURES, HASHER, BESIDE = "features", "hasher", "beside"  # folders of the parts of a DocumentHasher
_OF_A_MODEL = {CONFIG, WEIGHTS, FEATURES, HASHER, BESIDE, CHECKSUMS}

_COUNTED = {"words": "vocabulary", "pieces": "vocabulary", "embeddings": "columns", "vectors": "columns"}

Config = dict[str, Any]  # the content of config.json
M = TypeVar("M", bound="Model")


def hasher_to_files(hasher: "Hasher") -> Files:
    """Return a fitted hasher as files. They do not name the device that it was trained on."""
    parameters = {name: value for name, value in hasher.get_params(deep=False).items() if name != "device"}
    about = {
        "n_features_in": hasher.n_features_in_,
        "hyperplanes": hasher.hyperplanes(),
        "parameters": {name: _to_json(value) for name, value in parameters.items()},
        **hasher._facts(),
    }
    arrays = {name: np.asarray(array, order="C") for name, array in hasher._arrays().items()}
    config = _config(type(hasher).__name__, hasher.fingerprint_, about)
    return with_checksums({CONFIG: config, WEIGHTS: save_arrays(arrays)})


def model_to_files(model: "DocumentHasher") -> Files:
    """Return a fitted DocumentHasher as files: its own config.json, and a folder for each of its parts."""
    parts = in_folder(FEATURES, model.features_.to_files()) | in_folder(HASHER, hasher_to_files(model.hasher_))
    if model.beside_:
        parts |= in_folder(BESIDE, model_to_files(model.beside_))
        parts.pop(f"{BESIDE}/{CHECKSUMS}")
    parts.pop(f"{HASHER}/{CHECKSUMS}")  # one list of digests is enough
    about = {"n_bits": model.n_bits, "reads": model.reads}
    return with_checksums({CONFIG: _config(type(model).__name__, model.fingerprint_, about), **parts})


def load(folder: str | os.PathLike[str]) -> "Hasher | DocumentHasher":
    """Return the model that was saved to a folder or pushed to the Hub, `hf://owner/name` or `hf://owner/name@revision`.

    It is a hasher, or a DocumentHasher. Nothing is loaded of a file whose digest is wrong, and no code is run.
    """
    return model_from_verified(read_model(folder), Path(folder))


def read_model(location: str | os.PathLike[str]) -> Files:
    """Return all files of a model in a folder or on the Hub; refuse a damaged model, or a folder without one."""
    if is_on_hub(location):
        return fetch_files(Repository.at(location, "model"), is_of_a_model)
    return read_model_folder(Path(location))


def is_of_a_model(name: str) -> bool:
    """Return whether a file can be one of a model, by its path in the folder."""
    return name.partition("/")[0] in _OF_A_MODEL


def model_from_files(files: Mapping[str, bytes], kind: type[M]) -> M:
    """Return the model of these files, which must be of this kind; a damaged file is refused by name."""
    location = Path("the model")
    model = model_from_verified(verified(files, location), location)
    if not isinstance(model, kind):
        raise ValueError(
            f"the files hold a model of {type(model).__name__}, not of {kind.__name__}: use its from_files"
        )
    return model


def model_from_verified(files: Files, location: Path) -> "Hasher | DocumentHasher":
    """Return the model of files whose digests are right; `location` is for messages."""
    from ammi.hashers.documents import DocumentHasher

    config = parse_config(files, location)
    if config["method"] != DocumentHasher.__name__:
        return _hasher(files, location)
    features = features_from_files(of_folder(FEATURES, files), location / FEATURES)
    of_beside = of_folder(BESIDE, files)
    beside = model_from_verified(of_beside, location / BESIDE) if of_beside else None
    if beside is not None and not isinstance(beside, DocumentHasher):
        raise ValueError(f"{location / BESIDE} is no model of documents: save the model again")
    model = DocumentHasher.of(_hasher(of_folder(HASHER, files), location / HASHER), features, beside)
    if model.fingerprint_ != config["fingerprint"]:
        raise ValueError(f"the parts of {location} do not belong together: save the model again")
    return model


def describe_files(files: Files, location: Path) -> dict[str, Any]:
    """Return what `describe` says of the model of these files, without importing torch if they say it all."""
    config = parse_config(files, location)
    if of_hasher := of_folder(HASHER, files):
        of_features, of_beside = parse_features(of_folder(FEATURES, files)), of_folder(BESIDE, files)
        hasher = parse_config(of_hasher, location / HASHER, "n_features_in", "parameters")
        about = {"units": of_features["features"], _COUNTED.get(of_features["features"], ""): hasher["n_features_in"]}
        if "model" in of_features["parameters"]:
            about["embedder"] = of_features["parameters"]["model"]
        about |= _describe_hasher(hasher, config)
        about |= {"beside": describe_files(of_beside, location / BESIDE)} if of_beside else {}
    else:
        about = _describe_hasher(parse_config(files, location, "parameters"), config)
    if "" in about or about["bits"] is None or any(map(is_part, about.values())):  # the files do not say it all
        return model_from_verified(files, location).describe()
    return {name: repr(value) if isinstance(value, list) else value for name, value in about.items()}


def _describe_hasher(config: Config, of_model: Config) -> dict[str, Any]:
    parameters = dict(config["parameters"])
    n_bits = parameters.pop("n_bits", None)
    bits = of_model.get("n_bits", n_bits)
    return {"fingerprint": of_model["fingerprint"], "bits": bits, "method": config["method"], **parameters}


def holds_model(folder: str | Path) -> bool:
    """Return whether a folder holds a model, damaged or not; pairs of articles have a config.json, too."""
    try:
        return b'"kind"' not in (Path(folder) / CONFIG).read_bytes()
    except (OSError, ValueError):  # a path with NUL or half a surrogate pair
        return False


def check_model_folder(folder: Path) -> None:
    """Refuse to write a model over anything but a model, or where nothing can be written."""
    if folder.is_file() or (folder.exists() and not holds_model(folder) and any(folder.iterdir())):
        raise ValueError(f"{folder} is there and is not a model: choose another folder")
    check_writable(folder)
    if others := sorted(path.name for path in folder.glob("*") if path.name not in _OF_A_MODEL):
        raise ValueError(f"{folder} holds {others[0]} beside a model, and would be replaced: choose another folder")


def read_model_folder(folder: Path) -> Files:
    """Return all files of a saved model; refuse a folder that holds none, or a damaged one."""
    try:
        files = read_folder(folder)
    except (OSError, ValueError):
        if not folder.exists():
            raise ValueError(f"there is no folder {folder}") from None
        if holds_model(folder) and not (folder / CHECKSUMS).exists():  # an older ammi wrote none
            parse_config({CONFIG: (folder / CONFIG).read_bytes()}, folder)
        if holds_model(folder):
            raise
        files = {}
    if CONFIG not in files:
        raise ValueError(f"{folder} is not a model of ammi: there is no {CONFIG} in it")
    return files


def parse_config(files: Mapping[str, bytes], location: Path, *keys: str) -> Config:
    """Return the content of config.json, which must have these keys; `location` is for messages."""
    path = location / CONFIG
    try:
        config = from_json(files[CONFIG])
        version = config["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or is not a model of ammi: save the model again") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has format {version}, this ammi ({__version__}) reads {FORMAT}: fit the model again, or use "
            "the ammi that wrote it"
        )
    if missing := {"method", "fingerprint", *keys} - set(config):
        raise ValueError(f"{path} is damaged, since it lacks {', '.join(sorted(missing))}: save the model again")
    return config


def _config(method: str, fingerprint: str, about: Config) -> bytes:
    config = {"format": FORMAT, "ammi": __version__, "method": method, "fingerprint": fingerprint, **about}
    return (json.dumps(config, indent=1) + "\n").encode()


def _hasher(files: Files, location: Path) -> "Hasher":
    config = parse_config(files, location, "n_features_in", "parameters")
    hasher = _unfitted(_method(config["method"], location), config["parameters"], location)
    try:
        hasher.n_features_in_ = config["n_features_in"]
        hasher._restore(load_arrays(files[WEIGHTS]), config)
    except (SafetensorError, RuntimeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{location / WEIGHTS} is damaged or does not belong to {CONFIG}: save the model again"
        ) from error
    if hasher.fingerprint_ != config["fingerprint"]:
        raise ValueError(f"{location / WEIGHTS} is not the one {CONFIG} was written with: save the model again")
    return hasher


def _method(name: str, location: Path) -> "type[Hasher]":
    """Return the class of this name, ammi's own first, so that no other package has to be imported."""
    for key in sorted(methods.names(), key=lambda key: (key != name.lower(), key)):
        method = methods.get(key)
        if method.__name__ == name:
            return method
    raise ValueError(
        f"{location} holds a model of {name!r}, a method that this ammi ({__version__}) does not know: register its "
        "class with ammi.hashers.methods.register, or install the package that has it"
    )


def _unfitted(method: "type[Hasher]", parameters: object, location: Path) -> "Hasher":
    """Return a hasher with these parameters, each within its range."""
    complaint = f"{location / CONFIG} is damaged, since its parameters do not fit {method.__name__}"
    if not isinstance(parameters, dict) or not parameters.keys() <= method().get_params(deep=False).keys():
        raise ValueError(f"{complaint}: save it again")
    hasher = method(**{name: part_from_json(value) if is_part(value) else value for name, value in parameters.items()})
    try:
        hasher._check_parameters()
    except ValueError as error:
        raise ValueError(f"{complaint} ({error}): save it again") from error
    return hasher


def _to_json(value: object) -> object:
    """Return a parameter as JSON can hold it; a random state was used up by `fit`, and is left out."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.random.RandomState):
        return None
    if value is None or isinstance(value, str | int | float | list | tuple | dict):
        return value
    return part_to_json(value)
