"""AMMI and BMMI: the objective, orders, adversaries, pairs, validation, and what a user sees."""

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import vstack

from ammi import AMMI, BMMI, chain, load
from ammi.evaluate import distinct_codes, matching_at_k, precision_at_k
from ammi.nets.rows import to_rows
from ammi.training.recipe import DataShape
from tests import oracles
from tests.conftest import topics
from tests.training.made import kept_array

SMALL: dict[str, Any] = {"batch_size": 32, "learning_rate": 0.03, "epochs": 15, "random_state": 0, "verbose": False}


def chains_of(hasher, X) -> torch.Tensor:
    with torch.no_grad():
        return hasher.objective_.distributions(to_rows(X, torch.device("cpu"))).logits


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("adversary", ["exact", "gradient"])
def test_codes_are_the_exact_mode_and_probabilities_the_marginals(order, adversary):
    X, labels = topics()
    hasher = AMMI(6, order=order, prior_order=order + 2, adversary=adversary, **SMALL).fit(X)
    p = chains_of(hasher, X[:20]).double().numpy()
    for bits, table in zip(hasher.transform(X[:20]), p, strict=True):
        assert oracles.log_prob(table, tuple(bits)) == pytest.approx(oracles.best_log_prob(table))
    expected = [oracles.window_marginals(table, 1)[:, 1] for table in p]
    np.testing.assert_allclose(hasher.bit_probabilities(X[:20]), expected, atol=1e-5)
    assert precision_at_k(hasher.encode(X), labels, hasher.encode(X), labels, k=20) > 80


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1])
def test_score_is_the_information_in_bits(order):
    X, _ = topics()
    hasher = AMMI(6, order=order, **SMALL).fit(X)
    objective: Any = hasher.objective_
    p, prior = chains_of(hasher, X), objective.adversary.prior()
    in_its_order = p[:, objective.adversary.order]
    expected = (chain.prior_cross_entropy(in_its_order, prior) - chain.entropy(p).mean()) / np.log(2)
    assert hasher.score(X) == pytest.approx(expected.item(), rel=1e-4)
    brute = BMMI(6, order=order, **SMALL).fit(X)
    p = chains_of(brute, X)
    expected = (chain.mixture_entropy(p) - chain.entropy(p).mean()) / np.log(2)
    assert brute.score(X) == pytest.approx(expected.item(), rel=1e-4)
    assert 1 < brute.score(X) < 6


def test_a_prior_no_richer_than_the_encoder_collapses():
    """With r = o = 0 the bits only have to be balanced one by one, and they copy each other."""
    X, _ = topics(n=400, n_words=200, n_topics=8)
    settings = {**SMALL, "neighbours": 0, "entropy_weight": 2.0, "epochs": 30}
    collapsed, healthy = (AMMI(8, prior_order=r, **settings).fit(X) for r in (0, 3))
    entropies = [chain.mixture_entropy(chains_of(hasher, X)) / np.log(2) for hasher in (collapsed, healthy)]
    assert collapsed.history_[-1]["entropy"] - entropies[0] > 2  # the bound is far above what it bounds
    assert entropies[1] > entropies[0] + 1.5
    assert distinct_codes(healthy.encode(X)) > 2 * distinct_codes(collapsed.encode(X))


def pairs(n: int = 300, seed: int = 0):
    """Two halves of the words of each document: what they share is its topic."""
    X, _ = topics(n, n_words=200, n_topics=20, seed=seed)
    first = np.random.default_rng(seed).random(X.nnz) < 0.5
    Y, R = X.copy(), X.copy()
    Y.data[first] = 0
    R.data[~first] = 0
    for half in (Y, R):
        half.eliminate_zeros()
    return Y, R


@pytest.mark.slow
@pytest.mark.parametrize(
    "hasher",
    [
        AMMI(12, **SMALL),
        AMMI(12, order=1, **SMALL),
        AMMI(12, related_encoder="own", related_order=1, **SMALL),
        BMMI(12, **SMALL),
        BMMI(12, related_encoder="own", **SMALL),
    ],
    ids=["AMMI", "AMMI of order 1", "AMMI of two encoders", "BMMI", "BMMI of two encoders"],
)
def test_predictive_hashing_finds_the_related_document(hasher, tmp_path):
    Y, R = pairs(600)
    new_y, new_r = pairs(200, seed=1)
    hasher.fit(Y, related=R, validation=(new_y, new_r))
    matching = matching_at_k(hasher.encode(new_y), hasher.encode(new_r), k=20)
    assert matching > 20  # chance is 10
    assert hasher.history_[hasher.best_epoch_ - 1]["score"] == matching_at_k(hasher.encode(new_y), hasher.encode(new_r))
    assert np.isfinite(hasher.score(new_y, related=new_r))
    hasher.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").encode(new_y), hasher.encode(new_y))


