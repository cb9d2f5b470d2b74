"""Brute-force twins: each quantity computed from its definition, code by code, in plain Python and numpy."""

import itertools
import math
import re
import unicodedata
from collections.abc import Callable

import numpy as np

from ammi.features.alphabet import UNSPACED, normal, terms_of


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def all_codes(m: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=m))


def context(z: tuple[int, ...], i: int, order: int) -> int:
    """The `order` bits before position i (from 0) as a binary number, oldest first; bits before the first are 0."""
    bits = [z[j] if j >= 0 else 0 for j in range(i - order, i)]
    return int("".join(map(str, bits)) or "0", 2)


def order_of(logits: np.ndarray) -> int:
    return int(math.log2(logits.shape[-1]))


def log_prob(logits: np.ndarray, z: tuple[int, ...]) -> float:
    order = order_of(logits)
    steps = [logits[i, context(z, i, order)] * (1 if z[i] else -1) for i in range(len(z))]
    return sum(-math.log1p(math.exp(-s)) if s >= 0 else s - math.log1p(math.exp(s)) for s in steps)


def code_probs(logits: np.ndarray) -> np.ndarray:
    """The probability of every code, in the order of all_codes."""
    return np.array([math.exp(log_prob(logits, z)) for z in all_codes(logits.shape[0])])


def cross_entropy(p: np.ndarray, q: np.ndarray) -> float:
    return -sum(math.exp(log_prob(p, z)) * log_prob(q, z) for z in all_codes(p.shape[0]))


def entropy(p: np.ndarray) -> float:
    return cross_entropy(p, p)


def kl_divergence(p: np.ndarray, q: np.ndarray) -> float:
    return sum(math.exp(log_prob(p, z)) * (log_prob(p, z) - log_prob(q, z)) for z in all_codes(p.shape[0]))


def window_marginals(p: np.ndarray, width: int) -> np.ndarray:
    m = p.shape[0]
    windows = np.zeros((m, 2**width))
    for z, prob in zip(all_codes(m), code_probs(p), strict=True):
        for i in range(m):
            windows[i, context((*z, 0), i + 1, width)] += prob
    return windows


def forward(p: np.ndarray) -> np.ndarray:
    m, order = p.shape[0], order_of(p)
    before = np.zeros((m, 2**order))
    for z, prob in zip(all_codes(m), code_probs(p), strict=True):
        for i in range(m):
            before[i, context(z, i, order)] += prob
    return before


def best_log_prob(p: np.ndarray) -> float:
    return max(log_prob(p, z) for z in all_codes(p.shape[0]))


