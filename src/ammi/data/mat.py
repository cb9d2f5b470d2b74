"""The published document-hashing collections: one MATLAB file of tf-idf matrices and 0/1 labels each."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io
from scipy.sparse import csr_matrix

from ammi.data.sampling import SPLITS


@dataclass(frozen=True)
class Benchmark:
    """For each of three splits: documents by words in float32, documents by labels in uint8 of 0/1."""

    train: csr_matrix
    cv: csr_matrix
    test: csr_matrix
    train_labels: np.ndarray
    cv_labels: np.ndarray
    test_labels: np.ndarray


def read_mat(path: str | Path) -> Benchmark:
    """Read a `.mat` file with matrices `train`, `cv`, `test` and labels `gnd_train`, `gnd_cv`, `gnd_test`."""
    try:
        content = scipy.io.loadmat(path)
    except OSError:
        raise
    except Exception as error:  # scipy raises whatever the wrong bytes lead it to
        raise ValueError(f"{path} is not a MATLAB file that can be read: {error}") from error
    wanted = [*SPLITS, *(f"gnd_{split}" for split in SPLITS)]
    missing = [name for name in wanted if name not in content]
    if missing:
        present = ", ".join(name for name in content if not name.startswith("__")) or "nothing"
        raise ValueError(f"{path} lacks {', '.join(missing)}: expected {', '.join(wanted)}, found {present}")

    matrices = [csr_matrix(content[split], dtype=np.float32) for split in SPLITS]
    labels = [_zero_one(content[f"gnd_{split}"], path) for split in SPLITS]
    for split, X, L in zip(SPLITS, matrices, labels, strict=True):
        if X.shape[0] != L.shape[0]:
            raise ValueError(f"{path} has {X.shape[0]} {split} documents but labels for {L.shape[0]}")
        X.sort_indices()
    return Benchmark(*matrices, *labels)


def _zero_one(labels: object, path: str | Path) -> np.ndarray:
    dense = csr_matrix(labels).toarray()
    if not np.isin(dense, (0, 1)).all():
        raise ValueError(f"{path} has labels other than 0 and 1: expected one column of 0/1 for each label")
    return dense.astype(np.uint8)
