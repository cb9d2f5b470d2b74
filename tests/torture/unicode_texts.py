"""Texts of any characters: an index of them is sound, whatever was replaced and deleted, and finds their words."""

import shutil
from pathlib import Path

import numpy as np

from ammi.features.alphabet import UNSPACED, terms_of
from ammi.search import HammingIndex, check_store
from ammi.search.documents import Id
from tests.torture.outcome import Outcome

_AT_ONCE = 30
_SURROGATES = range(0xD800, 0xE000)
_LONG = (32_767, 32_768, 32_769, 100_000)  # characters; FTS5 keeps 32,768 bytes of a word


def texts(rng: np.random.Generator) -> list[str]:
    """Runs and single characters: of all of Unicode, of scripts without spaces, of ASCII; and long words."""
    unspaced = [chr(code) for code in range(0x3200, 0x9FFF)] + [one for one in UNSPACED if one != "-"]
    found = []
    for _ in range(_AT_ONCE):
        codes = [int(code) for code in rng.integers(0, 0x110000, 20) if code not in _SURROGATES]
        some = [*map(chr, codes), *rng.choice(unspaced, 10), *map(chr, rng.integers(0, 0x500, 10))]
        rng.shuffle(some)
        found.append(str(rng.choice(["", " ", "a", "世", "\0"])).join(some))
    letter = chr(rng.choice([ord("a"), ord("é"), ord("न"), ord("世"), 0x1D7D8, 0x10400]))
    return [*found, letter * int(rng.choice(_LONG)), f"{letter} {letter * int(rng.choice(_LONG))}x", letter, ""]


def index_texts(folder: Path, tries: int, seed: int = 0) -> Outcome:
    """Add, replace and delete such texts, and check the index after it."""
    outcome = Outcome()
    for n in range(tries):
        rng, location = np.random.default_rng([seed, n]), folder / str(n)
        given = texts(rng)
        with HammingIndex.create(location, 8) as index:
            for ids in (range(len(given)), range(0, len(given), 3)):
                codes = np.zeros((len(ids), 1), np.uint8)
                index.add(codes, [*ids], [given[-1 - id] for id in ids])
            index.delete(range(1, len(given), 5))
            there = {entry.id: terms_of(entry.text or "") for block in index.entries() for entry in block}
            with index._reading():
                asked = [(id, word) for id, words in there.items() for word in words[:3]]
                missed = [id for id, word in asked if id not in _having(index, word)]
        damage = check_store(location)
        if damage or missed:
            outcome.bad(f"texts of seed {n}: {damage}, not found by their words: {missed}")
        else:
            outcome.good("sound")
        shutil.rmtree(location)
    return outcome


def _having(index: HammingIndex, word: str) -> set[Id]:
    """The documents that have a word, by the word index."""
    positions = index._tables.words._matching(word)
    return {entry.id for entry in index._tables.entries(positions).values()}
