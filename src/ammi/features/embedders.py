"""What turns texts into embeddings: a model of sentence-transformers, opened when it is used, or a function."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.features.saved import digest

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Rows = NDArray[np.float32]  # (n, d)
Embed = Callable[[list[str]], Any]  # texts to an array (n, d)
Model = str | os.PathLike[str] | Embed

# Other case, other scripts, and more words than most models read: what tokenizers and poolings differ in shows here.
PROBES = ("A short text.", "Größe, ΟΔΟΣ and İstanbul: 日本語 हिन्दी العربية", " ".join(map(str, range(600))))

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Embedder(NamedTuple):
    """A function from texts to their embeddings, and what tells it from others, as far as that is in no embedding."""

    embed: Embed
    identity: str


def open_embedder(model: Model, batch_size: int) -> Embedder:
    """A model that is ready to embed.

    Args:
        model: a folder, a name on the Hugging Face Hub, a function, or "module:function".
        batch_size: so many texts at once go through a model of sentence-transformers.
    """
    if isinstance(model, str) and not Path(model).is_dir() and _FUNCTION.fullmatch(model):
        return Embedder(_imported(model), model)
    if isinstance(model, str | os.PathLike):
        return _of_transformer(_open_transformer(os.fspath(model)), batch_size)
    if hasattr(model, "encode"):
        raise ValueError(f"model is a {type(model).__name__}: pass its name or its folder, or its method encode")
    if not callable(model):
        raise ValueError(f"model is {model!r:.60}: expected a name, a folder, or a function from texts to an array")
    return Embedder(model, name_of(model))


def name_of(model: Model) -> str:
    """A model's name or folder as it was given; a function as "module:function"."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    named: Any = model if hasattr(model, "__qualname__") else type(model)
    return f"{named.__module__}:{named.__qualname__}"


def name_to_save(model: Model) -> str:
    """The name of a model, by which it is found again; a function that no other process would find is refused."""
    name = name_of(model)
    if isinstance(model, str | os.PathLike):
        return name
    module, _, attribute = name.partition(":")
    try:
        found = attrgetter(attribute)(import_module(module)) if module != "__main__" else None
    except (ImportError, AttributeError):
        found = None
    if found is not model:
        raise ValueError(
            f"the function {name} cannot be saved, since no import finds it: define it at the top of a module other "
            "than the program itself, or pass the name or the folder of a model"
        )
    return name


def _imported(name: str) -> Embed:
    module, _, attribute = name.partition(":")
    try:
        function = attrgetter(attribute)(import_module(module))
    except (ImportError, AttributeError) as error:
        raise ImportError(f"there is no function {name}: install the package that has it ({error})") from error
    if not callable(function):
        raise ValueError(f"{name} is {function!r:.60}: expected a function from texts to an array")
    return function


def _of_transformer(model: "SentenceTransformer", batch_size: int) -> Embedder:
    def embed(texts: list[str]) -> Rows:
        return model.encode(texts, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)

    return Embedder(embed, _identity(model))


def _identity(model: "SentenceTransformer") -> str:
    """A digest of weights, vocabulary and longest text; names are left out, which differ between releases."""
    weights = sorted(_tensor_digest(tensor) for tensor in model.parameters())
    vocabulary: dict[str, int] = getattr(model.tokenizer, "get_vocab", dict)()
    return digest(str(model.max_seq_length), repr(sorted(vocabulary.items())).encode("utf-8", "replace"), *weights)


def _tensor_digest(tensor: Any) -> str:
    values = np.ascontiguousarray(tensor.detach().cpu().float().numpy())  # numpy knows no bfloat16
    return f"{tensor.dtype} {values.shape} {hashlib.blake2b(values.data, digest_size=16).hexdigest()}"


def _open_transformer(model: str) -> "SentenceTransformer":
    try:
        import sentence_transformers  # noqa: F401  (seconds, so that it waits until something is embedded)
    except ImportError as error:
        raise ImportError("embeddings need sentence-transformers: pip install 'ammi[embeddings]'") from error
    if Path(model).is_dir():
        return _open_folder(model)
    if Path(model).is_absolute() or model.count("/") > 1 or model.startswith((".", "~")) or "\\" in model:
        raise FileNotFoundError(f"there is no folder {model}: name that of a sentence-transformers model")
    return _open_name(model)


def _open_folder(folder: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    try:
        with _no_bars():
            return SentenceTransformer(folder, local_files_only=True)
    except Exception as error:  # whatever another package makes of a folder that is not what it expects
        raise ValueError(
            f"{folder} holds no model that sentence-transformers can open: name the folder of one ({_reason(error)})"
        ) from error


def _open_name(name: str) -> "SentenceTransformer":
    """A model of the Hub: the copy that is on this machine, or else it is fetched."""
    from huggingface_hub import HfApi
    from sentence_transformers import SentenceTransformer

    full_name = name if "/" in name else f"sentence-transformers/{name}"
    with _no_bars():
        with suppress(Exception):  # it was never fetched, or not all of it
            return SentenceTransformer(full_name, local_files_only=True)
        try:
            HfApi().model_info(full_name, timeout=10)  # says at once what fetching says after a minute of trying
            return SentenceTransformer(full_name)
        except Exception as error:  # of any kind of network, and of what was fetched
            raise OSError(
                f"there is no model {name!r} on this machine, neither as a folder nor among those fetched before, and "
                f"the Hugging Face Hub does not give {full_name}: name the folder of a model ({_reason(error)})"
            ) from error


@contextmanager
def _no_bars() -> Iterator[None]:
    """No bar for the half second in which weights are read."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _reason(error: Exception) -> str:
    """The first line of what went wrong."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
