"""The best tree of bits (Chow and Liu 1968): the one whose edges have the largest total mutual information.

`chain` uses it as the structure of a prior, `explore` to show which bits depend on each other.
"""

import numpy as np
from numpy.typing import NDArray


def best_tree(information: NDArray[np.floating]) -> list[int]:
    """Return the parent of each bit in a maximum spanning tree, -1 for the root; ties go to the lowest bits.

    Prim's algorithm, in O(m^2).

    Args:
        information: mutual information of every two bits, (m, m); the diagonal is ignored.
    """
    information = information.astype(np.float64)
    np.fill_diagonal(information, 0)
    root = int(information.sum(axis=0).argmax())  # a bit in the middle, so that the tree is not deep
    parents = [-1] * len(information)
    nearest = np.full(len(information), root)
    gain = information[root].copy()
    gain[root] = -np.inf  # in the tree
    for _ in range(len(information) - 1):
        bit = int(gain.argmax())
        parents[bit] = int(nearest[bit])
        gain[bit] = -np.inf
        closer = (information[bit] > gain) & (gain > -np.inf)
        nearest[closer], gain[closer] = bit, information[bit][closer]
    return parents
