"""A place in the plane for each code: near to each other where codes are alike. The same codes have the same places.

A first layout takes a moment: the two directions in which the bits vary most. The better one starts from it and the
exact neighbours that FAISS finds: of a sample of the different codes, by UMAP, and every other code goes to its nearest
ones in it. Of few codes it is t-SNE's, which is done before UMAP would be imported and compiled.
"""

import numpy as np
from numpy.typing import NDArray

from ammi.explore.figures import bits_of
from ammi.search.hamming import Codes, nearest

Places = NDArray[np.float32]  # (n, 2), from 0 to 1

LANDMARKS = 20_000
_NEIGHBOURS, _EPOCHS = 15, 100
_FEW, _PERPLEXITY = 1500, 15.0
_NEAREST = 4  # landmarks that a code is placed among
_EDGE = 0.001  # the share of codes at each side that may be pressed to the edge, so that a few do not squeeze the rest
_JITTER = 0.002  # of the width: equal codes would hide one another
_SEED = 0


def rough_layout(codes: Codes, n_bits: int) -> Places:
    """The first layout, (n, 2)."""
    return _spread(_principal(codes, n_bits), _random())


def fine_layout(codes: Codes, n_bits: int) -> Places:
    """The better layout, (n, 2)."""
    rng = _random()
    different, code_of = np.unique(codes, axis=0, return_inverse=True)
    chosen = np.arange(len(different))
    if len(different) > LANDMARKS:
        chosen = np.sort(rng.choice(len(different), LANDMARKS, replace=False))
    landmarks = np.ascontiguousarray(different[chosen])
    if len(landmarks) <= 2 * _NEIGHBOURS:  # too few for a graph of neighbours
        return rough_layout(codes, n_bits)
    places = _tsne(landmarks, n_bits) if len(landmarks) <= _FEW else _umap(landmarks, n_bits)
    if len(chosen) < len(different):
        places = _among(landmarks, places, different)
    return _spread(places[code_of.reshape(-1)], rng)


def _tsne(codes: Codes, n_bits: int) -> Places:
    from sklearn.manifold import TSNE

    start = _principal(codes, n_bits)
    layout = TSNE(
        perplexity=min(_PERPLEXITY, len(codes) / 4),
        init=(1e-4 * start / max(float(start.std()), 1e-9)).astype(np.float32),
        metric="hamming",
        max_iter=400,
        n_jobs=1,
        random_state=_SEED,
    )
    return layout.fit_transform(bits_of(codes, n_bits).astype(bool))


def _umap(codes: Codes, n_bits: int) -> Places:
    import umap.umap_ as umap

    distances, neighbours = nearest(codes, codes, _NEIGHBOURS)
    state = np.random.RandomState(_SEED)
    graph, _, _ = umap.fuzzy_simplicial_set(
        codes,
        _NEIGHBOURS,
        state,
        "precomputed",
        knn_indices=neighbours.astype(np.int32),
        knn_dists=distances.astype(np.float32),
    )
    start = _principal(codes, n_bits)
    a, b = umap.find_ab_params(1.0, 0.1)
    places, _ = umap.simplicial_set_embedding(
        codes.astype(np.float32),
        graph,
        n_components=2,
        initial_alpha=1.0,
        a=a,
        b=b,
        gamma=1.0,
        negative_sample_rate=5,
        n_epochs=_EPOCHS,
        init=(3 * start / max(float(start.std()), 1e-9)).astype(np.float32),
        random_state=state,
        metric="euclidean",
        metric_kwds={},
        densmap=False,
        densmap_kwds={},
        output_dens=False,
        parallel=False,
    )
    return places


def _among(landmarks: Codes, places: Places, codes: Codes) -> Places:
    """Each code between its nearest landmarks, the nearer the closer."""
    distances, rows = nearest(landmarks, codes, _NEAREST)
    weight = (distances + 0.1) ** -2.0  # a landmark keeps its own place
    return (places[rows] * (weight / weight.sum(axis=1, keepdims=True))[..., None]).sum(axis=1).astype(np.float32)


def _principal(codes: Codes, n_bits: int) -> Places:
    bits = bits_of(codes, n_bits).astype(np.float32)
    if n_bits == 1:
        bits = np.hstack([bits, np.zeros_like(bits)])
    bits -= bits.mean(axis=0) if len(bits) else 0
    _, directions = np.linalg.eigh((bits.T @ bits).astype(np.float64))
    main = directions[:, :-3:-1]
    main = main * np.where(
        main[np.abs(main).argmax(axis=0), [0, 1]] < 0, -1, 1
    )  # a direction may come with either sign
    return (bits @ main).astype(np.float32)


def _spread(places: Places, rng: np.random.Generator) -> Places:
    """Places from 0 to 1 in the same proportions, each a little aside of where it is."""
    if not len(places):
        return places
    low, high = np.quantile(places, _EDGE, axis=0), np.quantile(places, 1 - _EDGE, axis=0)
    width = max(float((high - low).max()), 1e-9)
    scaled = 0.5 + (places - (low + high) / 2) / (1.04 * width)
    return np.clip(scaled + rng.normal(0, _JITTER, places.shape), 0, 1).astype(np.float32)


def _random() -> np.random.Generator:
    return np.random.default_rng(_SEED)
