"""The common part of hashers and DocumentHasher: a model is saved as files, pushed to the Hub, and shown by Jupyter."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ammi import displays
from ammi.card import Figures, model_card
from ammi.files import Files, write_folder
from ammi.hashers.saving import check_model_folder, is_of_a_model, model_from_files
from ammi.hub import CARD, checked_name, push_files


class Model(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A scikit-learn transformer to codes that can be saved."""

    n_bits: int

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return facts about the model, for people to read."""

    @abstractmethod
    def to_files(self) -> Files:
        """Return the model as files by name."""

    @abstractmethod
    def _html(self) -> list[displays.Html]:
        """Return the parts of the display of a fitted model."""

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        """Return the model that `to_files` gave; a damaged file is refused."""
        return model_from_files(files, cls)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the files of the model to a folder, in place of a model there; ammi.load(folder) reads it."""
        files = self.to_files()
        check_model_folder(Path(folder))
        write_folder(Path(folder), files)

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
        repository, model = checked_name(name, "model"), self._portable()
        reads = getattr(model, "reads", "vector")  # a hasher alone reads vectors
        files, card = model.to_files(), model_card(repository.name, model.describe(), reads, licence, figures, datasets)
        return push_files(repository, {**files, CARD: card.encode()}, is_of_a_model, private=private)

    def _portable(self) -> "Model":
        """Return the model without anything of this machine."""
        return self

    def _repr_html_(self) -> str:
        """Return the display in Jupyter, in place of scikit-learn's diagram, which has a script."""
        try:
            check_is_fitted(self)
            parts = self._html()
        except NotFittedError:
            parts = [displays.facts({"settings": repr(self)}, f"{type(self).__name__}, not fitted")]
        settings = displays.table(("", ""), [(name, repr(value)) for name, value in self.get_params().items()])
        return displays.framed(*parts, displays.folded("all settings", settings))

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def _n_features_out(self) -> int:
        return self.n_bits

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
