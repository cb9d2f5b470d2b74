"""Compiled steps for AMMI with a linear encoder of independent bits: the objective of a batch, its gradient, and Adam.

    loss = conditional - β H⁺(Z),    H⁺(Z) = -sum_i sum_w μ_i(w) log q(z_i | the r bits before)

It computes what `AMMIObjective.loss` and torch's Adam compute, with the gradient written out and nothing in between
kept: the numbers of a step fit into the processor's cache, and calls of torch would take longer than the sums.

A step has six phases, and each phase is a list of blocks that the threads of a `team` share:

    1  logits of the rows, and meanwhile the next batch is prepared        blocks of rows
    2  probabilities, in the order of the prior's chain                    blocks of bits
    3  mean windows, the prior's response, its gradient by each window     a block per bit of the chain
    4  gradient by the logits                                              blocks of bits
    5  gradient by the weights, and its norm                               blocks of words
    6  Adam                                                                blocks of words

Blocks have fixed limits and every sum has a fixed order, so the result is the same on any number of threads.
Inside a phase, documents are the last dimension, as in ammi.chain.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.training.team import claim, meet

_TINY = np.float32(1e-30)  # probability of a window that never occurs
_ONE, _ZERO, _HALF = np.float32(1), np.float32(0), np.float32(0.5)
_ROWS, _BITS, _WORDS = 32, 16, 256  # in a block; 16 float32 are a cache line, which two threads should not share
_compiled = njit(fastmath=True, cache=True, error_model="numpy", nogil=True)


class Documents(NamedTuple):
    """A CSR matrix (n, V)."""

    starts: NDArray[np.integer]
    words: NDArray[np.integer]
    values: NDArray[np.float32]


class Pairs(NamedTuple):
    """The documents of an epoch in their order, and the partner of each; x is empty for documents alone."""

    y: NDArray[np.integer]  # (n,)
    x: NDArray[np.integer]  # (n,) or (0,)
    batch_size: int


class Linear(NamedTuple):
    """The encoder that is trained, and Adam's two means of its gradient."""

    weights: NDArray[np.float32]  # (V, m)
    biases: NDArray[np.float32]  # (1, m)
    weights_mean: NDArray[np.float32]
    biases_mean: NDArray[np.float32]
    weights_square: NDArray[np.float32]
    biases_square: NDArray[np.float32]


class Prior(NamedTuple):
    """The exact adversary's prior: its average windows, changed in place, and the order of the bits in its chain."""

    windows: NDArray[np.float32]  # (m, 2**(r+1))
    order: NDArray[np.integer]  # (m,), the bit at each position of the chain
    positions: NDArray[np.integer]  # (m,), the position of each bit


class Settings(NamedTuple):
    """How to step."""

    entropy_weight: float
    dropout: float
    decay: float  # of the prior's windows
    learning_rate: float
    clip: float
    steps_before: int  # that Adam has taken


class Run(NamedTuple):
    """What the steps of one call have in common."""

    documents: Documents
    pairs: Pairs
    linear: Linear
    prior: Prior
    settings: Settings


class Batch(NamedTuple):
    """The rows of a batch after word dropout, by document and by word, for as many entries as a batch can have."""

    counts: NDArray[np.int64]  # (3,): documents n, rows R (n, or 2 n of pairs), words that occur
    starts: NDArray[np.int64]  # (R + 1,), of the entries by document:
    words: NDArray[np.int32]
    values: NDArray[np.float32]
    ends: NDArray[np.int64]  # (V,), of the entries by word:
    rows: NDArray[np.int32]
    values_by_word: NDArray[np.float32]
    slots: NDArray[np.int32]  # (V,), the row of each word in the gradient; row 0 is for words that do not occur


class Work(NamedTuple):
    """Numbers that the threads hand over from phase to phase."""

    logits: NDArray[np.float32]  # (R, m)
    by_bit: NDArray[np.float32]  # (m, R), the same
    padded: NDArray[np.float32]  # (r + m, R), probabilities in the prior's order behind r bits that are 0
    shares: NDArray[np.float32]  # (m, r + 1, R), of each window in the gradient of the bits that it covers
    by_logits: NDArray[np.float32]  # (R, m), gradient
    by_biases: NDArray[np.float32]  # (1, m), gradient
    by_weights: NDArray[np.float32]  # (slots, m), gradient
    entropies: NDArray[np.float64]  # (m,), the part of each position of the chain in H⁺(Z)
    conditionals: NDArray[np.float64]  # (m,), the part of each bit in the conditional entropy
    squares: NDArray[np.float64]  # of the gradient, a sum per block of words


