"""What Jupyter shows of models: what they are, what they learned, and the words of their bits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ammi import displays
from ammi.displays import Html
from ammi.hashers.hyperplanes import Hyperplanes

if TYPE_CHECKING:
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher

_MOST_BITS, _WORDS = 64, 5  # shown
_FREQUENT = 1000  # words; rare ones have large weights, and say little of a bit
_FIGURES = {"entropy": "H(Z)", "conditional_entropy": "H(Z|Y)", "information": "difference of entropies"}


def hasher_html(hasher: "Hasher", features: str = "") -> Html:
    """Return what a hasher is and what it learned."""
    history = getattr(hasher, "history_", [])
    values = {"bits": hasher.n_bits, "features": features or f"{hasher.n_features_in_:,} columns"}
    if history:
        row = history[hasher.best_epoch_ - 1]
        values["epochs"] = f"{len(history)}, of which {hasher.best_epoch_} is kept"
        values |= {name: f"{row[figure]:.1f} bits" for figure, name in _FIGURES.items() if figure in row}
    values |= {"settings": repr(hasher), "fingerprint": hasher.fingerprint_}
    return displays.facts(values, type(hasher).__name__)


def model_html(model: "DocumentHasher") -> list[Html]:
    """Return the parts of the display of a model: each of its hashers, and the words of its bits."""
    parts = []
    for part in model.parts:
        units = part.features_.describe().get("units", type(part.features_).__name__)
        parts += [hasher_html(part.hasher_, f"{part.features_.n_features_:,} {units}"), *_words_of(part)]
    return parts


def _words_of(model: "DocumentHasher") -> list[Html]:
    """Return the words that move each bit most; nothing for a model that is not one of hyperplanes over words."""
    names, terms = model.hasher_.hyperplanes(), getattr(model.features_, "vocabulary_", None)
    if names is None or terms is None:
        return []
    idf = model.features_.idf_
    frequent = np.argsort(idf, kind="stable")[:_FREQUENT]
    planes = Hyperplanes.among(model.hasher_._arrays(), names, model.hasher_.n_bits)
    weights = planes.weights[frequent] * idf[frequent, None]
    words = [terms[term] for term in frequent.tolist()]
    bits = min(_MOST_BITS, weights.shape[1])
    rows = [(bit, _strongest(words, weights[:, bit]), _strongest(words, -weights[:, bit])) for bit in range(bits)]
    return [displays.folded("words of the bits", displays.table(("bit", "towards 1", "towards 0"), rows, ("bit",)))]


def _strongest(words: Sequence[str], weights: NDArray[np.floating]) -> str:
    order = np.argsort(-weights, kind="stable")[:_WORDS].tolist()
    return " ".join(words[n] for n in order if weights[n] > 0)
