"""Compiled steps for AMMI with a linear encoder of independent bits: the objective of a batch, its gradient, and Adam.

    loss = conditional - β H⁺(Z),    H⁺(Z) = -sum_i sum_w μ_i(w) log q(z_i | the r bits before)

It is what `AMMIObjective.loss` and torch's Adam compute, with the gradient written out and nothing in between kept:
some hundred thousand numbers a step fit in the processor's cache, and calls of torch would take longer than the sums.
Inside, documents are the last dimension, as in ammi.chain. Sums are of float32, in one thread, always in one order.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_TINY = np.float32(1e-30)  # of a window that never occurs
_ONE, _ZERO, _HALF = np.float32(1), np.float32(0), np.float32(0.5)
_compiled = njit(fastmath=True, cache=True, error_model="numpy", nogil=True)


class Documents(NamedTuple):
    """A CSR matrix (n, V)."""

    starts: NDArray[np.integer]
    words: NDArray[np.integer]
    values: NDArray[np.float32]


class Linear(NamedTuple):
    """What is trained, and Adam's two means of its gradient."""

    weights: NDArray[np.float32]  # (V, m)
    biases: NDArray[np.float32]  # (1, m)
    weights_mean: NDArray[np.float32]
    biases_mean: NDArray[np.float32]
    weights_square: NDArray[np.float32]
    biases_square: NDArray[np.float32]


class Settings(NamedTuple):
    """How to step."""

    entropy_weight: float
    dropout: float
    decay: float  # of the prior's windows
    learning_rate: float
    clip: float


class Seen(NamedTuple):
    """What the encoder makes of a batch, as far as the gradient needs it."""

    logits: NDArray[np.float32]  # (m, R)
    probs: NDArray[np.float32]  # (m, R)
    padded: NDArray[np.float32]  # (r + m, R), the probabilities in the prior's order behind r bits that are 0
    of_older: NDArray[np.float32]  # (m, 2**older, R), those of the older half of each window, and
    of_newer: NDArray[np.float32]  # (m, 2**newer, R), of the newer one
    means: NDArray[np.float32]  # (m, 2**(r+1)), the mean windows


@_compiled
def take_steps(documents, y, x, batch_size, linear, windows, order, steps_before, settings, rng):
    """Train on documents y (n,), each with one of x (n,) or alone where x is empty; return sums.

    The sums are of H⁺, of H(Z|·), and of the squares of the gradients.

    Args:
        windows: (m, 2**(r+1)), the prior's mean windows, changed in place.
        order: (m,), the order of the bits in the prior's chain.
        steps_before: how many steps Adam has taken.
        rng: draws the words that are dropped.
    """
    code_entropy, conditional, squares = 0.0, 0.0, 0.0
    for start in range(0, len(y), batch_size):
        n = min(batch_size, len(y) - start)
        rows = np.empty(2 * n if len(x) else n, np.int64)
        for i in range(n):
            rows[i] = y[start + i]
            if len(x):
                rows[n + i] = x[start + i]
        batch = take(documents, rows, settings.dropout, rng)
        seen = see(batch, linear, order, windows.shape[1])
        entropy, costs = respond(seen.means, windows, settings.decay)
        by_logits, own_entropy = slope(seen, costs, order, n, settings.entropy_weight)
        slots, by_weights, by_biases = by_words(batch, by_logits, batch.words, len(linear.weights))
        step = steps_before + start // batch_size + 1
        squares += update(linear, slots, by_weights, by_biases, step, settings)
        code_entropy += n * entropy
        conditional += n * own_entropy
    return code_entropy, conditional, squares


@_compiled
def take(documents, rows, dropout, rng):
    """Rows of a CSR matrix, each word left out with the probability `dropout`."""
    size = 0
    for row in rows:
        size += documents.starts[row + 1] - documents.starts[row]
    starts = np.empty(len(rows) + 1, np.int64)
    words, values = np.empty(size, np.int32), np.empty(size, np.float32)
    end = 0
    for i, row in enumerate(rows):
        starts[i] = end
        for place in range(documents.starts[row], documents.starts[row + 1]):
            words[end], values[end] = documents.words[place], documents.values[place]
            if dropout == 0 or rng.random() >= dropout:  # else the next one is written over it
                end += 1
    starts[len(rows)] = end
    return Documents(starts, words[:end], values[:end])


