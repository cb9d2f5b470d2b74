"""Files and folders that are whole or not there: at every moment, after an error, and whatever was there before."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import files
from ammi.files import replacing_file, replacing_folder, write_json

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


@settings(deadline=None)
@given(st.lists(st.binary(), min_size=1, max_size=3))
def test_a_file_takes_the_place_of_the_one_before_it(tmp_path_factory, versions):
    folder = tmp_path_factory.mktemp("file")
    for data in versions:
        with replacing_file(folder / "x") as file:
            file.write(data)
        assert read(folder) == {"x": data}


@settings(deadline=None)
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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot let two folders change places")
def test_a_folder_is_there_at_every_moment(tmp_path):
    fill(tmp_path / "x", {"a": b""})
    assert missed(tmp_path / "x" / "a", lambda: fill(tmp_path / "x", {"a": b"", "b": b""}), 300) == 0


def test_where_the_system_cannot_exchange_folders_two_renames_do(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_exchange", lambda a, b: False)
    for content in ({"a": b"1"}, {"b": b"2"}):
        fill(tmp_path / "x", content)
        assert read(tmp_path / "x") == content
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_to_a_folder_is_replaced_and_its_target_stays(tmp_path):
    fill(tmp_path / "target", {"a": b"1"})
    (tmp_path / "x").symlink_to("target")
    fill(tmp_path / "x", {"b": b"2"})
    assert (read(tmp_path / "target"), read(tmp_path / "x")) == ({"a": b"1"}, {"b": b"2"})


def test_places_that_cannot_be_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent for x: make it first"):
        replacing_file(tmp_path / "absent" / "x").__enter__()
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        replacing_file(tmp_path).__enter__()
    (tmp_path / "file").write_bytes(b"kept")
    with pytest.raises(NotADirectoryError, match="is a file: name a folder"):
        replacing_folder(tmp_path / "file").__enter__()
    assert read(tmp_path) == {"file": b"kept"}


@settings(deadline=None)
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
