"""Exact algorithms on structures over bits, in nats: functions of tensors, and the classes Chain, Tree, MarkovBits."""

from ammi.chain.chow_liu import chow_liu, mutual_information
from ammi.chain.condition import condition
from ammi.chain.decode import log_prob, sample, viterbi
from ammi.chain.distribution import MarkovBits
from ammi.chain.entropy import (
    MAX_BRUTE_FORCE_BITS,
    best_prior,
    cross_entropy,
    entropy,
    kl_divergence,
    mixture_entropy,
    prior_cross_entropy,
    windows_cross_entropy,
)
from ammi.chain.layout import order_of, with_order
from ammi.chain.marginals import forward, mean_windows, window_marginals
from ammi.chain.markov import Chain, ChainDistributions
from ammi.chain.pairs import pair_marginals, pairs_of_moments
from ammi.chain.structure import Distributions, Structure
from ammi.chain.tree import Tree, TreeDistributions

__all__ = [
    "MAX_BRUTE_FORCE_BITS",
    "Chain",
    "ChainDistributions",
    "Distributions",
    "MarkovBits",
    "Structure",
    "Tree",
    "TreeDistributions",
    "best_prior",
    "chow_liu",
    "condition",
    "cross_entropy",
    "entropy",
    "forward",
    "kl_divergence",
    "log_prob",
    "mean_windows",
    "mixture_entropy",
    "mutual_information",
    "order_of",
    "pair_marginals",
    "pairs_of_moments",
    "prior_cross_entropy",
    "sample",
    "viterbi",
    "window_marginals",
    "windows_cross_entropy",
    "with_order",
]