def condition(p: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The probability of every code given the known bits, those that are 0 or 1 and not -1."""
    fits = [all(k in (-1, bit) for k, bit in zip(known, z, strict=True)) for z in all_codes(p.shape[0])]
    joint = code_probs(p) * fits
    return joint / joint.sum()


def means(p: np.ndarray) -> np.ndarray:
    """The probability that each bit is 1."""
    return code_probs(p) @ np.array(all_codes(p.shape[0]))


def mixture_entropy(batch: np.ndarray) -> float:
    mixture = np.mean([code_probs(p) for p in batch], axis=0)
    return -float(np.sum(mixture[mixture > 0] * np.log(mixture[mixture > 0])))


def tree_log_prob(parents: tuple[int, ...], logits: np.ndarray, z: tuple[int, ...]) -> float:
    """log p(z) of a tree whose bit i depends on bit parents[i]; a root's parent (-1) counts as 0."""
    steps = [logits[i, z[j] if j >= 0 else 0] * (1 if z[i] else -1) for i, j in enumerate(parents)]
    return sum(-math.log1p(math.exp(-s)) if s >= 0 else s - math.log1p(math.exp(s)) for s in steps)


def tree_log_probs(parents: tuple[int, ...], logits: np.ndarray) -> np.ndarray:
    """The log probability of every code, in the order of all_codes."""
    return np.array([tree_log_prob(parents, logits, z) for z in all_codes(len(parents))])


def autoregressive_log_prob(weight: np.ndarray, bias: np.ndarray, z: tuple[int, ...]) -> float:
    """log of Π_i σ(±(b_i + Σ_{j<i} W_ij z_j))."""
    logits = [bias[i] + sum(weight[i, j] * z[j] for j in range(i)) for i in range(len(z))]
    return sum(math.log(sigmoid(logit if bit else -logit)) for logit, bit in zip(logits, z, strict=True))


def joint(code_probs: np.ndarray, bits: tuple[int, ...]) -> np.ndarray:
    """The joint of some bits (-1 is a bit that is 0), first one most significant, from each code's probability."""
    table = np.zeros(2 ** len(bits))
    for z, prob in zip(all_codes(int(math.log2(len(code_probs)))), code_probs, strict=True):
        table[context((*(z[i] if i >= 0 else 0 for i in bits), 0), len(bits), len(bits))] += prob
    return table


def mutual_information(code_probs: np.ndarray, i: int, j: int) -> float:
    table = joint(code_probs, (i, j)).reshape(2, 2)
    independent = table.sum(1, keepdims=True) * table.sum(0, keepdims=True)
    return float(np.sum(table[table > 0] * np.log(table[table > 0] / independent[table > 0])))


def spanning_trees(m: int) -> list[tuple[tuple[int, int], ...]]:
    """Every tree over m bits, as its edges: the sets of m - 1 edges that connect all bits."""
    trees = []
    for edges in itertools.combinations(itertools.combinations(range(m), 2), m - 1):
        connected = {0}
        for _ in edges:
            connected |= {bit for edge in edges if connected & set(edge) for bit in edge}
        if len(connected) == m:
            trees.append(edges)
    return trees


def bm25(corpus: list[list[str]], query: list[str], k1: float = 1.5, b: float = 0.75) -> np.ndarray:
    """The score of each document for a query, with the weights that Lucene has."""
    mean_length = np.mean([len(document) for document in corpus])
    scores = np.zeros(len(corpus))
    for word in query:
        n = sum(word in document for document in corpus)
        weight = math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5))
        for i, document in enumerate(corpus):
            count = document.count(word)
            scores[i] += weight * count / (count + k1 * (1 - b + b * len(document) / mean_length))
    return scores


def words(text: str, shortest: int = 2) -> list[str]:
    """The words of a text by the rule of ammi.features.alphabet, one character after the other."""
    found: list[str] = []
    run, kind_of_run = "", ""
    for character in unicodedata.normalize("NFKC", text).lower() + " ":
        kind = ""
        if re.match(f"[{UNSPACED}]", character):
            kind = "unspaced"
        elif character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M":
            kind = "word"
        if kind != kind_of_run:
            if kind_of_run == "word" and len(run) >= shortest:
                found.append(run)
            if kind_of_run == "unspaced":
                found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            run, kind_of_run = "", kind
        run += character
    return found


def word_places(text: str, wanted: set[str]) -> list[tuple[int, int]]:
    """Where words of the normal form stand in a text: between the nearest places where it can be cut.

    It can be cut before a character that is no mark if the normal forms of both parts are that of the whole. Σ is ς at
    the end of a word in lower case, else σ, which makes no difference here.
    """
    return _in_text(text, [(start, start + len(word)) for start, word in term_starts(text) if word in wanted])


def phrase_places(text: str, phrase: list[str]) -> list[tuple[int, int]]:
    """Where words stand side by side in a text, or in its form with identifiers in parts."""
    found = set()
    for form in (normal(text), normal(text).replace("_", " ")):
        starts = _starts(form)
        for n in range(len(starts) - len(phrase) + 1):
            part = starts[n : n + len(phrase)]
            if [word for _, word in part] == phrase:
                found.add((part[0][0], part[-1][0] + len(phrase[-1])))
    return _in_text(text, [*found])


