"""The exact search equals a plain numpy ranking, ties in insertion order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.search import hamming, nearest, within
from tests.search.plain import random_codes, ranking

sizes = st.tuples(st.integers(0, 300), st.integers(0, 40), st.integers(1, 200), st.integers(1, 20))  # n, q, m, distinct
seeds = st.integers(0, 2**32 - 1)


@given(sizes, seeds, st.integers(0, 320))
def test_nearest_is_the_plain_ranking(size, seed, k):
    n, q, m, distinct = size
    rng = np.random.default_rng(seed)
    base, queries = random_codes(rng, n, m, distinct), random_codes(rng, q, m, distinct)
    plain_distances, plain_positions = ranking(base, queries)
    distances, positions = nearest(base, queries, k)
    assert (distances.dtype, positions.dtype) == (np.int32, np.int64)
    np.testing.assert_array_equal(distances, plain_distances[:, :k])
    np.testing.assert_array_equal(positions, plain_positions[:, :k])


@given(sizes, seeds, st.integers(-1, 200))
def test_within_is_the_plain_ranking_cut_at_the_radius(size, seed, radius):
    n, q, m, distinct = size
    rng = np.random.default_rng(seed)
    base, queries = random_codes(rng, n, m, distinct), random_codes(rng, q, m, distinct)
    found = within(base, queries, radius)
    assert len(found) == q
    for (distances, positions), plain_distances, plain_positions in zip(found, *ranking(base, queries), strict=True):
        near = plain_distances <= radius
        np.testing.assert_array_equal(distances, plain_distances[near])
        np.testing.assert_array_equal(positions, plain_positions[near])


@pytest.mark.parametrize("m", [8, 64, 128])
@pytest.mark.parametrize("k", [1, 10, 3000])
def test_ties_keep_their_order_where_faiss_works_in_blocks(m, k):
    """FAISS takes some ten thousand codes at a time; here a tie spans several such blocks."""
    rng = np.random.default_rng(m + k)
    base, queries = random_codes(rng, 150_000, m, distinct=6), random_codes(rng, 5, m, distinct=6)
    plain_distances, plain_positions = ranking(base, queries)
    distances, positions = nearest(base, queries, k)
    np.testing.assert_array_equal(distances, plain_distances[:, :k])
    np.testing.assert_array_equal(positions, plain_positions[:, :k])


def test_arrays_that_are_slices_or_read_only_are_searched_as_they_look():
    rng = np.random.default_rng(0)
    base = random_codes(rng, 60, 64, distinct=50)[::3, ::-1]
    base.flags.writeable = False
    np.testing.assert_array_equal(nearest(base, base, 20)[1], ranking(base, base)[1])
    assert all(len(positions) == 20 for _, positions in within(base, base, 64))


def test_codes_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="2 bytes a code, but the base has 8"):
        nearest(np.zeros((3, 8), np.uint8), np.zeros((1, 2), np.uint8), 1)


@given(seeds, st.integers(1, 5), st.integers(0, 70))
def test_within_is_bounded_in_all_and_searches_in_blocks(seed, at_once, most):
    rng = np.random.default_rng(seed)
    base, queries = random_codes(rng, 10, 12, 3), random_codes(rng, 7, 12, 3)
    expected = within(base, queries, 2)
    n_found = sum(len(positions) for _, positions in expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamming, "_PAIRS_AT_ONCE", 10 * at_once)
        patch.setattr(hamming, "MOST_FOUND", most)
        if n_found > most:
            with pytest.raises(
                ValueError, match=f"more than {most} codes are at most 2 bits away: take a smaller radius"
            ):
                within(base, queries, 2)
        else:
            for (a, b), (c, d) in zip(within(base, queries, 2), expected, strict=True):
                np.testing.assert_array_equal(a, c)
                np.testing.assert_array_equal(b, d)


def test_a_radius_of_any_size_is_a_radius():
    base = np.zeros((3, 2), np.uint8)
    for radius in (16, 2**31 - 1, 2**31, 2**70):
        assert [positions.tolist() for _, positions in within(base, base[:1], radius)] == [[0, 1, 2]]
