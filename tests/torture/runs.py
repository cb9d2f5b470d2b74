"""Fits, searches for parameters, encodings and rebuilds that are killed until one ends: it ends as if none had been."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna  # noqa: F401 - so that what is killed is the work and not its imports
import torch  # noqa: F401

from ammi import Collection, DocumentHasher, load
from ammi.data import read_codes
from ammi.features import WordFeatures
from ammi.hashers import AMMI, LSH  # noqa: F401
from tests.torture.commands import KILLED, run
from tests.torture.flips import texts
from tests.torture.outcome import Outcome


def documents(file: Path, n: int = 400) -> None:
    rng = np.random.default_rng(1)
    names = ["bank", "wheat", "oil"]
    lines = [
        {"id": i, "text": " ".join([names[i % 3]] * 3) + " " + text, "labels": [names[i % 3]]}
        for i, text in enumerate(rng.permutation(texts(n)).tolist())
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def model(seed: int) -> DocumentHasher:
    return DocumentHasher(LSH(32, random_state=seed), features=WordFeatures()).fit(texts())


def kill_fits(folder: Path, kills: int) -> Outcome:
    """`ammi fit` with a checkpoint, which goes on from its last epoch."""
    documents(folder / "docs.jsonl")
    fit = ["fit", folder / "docs.jsonl", "--bits", 16, "--set", "epochs=8", "--seed", 0, "--out"]
    whole = run([*fit, folder / "whole"])
    assert whole.code == 0, whole
    right = load(folder / "whole").fingerprint_

    def again(number: int) -> list[object]:
        return [*fit, folder / f"model {number}", "--set", f"checkpoint={folder / f'run {number}'}"]

    return _killed(again, lambda number: load(folder / f"model {number}").fingerprint_ == right, kills, 1.5, folder)


def kill_tunes(folder: Path, kills: int) -> Outcome:
    documents(folder / "docs.jsonl")

    def tune(number: int) -> list[object]:
        given = ["ammi", folder / "docs.jsonl", "--labels", "labels", "--bits", 16, "--trials", 3, "--set", "epochs=2"]
        return ["tune", *given, "--out", folder / f"tuned {number}"]

    def done(number: int) -> bool:
        return len(json.loads((folder / f"tuned {number}" / "trials.json").read_text())["trials"]) == 3

    return _killed(tune, done, kills, 2.0, folder)


def kill_encodes(folder: Path, kills: int) -> Outcome:
    """`ammi encode`, of which there is nothing or all."""
    documents(folder / "docs.jsonl", 3000)
    model(0).save(folder / "model")
    right = model(0).encode([json.loads(line)["text"] for line in (folder / "docs.jsonl").read_text().splitlines()])

    def encode(number: int) -> list[object]:
        return ["encode", folder / "model", folder / "docs.jsonl", "--out", folder / f"codes {number}.npz"]

    def done(number: int) -> bool:
        return np.array_equal(read_codes(folder / f"codes {number}.npz").codes, right)

    return _killed(encode, done, kills, 0.3, folder)


def kill_builds(folder: Path, kills: int) -> Outcome:
    """`ammi index build` of documents without ids, which `ammi index add` finishes without adding one twice."""
    lines = [f"{text} of line {number}" for number, text in enumerate(texts(3000), 1)]
    (folder / "lines.txt").write_text("\n".join(lines))
    model(0).save(folder / "model")

    def build(number: int) -> list[object]:
        index = folder / f"index {number}"
        try:
            Collection.open(index).close()
        except FileNotFoundError:
            shutil.rmtree(index, ignore_errors=True)  # as the error says
            return ["index", "build", index, folder / "lines.txt", "--model", folder / "model"]
        return ["index", "add", index, folder / "lines.txt"]

    def whole(number: int) -> bool:
        with Collection.open(folder / f"index {number}") as collection:
            return [(entry.id, entry.text) for entry in collection] == [
                (f"lines:{number}", line) for number, line in enumerate(lines, 1)
            ]

    return _killed(build, whole, kills, 0.6, folder)


def kill_rebuilds(folder: Path, kills: int) -> Outcome:
    """`ammi index rebuild`, after which all codes are of one model."""
    documents(folder / "docs.jsonl", 3000)
    models = [model(0), model(1)]
    for name, one in zip("ab", models, strict=True):
        one.save(folder / name)
    with Collection.create(folder / "index", models[0]) as collection:
        collection.add([json.loads(line) for line in (folder / "docs.jsonl").read_text().splitlines()])

    def rebuild(number: int) -> list[object]:
        return ["index", "rebuild", folder / "index", "--model", folder / "ab"[number % 2 - 1]]

    def whole(number: int) -> bool:
        with Collection.open(folder / "index") as collection:
            entries = list(collection)
            (one,) = [one for one in models if one.fingerprint_ == collection.fingerprint]
            codes = np.array([entry.code for entry in entries])
            return len(entries) == 3000 and np.array_equal(codes, one.encode([entry.text for entry in entries]))

    return _killed(rebuild, whole, kills, 0.5, folder, always_there=True)


def _killed(
    command: Callable[[int], list[object]],
    is_right: Callable[[int], bool],
    kills: int,
    seconds: float,
    folder: Path,
    always_there: bool = False,
) -> Outcome:
    """Kill commands at random moments; one that was killed is run again, until it ends."""
    rng, outcome, number = np.random.default_rng(0), Outcome(), 0
    killed = 0
    while killed < kills:
        ended = run(command(number), seconds=float(rng.uniform(0.05, 1) * seconds))
        if not ended.cleanly:
            outcome.bad(f"{ended}")
            return outcome
        if ended.code == KILLED:
            killed += 1
            if not always_there or is_right(number):
                outcome.good("killed")
            else:
                outcome.bad(f"wrong after a kill, {number}")
            seconds *= 1.05  # some end
            continue
        outcome.good("ended") if ended.code == 0 and is_right(number) else outcome.bad(f"{number}: {ended}")
        seconds /= 1.2
        number += 1
    last = run(command(number))
    outcome.good("ended") if last.code == 0 and is_right(number) else outcome.bad(f"{number}: {last}")
    if left := [str(path) for path in folder.rglob(".*") if path.name != ".locks"]:
        outcome.bad(f"left behind: {left}")
    return outcome
