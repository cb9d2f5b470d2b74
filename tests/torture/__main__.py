"""All attacks, at full length: python -m tests.torture [NAME ...] [--scale SHARE], or `make torture`.

What each found is kept in results.json, and the table of docs/reliability.md is made of it; a run that was stopped goes
on when the rest is named.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ammi.search.embedded.database import FORMAT
from ammi.tuning.machine import machine
from tests.torture import (
    backups,
    crashes,
    crowd,
    disks,
    flips,
    forks,
    inputs,
    runs,
    saves,
    schedule,
    side_by_side,
    tables,
    unicode_texts,
)
from tests.torture.outcome import Outcome

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
BEGUN = HERE / "generated.json"  # the batches of generated inputs that were made so far
N_INPUTS = 100_000
PAGE = HERE.parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: the table that `make torture` writes -->", "<!-- end -->"


class Attack(NamedTuple):
    """How often it is made at full length, and how."""

    tries: int
    make: Callable[[Path, int], Outcome]


def generated_inputs(folder: Path, tries: int) -> Outcome:
    """At full length it may be stopped at any time, and goes on with the batch after the last."""
    return inputs.run_all(tries, BEGUN if tries == N_INPUTS else None)


ATTACKS: dict[str, Attack] = {
    "writers of an index killed at random moments": Attack(1000, crashes.kill_writers),
    "a writer of an index killed, or power lost three ways, at every system call": Attack(
        60, partial(crashes.crash_writer, losses=3)
    ),
    "a repair of an index killed, or power lost three ways, at every system call": Attack(
        40, partial(crashes.crash_repair, losses=3)
    ),
    "saves of a model killed, or power lost three ways, at every system call": Attack(
        30, partial(crashes.crash_saves, losses=3)
    ),
    "saves of a model killed, with a reader in a loop": Attack(500, saves.kill_saves),
    "fits killed": Attack(50, runs.kill_fits),
    "searches for parameters killed": Attack(50, runs.kill_tunes),
    "encodings killed": Attack(50, runs.kill_encodes),
    "builds of an index without ids killed, and finished by adding": Attack(50, runs.kill_builds),
    "rebuilds of an index killed": Attack(50, runs.kill_rebuilds),
    **{
        f"a full disk at every step: {name}": Attack(50, partial(disks.fill, work=work))
        for name, work in disks.WORKS.items()
    },
    **{f"one bit flipped: {name}": Attack(5000, partial(flips.flip, kind=kind)) for name, kind in flips.KINDS.items()},
    "collections damaged, and restored from a backup": Attack(100, backups.restore),
    "mutated Arrow and Parquet files": Attack(5000, tables.attack),
    "generated inputs to every command and public function": Attack(N_INPUTS, generated_inputs),
    "texts of all of Unicode, with words of up to 100,000 characters": Attack(500, unicode_texts.index_texts),
    "checks of an index beside two writers": Attack(1000, side_by_side.check),
    "processes forked from one that has an index open": Attack(200, forks.fork),
    "requests of hostile sizes to a server, beside 400 silent and 60 slow clients": Attack(5000, crowd.hostile),
    "changes over HTTP, while connections break off and the server is killed": Attack(1500, crowd.broken_changes),
    "schedules of changes on every store for an hour, with kills, full disks and backups": Attack(3600, schedule.run),
    "two readers and two writers side by side for ten minutes": Attack(600, side_by_side.run),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="attacks whose names begin so; all of them without")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the tries at full length")
    asked = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    wrong = 0
    for name, attack in ATTACKS.items():
        if asked.names and not any(name.startswith(begin) for begin in asked.names):
            continue
        tries = max(1, round(asked.scale * attack.tries))
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            outcome = attack.make(Path(folder), tries)
        row = {**vars(outcome), "seconds": round(time.monotonic() - start), "format": FORMAT, **machine()}
        print(name, json.dumps(row), flush=True)
        wrong += outcome.wrong
        if asked.scale == 1:
            results[name] = row
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            write_table(results)
    sys.exit(wrong > 0)


def write_table(results: dict[str, dict]) -> None:
    """The table between its marks on the page."""
    lines = ["| attack | tried | what came of it | wrong | format | date |", "|---|---|---|---|---|---|"]
    for name in ATTACKS:
        if row := results.get(name):
            seen = ", ".join(f"{what} {n:,}" for what, n in sorted(row["seen"].items()))
            about = f"**{row['wrong']:,}** | {row.get('format', '–')} | {row['date']}"
            lines.append(f"| {name} | {row['tried']:,} | {seen} | {about} |")
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", END + rest.split(END)[1]]))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