def _in_text(text: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in the normal form of a text as places in the text."""
    cuts = {len(normal(text[:at])): at for at in range(len(text), -1, -1) if _same_cut(text, at)}
    return [(cuts[max(c for c in cuts if c <= start)], cuts[min(c for c in cuts if c >= end)]) for start, end in places]


def term_starts(text: str) -> list[tuple[int, str]]:
    """The terms of a text, also the parts of identifiers, and where each begins in its normal form."""
    form = normal(text)
    whole = [(start, word) for start, word in _starts(form) if "_" in word]
    return sorted([*whole, *_starts(form.replace("_", " "))])


def _starts(form: str) -> list[tuple[int, str]]:
    found, at, last = [], 0, ""
    for word in terms_of(form):
        goes_on = len(last) == len(word) == 2 and form.startswith(word, at - 1)  # the next of overlapping pairs
        start = at - 1 if goes_on and re.match(f"[{UNSPACED}]", word) else form.index(word, at)
        at, last = start + len(word), word
        found.append((start, word))
    return found


def _same_cut(text: str, at: int) -> bool:
    if unicodedata.category(text[at : at + 1] or " ").startswith("M") and at:
        return False
    return (normal(text[:at]) + normal(text[at:])).replace("ς", "σ") == normal(text).replace("ς", "σ")


def text_cosines(text: str, others: list[str], stem: Callable[[str], str]) -> list[float]:
    """The cosines of a text's and others' vectors of stems, whose weights are their rarities among all these texts."""
    words = [{stem(word) for word in terms_of(one)} for one in (text, *others)]
    vocabulary = sorted(set().union(*words))
    rows = np.array([[float(word in one) for word in vocabulary] for one in words]).reshape(len(words), -1)
    rows *= np.log(1 + len(words) / np.maximum(rows.sum(axis=0), 1))
    own = np.linalg.norm(rows[0])
    return [float(rows[0] @ row / (own * np.linalg.norm(row) or 1)) for row in rows[1:]]


def ranking_scores(distances: list[float], relevant: list[bool], k: int) -> tuple[float, float, float]:
    """Precision, nDCG and average precision of one query, rank by rank."""
    ranked = [relevant[i] for _, i in sorted((distance, i) for i, distance in enumerate(distances))]
    k = min(k, len(ranked))
    gain = sum(hit / math.log2(rank + 1) for rank, hit in enumerate(ranked[:k], start=1))
    best = sum(hit / math.log2(rank + 1) for rank, hit in enumerate(sorted(ranked, reverse=True)[:k], start=1))
    precisions = [sum(ranked[:rank]) / rank for rank, hit in enumerate(ranked, start=1) if hit]
    return sum(ranked[:k]) / k, gain / best if best else 0.0, sum(precisions) / len(precisions) if precisions else 0.0


def curvature(function: Callable[[np.ndarray], float], at: np.ndarray, along: np.ndarray, step: float = 1e-3) -> float:
    """The second derivative of a function along a direction, by a difference of differences (error O(step^4))."""
    value = [function(at + i * step * along) for i in (-2, -1, 0, 1, 2)]
    return (-value[0] + 16 * value[1] - 30 * value[2] + 16 * value[3] - value[4]) / (12 * step**2)


def mixture_terms(batch: np.ndarray) -> np.ndarray:
    """The cross entropy of each distribution of a batch with their mixture."""
    probs = np.array([code_probs(p) for p in batch])
    return -probs @ np.log(probs.mean(axis=0))


def contrast(q: np.ndarray, codes: np.ndarray, share: float = 0.0) -> np.ndarray:
    """InfoNCE's term of each document: its critic of the code beside the mean of all critics of it."""
    terms = []
    for own, z in enumerate(codes.astype(int).tolist()):
        probs = np.array([math.exp(log_prob(one, tuple(z))) for one in q])
        critics = (1 - share) * probs / probs.mean() + share
        terms.append(math.log(critics[own] / critics.mean()))
    return np.array(terms)
