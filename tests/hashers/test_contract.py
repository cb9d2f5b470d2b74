"""What holds for every hasher: scikit-learn's checks, codes, seeds, saving, odd input, better than chance."""

import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, vstack
from sklearn.utils.estimator_checks import parametrize_with_checks

import ammi
from ammi import hashers
from ammi.evaluate import precision_at_k
from ammi.hashers.saving import describe_files
from tests.conftest import topics
from tests.damage import flipped, write_checksums

Make = Callable[..., hashers.Hasher]
TRAINED = {"epochs": 3, "batch_size": 32, "random_state": 0, "verbose": False}

# How the tests make each method: small, but enough to learn four topics.
SMALL: dict[str, dict] = {
    "ammi": {**TRAINED, "epochs": 20, "learning_rate": 0.03},
    "bmmi": {**TRAINED, "epochs": 20, "learning_rate": 0.03},
    "bmsh": {**TRAINED, "epochs": 20, "hidden_size": 32, "components": 8},
    "bow": {},
    "dvq": {**TRAINED, "epochs": 20, "learning_rate": 0.01},
    "gmsh": {**TRAINED, "epochs": 20, "learning_rate": 0.01, "hidden_size": 32, "components": 8},
    "itq": {"random_state": 0},
    "lsh": {"random_state": 0},
    "nash": {**TRAINED, "epochs": 20, "hidden_size": 32},
    "sph": {"random_state": 0},
    "srbm": {**TRAINED, "epochs": 30, "hidden_layers": 1, "hidden_size": 32, "learning_rate": 0.01},
    "sth": {"random_state": 0, "verbose": False},
    "vdsh": {**TRAINED, "epochs": 20, "learning_rate": 0.01, "hidden_size": 32, "warm_up": 100},
}
LARGEST = {"bmmi": 24}
every = pytest.mark.parametrize("name", sorted(SMALL))


def make(name: str, n_bits: int = 8, **parameters) -> hashers.Hasher:
    """A small hasher; BOW has as many bits as there are words."""
    bits = {} if name == "bow" else {"n_bits": n_bits}
    return hashers.by_name(name)(**{**bits, **SMALL[name], **parameters})


def quick(name: str) -> dict:
    """For tests that need a fitted hasher and not a good one."""
    before = {"pretraining_epochs": 1} if name == "srbm" else {}
    return {"epochs": 1, **before} if "epochs" in SMALL[name] else {}


