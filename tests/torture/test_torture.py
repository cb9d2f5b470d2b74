"""Short versions of the attacks that `make torture` makes at full length."""

import os
import shutil

import pytest

from ammi.search import HammingIndex
from tests.search.stores import LOCATIONS, PostgresStore
from tests.torture import (
    backups,
    crashes,
    crowd,
    disks,
    flips,
    forks,
    runs,
    saves,
    schedule,
    side_by_side,
    tables,
    unicode_texts,
)
from tests.torture.outcome import Outcome


def check(outcome: Outcome, at_least: int) -> None:
    assert outcome.wrong == 0, outcome.examples
    assert outcome.tried >= at_least


def test_writers_that_are_killed_lose_nothing_acknowledged(tmp_path):
    check(crashes.kill_writers(tmp_path, 15), 15)


needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


@needs_strace
def test_an_index_after_a_crash_at_any_system_call(tmp_path):
    check(crashes.crash_writer(tmp_path, steps=2, losses=1), 50)


@needs_strace
def test_a_repair_after_a_crash_at_any_system_call(tmp_path):
    check(crashes.crash_repair(tmp_path, changes=2, losses=1), 50)


@needs_strace
def test_a_model_after_a_crash_at_any_system_call(tmp_path):
    check(crashes.crash_saves(tmp_path, steps=2, losses=1), 40)


def test_saves_that_are_killed_leave_a_model_and_no_litter(tmp_path):
    check(saves.kill_saves(tmp_path, 20), 20)


@pytest.mark.parametrize("kill", [runs.kill_fits, runs.kill_encodes, runs.kill_rebuilds])
def test_commands_that_are_killed_end_as_if_they_had_not_been(kill, tmp_path):
    check(kill(tmp_path, 3), 4)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("name", sorted(disks.WORKS.keys() - {"build", "tune", "repair of a file cut short"}))
def test_a_full_disk(name, tmp_path):
    check(disks.fill(tmp_path, 4, disks.WORKS[name]), 4)


@pytest.mark.parametrize("name", flips.KINDS)
def test_one_flipped_bit(name, tmp_path):
    check(flips.flip(tmp_path, 40, flips.KINDS[name]), 40)


def test_damaged_collections_are_restored_from_a_backup(tmp_path):
    check(backups.restore(tmp_path, len(backups.DAMAGES)), len(backups.DAMAGES))


@pytest.mark.slow
def test_a_schedule_of_changes_kills_full_disks_and_backups(tmp_path):
    check(schedule.run(tmp_path, 0, [HammingIndex], examples=2), 2)


def test_mutated_arrow_and_parquet_files(tmp_path):
    check(tables.attack(tmp_path, 150), 150)


def test_checks_beside_writers_find_nothing(tmp_path):
    check(side_by_side.check(tmp_path, 25), 25)


def test_no_text_of_unicode_is_called_damage(tmp_path):
    check(unicode_texts.index_texts(tmp_path, 2), 2)


def test_processes_forked_from_one_that_has_an_index_open_lose_nothing(tmp_path):
    outcome = forks.fork(tmp_path, 10)
    check(outcome, 10)
    assert outcome.seen["added by the child"] > 2


def test_bad_clients_of_a_server_harm_nobody(tmp_path):
    check(crowd.hostile(tmp_path, 40, warming=40), 40)


def test_changes_over_broken_connections_are_made_once(tmp_path):
    outcome = crowd.broken_changes(tmp_path, 12)
    check(outcome, 12)
    assert outcome.seen["servers killed"] > 1


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_readers_and_writers_side_by_side(store, tmp_path):
    check(side_by_side.run(LOCATIONS[store](tmp_path), 2.0), 4 * side_by_side.LEAST)
