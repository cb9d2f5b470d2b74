"""Checks of arguments that all stores share: codes, numbers, vectors and keys."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.plain import is_unicode
from ammi.search.documents import as_list
from ammi.search.hamming import Codes
from ammi.search.store_methods import About
from ammi.search.vectors import KeptVectors, Packed, Rows, checked_kind, packed

MOST_BITS = 2**22  # a block of 1,024 such codes is 512 MiB, half of what a value in SQLite can have


class OtherModelError(ValueError):
    """The codes of a call and the codes of the store come from different models."""


def change_in_snapshot(location: str) -> ValueError:
    """Return the error for a change inside a `snapshot` block, whose reads would not see it."""
    return ValueError(f"{location} cannot be changed inside a block that reads one snapshot of it: end the block first")


class UncertainError(ConnectionError):
    """The connection to a store was lost while a change was made, so that it may have been made, or a part of it."""


class DamagedError(ValueError):
    """The store does not hold what was written to it."""


def check_codes(codes: Codes, about: About, fingerprint: str | None, location: str) -> None:
    """Refuse codes of another model, dtype, width or number of bits than the store's."""
    if fingerprint is not None and fingerprint != about.fingerprint:
        raise OtherModelError(
            f"the codes are of model {fingerprint}, but {location} holds those of model "
            f"{about.fingerprint}: encode with that model, or create a collection for this one"
        )
    width = -(-about.n_bits // 8)
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != width:
        raise ValueError(
            f"codes are {codes.dtype} of shape {codes.shape}, but this collection of {about.n_bits} bits takes uint8 "
            f"of shape (n, {width}): pack bits with numpy.packbits(bits, axis=1)"
        )
    if (codes[:, -1] & (0xFF >> (about.n_bits - 8 * (width - 1)))).any():
        raise ValueError(
            f"a code has ones after bit {about.n_bits}, the last of this collection: pass codes of {about.n_bits} bits"
        )


def checked_bits(n_bits: object) -> int:
    if isinstance(n_bits, int | np.integer) and not isinstance(n_bits, bool) and 1 <= n_bits <= MOST_BITS:
        return int(n_bits)
    raise ValueError(
        f"n_bits is {n_bits!r:.60}, expected a whole number from 1 to {MOST_BITS}: pass the model's n_bits"
    )


def checked_k(k: int) -> int:
    if _whole("k", k) < 1:
        raise ValueError(f"k is {k}, expected the number of documents to find, 1 or more")
    return int(k)


def checked_radius(radius: int) -> int:
    if _whole("radius", radius) < 0:
        raise ValueError(f"radius is {radius}, expected a distance in bits, 0 or more")
    return int(radius)


def checked_shortlist(shortlist: int | None, k: int) -> int | None:
    if shortlist is not None and _whole("shortlist", shortlist) < k:
        raise ValueError(f"shortlist is {shortlist}, but k is {k}: pass a shortlist of {k} or more")
    return shortlist if shortlist is None else int(shortlist)


def _whole(name: str, value: object) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise ValueError(f"{name} is {value!r:.60}, expected a whole number")


def checked_vectors(vectors: KeptVectors | None) -> KeptVectors | None:
    if vectors is not None:
        checked_kind(vectors.kind)
        if vectors.width < 1:
            raise ValueError(f"the width of vectors is {vectors.width}, expected their dimension, 1 or more")
    return vectors


def packed_vectors(vectors: Rows | None, kept: KeptVectors | None, names: list[str], location: str) -> Packed | None:
    """Return vectors as the store keeps them; refuse missing vectors, and vectors that the store does not keep."""
    if vectors is None and kept is None:
        return None
    if kept is None:
        raise ValueError(f"{location} keeps no vectors, but some were passed: create one that keeps them")
    if vectors is None:
        raise ValueError(f"{location} keeps a vector of each document: add documents with their vectors")
    return packed(vectors, kept, names)


def check_query_vectors(vectors: Sequence[NDArray[np.floating]], kept: KeptVectors | None, location: str) -> None:
    """Refuse vectors of queries if the store keeps none, or vectors of another dimension."""
    for vector in vectors:
        if kept is None:
            raise ValueError(
                f"{location} keeps no vectors to rank by: rank by distance, or create it anew to keep them, with "
                'vectors="float16" (--keep-vectors float16)'
            )
        if vector.shape != (kept.width,):
            raise ValueError(
                f"the vector of a query has the shape {vector.shape}, but those kept in {location} have {kept.width} "
                "numbers: pass one of the same model"
            )
        if not np.isfinite(vector).all():
            raise ValueError("the vector of a query holds NaN or infinity, expected finite numbers: fill them in")


def checked_keys(keys: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(as_list(keys, "keys")))
    if wrong := [name for name in names if not isinstance(name, str) or not is_unicode(name)]:
        raise ValueError(f"{wrong[0]!r:.60} cannot be a metadata key to index: pass strings that UTF-8 can write")
    return names


def checked_fingerprint(fingerprint: object) -> str | None:
    """Return a fingerprint or None; refuse anything else."""
    if fingerprint is None or (isinstance(fingerprint, str) and is_unicode(fingerprint)):
        return fingerprint
    raise ValueError(f"the fingerprint {fingerprint!r} is not a string: pass the fingerprint_ of a model, or None")
