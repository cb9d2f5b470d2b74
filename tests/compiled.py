"""Compile the kernels of training into numba's cache: `python -m tests.compiled`."""

from scipy.sparse import random_array

from ammi import AMMI

if __name__ == "__main__":
    AMMI(16, epochs=1, random_state=0, verbose=False).fit(random_array((600, 50), density=0.1, format="csr", rng=0))
