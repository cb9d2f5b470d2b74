"""The best tree over the bits (Chow and Liu 1968): the one whose edges have the largest total mutual information.

The best prior of a tree has, for the mean joint probabilities μ̄ of a batch,

    H⁺(Z) = sum_i H(z_i) - sum over edges (i, j) of I(z_i; z_j),      I = sum_ab μ̄(a, b) log μ̄(a, b) / (μ̄(a) μ̄(b)),

so the tree that makes it smallest is a maximum spanning tree, which `best_tree` finds.
"""

import torch
from torch import Tensor

from ammi.best_tree import best_tree
from ammi.chain.pairs import pairs_of_moments
from ammi.chain.tree import Tree


def mutual_information(pairs: Tensor) -> Tensor:
    """Return I(z_i; z_j) (m, m) in nats from the joint probabilities of all pairs (m, m, 4); the diagonal is H(z_i)."""
    if pairs.ndim < 1 or pairs.shape[-1] != 4:
        raise ValueError(f"joint probabilities of every two bits have the shape (m, m, 4), got {tuple(pairs.shape)}")
    joint = pairs.clamp_min(0).unflatten(-1, (2, 2))
    parts = [torch.special.entr(table).sum(-1) for table in (joint.sum(-1), joint.sum(-2), joint.flatten(-2))]
    return (parts[0] + parts[1] - parts[2]).clamp_min(0)


@torch.no_grad()
def chow_liu(pairs: Tensor) -> Tree:
    """Return the tree of the largest total mutual information; of equally good edges the one with the lowest bits.

    Args:
        pairs: the joint probabilities of every two bits, (m, m, 4) or (m, m, 2, 2), as `mean_all_pairs` gives them, or
            their second moments E[z_i z_j], (m, m).
    """
    information = mutual_information(_as_pairs(pairs.double()))
    return Tree(len(information), tuple(best_tree(information.cpu().numpy())))


def _as_pairs(pairs: Tensor) -> Tensor:
    n = pairs.shape[0] if pairs.ndim else 0
    if pairs.shape not in {(n, n), (n, n, 4), (n, n, 2, 2)} or not n:
        raise ValueError(
            f"a tree is learned from joint probabilities (m, m, 4) or (m, m, 2, 2), or second moments (m, m), of every "
            f"two bits, got a table of shape {tuple(pairs.shape)}"
        )
    if not pairs.isfinite().all():
        raise ValueError("the joint probabilities that a tree is learned from must be finite, got NaN or infinity")
    return pairs_of_moments(pairs) if pairs.ndim == 2 else pairs.reshape(n, n, 4)
