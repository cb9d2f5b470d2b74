"""The compiled steps of several workers: those of kernels.take_steps, with an exchange where a batch is seen whole."""

import numpy as np
import torch
from numpy.typing import NDArray

from ammi.training.exchange import Exchange
from ammi.training.kernels import Documents, Linear, Settings, by_words, respond, see, slope, take, update


def take_shared_steps(
    exchange: Exchange,
    documents: Documents,
    y: NDArray[np.integer],
    x: NDArray[np.integer],
    batch_size: int,
    linear: Linear,
    windows: NDArray[np.float32],
    order: NDArray[np.integer],
    steps_before: int,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """What `take_steps` does, of which each worker does its part: the other arguments and the sums are the same."""
    entropy, conditional, squares = 0.0, 0.0, 0.0
    for start in range(0, len(y), batch_size):
        rows = np.concatenate((y[start : start + batch_size], x[start : start + batch_size]))
        n = min(batch_size, len(y) - start)
        batch = take(documents, rows, settings.dropout, rng)  # of all, so that all draw the same words to drop
        part = exchange.part(n)
        own = np.concatenate([np.arange(n)[part] + first for first in range(0, len(rows), n)])
        here = take(batch, own, 0.0, rng)
        seen = see(here, linear, order, windows.shape[1])
        _mean(exchange, seen.means)
        batch_entropy, costs = respond(seen.means, windows, settings.decay)
        by_logits, own_entropy = slope(seen, costs, order, part.stop - part.start, settings.entropy_weight)
        slots, by_weights, by_biases = by_words(here, by_logits, batch.words, len(linear.weights))
        figure = np.array([own_entropy], np.float32)
        _mean(exchange, by_weights, by_biases, figure)
        squares += update(linear, slots, by_weights, by_biases, steps_before + start // batch_size + 1, settings)
        entropy += n * batch_entropy
        conditional += n * float(figure[0])
    return entropy, conditional, squares


def _mean(exchange: Exchange, *arrays: NDArray[np.float32]) -> None:
    exchange.mean(*map(torch.from_numpy, arrays))