def new_batch(n_rows: int, n_entries: int, n_words: int) -> Batch:
    """Return room for a batch."""
    return Batch(
        np.zeros(3, np.int64),
        np.zeros(n_rows + 1, np.int64),
        np.zeros(n_entries, np.int32),
        np.zeros(n_entries, np.float32),
        np.zeros(n_words, np.int64),
        np.zeros(n_entries, np.int32),
        np.zeros(n_entries, np.float32),
        np.zeros(n_words, np.int32),
    )


def new_work(n_rows: int, n_slots: int, n_words: int, windows: tuple[int, int]) -> Work:
    """Return room for a step; `windows` is the shape of the prior's."""
    m, r = windows[0], windows[1].bit_length() - 2
    return Work(
        logits=_aligned((n_rows, m)),
        by_bit=_aligned((m, n_rows)),
        padded=_aligned((r + m, n_rows)),
        shares=_aligned((m, r + 1, n_rows)),
        by_logits=_aligned((n_rows, m)),
        by_biases=_aligned((1, m)),
        by_weights=_aligned((n_slots, m)),
        entropies=np.zeros(m),
        conditionals=np.zeros(m),
        squares=np.zeros(-(-n_words // _WORDS)),
    )


def _aligned(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros that begin with a cache line, so that blocks of bits of two threads share none."""
    room = np.zeros(math.prod(shape) + 16, np.float32)
    start = -room.ctypes.data % 64 // 4
    return room[start : start + math.prod(shape)].reshape(shape)


@_compiled
def take_steps(team, n_threads, run, batches, work, rng):
    """Train on pairs, one call a thread with the same arguments; return the sums of H⁺, H(Z|·) and squared gradients.

    Args:
        batches: two of them; while a step uses one, the other is prepared for the next step.
        rng: draws the words that are dropped, for one batch after the other.
    """
    documents, pairs, linear, prior, settings = run
    code_entropy, conditional, squares = 0.0, 0.0, 0.0
    n_words, m = linear.weights.shape
    scratch = _scratch(work, prior)
    n_batches = (len(pairs.y) + pairs.batch_size - 1) // pairs.batch_size
    if claim(team) == 0:
        prepare(documents, pairs, 0, batches[0], settings.dropout, rng)
    if not meet(team, n_threads):
        return code_entropy, conditional, squares
    for number in range(n_batches):
        batch, following = batches[number % 2], batches[(number + 1) % 2]
        n, n_rows = batch.counts[0], batch.counts[1]
        n_blocks = _blocks(n_rows, _ROWS)
        block = claim(team)
        while block <= n_blocks:
            if block > 0:
                logits_of(batch, linear, work, block - 1)
            elif number + 1 < n_batches:  # it takes longest, so it comes first
                prepare(documents, pairs, number + 1, following, settings.dropout, rng)
            block = claim(team)
        if not meet(team, n_threads):
            break
        block = claim(team)
        while block < _blocks(m, _BITS):
            probabilities_of(n_rows, prior, work, block)
            block = claim(team)
        if not meet(team, n_threads):
            break
        position = claim(team)
        while position < m:
            window_of(n_rows, prior, work, settings.decay, scratch, position)
            position = claim(team)
        if not meet(team, n_threads):
            break
        block = claim(team)
        while block < _blocks(m, _BITS):
            gradient_by_logits(n, n_rows, prior, work, settings.entropy_weight, block)
            block = claim(team)
        if not meet(team, n_threads):
            break
        code_entropy += n * work.entropies.sum()
        conditional += n * work.conditionals.sum()
        block = claim(team)
        while block < _blocks(n_words, _WORDS):
            gradient_by_weights(batch, work, block)
            block = claim(team)
        if not meet(team, n_threads):
            break
        square = _sum_of_squares(work.by_biases[0]) + work.squares.sum()
        squares += square
        step = settings.steps_before + number + 1
        block = claim(team)
        while block < _blocks(n_words, _WORDS):
            update(linear, batch, work, square, step, settings, block)
            block = claim(team)
        if not meet(team, n_threads):
            break
    return code_entropy, conditional, squares


@_compiled
def _blocks(size, block_size):
    return (size + block_size - 1) // block_size


@_compiled
def _scratch(work, prior):
    """Room for the tables of one window's halves, and for the gradient by them."""
    r = len(work.padded) - len(prior.windows)
    return np.empty((4, 1 << (r // 2 + 1), work.padded.shape[1]), np.float32)


@_compiled
def prepare(documents, pairs, number, batch, dropout, rng):
    """Take the rows of a batch, each word left out with the probability `dropout`, and sort their entries by word."""
    first = number * pairs.batch_size
    n = min(pairs.batch_size, len(pairs.y) - first)
    n_rows = 2 * n if len(pairs.x) else n
    ends, slots = batch.ends, batch.slots
    for word in range(len(ends)):
        ends[word] = 0
    end = 0
    for i in range(n_rows):
        batch.starts[i] = end
        row = pairs.y[first + i] if i < n else pairs.x[first + i - n]
        for place in range(documents.starts[row], documents.starts[row + 1]):
            word = documents.words[place]
            batch.words[end], batch.values[end] = word, documents.values[place]
            kept = 1 if dropout == 0 else int(rng.random() >= dropout)  # no branch, which could not be predicted
            ends[word] += kept
            end += kept
    batch.starts[n_rows] = end
    n_slots, total = 1, 0
    for word in range(len(ends)):
        count = ends[word]
        ends[word] = total  # where its entries begin, until they are filled in below
        total += count
        if count:
            slots[word] = n_slots
            n_slots += 1
        else:
            slots[word] = 0
    for i in range(n_rows):
        for place in range(batch.starts[i], batch.starts[i + 1]):
            word = batch.words[place]
            batch.rows[ends[word]], batch.values_by_word[ends[word]] = i, batch.values[place]
            ends[word] += 1
    batch.counts[0], batch.counts[1], batch.counts[2] = n, n_rows, n_slots - 1


@_compiled
def logits_of(batch, linear, work, block):
    """Phase 1: the logits of a block of rows."""
    m = linear.biases.shape[1]
    for i in range(block * _ROWS, min((block + 1) * _ROWS, batch.counts[1])):
        sums = work.logits[i]
        for bit in range(m):
            sums[bit] = linear.biases[0, bit]
        for place in range(batch.starts[i], batch.starts[i + 1]):
            value, direction = batch.values[place], linear.weights[batch.words[place]]
            for bit in range(m):
                sums[bit] += value * direction[bit]


@_compiled
def probabilities_of(n_rows, prior, work, block):
    """Phase 2: the probabilities of a block of bits, where the prior's chain has them; their logits by bit."""
    m = len(prior.order)
    r = len(work.padded) - m
    first, last = block * _BITS, min((block + 1) * _BITS, m)
    for i in range(n_rows):  # a row of the block is one cache line
        for bit in range(first, last):
            work.by_bit[bit, i] = work.logits[i, bit]
    for bit in range(first, last):
        logits, probs = work.by_bit[bit], work.padded[r + prior.positions[bit]]
        for i in range(n_rows):
            probs[i] = _ONE / (_ONE + np.exp(-logits[i]))


@_compiled
def window_of(n_rows, prior, work, decay, scratch, position):
    """Phase 3: the mean windows that end at a position, the prior's response, and the gradient of H⁺ by their bits.

    The older and the newer half of a window are independent given the document, so that a table of each is enough.
    """
    r = len(work.padded) - len(prior.windows)
    newer = (r + 1) // 2
    older = r + 1 - newer
    # Arrays are cut along their first dimension alone: rows that stay contiguous are summed several times faster.
    bits, shares = work.padded[position : position + r + 1], work.shares[position]  # (r + 1, R), the oldest first
    of_older, of_newer = scratch[0, : 1 << older], scratch[1, : 1 << newer]
    _table(n_rows, bits[:older], of_older)
    _table(n_rows, bits[older:], of_newer)
    means = _means(n_rows, of_older, of_newer)
    costs, work.entropies[position] = _respond(means, prior.windows[position], decay)
    by_older, by_newer = scratch[2, : 1 << older], scratch[3, : 1 << newer]
    _weigh(n_rows, costs, of_older, of_newer, by_older, by_newer)
    _gradient_by_bits(n_rows, bits[:older], by_older, shares[:older])
    _gradient_by_bits(n_rows, bits[older:], by_newer, shares[older:])


@_compiled
def _table(n_rows, bits, table):
    """The probabilities (2**width, R) of all values of bits (width, R)."""
    for window in range(len(table)):
        _fill(n_rows, table[window], _ONE)
        _multiply(n_rows, table[window], bits, window, -1)


@_compiled
def _fill(n_rows, out, number):
    for i in range(n_rows):
        out[i] = number


@_compiled
def _multiply(n_rows, out, bits, window, left_out):
    """Multiply by the probabilities that the bits have the values of a window, one of them left out."""
    width = len(bits)
    for j in range(width):
        if j == left_out:
            continue
        p = bits[j]
        if window >> (width - 1 - j) & 1:
            for i in range(n_rows):
                out[i] *= p[i]
        else:
            for i in range(n_rows):
                out[i] *= _ONE - p[i]


@_compiled
def _means(n_rows, of_older, of_newer):
    """The mean windows (2**(r+1),), the older half the more significant."""
    n_newer = len(of_newer)
    means = np.empty(len(of_older) * n_newer, np.float32)
    for u in range(len(of_older)):
        for v in range(n_newer):
            a, b, total = of_older[u], of_newer[v], _ZERO
            for i in range(n_rows):
                total += a[i] * b[i]
            means[u * n_newer + v] = total / n_rows
    return means


@_compiled
def _respond(means, windows, decay):
    """Update the prior's windows; return the cost -log q(bit | context) of each window, and the mean cost."""
    costs = np.empty_like(means)
    entropy = 0.0
    keep, add = np.float32(decay), np.float32(1 - decay)
    for window in range(0, len(windows), 2):
        zero = keep * windows[window] + add * means[window]
        one = keep * windows[window + 1] + add * means[window + 1]
        windows[window], windows[window + 1] = zero, one
        zero, one = max(zero, _TINY), max(one, _TINY)
        costs[window], costs[window + 1] = np.log(_ONE + one / zero), np.log(_ONE + zero / one)
        entropy += means[window] * costs[window] + means[window + 1] * costs[window + 1]
    return costs, entropy


@_compiled
def _weigh(n_rows, costs, of_older, of_newer, by_older, by_newer):
    """The gradient of H⁺ by the table of each half: sums over the other one, weighted by the costs."""
    n_newer = len(of_newer)
    for u in range(len(of_older)):
        _fill(n_rows, by_older[u], _ZERO)
        for v in range(n_newer):
            _add(n_rows, by_older[u], costs[u * n_newer + v], of_newer[v])
    for v in range(n_newer):
        _fill(n_rows, by_newer[v], _ZERO)
        for u in range(len(of_older)):
            _add(n_rows, by_newer[v], costs[u * n_newer + v], of_older[u])


@_compiled
def _add(n_rows, out, factor, numbers):
    for i in range(n_rows):
        out[i] += factor * numbers[i]


@_compiled
def _gradient_by_bits(n_rows, bits, by_table, out):
    """From the gradient by the table of a half to that by the probabilities (width, R) of its bits."""
    width = len(bits)
    part = np.empty(n_rows, np.float32)
    for j in range(width):
        _fill(n_rows, out[j], _ZERO)
        for window in range(len(by_table)):
            by_window = by_table[window]
            for i in range(n_rows):
                part[i] = by_window[i]
            _multiply(n_rows, part, bits, window, j)
            _add(n_rows, out[j], _ONE if window >> (width - 1 - j) & 1 else -_ONE, part)


@_compiled
def gradient_by_logits(n, n_rows, prior, work, entropy_weight, block):
    """Phase 4: the gradient of the loss by the logits of a block of bits, and by their biases."""
    m = len(prior.order)
    r = len(work.padded) - m
    scale = np.float32(-entropy_weight / n_rows)
    first, last = block * _BITS, min((block + 1) * _BITS, m)
    gradients = np.zeros((last - first, n_rows), np.float32)
    for bit in range(first, last):
        position, gradient = prior.positions[bit], gradients[bit - first]
        p = work.padded[r + position]
        for end in range(position, min(position + r + 1, m)):  # of the windows that cover it
            _add(n_rows, gradient, scale, work.shares[end, r - (end - position)])
        for i in range(n_rows):
            gradient[i] *= p[i] * (_ONE - p[i])
        work.conditionals[bit] = _conditional(n, n_rows, work.by_bit[bit], p, gradient)
        total = _ZERO
        for i in range(n_rows):
            total += gradient[i]
        work.by_biases[0, bit] = total
    for i in range(n_rows):
        for bit in range(first, last):
            work.by_logits[i, bit] = gradients[bit - first, i]


@_compiled
def _conditional(n, n_rows, logits, probs, gradient):
    """The part of a bit in the conditional entropy of n documents, alone or with n others behind; adds its gradient.

    Of documents alone it is H(p). Of a pair of p and q it is the mean of H(p), H(p, q), H(q) and H(q, p), which is
    half of s(a) + s(b) - (p + q)(a + b) / 2, with a, b their logits and s the softplus.
    """
    total, share = _ZERO, np.float32(1.0 / n)
    if n_rows == n:
        for i in range(n):
            total += _softplus(logits[i], probs[i]) - probs[i] * logits[i]
            gradient[i] -= share * logits[i] * probs[i] * (_ONE - probs[i])
        return total * share
    for i in range(n):
        a, b, p, q = logits[i], logits[n + i], probs[i], probs[n + i]
        both = _HALF * (a + b)
        total += _HALF * (_softplus(a, p) + _softplus(b, q) - (p + q) * both)
        apart = _HALF * _HALF * (p - q)
        gradient[i] += share * (apart - _HALF * both * p * (_ONE - p))
        gradient[n + i] -= share * (apart + _HALF * both * q * (_ONE - q))
    return total * share


@_compiled
def _softplus(logit, prob):
    """log(1 + exp(logit)), where the sigmoid of the logit is known."""
    return max(logit, _ZERO) - np.log(max(prob, _ONE - prob))


@_compiled
def gradient_by_weights(batch, work, block):
    """Phase 5: the gradient of the weights of a block of words, and the sum of its squares."""
    square = _ZERO
    m = work.by_weights.shape[1]
    place = batch.ends[block * _WORDS - 1] if block else 0
    for word in range(block * _WORDS, min((block + 1) * _WORDS, len(batch.ends))):
        if batch.slots[word] == 0:
            continue
        out = work.by_weights[batch.slots[word]]
        for bit in range(m):
            out[bit] = _ZERO
        while place < batch.ends[word]:
            value, by_logits = batch.values_by_word[place], work.by_logits[batch.rows[place]]
            for bit in range(m):
                out[bit] += value * by_logits[bit]
            place += 1
        square += _sum_of_squares(out)
    work.squares[block] = square


@_compiled
def update(linear, batch, work, square, step, settings, block):
    """Phase 6: a step of torch's Adam for a block of words, the gradient shortened to a norm of `clip`."""
    scale = np.float32(min(1.0, settings.clip / max(np.sqrt(square), 1e-30)))
    rate = np.float32(settings.learning_rate / (1 - 0.9**step))
    root = np.float32(1 / np.sqrt(1 - 0.999**step))
    rows = slice(block * _WORDS, min((block + 1) * _WORDS, len(linear.weights)))
    weights = linear.weights[rows], linear.weights_mean[rows], linear.weights_square[rows]
    _adam(weights, work.by_weights, batch.slots[rows], scale, rate, root)
    if block == 0:
        biases = linear.biases, linear.biases_mean, linear.biases_square
        _adam(biases, work.by_biases, np.zeros(1, np.int32), scale, rate, root)


@_compiled
def _sum_of_squares(numbers):
    total = _ZERO
    for i in range(len(numbers)):  # by index: over the numbers themselves it would not be vectorised
        total += numbers[i] * numbers[i]
    return total


@_compiled
def _adam(trained, gradient, slots, scale, rate, root):
    """Adam with its usual means of 0.9 and 0.999; the gradient of a row of weights is in the row of its slot.

    One call for all rows: to hand a row over takes longer than its sums.
    """
    weights, mean, square = trained
    for row in range(len(weights)):
        weight, first, second, by_weight = weights[row], mean[row], square[row], gradient[slots[row]]
        for bit in range(len(weight)):
            g = scale * by_weight[bit]
            new_first = np.float32(0.9) * first[bit] + np.float32(0.1) * g
            new_second = np.float32(0.999) * second[bit] + np.float32(0.001) * g * g
            first[bit], second[bit] = new_first, new_second
            weight[bit] -= rate * new_first / (np.sqrt(new_second) * root + np.float32(1e-8))