@_compiled
def _logits(batch, linear):
    """The logits (m, R) of rows."""
    n_rows, m = len(batch.starts) - 1, linear.biases.shape[1]
    logits = np.empty((n_rows, m), np.float32)
    for i in range(n_rows):
        sums = logits[i]
        for bit in range(m):
            sums[bit] = linear.biases[0, bit]
        for place in range(batch.starts[i], batch.starts[i + 1]):
            value, direction = batch.values[place], linear.weights[batch.words[place]]
            for bit in range(m):
                sums[bit] += value * direction[bit]
    return np.ascontiguousarray(logits.T)


@_compiled
def _sigmoid(logits):
    probs = np.empty_like(logits)
    flat, out = logits.ravel(), probs.ravel()
    for i in range(len(flat)):
        out[i] = _ONE / (_ONE + np.exp(-flat[i]))
    return probs


@_compiled
def see(batch, linear, order, n_windows):
    """What the encoder makes of a batch, with the mean windows (m, n_windows) of its codes in the prior's order."""
    logits = _logits(batch, linear)
    probs = _sigmoid(logits)
    m, n_rows = probs.shape
    r = _log2(n_windows) - 1
    newer = (r + 1) // 2
    older = r + 1 - newer
    padded = np.zeros((r + m, n_rows), np.float32)  # bits before the first one are 0
    for place in range(m):
        _copy(probs[order[place]], padded[r + place])
    of_older, of_newer = _halves(padded, r - newer, m, older), _halves(padded, r, m, newer)
    return Seen(logits, probs, padded, of_older, of_newer, _means(of_older, of_newer))


@_compiled
def slope(seen, costs, order, n, entropy_weight):
    """The gradient (R, m) of the loss by the logits, and the conditional entropy of n documents."""
    gradient = np.empty_like(seen.logits)
    _prior_slope(seen, costs, order, entropy_weight, gradient)
    conditional = _conditional_step(seen.logits, seen.probs, n, gradient)
    return np.ascontiguousarray(gradient.T), conditional


@_compiled
def _prior_slope(seen, costs, order, entropy_weight, gradient):
    """Sets the gradient (m, R) of -β H⁺(Z)."""
    m, n_rows = seen.probs.shape
    r = len(seen.padded) - m
    newer, older = _log2(seen.of_newer.shape[1]), _log2(seen.of_older.shape[1])
    by_padded = np.zeros_like(seen.padded)
    _add_gradient(seen.padded, r - newer, older, _weighted(seen.of_newer, costs, False), by_padded)
    _add_gradient(seen.padded, r, newer, _weighted(seen.of_older, costs, True), by_padded)
    scale = np.float32(-entropy_weight / n_rows)
    for place in range(m):
        p, by_prob, out = seen.probs[order[place]], by_padded[r + place], gradient[order[place]]
        for i in range(n_rows):
            out[i] = scale * by_prob[i] * p[i] * (_ONE - p[i])


@_compiled
def _copy(numbers, to):
    for i in range(len(numbers)):  # what numba makes of to[:] = numbers takes it seconds to compile
        to[i] = numbers[i]


@_compiled
def _log2(power):
    exponent = 0
    while 1 << exponent < power:
        exponent += 1
    return exponent


@_compiled
def _halves(padded, first, m, width):
    """The probabilities (m, 2**width, R) of the `width` bits that end at the places first, first + 1, ..."""
    tables = np.ones((m, 1 << width, padded.shape[1]), np.float32)
    for end in range(m):
        for window in range(1 << width):
            _multiply(tables[end, window], padded, first + end - width + 1, width, window, -1)
    return tables