def test_the_epoch_with_the_best_validation_score_is_kept():
    X, labels = topics()
    new, new_labels = topics(seed=1)
    hasher = AMMI(8, **{**SMALL, "epochs": 6}).fit(X, labels, validation=(new, new_labels))
    scores = [row["score"] for row in hasher.history_]
    assert hasher.best_epoch_ == int(np.argmax(scores)) + 1
    assert precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels) == max(scores)
    falling = iter([3.0, 2.0, 1.0, 0.0])
    hasher = AMMI(8, neighbours=0, **SMALL, patience=2).fit(X, validation=lambda _: next(falling))
    assert (len(hasher.history_), hasher.best_epoch_) == (3, 1)


def test_with_neighbours_patience_waits_while_the_information_rises():
    X, _ = topics()
    hasher = AMMI(8, **{**SMALL, "epochs": 8}, patience=2).fit(X, validation=lambda fitted: -len(fitted.history_))
    assert hasher.best_epoch_ == 1
    assert len(hasher.history_) > 3


def test_documents_alone_and_no_validation_the_objective_on_held_out_documents_decides():
    X, _ = topics()
    hasher = AMMI(8, neighbours=0, **SMALL).fit(X)
    assert hasher.history_[hasher.best_epoch_ - 1]["score"] == max(row["score"] for row in hasher.history_)
    assert hasher.history_[-1]["score"] > hasher.history_[0]["score"]


@pytest.mark.parametrize("pairs", [True, False])
def test_of_pairs_and_no_validation_the_last_epoch_is_kept(pairs):
    (X, _), (R, _) = topics(), topics(seed=1)
    hasher = AMMI(8, **SMALL).fit(X, related=R) if pairs else AMMI(8, **SMALL).fit(X)
    assert hasher.best_epoch_ == len(hasher.history_) == SMALL["epochs"]
    assert [row["score"] for row in hasher.history_] == [row["information"] for row in hasher.history_]


def test_the_number_of_epochs_counts_steps():
    """1,500 steps of a small collection, 10 epochs of a large one, 6,000 steps of a larger one, but two epochs."""
    hasher = AMMI(batch_size=100)

    def epochs(hasher: AMMI, n_documents: int, predictive: bool = False) -> int:
        return hasher.recipe(DataShape(n_documents, 30, predictive)).epochs

    sizes = (50, 500, 1000, 10_000, 20_000, 50_000, 100_000, 10**6)
    assert [epochs(hasher, n) for n in sizes] == [200, 200, 150, 15, 10, 10, 6, 2]
    assert epochs(AMMI(neighbours=0), 500) == 40
    assert epochs(AMMI(), 500, predictive=True) == 60
    assert epochs(AMMI(epochs=7), 500, predictive=True) == 7


def test_a_first_model_makes_better_neighbours(reuters, tmp_path):
    """The share of the neighbours of real articles that have a label in common with their document."""
    shares = []
    for first_bits in (0, 64):
        folder = tmp_path / str(first_bits)
        parameters = {"first_bits": first_bits, "epochs": 6, "checkpoint": folder, "random_state": 0, "verbose": False}
        AMMI(8, **parameters).fit(reuters.train[:2000])
        near, labels = kept_array(folder / "neighbours.pt"), reuters.train_labels[:2000] != 0
        shares.append(np.mean([(labels[near[:, j]] & labels).any(1).mean() for j in range(near.shape[1])]))
    assert shares[1] > shares[0] + 0.01


@pytest.mark.slow
def test_bmmis_defaults_are_its_own(reuters):
    """With AMMI's learning rate, as it once was, it learns worse codes."""
    X, labels = reuters.train[:2000], reuters.train_labels[:2000]

    def precision(**more: Any) -> float:
        hasher = BMMI(12, random_state=0, verbose=False, **more).fit(X)
        return precision_at_k(hasher.encode(reuters.cv), reuters.cv_labels, hasher.encode(X), labels)

    assert precision() > precision(learning_rate=0.01, entropy_weight=1.75) + 4


def test_reordering_leaves_few_bits_that_say_the_same():
    """Bits that stand far apart in one order for all time come to say the same; in changing orders few do."""
    X, _ = topics(n=400, n_words=200, n_topics=8)

    def copies(reorder: int) -> int:
        total = 0
        for seed in range(3):
            given = {**SMALL, "epochs": 30, "random_state": seed}
            hasher = AMMI(32, reorder=reorder, prior_order=2, first_bits=0, **given).fit(X)
            alike = np.abs(np.corrcoef(hasher.transform(X).T)) > 0.9
            total += int(np.triu(alike, 1).sum())
        return total

    assert copies(0) > 4 * copies(5)


@pytest.mark.slow
def test_the_number_of_threads_does_not_change_the_codes():
    X, _ = topics(600)
    few = {**SMALL, "epochs": 5}
    first, second = (AMMI(16, n_jobs=n, hidden_layers=1, hidden_size=64, **few).fit(X) for n in (1, 2))
    assert first.fingerprint_ == second.fingerprint_
    assert np.array_equal(first.encode(X), second.encode(X))


def test_fit_leaves_the_callers_random_state_and_threads_alone():
    X, _ = topics()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    AMMI(8, n_jobs=2, **{**SMALL, "epochs": 1}).fit(X)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


