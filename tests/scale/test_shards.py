"""Shards: what they are called, what is read of them, and what is refused, by functions and by commands."""

import json
import socket
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from ammi.data import holds_codes, read_codes, write_codes
from ammi.data.codes import MANIFEST, about_code_table, write_code_table
from ammi.files import write_json
from ammi.scale.cluster import check_address, import_ray
from ammi.scale.shards import Reading, find_shards
from tests.cli.conftest import Location, Run, ammi, location, write
from tests.damage import flipped

__all__ = ["ammi", "location"]


def test_shards_of_folders_and_files_are_in_order_and_have_names(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    for name in ("b.jsonl", "a.parquet", "c.jsonl.gz", ".hidden.jsonl", "notes.txt"):
        (folder / name).touch()
    (tmp_path / "z.jsonl.zst").touch()
    found = find_shards([str(tmp_path / "z.jsonl.zst"), str(folder)])
    assert [shard.name for shard in found] == ["z", "a", "b", "c"]
    assert all(shard.path.is_absolute() for shard in found)


def test_shards_that_are_none_or_would_be_one_are_refused(tmp_path):
    for name in ("a.jsonl", "a.parquet", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"a\.jsonl and .*a\.parquet would both be called a"):
        find_shards([str(tmp_path)])
    with pytest.raises(ValueError, match=r"notes\.txt is no shard: --ray reads files ending in \.parquet"):
        find_shards([str(tmp_path / "notes.txt")])
    with pytest.raises(ValueError, match="empty holds no shards"):
        find_shards([str(tmp_path / "empty")])
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        find_shards([str(tmp_path / "nowhere")])


def test_documents_without_ids_are_called_by_their_shard(tmp_path):
    write(tmp_path / "a.jsonl", [{"text": "one"}, {"text": "two"}])
    write(tmp_path / "b.jsonl", [{"text": "three"}, {"text": 4}])
    first, second = find_shards([str(tmp_path)])
    skipped: list[str] = []
    assert [one.id for one in Reading().documents(first, skipped)] == ["a:1", "a:2"]
    assert [one.id for one in Reading(skip=True).documents(second, skipped)] == ["b:1"]
    assert len(skipped) == 1
    with pytest.raises(ValueError, match=r"b\.jsonl line 2 has 4 for a text"):
        list(Reading().documents(second, []))


CODES = np.arange(12, dtype=np.uint8).reshape(4, 3)


@pytest.mark.parametrize("ids", [[1, 2, 3, 4], ["a", "b", "c", "d"]], ids=["numbers", "strings"])
def test_a_table_of_codes_is_read_as_it_was_written(ids, tmp_path):
    path = tmp_path / "codes.parquet"
    n = write_codes(path, [(ids[:3], CODES[:3]), (ids[3:], CODES[3:])], 20, "f" * 16)
    assert n == 4
    assert holds_codes(path)
    read = read_codes(path)
    assert (read.ids, read.n_bits, read.fingerprint) == (ids, 20, "f" * 16)
    np.testing.assert_array_equal(read.codes, CODES)
    assert about_code_table(path) == {"bits": 20, "model": "f" * 16, "rows": 4}


def test_a_damaged_table_of_codes_is_refused(tmp_path):
    path = tmp_path / "codes.parquet"
    codes = np.random.default_rng(0).integers(0, 256, (500, 3), dtype=np.uint8)
    write_codes(path, [(list(range(500)), codes)], 24, "f" * 16)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 997):
        path.write_bytes(flipped(whole, bit))
        try:
            read = read_codes(path)
        except ValueError:
            continue
        assert (read.ids, read.n_bits) == (list(range(500)), 24) or read.fingerprint != "f" * 16
        np.testing.assert_array_equal(read.codes, codes)


def test_ids_of_two_kinds_and_empty_tables(tmp_path):
    with pytest.raises(ValueError, match="some ids are numbers and some strings"):
        write_codes(tmp_path / "codes.parquet", [([1, "a"], CODES[:2])], 24, "f" * 16)
    assert not list(tmp_path.iterdir())
    assert write_codes(tmp_path / "codes.parquet", [], 24, "f" * 16) == 0
    assert read_codes(tmp_path / "codes.parquet").codes.shape == (0, 3)