@parametrize_with_checks([make(name, **quick(name)) for name in sorted(SMALL)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_method_is_tested():
    assert sorted(SMALL) == sorted(hashers.methods.own)


@every
def test_codes_are_bits_and_pack_as_numpy_packs(name):
    X, _ = topics()
    for n_bits in (1, 12, 100):
        if n_bits > LARGEST.get(name, n_bits):
            continue
        hasher = make(name, n_bits, **quick(name)).fit(X)
        n_bits = hasher.n_bits
        bits = hasher.transform(X)
        assert bits.shape == (300, n_bits)
        assert bits.dtype == np.uint8
        assert set(np.unique(bits)) <= {0, 1}
        packed = hasher.encode(X)
        assert packed.shape == (300, -(-n_bits // 8))
        assert np.array_equal(np.unpackbits(packed, axis=1, count=n_bits), bits)


@every
def test_the_same_seed_gives_the_same_codes_from_every_kind_of_matrix(name):
    X, _ = topics()
    expected = make(name, **quick(name)).fit(X).encode(X)
    for kind in (csr_matrix, csc_matrix, coo_matrix):
        assert np.array_equal(make(name, **quick(name)).fit(kind(X)).encode(kind(X)), expected)
    dense = make(name, **quick(name)).fit(X).transform(X.toarray().astype(np.float64))
    assert np.mean(dense == np.unpackbits(expected, axis=1)) > 0.99  # other sums, other last digits


@pytest.mark.slow
@every
def test_learned_codes_are_better_than_chance(name):
    X, labels = topics()
    new, new_labels = topics(seed=1)
    hasher = make(name, 16).fit(X)
    chance = 100 * np.mean(labels[:, None] == labels[None])
    precision = precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20)
    assert precision > chance + 15


@every
def test_saved_and_loaded_it_is_the_same(name, tmp_path):
    X, _ = topics()
    hasher = make(name, **quick(name)).fit(X)
    hasher.save(tmp_path / "model")
    hasher.save(tmp_path / "model")  # over itself
    loaded = ammi.load(tmp_path / "model")
    assert type(loaded) is type(hasher)
    assert loaded.get_params() == hasher.get_params()
    assert loaded.fingerprint_ == hasher.fingerprint_
    assert np.array_equal(loaded.encode(X), hasher.encode(X))
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "SHA256SUMS",
        "config.json",
        "weights.safetensors",
    ]
    assert np.array_equal(pickle.loads(pickle.dumps(hasher)).encode(X), hasher.encode(X))
    other = make(name, **quick(name)).fit(topics(seed=3, n_words=100)[0])
    assert other.fingerprint_ != hasher.fingerprint_


@every
def test_damaged_and_foreign_folders_are_refused(name, tmp_path):
    folder = tmp_path / "model"
    hasher = make(name, **quick(name)).fit(topics()[0])
    hasher.save(folder)
    weights, config = folder / "weights.safetensors", folder / "config.json"
    whole, text = weights.read_bytes(), config.read_text()
    for damage in (whole[:-3], whole[: len(whole) // 2], b"", b"\0" * len(whole), flipped(whole, 8 * len(whole) - 8)):
        weights.write_bytes(damage)
        with pytest.raises(ValueError, match=r"weights.safetensors is damaged or of another version"):
            ammi.load(folder)
        write_checksums(folder)
        with pytest.raises(ValueError, match=r"was written with|damaged"):
            ammi.load(folder)
    weights.write_bytes(whole)
    for change, message in (
        ({"format": 99}, "has format 99"),
        ({"method": "Nothing"}, "'Nothing'"),
        ({"method": "load"}, "'load'"),
        ({"fingerprint": "0" * 16}, "save the model again"),
        ({"parameters": {"nothing": 1}}, "its parameters do not fit"),
        ({"parameters": [1]}, "its parameters do not fit"),
        ({"parameters": {"n_bits": "eight"}}, "its parameters do not fit"),
        ({"parameters": {"n_bits": 10**9}}, "its parameters do not fit"),
        ({"parameters": {"n_bits": True}}, "its parameters do not fit"),
        ({"n_features_in": 10**12}, "does not belong to config.json"),
        ({"n_features_in": "many"}, "does not belong to config.json"),
        ({"n_features_in": 121}, "does not belong to config.json"),
    ):
        config.write_text(json.dumps({**json.loads(text), **change}))
        write_checksums(folder)
        with pytest.raises(ValueError, match=message):
            ammi.load(folder)
    if name != "bow":
        parameters = {**json.loads(text)["parameters"], "n_bits": 7}
        config.write_text(json.dumps({**json.loads(text), "parameters": parameters}))
        write_checksums(folder)
        with pytest.raises(ValueError, match=r"does not belong to config.json"):
            ammi.load(folder)
    config.write_text(text[:-10])
    with pytest.raises(ValueError, match="damaged"):
        ammi.load(folder)
    config.write_text(json.dumps({**json.loads(text), "format": 2}))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"has format 2, this ammi .* reads 3: fit the model again"):
        ammi.load(folder)
    config.unlink()
    with pytest.raises(ValueError, match="not a model of ammi"):
        ammi.load(folder)
    with pytest.raises(ValueError, match="there is no folder"):
        ammi.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="choose another folder"):
        hasher.save(folder)


@every
def test_odd_input(name):
    X, _ = topics()
    few = quick(name)
    empty_rows = vstack([csr_matrix((5, 120), dtype=np.float32), X[5:]], format="csr")
    hasher = make(name, **few).fit(empty_rows)
    codes = hasher.encode(empty_rows)
    assert (codes[:5] == codes[0]).all()  # documents with no known word are all alike
    constant = csr_matrix(np.ones((40, 6), dtype=np.float32))
    for documents in (X[:1], X[:7], constant, -X):  # one, fewer than bits or a batch, all alike, negative
        hasher = make(name, **few).fit(documents)
        assert hasher.transform(documents).shape == (documents.shape[0], hasher.n_bits)


@every
def test_bad_input_is_refused(name):
    X, _ = topics()
    hasher = make(name, **quick(name)).fit(X)
    with pytest.raises(ValueError, match="119 features"):
        hasher.encode(X[:, :-1])
    for bad in (np.nan, np.inf):
        broken = X.copy()
        broken.data[3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make(name).fit(broken)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            hasher.encode(broken)
    for n_bits in () if name == "bow" else (0, -4, 2.5):
        with pytest.raises(ValueError, match="n_bits must be a whole number"):
            make(name, n_bits).fit(X)  # type: ignore[arg-type]


def test_an_unknown_method_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no method 'nothing': there are ammi, .*bmmi"):
        hashers.by_name("nothing")


FINE_WITH_HUGE_ROWS = {"bmsh", "nash", "srbm"}  # a row is what its words are, or its weights are shortened


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"bow", "itq", "lsh", "sph", "sth"}))
def test_training_that_leaves_the_finite_is_an_error_and_no_model(name):
    """It ended with one code for all, or with an error of torch."""
    X, _ = topics()
    few = {**quick(name), "epochs": 2}
    huge = make(name, **few)
    if name in FINE_WITH_HUGE_ROWS:
        huge.fit(X * np.float32(1e30))
        assert np.isfinite([value for array in huge._arrays().values() for value in np.ravel(array)]).all()
    else:
        with pytest.raises(
            ValueError, match=r"left the finite numbers in epoch 1, where .*: lower the learning rate, or"
        ):
            huge.fit(X * np.float32(1e30))
    for rate in (float("inf"), 1e30):
        with pytest.raises(ValueError, match="learning_rate must be above 0 and at most 10"):
            make(name, **{**few, "learning_rate": rate}).fit(X)


@every
def test_numbers_beyond_float32_are_refused_with_their_place(name):
    X = topics(20)[0].astype(np.float64).toarray()
    X[7, 3] = -1e300
    for rows in (X, csr_matrix(X)):
        with pytest.raises(
            ValueError, match=r"row 7 of X has -1e\+300 in column 3, more than float32 holds .*: divide"
        ):
            make(name).fit(rows)


@every
def test_nothing_of_a_device_is_saved(name, tmp_path):
    """A model that was trained on a GPU is loaded without one."""
    hasher = make(name, **quick(name)).fit(topics(60)[0])
    if "device" in hasher.get_params():
        hasher.set_params(device="cuda:7")  # as on another machine
    hasher.save(tmp_path / "model")
    assert "device" not in json.loads((tmp_path / "model" / "config.json").read_text())["parameters"]
    loaded = ammi.load(tmp_path / "model")
    assert loaded.fingerprint_ == hasher.fingerprint_
    assert describe_files(hasher.to_files(), tmp_path) == loaded.describe()
    if "device" in loaded.get_params():
        assert loaded.get_params()["device"] == "auto"
