"""Functions from texts to embeddings: of a sentence-transformers model, or a user's own."""

import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ammi.features.saved import digest

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Embeddings = NDArray[np.float32]  # (n, d)
Embed = Callable[[list[str]], ArrayLike]  # texts to an array (n, d)
Model = str | os.PathLike[str] | Embed

# Upper case, other scripts, and more words than most models read, which tokenizers and poolings treat differently.
PROBES = ("A short text.", "Größe, ΟΔΟΣ and İstanbul: 日本語 हिन्दी العربية", " ".join(map(str, range(600))))

ALLOWED = "AMMI_EMBEDDERS"  # the environment variable that names the functions which saved models may call
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_passed: set[str] = set()  # the functions that the program itself has passed


class Embedder(NamedTuple):
    """A function from texts to embeddings, and a digest that tells it from others, or its name."""

    embed: Embed
    identity: str


def open_embedder(model: Model, batch_size: int) -> Embedder:
    """Open a model: a folder, a name on the Hugging Face Hub, a function, or "module:function".

    `batch_size` texts at a time go through a sentence-transformers model.
    """
    if names_function(model):
        _passed.add(model)
        return Embedder(_imported(model), model)
    if isinstance(model, str | os.PathLike):
        transformer = _open_transformer(os.fspath(model))
        options = {"batch_size": batch_size, "show_progress_bar": False, "convert_to_numpy": True}
        return Embedder(partial(transformer.encode, **options), _identity(transformer))
    if hasattr(model, "encode"):
        raise ValueError(f"model is a {type(model).__name__}: pass its name or its folder, or its method encode")
    if not callable(model):
        raise ValueError(f"model is {model!r:.60}: expected a name, a folder, or a function from texts to an array")
    _passed.add(name_of(model))
    return Embedder(model, name_of(model))


def open_saved_embedder(model: Model, batch_size: int) -> Embedder:
    """Open a model that a file names; a function only if the program passed it before, or the user allows it by name.

    Any function of any module can be named in a file, os.system too.
    """
    if names_function(model) and model not in _passed | set(os.environ.get(ALLOWED, "").split()):
        raise ValueError(
            f"the embedder of this model is the function {model}, which is not called unless you allow it: if you "
            f"trust it, set the environment variable {ALLOWED}={model}"
        )
    return open_embedder(model, batch_size)


def names_function(model: Model) -> TypeGuard[str]:
    """Return whether a model is given as "module:function"."""
    return isinstance(model, str) and not Path(model).is_dir() and _FUNCTION.fullmatch(model) is not None


def name_of(model: Model) -> str:
    """Return a model's name or folder as it was given, or a function as "module:function"."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    named = model if hasattr(model, "__qualname__") else type(model)
    return f"{named.__module__}:{named.__qualname__}"


def name_to_save(model: Model) -> str:
    """Return the name by which a model is found again; refuse a function that no other process would find."""
    name = name_of(model)
    if isinstance(model, str | os.PathLike):
        return name
    found = None
    with suppress(ImportError, AttributeError, ValueError):  # a name such as <lambda> is no value
        found = None if name.startswith("__main__:") else resolve_name(name)
    if found is not model:
        raise ValueError(
            f"the function {name} cannot be saved, since no import finds it: define it at the top of a module other "
            "than the program itself, or pass the name or the folder of a model"
        )
    return name


def _imported(name: str) -> Embed:
    try:
        function = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ImportError(f"there is no function {name}: install the package that has it ({error})") from error
    if not callable(function):
        raise ValueError(f"{name} is {function!r:.60}: expected a function from texts to an array")

    def embed(texts: list[str]) -> ArrayLike:
        try:
            return function(texts)
        except Exception as error:  # a name may be of any function
            cause = f"{type(error).__name__}: {error}"
            raise ValueError(f"{name} failed ({cause:.200}): expected a function from texts to an array") from error

    return embed


def _identity(model: "SentenceTransformer") -> str:
    """Return a digest of weights, vocabulary and maximum length, without names, which differ between releases."""
    weights = []
    for tensor in model.parameters():
        values = np.ascontiguousarray(tensor.detach().cpu().float().numpy())  # numpy knows no bfloat16
        weights.append(f"{tensor.dtype} {values.shape} {hashlib.blake2b(values.data, digest_size=16).hexdigest()}")
    vocabulary: dict[str, int] = getattr(model.tokenizer, "get_vocab", dict)()
    content = repr(sorted(vocabulary.items())).encode("utf-8", "replace")
    return digest(str(model.max_seq_length), content, *sorted(weights))


def _open_transformer(model: str) -> "SentenceTransformer":
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="IProgress not found")  # of a widget, which a notebook may lack
            import sentence_transformers  # noqa: F401  (it takes seconds, so it waits until something is embedded)
    except ImportError as error:
        raise ImportError("embeddings need sentence-transformers: pip install 'ammi[embeddings]'") from error
    if not Path(model).is_dir() and (
        Path(model).is_absolute() or model.count("/") > 1 or model.startswith((".", "~")) or "\\" in model
    ):
        raise FileNotFoundError(f"there is no folder {model}: name that of a sentence-transformers model")
    with _no_progress_bars():
        return _open_folder(model) if Path(model).is_dir() else _open_name(model)


def _open_folder(folder: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(folder, local_files_only=True)
    except Exception as error:  # sentence-transformers raises anything about an unexpected folder
        raise ValueError(
            f"{folder} holds no model that sentence-transformers can open: name the folder of one ({_reason(error)})"
        ) from error


def _open_name(name: str) -> "SentenceTransformer":
    """Open a model of the Hub: the copy on this machine, or else download it."""
    from huggingface_hub import HfApi
    from sentence_transformers import SentenceTransformer

    full_name = name if "/" in name else f"sentence-transformers/{name}"
    with suppress(Exception):  # it was never downloaded, or only in part
        return SentenceTransformer(full_name, local_files_only=True)
    try:
        HfApi().model_info(full_name, timeout=10)  # fails at once; a download fails after a minute
        return SentenceTransformer(full_name)
    except Exception as error:  # of the network, or of the downloaded files
        raise OSError(
            f"there is no model {name!r} on this machine, neither as a folder nor among those fetched before, and "
            f"the Hugging Face Hub does not give {full_name}: name the folder of a model ({_reason(error)})"
        ) from error


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Hide the progress bar of the half second in which weights are read."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _reason(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
