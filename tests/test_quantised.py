"""`ammi.quantize`: codes of embeddings, and a recall that is the one of a search by hand."""

import numpy as np
import pytest

import ammi
from ammi.quantised import Quantized


def clusters(n: int, d: int = 48, seed: int = 0) -> np.ndarray:
    """Embeddings around a few centres, of different lengths."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((4, d))
    X = centres[rng.integers(4, size=n)] + 0.7 * rng.standard_normal((n, d))
    return (X * rng.uniform(0.5, 2, (n, 1))).astype(np.float32)


@pytest.fixture(scope="module")
def made() -> Quantized:
    return ammi.quantize(clusters(1500), bits=48)


def test_codes_are_packed_and_the_same_each_time(made):
    assert made.codes.shape == (1500, 6)
    assert (made.bits, made.bytes, len(made)) == (48, 6, 1500)
    assert np.array_equal(ammi.quantize(clusters(1500), bits=48).codes, made.codes)
    assert np.array_equal(made.encode(3 * clusters(1500)), made.codes)  # of any length
    assert not np.array_equal(ammi.quantize(clusters(1500), bits=48, random_state=1).codes, made.codes)


def test_recall_is_what_a_search_by_hand_keeps(made):
    """Of queries that it never saw, drawn as the others were: about the same recall."""
    X, Q = clusters(1500), clusters(1800)[1500:]
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    exact = np.argsort(-(Q @ unit.T), axis=1)[:, :10]
    found = made.search(Q, 100).positions
    by_hand = [
        np.mean([np.isin(ten, row[:k]).mean() for ten, row in zip(exact, found, strict=True)]) for k in (10, 100)
    ]
    assert made.n_queries == 150
    assert made.recall == pytest.approx(by_hand[0], abs=0.06)
    assert made.recall_at_100 == pytest.approx(by_hand[1], abs=0.06)
    assert 0.2 < made.recall < made.recall_at_100 < 1


def test_more_bits_keep_more_and_all_candidates_keep_all():
    X = clusters(300)
    few, many = ammi.quantize(X, bits=8), ammi.quantize(X, bits=48)
    assert few.recall is not None
    assert many.recall is not None
    assert few.recall < many.recall
    tiny = ammi.quantize(clusters(100), bits=8)  # the first hundred are all there are
    assert tiny.recall_at_100 == 1


def test_held_out_rows_teach_nothing():
    """Other rows in place of the held-out ones change no code of the rest."""
    X = clusters(200)
    held_out = np.random.default_rng(0).permutation(200)[:20]
    other = X.copy()
    other[held_out] = 5 * clusters(20, seed=1)
    first, second = ammi.quantize(X, bits=16), ammi.quantize(other, bits=16)
    assert first.quantiser.fingerprint_ == second.quantiser.fingerprint_
    assert first.recall != second.recall


def test_equal_rows_count_as_found():
    X = np.repeat(clusters(3), 40, axis=0)
    assert ammi.quantize(X, bits=16).recall == 1


def test_a_search_asks_with_numbers(made):
    X = clusters(1500)
    found = made.search(X[:5], k=3)
    assert found.positions.shape == found.scores.shape == (5, 3)
    assert np.isin(np.arange(5), found.positions).mean() > 0.7
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert made.search(X[:2], k=5000).positions.shape == (2, 1500)


def test_it_says_everything_in_one_line(made):
    assert str(made) == (
        f"48 bits (6 bytes a vector instead of 192): of the ten nearest by cosine, {made.recall:.2f} are among the "
        f"first ten by the codes and {made.recall_at_100:.2f} among the first hundred (150 held-out queries)"
    )
    assert str(ammi.quantize(clusters(12), bits=8)).endswith("too few vectors to measure what the codes keep")


def test_its_quantiser_makes_a_collection(made, tmp_path):
    X = clusters(1500)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    with ammi.Collection.create(tmp_path / "vectors", made.quantiser) as collection:
        collection.add(unit[:50])
        assert np.array_equal(collection.codes()[1], made.codes[:50])


def test_what_are_no_embeddings_is_refused():
    for wrong, sentence in ((["a text"] * 30, "texts"), (np.full((30, 4), np.nan), "finite"), (np.ones(4), "Reshape")):
        with pytest.raises(ValueError, match=sentence):
            ammi.quantize(wrong, bits=4)
    with pytest.raises(ValueError, match="n_bits"):
        ammi.quantize(clusters(30), bits=0)
    with pytest.raises(ValueError, match="rows have 3 numbers, and the codes were made of 48"):
        ammi.quantize(clusters(30), bits=4).search(np.ones((1, 3)))