def test_a_folder_of_codes_is_read_when_it_is_finished_and_of_one_model(tmp_path):
    write_code_table(tmp_path / "a.parquet", [([1, 2], CODES[:2])], 24, "f" * 16)
    write_code_table(tmp_path / "b.parquet", [([3, 4], CODES[2:])], 24, "f" * 16)
    assert holds_codes(tmp_path)
    with pytest.raises(ValueError, match=r"manifest\.json is missing, so that not all shards are there"):
        read_codes(tmp_path)
    write_json(tmp_path / MANIFEST, {"shards": {"a.parquet": 2, "b.parquet": 2}})
    assert read_codes(tmp_path).ids == [1, 2, 3, 4]
    write_code_table(tmp_path / "b.parquet", [([3, 4], CODES[2:])], 24, "0" * 16)
    with pytest.raises(ValueError, match="its shards are of 2 models"):
        read_codes(tmp_path)
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(ValueError, match=r"b\.parquet does not have the 2 codes that manifest\.json names"):
        read_codes(tmp_path)


def test_an_address_where_nothing_answers_is_refused_at_once():
    for address, told in (
        ("127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1"),
        ("ray://127.0.0.1:1", "is not HOST:PORT"),
        ("127.0.0.1:99999", "no Ray cluster answers"),
    ):
        with pytest.raises((ConnectionError, ValueError), match=told):
            check_address(address)


def test_a_server_of_another_kind_is_no_cluster():
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()

        def greet() -> None:
            with server.accept()[0] as connection:
                connection.sendall(b"SSH-2.0-other\r\n")

        thread = Thread(target=greet)
        thread.start()
        with pytest.raises(ConnectionError, match="the server there is not a Ray cluster"):
            check_address(f"{host}:{port}")
        thread.join()


def test_a_missing_extra_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'ammi\[ray\]'"):
        import_ray()


RAY = ("--ray", "--address", "127.0.0.1:1")


def test_what_commands_refuse(location: Location, ammi: Run, tmp_path):
    model, shards = location.model, tmp_path / "shards"
    shards.mkdir()
    write(shards / "a.jsonl", [{"text": "one"}])
    out = tmp_path / "codes"
    for arguments, code, told in (
        (("encode", model, shards, "--workers", 2), 2, "it needs --ray"),
        (("encode", model, shards, *RAY), 2, "name a folder for the shards of codes"),
        (("encode", model, shards, "--format", "csv", *RAY), 2, "the file name of a shard tells its format"),
        (("encode", model, shards, "--out", out, *RAY), 1, "no Ray cluster answers at 127.0.0.1:1"),
        (("index", "build", out, shards, *RAY), 2, "with --ray name a model"),
        (("fit", shards / "a.jsonl", "--out", out, "--ray"), 2, "No such option: --ray"),
        (("tune", "ammi", "reuters", "--workers", 2), 2, "it needs --ray"),
    ):
        result = ammi(*arguments)
        assert (result.code, told in " ".join(result.err.replace("│", " ").split())) == (code, True), result.err
        assert not out.exists()


def test_shards_of_codes_of_another_model_are_left_alone(location: Location, ammi: Run, tmp_path):
    shards, out = tmp_path / "shards", tmp_path / "codes"
    for folder in (shards, out):
        folder.mkdir()
    write(shards / "a.jsonl", [{"text": "one"}])
    write_code_table(out / "a.parquet", [(["x"], CODES[:1])], 24, "f" * 16)
    before = (out / "a.parquet").read_bytes()
    result = ammi("encode", location.model, shards, "--out", out, *RAY)
    assert result.code == 1
    fingerprint = json.loads(Path(location.model, "config.json").read_text())["fingerprint"]
    assert f"is of model {'f' * 16}, not of {fingerprint}" in result.err
    assert (out / "a.parquet").read_bytes() == before
