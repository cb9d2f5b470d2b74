"""What every store refuses: codes that are not those of its index, and odd numbers and keys."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.plain import is_unicode
from ammi.search.documents import as_list
from ammi.search.hamming import Codes
from ammi.search.store_methods import About
from ammi.search.vectors import KeptVectors, Packed, Rows, checked_kind, packed

MOST_BITS = 2**22  # a thousand such codes, which an index keeps together, are half of what SQLite takes


class OtherModelError(ValueError):
    """The codes of a call are of another model than those of the index."""


def change_in_view(location: str) -> ValueError:
    """For stores: a change inside of a block that reads, which would not see it."""
    return ValueError(f"{location} cannot be changed inside of a block that sees one state of it: end the block first")


class DamagedError(ValueError):
    """What an index holds is not what was put into it."""


def check_codes(codes: Codes, about: About, fingerprint: str | None, location: str) -> None:
    """Refuse codes that are not such as the index, or its next version, is about."""
    if fingerprint is not None and fingerprint != about.fingerprint:
        raise OtherModelError(
            f"the codes are of model {fingerprint}, but the collection in {location} holds those of model "
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
        f"n_bits is {n_bits!r:.60}, but a code has a whole number of bits, from 1 to {MOST_BITS}: pass the model's "
        "n_bits"
    )


def checked_k(k: int) -> int:
    if _whole("k", k) < 1:
        raise ValueError(f"k is {k}, but a search finds 1 document at least")
    return int(k)


def checked_radius(radius: int) -> int:
    if _whole("radius", radius) < 0:
        raise ValueError(f"radius is {radius}, but no distance is below 0")
    return int(radius)


def checked_shortlist(shortlist: int | None, k: int) -> int | None:
    if shortlist is not None and _whole("shortlist", shortlist) < k:
        raise ValueError(f"shortlist is {shortlist}, but {k} documents are to be chosen from it: pass {k} or more")
    return shortlist if shortlist is None else int(shortlist)


def _whole(name: str, value: object) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise ValueError(f"{name} is {value!r:.60}, expected a whole number")


def checked_vectors(vectors: KeptVectors | None) -> KeptVectors | None:
    if vectors is not None:
        checked_kind(vectors.kind)
        if vectors.width < 1:
            raise ValueError(f"vectors of width {vectors.width} have no numbers: pass how many a vector has")
    return vectors


def packed_vectors(vectors: Rows | None, kept: KeptVectors | None, names: list[str], location: str) -> Packed | None:
    """The vectors of documents as an index keeps them, which come just where it keeps vectors."""
    if vectors is None and kept is None:
        return None
    if kept is None:
        raise ValueError(
            f"the collection in {location} keeps no vectors, but some were given: create one that keeps them"
        )
    if vectors is None:
        raise ValueError(
            f"the collection in {location} keeps a vector of each document: add documents with their vectors"
        )
    return packed(vectors, kept, names)


def check_query_vectors(vectors: Sequence[NDArray[np.floating]], kept: KeptVectors | None, location: str) -> None:
    """Refuse to compare the vectors of queries with vectors that are not kept, or not such."""
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
    """The fingerprint of a model, or None."""
    if fingerprint is None or (isinstance(fingerprint, str) and is_unicode(fingerprint)):
        return fingerprint
    raise ValueError(f"the fingerprint {fingerprint!r} is no text: pass the fingerprint_ of a model, or None")
