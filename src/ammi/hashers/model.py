"""Push a model to the Hugging Face Hub, with a card."""

from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ammi.card import Figures, model_card
from ammi.hashers.saving import is_of_a_model
from ammi.hub import CARD, checked_name, push_files

if TYPE_CHECKING:
    from ammi.hashers.base import Hasher
    from ammi.hashers.documents import DocumentHasher


class Pushed:
    """A model that can be pushed to the Hub."""

    def push_to_hub(
        self,
        name: str,
        *,
        private: bool = False,
        licence: str | None = None,
        figures: Figures | None = None,
        datasets: Iterable[str] = (),
    ) -> str:
        """Push the model to a repository of the Hugging Face Hub; return the address of the commit.

        ammi.load("hf://owner/name") reads it. It replaces the model that was pushed there before, and its card, in one
        commit. The card says what the model is, and the figures, and nothing that was not measured.

        Args:
            name: "owner/name"; the repository is made if there is none.
            private: for you alone; a public repository that is there is then refused.
            licence: an identifier of the Hub, such as "mit".
            figures: what was measured, as the result of `Collection.evaluate`, or names with numbers and short texts;
                "data" names the data it was measured on.
            datasets: names of the Hub's data sets that it was learned from.
        """
        from ammi.hashers.documents import DocumentHasher

        repository = checked_name(name, "model")
        model, reads = cast("Hasher | DocumentHasher", self), "vector"
        if isinstance(model, DocumentHasher):
            model, reads = _for_other_machines(model), model.reads
        files, card = model.to_files(), model_card(repository.name, model.describe(), reads, licence, figures, datasets)
        return push_files(repository, {**files, CARD: card.encode()}, is_of_a_model, private=private)


def _for_other_machines(model: "DocumentHasher") -> "DocumentHasher":
    """Return a model without a cache of embeddings; refuse one whose embedder is a folder of this machine."""
    from ammi.hashers.documents import DocumentHasher

    features = copy(model.features_)
    embedder = features.describe().get("embedder")
    if embedder is not None and Path(str(embedder)).is_dir():
        raise ValueError(
            f"the embedder of this model is the folder {embedder}, which others do not have: fit it again with the "
            "name of an embedding model of the Hub"
        )
    if getattr(features, "cache", None) is not None:
        features.cache = None
    beside = None if model.beside_ is None else _for_other_machines(model.beside_)
    return DocumentHasher.of(model.hasher_, features, beside)
