"""Files and folders that are whole or not there: at every moment, after an error, and whatever was there before."""

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import files
from ammi.files import (
    CHECKSUMS,
    check_not_read,
    check_writable,
    in_folder,
    of_folder,
    read_folder,
    read_json,
    read_with_digest,
    replacing_file,
    replacing_folder,
    with_checksums,
    write_folder,
    write_json,
    write_with_digest,
)
from tests.damage import flipped

names = st.from_regex(r"\A[a-z]{1,8}\Z")
contents = st.dictionaries(names, st.binary(max_size=50), max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def fill(folder: Path, content: dict[str, bytes]) -> None:
    with replacing_folder(folder) as new:
        assert list(new.iterdir()) == []
        for name, data in content.items():
            (new / name).write_bytes(data)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.binary(), min_size=1, max_size=3))
def test_a_file_takes_the_place_of_the_one_before_it(tmp_path_factory, versions):
    folder = tmp_path_factory.mktemp("file")
    for data in versions:
        with replacing_file(folder / "x") as file:
            file.write(data)
        assert read(folder) == {"x": data}


@settings(deadline=None, max_examples=25)
@given(st.lists(contents, min_size=1, max_size=3))
def test_a_folder_takes_the_place_of_the_one_before_it(tmp_path_factory, versions):
    parent = tmp_path_factory.mktemp("folder")
    for content in versions:
        fill(parent / "deep" / "x", content)
        assert read(parent / "deep" / "x") == content
        assert os.listdir(parent / "deep") == ["x"]


def write_half_a_file(parent: Path, error: type[BaseException]) -> None:
    with replacing_file(parent / "file") as file:
        file.write(b"new")
        raise error


def write_half_a_folder(parent: Path, error: type[BaseException]) -> None:
    with replacing_folder(parent / "folder") as new:
        (new / "a").write_bytes(b"new")
        raise error


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_leaves_everything_as_it_was(tmp_path, there, error):
    if there:
        (tmp_path / "file").write_bytes(b"old")
        fill(tmp_path / "folder", {"a": b"old"})
    before = sorted(os.listdir(tmp_path))
    for write in (write_half_a_file, write_half_a_folder):
        with pytest.raises(error):
            write(tmp_path, error)
    assert sorted(os.listdir(tmp_path)) == before
    if there:
        assert (tmp_path / "file").read_bytes() == b"old"
        assert read(tmp_path / "folder") == {"a": b"old"}


def test_nothing_is_there_before_the_end(tmp_path):
    with replacing_file(tmp_path / "file") as file:
        file.write(b"half")
        file.flush()
        assert not (tmp_path / "file").exists()
    with replacing_folder(tmp_path / "folder") as new:
        (new / "a").touch()
        assert not (tmp_path / "folder").exists()
    assert read(tmp_path / "folder") == {"a": b""}


