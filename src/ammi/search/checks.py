"""What every engine refuses: codes that are not those of its index, and odd numbers and keys."""

from collections.abc import Iterable

import numpy as np

from ammi.search.documents import as_list
from ammi.search.engine import About
from ammi.search.hamming import Codes


class OtherModelError(ValueError):
    """The codes of a call are of another model than those of the index."""


def check_codes(codes: Codes, about: About, fingerprint: str | None, place: str) -> None:
    """Refuse codes that are not such as the index, or its next version, is about."""
    if fingerprint is not None and fingerprint != about.fingerprint:
        raise OtherModelError(
            f"the codes are of model {fingerprint}, but the index in {place} holds those of model "
            f"{about.fingerprint}: encode with that model, or create an index for this one"
        )
    width = -(-about.n_bits // 8)
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != width:
        raise ValueError(
            f"codes are {codes.dtype} of shape {codes.shape}, but this index of {about.n_bits} bits takes uint8 "
            f"of shape (n, {width}): pack bits with numpy.packbits(bits, axis=1)"
        )
    if (codes[:, -1] & (0xFF >> (about.n_bits - 8 * (width - 1)))).any():
        raise ValueError(
            f"a code has ones after bit {about.n_bits}, the last of this index: pass codes of {about.n_bits} bits"
        )


def checked_bits(n_bits: object) -> int:
    if isinstance(n_bits, int | np.integer) and not isinstance(n_bits, bool) and n_bits >= 1:
        return int(n_bits)
    raise ValueError(
        f"n_bits is {n_bits!r}, but a code has a whole number of bits, 1 at least: pass the model's n_bits"
    )


def checked_k(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}, but a search finds 1 document at least")
    return int(k)


def checked_keys(keys: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(as_list(keys, "keys")))
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"{wrong[0]!r:.60} cannot be a metadata key to index: pass strings")
    return names