@pytest.mark.slow
def test_codes_of_real_articles_are_learned_in_a_few_epochs(reuters):
    hasher = AMMI(32, epochs=8, random_state=0, verbose=False).fit(reuters.train)
    base = hasher.encode(reuters.train)
    assert precision_at_k(hasher.encode(reuters.test), reuters.test_labels, base, reuters.train_labels) > 75
    assert distinct_codes(base) > 1000


def test_1024_bits_and_empty_documents():
    X, _ = topics()
    hasher = AMMI(1024, **{**SMALL, "epochs": 1}).fit(X)
    assert hasher.encode(vstack([X[:3], X[:2] * 0])).shape == (5, 128)
    assert np.isfinite(hasher.score(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 2, "prior_order": 1}, "prior_order must be at least the order 2"),
        ({"order": 1, "related_order": 0}, "related_order must be at least"),
        ({"order": -1}, "order must be a whole number from 0 to 20"),
        (
            {"adversary": "both"},
            "adversary must be 'exact' or 'gradient' or 'sampled' or an object of Adversary, got 'both'",
        ),
        ({"adversary_steps": 0}, "adversary_steps must be a whole number from 1 up"),
        ({"batch_size": 0}, "batch_size must be a whole number from 1 to"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"entropy_weight": -1}, "entropy_weight must be above 0"),
        ({"hidden_layers": 1, "hidden_size": 0}, "hidden_size must be a whole number from 1 to"),
        ({"checkpoint": "somewhere", "random_state": None}, "checkpoint needs a whole number as random_state"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        AMMI(8, **{**SMALL, **parameters}).fit(topics()[0])


def test_data_that_does_not_fit_is_refused():
    X, labels = topics()
    with pytest.raises(ValueError, match="at most 24 bits, got 25: use AMMI"):
        BMMI(25).fit(X)
    with pytest.raises(ValueError, match="related has 299 rows for 300 documents"):
        AMMI(**SMALL).fit(X, related=X[:-1])
    with pytest.raises(ValueError, match="related has 119 columns, the documents have 120"):
        AMMI(**SMALL).fit(X, related=X[:, :-1])
    with pytest.raises(ValueError, match="validation has 300 documents but labels for 299"):
        AMMI(**SMALL).fit(X, labels, validation=(X, labels[:-1]))
    with pytest.raises(ValueError, match="y has 300 documents but labels for 299"):
        AMMI(**SMALL).fit(X, labels[:-1], validation=(X, labels))
    with pytest.raises(ValueError, match="its related part has 299 rows for 300 documents"):
        AMMI(**SMALL).fit(X, related=X, validation=(X, X[:-1]))
    for wrong in (3, (X, labels, 7), [X]):
        with pytest.raises(ValueError, match=r"validation is .*, expected \(X_val, labels\)"):
            AMMI(**SMALL).fit(X, labels, validation=wrong)  # type: ignore[arg-type]


def test_validation_by_labels_needs_those_of_the_training_documents():
    """Without them, odd rows of the validation part were looked for among even ones, which chose bad epochs."""
    X, _ = topics()
    new, new_labels = topics(seed=1)
    with pytest.raises(ValueError, match="labels are missing: pass them as y, or pass a function"):
        AMMI(8, **SMALL).fit(X, validation=(new, new_labels))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of its memory from /proc")
def test_a_large_sparse_matrix_is_never_made_dense():
    program = """
        from pathlib import Path
        import numpy as np
        from scipy.sparse import csr_matrix
        from ammi import AMMI
        from ammi.training import neighbours
        neighbours.EXACT = 15_000
        def peak():  # not getrusage, which starts from the parent's peak
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
        AMMI(64, epochs=1, verbose=False).fit(csr_matrix(np.eye(50, 30)))  # everything is imported and compiled
        before, (n, words, each) = peak(), (20_000, 20_000, 50)  # more than are compared with all
        rng = np.random.default_rng(0)
        indices = np.empty(n * each, dtype=np.int32)
        for start in range(0, n * each, 10**6):
            indices[start : start + 10**6] = rng.integers(0, words, 10**6)
        starts = np.arange(0, n * each + 1, each, dtype=np.int32)
        X = csr_matrix((np.ones(n * each, np.float32), indices, starts), (n, words))
        matrix = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        hasher = AMMI(128, epochs=1, random_state=0, verbose=False).fit(X)
        weights = sum(array.nbytes for array in hasher._arrays().values())
        vectors = n * (128 + 50) * 4  # by which neighbours are found: codes of the first model, and an SVD
        print((peak() - before) / (2 * matrix + 6 * weights + 6 * vectors))  # each and its copies
    """
    shown = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600, check=True
    )
    assert 0.5 < float(shown.stdout) < 1.3  # 7 if it were dense; the allocator keeps more or less


@pytest.mark.parametrize("parameters", [{}, {"neighbours": 0}, {"hidden_layers": 1, "hidden_size": 24}], ids=str)
def test_codes_do_not_depend_on_the_number_of_threads(parameters):
    X, _ = topics()
    models = [AMMI(16, epochs=3, random_state=0, verbose=False, n_jobs=n, **parameters).fit(X) for n in (1, 2, 4)]
    assert len({model.fingerprint_ for model in models}) == 1