def missed(path: Path, replace: Callable[[], None], times: int) -> int:
    """How often a watcher did not find `path` while it was replaced so many times."""
    missing, done = [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            if not path.exists():
                missing.append(1)

    watching = threading.Thread(target=watch)
    watching.start()
    for _ in range(times):
        replace()
    done.set()
    watching.join()
    return len(missing)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no call lets two folders change places")
def test_a_folder_is_there_at_every_moment(tmp_path):
    fill(tmp_path / "x", {"a": b""})
    assert missed(tmp_path / "x" / "a", lambda: fill(tmp_path / "x", {"a": b"", "b": b""}), 300) == 0


def test_where_the_system_cannot_exchange_folders_two_renames_do(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_exchange", lambda a, b: False)
    for content in ({"a": b"1"}, {"b": b"2"}):
        fill(tmp_path / "x", content)
        assert read(tmp_path / "x") == content
    assert os.listdir(tmp_path) == ["x"]


def test_where_the_system_cannot_exchange_folders_a_kill_leaves_the_old_one_under_another_name(tmp_path, monkeypatch):
    fill(tmp_path / "x", {"a": b"old"})
    monkeypatch.setattr(files, "_exchange", lambda a, b: False)
    replace = os.replace

    def killed(source: Path, target: Path) -> None:
        if target == tmp_path / "x":
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "x", {"a": b"new"})
    monkeypatch.setattr(os, "replace", replace)
    fill(tmp_path / "x", {"a": b"newer"})
    [old] = tmp_path.glob(".x.*.old")
    assert (read(old), read(tmp_path / "x")) == ({"a": b"old"}, {"a": b"newer"})


def test_what_is_no_file_is_never_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a device, a pipe or a socket"), replacing_file(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path):
    (tmp_path / "x").touch(mode=0o600)
    (tmp_path / "link").symlink_to("x")
    with replacing_file(tmp_path / "link") as file:
        file.write(b"new")
    assert ((tmp_path / "x").read_bytes(), (tmp_path / "x").stat().st_mode & 0o777) == (b"new", 0o600)
    assert (tmp_path / "link").is_symlink()


def test_what_is_read_from_standard_input_is_not_written_over(tmp_path):
    (tmp_path / "x").touch()
    (tmp_path / "y").touch()
    code = (
        "import sys; from pathlib import Path; from ammi.files import check_not_read; check_not_read(sys.argv[1], '-')"
    )
    with open(tmp_path / "x") as file:
        for name, refused in (("x", True), ("y", False)):
            file.seek(0)
            done = subprocess.run([sys.executable, "-c", code, tmp_path / name], stdin=file, stderr=subprocess.PIPE)
            assert (b"would be written over" in done.stderr) == refused


def test_a_link_to_a_folder_stays_one(tmp_path):
    fill(tmp_path / "target", {"a": b"1"})
    (tmp_path / "x").symlink_to("target")
    fill(tmp_path / "x", {"b": b"2"})
    assert read(tmp_path / "target") == {"b": b"2"}
    assert (tmp_path / "x").is_symlink()


def test_a_mount_point_is_refused():
    with pytest.raises(OSError, match="/proc is a mount point, which cannot be replaced: name a folder in it"):
        check_writable(Path("/proc"))


def test_places_that_cannot_be_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent for x: make it first"):
        replacing_file(tmp_path / "absent" / "x").__enter__()
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        replacing_file(tmp_path).__enter__()
    (tmp_path / "file").write_bytes(b"kept")
    with pytest.raises(NotADirectoryError, match="is a file: name a folder"):
        replacing_folder(tmp_path / "file").__enter__()
    assert read(tmp_path) == {"file": b"kept"}


@settings(deadline=None, max_examples=25)
@given(JSON)
def test_json_is_read_as_it_was_written(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "deep" / "x.json"
    write_json(path, value)
    assert json.loads(path.read_text()) == value
    assert path.read_text().endswith("\n")
    assert os.listdir(path.parent) == ["x.json"]


def test_a_value_that_is_no_json_leaves_the_file(tmp_path):
    write_json(tmp_path / "x.json", 1)
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": object()})
    assert read(tmp_path) == {"x.json": b"1\n"}


def write_checked(folder: Path, content: dict[str, bytes]) -> None:
    write_folder(folder, with_checksums(content))


def checked(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in read_folder(folder).items() if name != CHECKSUMS}


@settings(deadline=None, max_examples=25)
@given(content=contents, data=st.data())
def test_what_has_a_checksum_is_read_as_it_was_and_else_named(tmp_path_factory, content, data):
    folder = tmp_path_factory.mktemp("checked") / "x"
    write_checked(folder, content)
    (folder / "other").write_bytes(b"without a checksum")
    assert checked(folder) == content
    name = data.draw(st.sampled_from([CHECKSUMS, *(name for name in content if content[name])]))
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, data.draw(st.integers(0, 8 * len(whole) - 1))))
    with pytest.raises(ValueError, match=rf"x/{name} is damaged.*: write .*x again, or copy all of it again"):
        read_folder(folder)
    path.unlink()
    with pytest.raises(ValueError, match=f"x/{name} is missing, so .*x is damaged"):
        read_folder(folder)


def test_folders_inside_folders():
    files = {"a": b"1", "b/c": b"2"}
    inside = in_folder("x", files)
    assert inside == {"x/a": b"1", "x/b/c": b"2"}
    assert of_folder("x", {**inside, "a": b"3", "xx/a": b"4"}) == files


def test_the_checksums_are_those_that_sha256sum_checks(tmp_path):
    write_checked(tmp_path / "x", {"a": b"1"})
    digest = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    assert (tmp_path / "x" / CHECKSUMS).read_text().splitlines()[0] == f"{digest}  a"


@settings(deadline=None, max_examples=25)
@given(content=st.binary(max_size=60), data=st.data())
def test_a_file_with_its_digest_is_read_as_it_was_or_not_at_all(tmp_path_factory, content, data):
    path = tmp_path_factory.mktemp("file") / "x"
    write_with_digest(path, content)
    assert read_with_digest(path) == content
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, data.draw(st.integers(0, 8 * len(whole) - 1))))
    with pytest.raises(ValueError, match="digest"):
        read_with_digest(path)