@_compiled
def _multiply(out, padded, first, width, window, left_out):
    """Multiply by the probabilities of a window's bits, one of them left out."""
    for j in range(width):
        if j == left_out:
            continue
        p = padded[first + j]
        if window >> (width - 1 - j) & 1:
            for i in range(len(out)):
                out[i] *= p[i]
        else:
            for i in range(len(out)):
                out[i] *= _ONE - p[i]


@_compiled
def _means(of_older, of_newer):
    """The mean windows (m, 2**(r+1)): the halves of a window are independent given the document."""
    m, n_older, n_rows = of_older.shape
    n_newer = of_newer.shape[1]
    means = np.empty((m, n_older * n_newer), np.float32)
    for end in range(m):
        for u in range(n_older):
            for v in range(n_newer):
                a, b, total = of_older[end, u], of_newer[end, v], _ZERO
                for i in range(n_rows):
                    total += a[i] * b[i]
                means[end, u * n_newer + v] = total / n_rows
    return means


@_compiled
def respond(means, windows, decay):
    """Bring the prior's windows up to date; H⁺ of the batch, and what each window costs, -log q(bit | context)."""
    costs = np.empty_like(means)
    entropy = 0.0
    keep, add = np.float32(decay), np.float32(1 - decay)
    for end in range(len(means)):
        for window in range(0, means.shape[1], 2):
            zero = keep * windows[end, window] + add * means[end, window]
            one = keep * windows[end, window + 1] + add * means[end, window + 1]
            windows[end, window], windows[end, window + 1] = zero, one
            zero, one = max(zero, _TINY), max(one, _TINY)
            costs[end, window], costs[end, window + 1] = np.log(_ONE + one / zero), np.log(_ONE + zero / one)
            entropy += means[end, window] * costs[end, window] + means[end, window + 1] * costs[end, window + 1]
    return entropy, costs


@_compiled
def _weighted(tables, costs, of_older):
    """The gradient of H⁺ by the tables of one half, from those of the other: sums of them, weighted by the costs."""
    m, n_here, n_rows = tables.shape
    n_there = costs.shape[1] // n_here
    sums = np.zeros((m, n_there, n_rows), np.float32)
    for end in range(m):
        for there in range(n_there):
            out = sums[end, there]
            for here in range(n_here):
                cost = costs[end, here * n_there + there] if of_older else costs[end, there * n_here + here]
                table = tables[end, here]
                for i in range(n_rows):
                    out[i] += cost * table[i]
    return sums


@_compiled
def _add_gradient(padded, first, width, by_tables, by_padded):
    """From the gradient by the tables of a half to that by the probabilities of its bits."""
    m, n_windows, n_rows = by_tables.shape
    part = np.empty(n_rows, np.float32)
    for end in range(m):
        start = first + end - width + 1
        for window in range(n_windows):
            for j in range(width):
                _copy(by_tables[end, window], part)
                _multiply(part, padded, start, width, window, j)
                sign = _ONE if window >> (width - 1 - j) & 1 else -_ONE
                out = by_padded[start + j]
                for i in range(n_rows):
                    out[i] += sign * part[i]


@_compiled
def _conditional_step(logits, probs, n, gradient):
    """The conditional entropy of n documents, alone or with n others behind them; adds its gradient (m, R).

    Of documents alone it is H(p). Of a pair of p and q it is the mean of H(p), H(p, q), H(q) and H(q, p), which is
    the mean of s(a) + s(b) - (p + q)(a + b) / 2 over the bits, with a, b their logits and s the softplus.
    """
    m, n_rows = logits.shape
    total = _ZERO
    share = np.float32(1.0 / n)
    for bit in range(m):
        a, p, out = logits[bit, :n], probs[bit, :n], gradient[bit, :n]
        if n_rows == n:
            for i in range(n):
                total += _softplus(a[i]) - p[i] * a[i]
                out[i] -= share * a[i] * p[i] * (_ONE - p[i])
            continue
        b, q, other = logits[bit, n:], probs[bit, n:], gradient[bit, n:]
        for i in range(n):
            both = _HALF * (a[i] + b[i])
            total += _HALF * (_softplus(a[i]) + _softplus(b[i]) - (p[i] + q[i]) * both)
            apart = _HALF * _HALF * (p[i] - q[i])
            out[i] += share * (apart - _HALF * both * p[i] * (_ONE - p[i]))
            other[i] -= share * (apart + _HALF * both * q[i] * (_ONE - q[i]))
    return total * share


