"""What is learned stays what it was: codes and fingerprints of every method, as they were recorded.

On the processor that they were recorded on they are the same to the bit; elsewhere sums round differently, and nearly
all bits are the same. `python -m tests.hashers.test_unchanged` records them again, after a change that is meant to
change them.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ammi import AMMI, BMMI, hashers
from tests.conftest import topics
from tests.hashers.test_contract import SMALL, make

RECORDED = Path(__file__).with_name("recorded.json")
SMALL_CHAINS = SMALL["ammi"]
SHORT = {**SMALL_CHAINS, "epochs": 5, "neighbours": 0}  # longer training makes other codes of a change of 1e-6 in X


def pairs(hasher: hashers.Hasher) -> hashers.Hasher:
    """Fitted to pairs of related documents."""
    (X, _), (Y, _) = topics(seed=5), topics(seed=6)
    return hasher.fit(X, related=Y)  # type: ignore[call-arg]


def alone(hasher: hashers.Hasher) -> hashers.Hasher:
    return hasher.fit(topics()[0])


CASES: dict[str, Callable[[], hashers.Hasher]] = {
    **{name: lambda name=name: alone(make(name, 16)) for name in SMALL},  # type: ignore[misc]
    "sth": lambda: alone(make("sth", 3)),  # four topics: further eigenvectors are noise, which any rounding turns
    **{f"{name} of pairs": lambda name=name: pairs(make(name, 16)) for name in ("ammi", "bmmi", "bmsh", "dvq")},  # type: ignore[misc]
    "ammi of pairs with two encoders": lambda: pairs(AMMI(16, related_encoder="own", **SMALL_CHAINS)),
    "ammi of order 2": lambda: alone(AMMI(16, order=2, prior_order=4, **SHORT)),
    "ammi without neighbours": lambda: alone(AMMI(16, neighbours=0, **SMALL_CHAINS)),
    "ammi with gradient steps": lambda: alone(AMMI(16, adversary="gradient", **SHORT)),
    "ammi with a hidden layer": lambda: alone(AMMI(16, hidden_layers=1, hidden_size=24, **SMALL_CHAINS)),
    "ammi of pairs of a higher order": lambda: pairs(AMMI(16, related_encoder="own", related_order=1, **SMALL_CHAINS)),
    "bmmi of order 1": lambda: alone(BMMI(10, order=1, **SMALL_CHAINS)),
}


def processor() -> str:
    """What decides how sums are rounded: the instructions that this processor has."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})
    return hashlib.blake2b("\n".join(told).encode(), digest_size=8).hexdigest()


def learned(name: str) -> dict[str, str]:
    hasher = CASES[name]()
    return {"fingerprint": hasher.fingerprint_, "codes": hasher.encode(topics(seed=1)[0]).tobytes().hex()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_codes_are_those_that_were_recorded(name):
    recorded = json.loads(RECORDED.read_text())
    expected, found = recorded["learned"][name], learned(name)
    if recorded["processor"] == processor():
        assert found == expected
    same = np.frombuffer(bytes.fromhex(found["codes"]), np.uint8) ^ np.frombuffer(
        bytes.fromhex(expected["codes"]), np.uint8
    )
    assert np.unpackbits(same).mean() < 0.05


if __name__ == "__main__":
    content = {"processor": processor(), "learned": {name: learned(name) for name in CASES}}
    RECORDED.write_text(json.dumps(content, indent=1) + "\n")