def test_damaged_json_is_named(tmp_path):
    for content in (b"", b"{", b"\xff", b"[" * 100_000):
        (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.json is damaged \(.*\): delete it, or bring back a copy"):
            read_json(tmp_path / "x.json")


# Processes that are killed: by fork, so that nothing is imported again.

FORK = multiprocessing.get_context("fork")
VERSIONS = [{"a": bytes([n]) * 5000, "b": bytes([n]) * 70_000} for n in range(5)]


def write_for_ever(folder: Path) -> None:
    while True:
        for content in VERSIONS:
            write_checked(folder, content)
            with replacing_file(folder.with_name("file")) as file:
                file.write(content["b"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of every fork
@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no call exchanges two folders")
def test_whoever_is_killed_a_reader_finds_a_whole_one_and_the_next_writer_tidies_up(tmp_path):
    """A reader in a loop of saves failed 75 of 298 times, and 137 hidden folders stayed."""
    folder, rng, reads = tmp_path / "x", random.Random(0), 0
    write_checked(folder, VERSIONS[0])
    for _ in range(15):
        writer = FORK.Process(target=write_for_ever, args=(folder,))
        writer.start()
        end = time.monotonic() + rng.uniform(0.005, 0.08)
        enough = reads + 2  # also on a busy machine
        while time.monotonic() < end or reads < enough:
            assert checked(folder) in VERSIONS
            reads += 1
        assert writer.pid
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        assert checked(folder) in VERSIONS
    write_checked(folder, VERSIONS[1])
    with replacing_file(tmp_path / "file") as file:
        file.write(b"done")
    assert sorted(os.listdir(tmp_path)) == ["file", "x"]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of every fork
def test_what_a_live_process_is_writing_is_left_alone(tmp_path):
    with replacing_folder(tmp_path / "x") as new, replacing_file(tmp_path / "file") as file:
        (new / "a").write_bytes(b"first")
        file.write(b"first")
        others = [FORK.Process(target=fill, args=(tmp_path / "x", {"a": b"second"}))]
        others.append(FORK.Process(target=write_json, args=(tmp_path / "file", 2)))
        for other in others:
            other.start()
            other.join()
            assert other.exitcode == 0
        assert read(tmp_path / "x") == {"a": b"second"}
        assert (tmp_path / "file").read_bytes() == b"2\n"
    assert read(tmp_path / "x") == {"a": b"first"}
    assert (tmp_path / "file").read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == ["file", "x"]


def test_leftovers_of_other_paths_stay(tmp_path):
    left = [
        tmp_path / name for name in (".x.y.0123abcd.unfinished", ".x.0123abcd.unfinished.y", ".xy.0123abcd.unfinished")
    ]
    for path in left:
        path.mkdir()
    fill(tmp_path / "x", {})
    fill(tmp_path / "x", {})
    assert all(path.exists() for path in left)


def fill_a_full_disk(parent: Path, sizes: int) -> None:
    """A limit on the size of files is what a full disk is, but for the number of the error."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes, sizes))
    for write in (
        lambda: write_json(parent / "file", "x" * 2 * sizes),
        lambda: write_with_digest(parent / "digest", bytes(2 * sizes)),
        lambda: fill(parent / "folder", {"a": bytes(2 * sizes)}),
    ):
        with pytest.raises(OSError, match="File too large"):
            write()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of every fork
def test_a_full_disk_leaves_what_was_there(tmp_path):
    write_json(tmp_path / "file", 1)
    write_with_digest(tmp_path / "digest", b"kept")
    fill(tmp_path / "folder", {"a": b"kept"})
    writer = FORK.Process(target=fill_a_full_disk, args=(tmp_path, 1000))
    writer.start()
    writer.join()
    assert writer.exitcode == 0
    assert sorted(os.listdir(tmp_path)) == ["digest", "file", "folder"]
    assert (read_json(tmp_path / "file"), read_with_digest(tmp_path / "digest")) == (1, b"kept")
    assert read(tmp_path / "folder") == {"a": b"kept"}


def test_what_is_read_is_not_written_over(tmp_path):
    """By its name, by links of both kinds, as a part of what is read, and as a folder around it."""
    source = tmp_path / "folder" / "documents"
    source.parent.mkdir()
    source.write_text("kept")
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "linked").symlink_to(source.parent)
    places = [source, tmp_path / "soft", tmp_path / "hard", tmp_path / "linked" / "documents", source.parent]
    for out in [*places, tmp_path / "linked"]:
        with pytest.raises(ValueError, match=f"^{out} would be written over {source}, which is read: name another"):
            check_not_read(out, None, source)
        with pytest.raises(ValueError, match="which is read"):
            check_not_read(str(out), str(source))
    with pytest.raises(ValueError, match="which is read"):
        check_not_read(source, source.parent)
    (tmp_path / "other").touch()
    for out in (tmp_path / "other", source.with_name("new"), tmp_path / "absent" / "new"):
        check_not_read(out, source, "-", "reuters", None, tmp_path / "absent")
    check_not_read(source.with_name("new"), source.parent)
