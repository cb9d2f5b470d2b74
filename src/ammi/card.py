"""The card of a model or a collection: a README.md with what is known and what was measured, and nothing else."""

import json
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ammi.hub import SCHEME
from ammi.version import __version__


@runtime_checkable
class Named(Protocol):
    """A named tuple, such as the result of `evaluate`."""

    def _asdict(self) -> dict[str, object]: ...


Figures: TypeAlias = Mapping[str, object] | Named
Rows: TypeAlias = dict[str, Any]  # JSON by name

_DATA = "data"  # the figure that says what was measured on
_OF_MODELS = ("embedder", "vocabulary", "columns", "fingerprint")
_OF_COLLECTIONS = ("keys", "language", "vectors", "method", "embedder", "fingerprint")


def model_card(
    name: str, about: Rows, reads: str, licence: str | None, figures: Figures | None, datasets: Iterable[str]
) -> str:
    """Return the card of a model in the repository `name`; `about` is what its `describe` says."""
    n_bits = about["bits"]
    rows: Rows = {"method": about["method"], "bits": n_bits, "bytes a document": -(-n_bits // 8)}
    rows |= {"reads": f"{reads}s"} | {key: about[key] for key in _OF_MODELS if key in about}
    if beside := about.get("beside"):
        rows["of these bits"] = [beside[key] for key in ("bits", "method", "embedder") if key in beside]
    use = f'model = ammi.load("{SCHEME}{name}")\ncodes = model.encode({reads}s)'
    fields = {
        "license": licence,
        "tags": ["ammi", "binary-codes", "hashing"],
        "datasets": list(datasets),
        "library_name": "ammi",
        "pipeline_tag": "feature-extraction" if reads == "text" else None,
    }
    opening = f"A model that makes binary codes of {reads}s, {n_bits} bits each."
    return _card(fields, name, opening, rows, figures, use)


def collection_card(
    name: str, about: Rows, licence: str | None, figures: Figures | None, datasets: Iterable[str]
) -> str:
    """Return the card of a collection in the repository `name`; `about` is what its `describe` says."""
    n_bits = about["bits"]
    rows: Rows = {"documents": about["documents"], "bits": n_bits, "bytes of a code": -(-n_bits // 8)}
    rows |= {key: about[key] for key in _OF_COLLECTIONS if about.get(key)}
    use = f'with ammi.Collection.open("{SCHEME}{name}") as collection:\n    hits = collection.search(query)'
    fields = {"license": licence, "tags": ["ammi", "binary-codes", "semantic-search"], "datasets": list(datasets)}
    opening = f"A collection of documents that are found by binary codes of {n_bits} bits."
    return _card(fields, name, opening, rows, figures, use)


def _card(fields: Rows, name: str, opening: str, about: Rows, figures: Figures | None, use: str) -> str:
    front = [f"{key}: {json.dumps(value)}" for key, value in fields.items() if value]  # JSON is YAML
    parts = ["\n".join(["---", *front, "---"]), f"# {name.rpartition('/')[2]}"]
    parts += [opening, _table(about | {"made with ammi": __version__})]
    if figures is not None:
        rows = measured(figures)
        data = rows.pop(_DATA, None)
        parts += ["## Measured", *([f"On {_cell(data)}."] if data else []), _table(rows)]
    parts += ["## Use", f"```python\nimport ammi\n\n{use}\n```"]
    return "\n\n".join(parts) + "\n"


def measured(figures: Figures) -> Rows:
    """Return the rows of figures by name: numbers and short texts; anything else is refused."""
    given = dict(figures._asdict() if isinstance(figures, Named) else figures)
    if {"precision", "k"} <= given.keys():  # of `evaluate`
        precision, k = given.pop("precision"), given.pop("k")
        given = {f"precision at {k}": f"{float(precision):.2f} %" if isinstance(precision, Real) else precision} | given
    for name, value in given.items():
        if not isinstance(value, Real | str):
            raise ValueError(f"the figure {name!r} is {value!r:.60}: give a number or a text")
        if isinstance(value, Real) and not float("-inf") < float(value) < float("inf"):
            raise ValueError(f"the figure {name!r} is {value}: leave out what was not measured")
    if not given:
        raise ValueError("there are no figures: leave them out, or give names with numbers")
    return given


def _table(rows: Rows) -> str:
    lines = [f"| {_cell(name.replace('_', ' '))} | {_cell(value)} |" for name, value in rows.items()]
    return "\n".join(["| | |", "|---|---|", *lines])


def _cell(value: object) -> str:
    """Return a value as one cell; whole numbers with commas, as everywhere."""
    if isinstance(value, Real) and not isinstance(value, bool):
        value = f"{int(float(value)):,}" if float(value).is_integer() else f"{float(value):.4g}"
    elif isinstance(value, list | tuple | dict):
        value = ", ".join(map(str, value))
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "&lt;")
