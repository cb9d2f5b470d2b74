"""From raw Reuters articles to 128-bit codes: documents a second, beside scikit-learn's TfidfVectorizer.

Both run in one process on the same two cores, find the same words and end in the same sparse product.
"""

import os

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from ammi.data import corpus_path, read_documents
from ammi.features import WordFeatures
from timing import save, seconds

BITS = 128


def codes(X: csr_matrix, W: np.ndarray) -> np.ndarray:
    return np.packbits(X @ W > 0, axis=1)


def main() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    texts = [document.text or "" for document in read_documents(corpus_path("reuters"))]
    ours = WordFeatures(vocabulary_size=1_000_000, min_documents=2).fit(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32).fit(texts)
    assert ours.vocabulary_ == theirs.get_feature_names_out().tolist()
    theirs.idf_ = ours.idf_.astype(np.float32)
    assert abs(ours.transform(texts) - theirs.transform(texts)).max() < 1e-6

    W = np.random.default_rng(0).normal(size=(len(ours.vocabulary_), BITS)).astype(np.float32)
    jobs = {
        "learn the vocabulary": (lambda: ours.fit(texts), lambda: theirs.fit(texts)),
        "text to tf-idf": (lambda: ours.transform(texts), lambda: theirs.transform(texts)),
        "text to codes": (lambda: codes(ours.transform(texts), W), lambda: codes(theirs.transform(texts), W)),
    }
    table = Table("documents a second", "ammi", "scikit-learn", "times faster", title=f"{len(texts)} Reuters articles")
    results = []
    for name, (our_job, their_job) in jobs.items():
        our_rate, their_rate = len(texts) / seconds(our_job), len(texts) / seconds(their_job)
        table.add_row(name, f"{our_rate:,.0f}", f"{their_rate:,.0f}", f"{our_rate / their_rate:.1f}")
        results.append({"job": name, "ammi": our_rate, "scikit_learn": their_rate, "ratio": our_rate / their_rate})
    Console().print(table)
    save("text", results)


if __name__ == "__main__":
    main()
