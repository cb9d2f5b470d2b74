"""Layouts: a point in the plane for each code, close together where codes are alike. Equal input gives equal output.

The rough layout takes a moment: the two principal directions of the bits. The fine one starts from it and from exact
neighbours found by FAISS: UMAP lays out a sample of the distinct codes, the landmarks, and every other code goes
between its nearest landmarks. Few codes are laid out by t-SNE, which ends before UMAP would be imported and compiled.
"""

import numpy as np
from numpy.typing import NDArray

from ammi.explore.figures import bits_of
from ammi.search.hamming import Codes, nearest

Layout = NDArray[np.float32]  # (n, 2), from 0 to 1

LANDMARKS = 20_000
_NEIGHBOURS, _EPOCHS = 15, 100
_MOST_FOR_TSNE, _PERPLEXITY = 1500, 15.0
_NEAREST = 4  # landmarks that a code goes between
_EDGE = 0.001  # share of codes moved to each edge, so that a few outliers do not squeeze the rest
JITTER = 0.002  # of the width, since equal codes would hide one another
_SEED = 0


def rough_layout(codes: Codes, n_bits: int) -> Layout:
    """Return the layout by principal directions."""
    return _spread(_principal(codes, n_bits), _random())


def fine_layout(codes: Codes, n_bits: int) -> Layout:
    """Return the layout by t-SNE or UMAP."""
    rng = _random()
    distinct, code_of = np.unique(codes, axis=0, return_inverse=True)
    chosen = np.arange(len(distinct))
    if len(distinct) > LANDMARKS:
        chosen = np.sort(rng.choice(len(distinct), LANDMARKS, replace=False))
    landmarks = np.ascontiguousarray(distinct[chosen])
    if len(landmarks) <= 2 * _NEIGHBOURS:  # too few for a graph of neighbours
        return rough_layout(codes, n_bits)
    layout = _tsne(landmarks, n_bits) if len(landmarks) <= _MOST_FOR_TSNE else _umap(landmarks, n_bits)
    if len(chosen) < len(distinct):
        layout = _between(landmarks, layout, distinct)
    return _spread(layout[code_of.reshape(-1)], rng)


def _tsne(codes: Codes, n_bits: int) -> Layout:
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


def _umap(codes: Codes, n_bits: int) -> Layout:
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
    layout, _ = umap.simplicial_set_embedding(
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
    return layout


def _between(landmarks: Codes, layout: Layout, codes: Codes) -> Layout:
    """Lay out each code between its nearest landmarks, closest to the nearest one."""
    distances, rows = nearest(landmarks, codes, _NEAREST)
    weight = (distances + 0.1) ** -2.0  # a landmark stays where it is
    return (layout[rows] * (weight / weight.sum(axis=1, keepdims=True))[..., None]).sum(axis=1).astype(np.float32)


def _principal(codes: Codes, n_bits: int) -> Layout:
    bits = bits_of(codes, n_bits).astype(np.float32)
    if n_bits == 1:
        bits = np.hstack([bits, np.zeros_like(bits)])
    bits -= bits.mean(axis=0) if len(bits) else 0
    _, directions = np.linalg.eigh((bits.T @ bits).astype(np.float64))
    main = directions[:, :-3:-1]
    # A direction may come with either sign: make its largest component positive.
    main = main * np.where(main[np.abs(main).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return (bits @ main).astype(np.float32)


def _spread(layout: Layout, rng: np.random.Generator) -> Layout:
    """Scale a layout to 0 to 1 in both directions alike, and add jitter."""
    if not len(layout):
        return layout
    low, high = np.quantile(layout, _EDGE, axis=0), np.quantile(layout, 1 - _EDGE, axis=0)
    width = max(float((high - low).max()), 1e-9)
    scaled = 0.5 + (layout - (low + high) / 2) / (1.04 * width)
    return np.clip(scaled + rng.normal(0, JITTER, layout.shape), 0, 1).astype(np.float32)


def _random() -> np.random.Generator:
    return np.random.default_rng(_SEED)
