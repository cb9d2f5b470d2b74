"""The registry that finds data sets by name, and the published matrices."""

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_matrix

from ammi.data import benchmark, benchmark_names, corpus_names, corpus_path, data_folder, locate
from ammi.data.mat import SPLITS, read_mat


def content(sizes=(3, 2, 1), n_words=5, n_labels=2, seed=0) -> dict:
    rng = np.random.default_rng(seed)
    matrices = {s: csc_matrix(rng.random((n, n_words))) for s, n in zip(SPLITS, sizes, strict=True)}
    labels = {f"gnd_{s}": rng.integers(0, 2, (n, n_labels)) for s, n in zip(SPLITS, sizes, strict=True)}
    return matrices | labels


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "bench").mkdir()
    monkeypatch.setenv("AMMI_DATA", str(tmp_path))
    return tmp_path


@given(st.tuples(*[st.integers(1, 6)] * 3), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99))
def test_what_was_written_is_read(tmp_path_factory, sizes, n_words, n_labels, seed):
    path = tmp_path_factory.mktemp("mat") / "x.mat"
    written = content(sizes, n_words, n_labels, seed)
    scipy.io.savemat(path, written)
    read = read_mat(path)
    for split in SPLITS:
        X, labels = getattr(read, split), getattr(read, f"{split}_labels")
        assert isinstance(X, csr_matrix)
        assert X.dtype == np.float32
        assert X.has_sorted_indices
        assert labels.dtype == np.uint8
        np.testing.assert_array_equal(X.toarray(), written[split].toarray().astype(np.float32))
        np.testing.assert_array_equal(labels, written[f"gnd_{split}"])


def test_sparse_labels_become_dense(tmp_path):
    written = content()
    scipy.io.savemat(tmp_path / "x.mat", written | {"gnd_cv": csc_matrix(written["gnd_cv"].astype(float))})
    np.testing.assert_array_equal(read_mat(tmp_path / "x.mat").cv_labels, written["gnd_cv"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda c: c.pop("cv"), "lacks cv: expected train, cv, test"),
        (lambda c: c.update(gnd_test=c["gnd_train"]), "1 test documents but labels for 3"),
        (lambda c: c.update(gnd_cv=c["gnd_cv"] + 2), "labels other than 0 and 1"),
    ],
)
def test_a_wrong_layout_is_refused(tmp_path, change, complaint):
    wrong = content()
    change(wrong)
    scipy.io.savemat(tmp_path / "x.mat", wrong)
    with pytest.raises(ValueError, match=complaint):
        read_mat(tmp_path / "x.mat")


@pytest.mark.parametrize("junk", [b"", b"junk", b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM" + b"\0" * 100])
def test_other_files_are_refused(tmp_path, junk):
    (tmp_path / "x.mat").write_bytes(junk)
    with pytest.raises(ValueError, match=r"x\.mat is not a MATLAB file"):
        read_mat(tmp_path / "x.mat")


def test_files_have_names(folder):
    scipy.io.savemat(folder / "bench" / "ng20.tfidf.mat", content())
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.zst", "notes.txt"):
        (folder / name).touch()
    assert data_folder() == folder
    assert benchmark_names() == ["ng20"]
    assert corpus_names() == ["a", "b", "c"]
    assert corpus_path("b") == folder / "b.jsonl.gz"
    np.testing.assert_array_equal(benchmark("ng20").train_labels, content()["gnd_train"])
    assert benchmark(folder / "bench" / "ng20.tfidf.mat").train.shape == (3, 5)


def test_an_unknown_name_lists_the_known(folder):
    (folder / "b.jsonl.gz").touch()
    with pytest.raises(ValueError, match=r"no corpus is called 'ng': .* has b$"):
        corpus_path("ng")
    with pytest.raises(ValueError, match=r"no benchmark is called 'ng': .* has none$"):
        benchmark("ng")


def test_a_source_is_a_path_or_a_name(folder):
    (folder / "a.jsonl").touch()
    assert locate("-") == "-"
    assert locate(str(folder)) == str(folder)
    assert locate("a") == folder / "a.jsonl"
    with pytest.raises(FileNotFoundError, match=r"no file or folder b, and no corpus is called 'b': .* has a$"):
        locate("b")


def test_without_a_folder_the_error_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("AMMI_DATA", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match=r"AMMI_DATA is .*absent"):
        corpus_names()
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")  # folders beside it are not looked into
    for unset in (lambda: monkeypatch.setenv("AMMI_DATA", ""), lambda: monkeypatch.delenv("AMMI_DATA")):
        unset()
        with pytest.raises(FileNotFoundError, match="AMMI_DATA is not set: set it to a folder of data sets"):
            corpus_names()
        with pytest.raises(FileNotFoundError, match="no file or folder reuters, and the environment variable AMMI_"):
            locate("reuters")


def test_the_shared_benchmarks():
    try:
        names = benchmark_names()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert {"reuters", "ng20", "tmc_small"} <= set(names)
    assert {"reuters", "newsgroups", "tmc_small"} <= set(corpus_names())
    data = benchmark("tmc_small")
    assert (data.train.shape, data.cv.shape, data.test.shape) == ((3416, 5393), (1139, 5393), (1139, 5393))
    assert data.test_labels.shape == (1139, 22)
    np.testing.assert_allclose(data.train.multiply(data.train).sum(1), 1, atol=1e-5)