@_compiled
def _softplus(logit):
    return max(logit, _ZERO) + np.log(_ONE + np.exp(-abs(logit)))


@_compiled
def by_words(batch, by_logits, all_words, n_words):
    """The gradient of the weights and of the biases from that of the logits (R, m).

    That of the weights has a row for each word that occurs among `all_words`, behind one of zeros; what comes first
    says which row is that of each of the n_words. Entries are sorted by word first, so that each row is summed at one
    go.
    """
    ends, slots = np.zeros(n_words, np.int64), np.zeros(n_words, np.int32)
    for word in batch.words:
        ends[word] += 1
    for word in all_words:
        slots[word] = 1
    n_slots, total = 1, 0
    for word in range(n_words):
        count = ends[word]
        ends[word] = total
        total += count
        if slots[word]:
            slots[word] = n_slots
            n_slots += 1
    rows, values = np.empty(total, np.int32), np.empty(total, np.float32)
    for i in range(len(batch.starts) - 1):
        for place in range(batch.starts[i], batch.starts[i + 1]):
            to = ends[batch.words[place]]
            rows[to], values[to] = i, batch.values[place]
            ends[batch.words[place]] += 1
    sums = np.zeros((n_slots, by_logits.shape[1]), np.float32)
    place = 0
    for word in range(n_words):
        if slots[word] == 0:
            continue
        out = sums[slots[word]]
        while place < ends[word]:
            value, row = values[place], by_logits[rows[place]]
            for bit in range(len(row)):
                out[bit] += value * row[bit]
            place += 1
    by_biases = np.zeros((1, by_logits.shape[1]), np.float32)
    for i in range(len(by_logits)):
        for bit in range(by_logits.shape[1]):
            by_biases[0, bit] += by_logits[i, bit]
    return slots, sums, by_biases


@_compiled
def update(linear, slots, by_weights, by_biases, step, settings):
    """A step of Adam, its gradient shortened to a norm of `clip`; the square of its norm before."""
    square = _sum_of_squares(by_weights) + _sum_of_squares(by_biases)
    scale = np.float32(min(1.0, settings.clip / max(np.sqrt(square), 1e-30)))
    rate = np.float32(settings.learning_rate / (1 - 0.9**step))
    root = np.float32(1 / np.sqrt(1 - 0.999**step))
    _adam(linear.weights, linear.weights_mean, linear.weights_square, by_weights, slots, scale, rate, root)
    only = np.zeros(1, np.int32)
    _adam(linear.biases, linear.biases_mean, linear.biases_square, by_biases, only, scale, rate, root)
    return square


@_compiled
def _sum_of_squares(matrix):
    numbers, total = matrix.ravel(), _ZERO
    for i in range(len(numbers)):  # by index: over the numbers themselves it would not be vectorised
        total += numbers[i] * numbers[i]
    return total


@_compiled
def _adam(weights, mean, square, gradient, slots, scale, rate, root):
    """torch's Adam with its usual means of 0.9 and 0.999; the gradient of a row of weights is in the row of its slot.

    One call for all rows: to hand a row over takes longer than its sums.
    """
    for row in range(len(weights)):
        weight, first, second, by_weight = weights[row], mean[row], square[row], gradient[slots[row]]
        for bit in range(len(weight)):
            g = scale * by_weight[bit]
            new_first = np.float32(0.9) * first[bit] + np.float32(0.1) * g
            new_second = np.float32(0.999) * second[bit] + np.float32(0.001) * g * g
            first[bit], second[bit] = new_first, new_second
            weight[bit] -= rate * new_first / (np.sqrt(new_second) * root + np.float32(1e-8))
