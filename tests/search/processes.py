"""What other processes do to an index while a test looks on: python -m tests.search.processes PART FOLDER ..."""

import os
import resource
import sys

import numpy as np

from ammi.search import HammingIndex, OtherModelError, open_store
from ammi.search.copying import copy_store

N_BITS = 64
NOBODY = 65534


def read_while_recoded(folder: str) -> None:
    """Search until the model is new; an answer is all old or all new, and so is all that is said about the index."""
    seen: set[str] = set()
    with open_store(folder) as index:
        while "new" not in seen:
            try:
                hits = index.search(np.zeros((1, N_BITS // 8), np.uint8), k=20, fingerprint="old")[0]
                assert [hit.distance for hit in hits] == [0] * 20
                if not seen:
                    print("ready", flush=True)
                seen.add("old")
            except OtherModelError:
                assert (index.n_bits, index.fingerprint, index.files()) == (24, "new", {"model": b"new"})
                hits = index.search(np.zeros((1, 3), np.uint8), k=10**6, fingerprint="new")[0]
                assert {hit.distance for hit in hits} == {24}
                seen.add("new")
            blocks = [{entry.code.tobytes() for entry in block} for block in index.entries()]
            assert set.union(*blocks) in ({bytes(8)}, {b"\xff" * 3})
    print(*sorted(seen))


def change_while_recoded(folder: str) -> None:
    """Add, replace and delete documents until the model is new; say which should be there."""
    step = 0
    with open_store(folder) as index:
        present = set(index)
        try:
            while True:
                ids = [step, 10**6 + step]
                index.add(np.zeros((2, N_BITS // 8), np.uint8), ids, fingerprint="old")
                present |= set(ids)
                index.delete([5000 + step])
                present.remove(5000 + step)
                step += 1
                if step == 1:
                    print("ready", flush=True)
        except OtherModelError:
            print(step, *sorted(present))


def write_until_full(folder: str, limit: str) -> None:
    """Add documents until a file has `limit` bytes; say what was acknowledged, then refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    with HammingIndex.open(folder) as index:
        added = 0
        while True:
            try:
                index.add(np.zeros((10, N_BITS // 8), np.uint8), texts=["a text " * 70] * 10)
            except OSError as error:
                print(added, len(index), len(index.search(np.zeros((1, N_BITS // 8), np.uint8), 10**6)[0]), error)
                return
            added += 10


def become_nobody(folder: str) -> None:
    """Be a user who may read the folder, and not write it."""
    if os.getuid() == 0:
        with HammingIndex.open(folder):  # what is loaded late has to be loaded as root
            pass
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def read_without_permission(folder: str) -> None:
    become_nobody(folder)
    with HammingIndex.open(folder) as index:
        hits = index.search(np.zeros((1, N_BITS // 8), np.uint8), 10**6)[0]
        print(len(hits), hits[0].text)
        try:
            index.delete([0])
        except PermissionError as error:
            print("PermissionError", str(error).partition(folder)[2].strip())


def count_without_permission(folder: str) -> None:
    """Say how many documents there are whenever asked."""
    become_nobody(folder)
    with HammingIndex.open(folder) as index:
        for _ in sys.stdin:
            print(len(index), flush=True)


def copy(folder: str, location: str) -> None:
    """Copy an index; after each block say how many documents it had, and wait for a line before going on."""

    def advance(n: int) -> None:
        print(n, flush=True)
        sys.stdin.readline()

    with open_store(folder) as index:
        copy_store(index, location, advance=advance)


if __name__ == "__main__":
    part, *arguments = sys.argv[1:]
    globals()[part](*arguments)
