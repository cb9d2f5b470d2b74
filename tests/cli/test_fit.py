"""`ammi fit`: settings of all kinds, methods of other packages, pairs, what is recorded and what is refused."""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard

from ammi import AMMI
from ammi.chain import Tree
from ammi.data.pairs import ArticlePairs, write_pairs
from ammi.features import PieceFeatures
from ammi.hashers import methods
from tests.cli.conftest import ENVIRONMENT, Location, Result, Run, notes, write


def test_settings_of_all_kinds(location: Location, ammi: Run, tmp_path):
    out = tmp_path / "model"
    settings = ("--set", "learning_rate=0.02", "--set", "related_order=none", "--set", "adversary=gradient")
    assert ammi("fit", location.source, "--out", out, "--bits", 8, "--epochs", 1, "--seed", 5, *settings).code == 0
    about = ammi("info", out, "--json").json
    wanted = {"bits": 8, "epochs": 1, "random_state": 5, "learning_rate": 0.02, "adversary": "gradient"}
    assert wanted.items() <= about.items()
    config = out / "hasher" / "config.json"
    pieces = ("--config", config, "--features", "pieces", "--vocabulary", 60)
    assert ammi("fit", location.source, "--out", tmp_path / "again", *pieces).code == 0
    again = ammi("info", tmp_path / "again", "--json").json
    assert {**wanted, "units": "pieces"}.items() <= again.items()
    assert again["vocabulary"] <= 60
    same = tmp_path / "same"
    assert ammi("fit", location.source, "--out", same, "--config", config).code == 0
    assert ammi("info", same, "--json").json["fingerprint"] == about["fingerprint"]
    layers = ("--set", "encoder=1", "--set", "hidden_size=8", "--set", "neighbours=0")
    assert ammi("fit", location.source, "--out", same, "--epochs", 1, *layers).code == 0
    assert ammi("info", same, "--json").json["encoder"] == 1


def test_a_config_may_have_a_tree(location: Location, ammi: Run, tmp_path):
    hasher = AMMI(4, prior=Tree(4, (-1, 0, 0, 0)), first_bits=0, epochs=1, random_state=0, verbose=False)
    hasher.fit(np.eye(6)).save(tmp_path / "hasher")
    config = ("--config", tmp_path / "hasher" / "config.json")
    assert ammi("fit", location.source, "--out", tmp_path / "model", *config).code == 0
    about = ammi("info", tmp_path / "model", "--json").json
    assert about["prior"] == "Tree(n_bits=4, parents=(-1, 0, 0, 0))"


def test_a_finished_run_goes_on_with_more_epochs(location: Location, ammi: Run, tmp_path):
    def fitted(name: str, epochs: int, *more: object) -> dict:
        settings = ("--bits", 8, "--set", "first_bits=0", "--epochs", epochs, *more)
        assert ammi("fit", location.source, "--out", tmp_path / name, *settings).code == 0
        return ammi("info", tmp_path / name, "--json").json

    kept = ("--set", f"checkpoint={tmp_path / 'run'}")
    short, longer, unbroken = fitted("a", 1, *kept), fitted("b", 3, *kept), fitted("c", 3)
    assert longer["fingerprint"] == unbroken["fingerprint"] != short["fingerprint"]


def test_what_is_wrong_is_said(location: Location, ammi: Run, tmp_path):
    out = ("--out", tmp_path / "no")
    for assignment, words in (
        ("batch_size=many", "--set batch_size=many has the wrong type: batch_size is a whole number"),
        ("adversary=none", "adversary is exact or gradient or sampled"),
        ("encoder=deep", "encoder is a whole number or none"),
        ("nothing=1", "ammi has no parameter 'nothing': it has adversary, "),
        ("batch_size", "write --set NAME=VALUE"),
        ("batch_size=0", "batch_size must be a whole number from 1 to 2147483647, got 0"),
    ):
        refused = ammi("fit", location.source, *out, "--set", assignment)
        assert refused.code == 1
        assert words in refused.err
    refused = ammi("fit", location.source, *out, "--method", "magic")
    assert "no method 'magic': there are ammi, bmmi" in refused.err
    refused = ammi("fit", location.source, *out, "--features", "magic")
    assert "no kind of features 'magic': there are " in refused.err
    refused = ammi("fit", location.source, "--out", location.source.parent)
    assert "is not a model: choose another folder" in refused.err
    for options in (
        ("--features", "vectors", "--vocabulary", 9),
        ("--method", "lsh", "--tensorboard", tmp_path / "board"),
    ):
        assert ammi("fit", location.source, *out, *options).code == 2
    assert (
        "has no column 'vector'" in ammi("fit", location.source, *out, "--features", "vectors", "--method", "lsh").err
    )
    assert list(tmp_path.iterdir()) == []


def test_it_says_when_it_replaces_a_model(location: Location, ammi: Run, tmp_path):
    out = ("--out", tmp_path / "model", "--method", "lsh")
    assert "replaced" not in ammi("fit", location.source, *out).err
    assert f"The model that {tmp_path / 'model'} held is replaced" in ammi("fit", location.source, *out).err


def test_bits_of_bmmi_are_what_the_help_says(location: Location, ammi: Run, tmp_path):
    """64 would be too many."""
    fast = ("--epochs", 1, "--set", "neighbours=0", "--json")
    assert ammi("fit", location.source, "--out", tmp_path / "model", "--method", "bmmi", *fast).json["bits"] == 16
    assert "16 for bmmi" in ammi("fit", "--help").out


def test_the_help_names_every_method(ammi: Run):
    shown = ammi("fit", "--help").out
    assert all(re.search(rf"\b{name}\b", shown) for name in methods.own)


def test_tensorboard_gets_a_file(location: Location, ammi: Run, tmp_path):
    board = tmp_path / "board"
    assert ammi("fit", location.source, "--out", tmp_path / "model", "--epochs", 2, "--tensorboard", board).code == 0
    (events,) = board.iterdir()
    assert events.name.startswith("events.out.tfevents.")
    assert events.read_bytes().count(b"conditional_entropy") == 2


METHOD = '''
import numpy as np
from ammi.hashers.lsh import LSH
from ammi.hashers.parameters import estimator, parameter


@estimator
class Thirds(LSH):
    """Random hyperplanes, shifted."""

    shift: float = parameter("added to each threshold.", default=0.0)
'''


@pytest.fixture
def thirds(tmp_path, monkeypatch) -> Iterator[None]:
    """A package with a method, as pip leaves it, on the path of a process that has just begun."""
    site = tmp_path / "site"
    about = site / "thirds-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "thirds.py").write_text(METHOD)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: thirds\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ammi.methods]\nthirds = thirds:Thirds\n")
    monkeypatch.syspath_prepend(site)
    vars(methods).pop("_others", None)  # what is installed is looked up once a process
    yield
    vars(methods).pop("_others", None)
    sys.modules.pop("thirds", None)


def test_a_method_of_another_package(thirds, location: Location, ammi: Run, tmp_path):
    model, index = tmp_path / "model", tmp_path / "index"
    fitted = ammi("fit", location.source, "--out", model, "--method", "thirds", "--set", "shift=0.5", "--json")
    assert (fitted.code, fitted.json["method"]) == (0, "Thirds")
    assert json.loads((model / "hasher" / "config.json").read_text())["parameters"]["shift"] == 0.5
    assert ammi("index", "build", index, location.source, "--model", model).code == 0
    assert ammi("search", index, "ship", "--json").json["hits"]
    assert "sth, thirds, vdsh" in ammi("fit", location.source, "--out", model, "--method", "nothing").err


def test_a_method_of_a_package_that_is_not_installed(location: Location, ammi: Run, tmp_path):
    without = ammi("fit", location.source, "--out", tmp_path / "no", "--method", "thirds")
    assert (without.code, "no method 'thirds'" in without.err) == (1, True)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    """Pairs of notes of one subject, more than are looked at to validate and test."""
    folder = tmp_path_factory.mktemp("made") / "pairs"
    records = notes(1200)
    of_subject = [[record for record in records if record["subject"] == name] for name in ("sea", "sky", "field")]
    couples = [(one[i], one[i + 1]) for one in of_subject for i in range(0, 400, 2)]
    texts = {"train": couples[0::2], "cv": couples[1::4], "test": couples[3::4]}
    features = PieceFeatures(60).fit([record["text"] for record in records])
    sides = {
        split: tuple(features.transform([pair[side]["text"] for pair in chosen]) for side in (0, 1))
        for split, chosen in texts.items()
    }
    write_pairs(folder, ArticlePairs(**sides), texts, features, {"source": "notes"})
    return folder


def test_pairs_are_learned_from(pairs: Path, location: Location, ammi: Run, tmp_path):
    """No command fitted a model to pairs."""
    model, index = tmp_path / "model", tmp_path / "index"
    fast = ("--bits", 12, "--epochs", 2)
    fitted = ammi("fit", pairs, "--out", model, *fast, "--json").json
    assert fitted.items() >= {"method": "AMMI", "bits": 12, "units": "pieces", "pairs": 300}.items()
    assert 0 < fitted["matching_at_100"] <= 100
    assert json.loads((model / "hasher" / "config.json").read_text())["predictive"] is True
    assert ammi("index", "build", index, location.source, "--model", model).code == 0
    assert ammi("search", index, "ship harbour", "--json").json["hits"]
    assert ammi("info", pairs, "--json").json.items() >= {"kind": "article pairs", "source": "notes"}.items()
    assert ammi("fit", pairs, "--out", tmp_path / "lsh", "--method", "lsh", "--bits", 12).code == 0
    for options in (("--labels", "subject"), ("--features", "words"), ("--text", "body")):
        refused = ammi("fit", pairs, "--out", tmp_path / "no", *options)
        assert refused.code == 2
        assert "pairs have their texts and features already" in " ".join(refused.err.split())


def test_a_pipe_is_read_once(ammi: Run, tmp_path):
    lines = "".join(json.dumps(note) + "\n" for note in notes(40))
    options = ("--out", tmp_path / "model", "--method", "lsh", "--labels", "subject", "--json")
    piped = ammi("fit", "-", *options, stdin=lines).json
    source = write(tmp_path / "notes.jsonl", notes(40))
    read = ammi("fit", source, *options).json
    assert piped["fingerprint"] == read["fingerprint"]
    assert piped["precision_at_100"] == read["precision_at_100"]


def test_the_next_command_is_one_that_works(ammi: Run, tmp_path):
    out = ("--out", tmp_path / "model", "--method", "lsh")
    source = write(tmp_path / "my notes.jsonl", [{"body": note["text"]} for note in notes(9)])
    shown = " ".join(ammi("fit", source, "--text", "body", *out).err.split())
    build = f"ammi index build COLLECTION '{source}' --text body --model {tmp_path / 'model'}"
    assert f"Next: {build}" in shown
    assert ammi(*shlex.split(build.replace("COLLECTION", str(tmp_path / "new")))[1:]).code == 0
    piped = ammi("fit", "-", "--text", "body", *out, stdin=source.read_text())
    assert "Next: ammi index build COLLECTION SOURCE --text body --model " in " ".join(piped.err.split())


def draw(ammi: Run, source: object, *options: object, stdin: str = "") -> Result:
    return ammi("fit", source, "--method", "lsh", "--bits", 16, *options, "--json", stdin=stdin)


PIPED = """
import sys
from contextlib import suppress
from ammi.cli import main
from tests.memory import peak_kilobytes
small, *options = sys.argv[1:]
for source in (small, "-"):
    sys.argv = ["ammi", "fit", source, *options]
    with suppress(SystemExit):
        main()
    print(peak_kilobytes())
"""


@pytest.mark.slow
def test_the_memory_of_a_sample_does_not_grow_with_the_pipe(tmp_path):
    """Documents of 4,000 characters: 200 of them in a file, and then 15,000 from another process, which are 60 MB."""
    small = write(tmp_path / "small.jsonl", [{"text": f"word{i} " * 500} for i in range(200)])
    piped = """import json; [print(json.dumps({"text": f"word{i} " * 500})) for i in range(15_000)]"""
    options = ("--sample", "50", "--method", "lsh", "--format", "jsonl", "--out", str(tmp_path / "model"), "--json")
    with subprocess.Popen([sys.executable, "-c", piped], stdout=subprocess.PIPE) as writer:
        command = [sys.executable, "-c", PIPED, str(small), *options]
        done = subprocess.run(command, stdin=writer.stdout, capture_output=True, text=True, env=ENVIRONMENT)
    of_file, peak_before, of_pipe, peak_after = map(json.loads, done.stdout.splitlines())
    assert of_file.items() >= {"documents": 50, "sampled_from": 200}.items()
    assert of_pipe.items() >= {"documents": 50, "sampled_from": 15_000}.items()
    assert peak_after - peak_before < 25_000  # kilobytes


def test_a_sample_of_a_pipe(ammi: Run, tmp_path):
    out = ("--out", tmp_path / "model")
    broken = "".join((json.dumps(note) if i % 100 else "broken") + "\n" for i, note in enumerate(notes(3000)))
    options = ("--format", "jsonl", *out, "--sample", 50, "--epochs", 2, "--on-error", "skip")
    drawn = ammi("fit", "-", *options, stdin=broken)
    assert drawn.code == 0, drawn.err
    assert re.search(r"documents +50\nsampled from +2,970\nskipped +30\n", re.sub(r" +\n", "\n", drawn.out))
    assert "30 skipped in standard input: 30 not JSON" in drawn.err

    lines = "".join(json.dumps(note) + "\n" for note in notes(3000))
    first, again, other = (draw(ammi, "-", *out, "--sample", 50, "--seed", seed, stdin=lines) for seed in (1, 1, 2))
    assert first.json.items() >= {"documents": 50, "sampled_from": 3000, "skipped": 0}.items()
    assert first.json["fingerprint"] == again.json["fingerprint"] != other.json["fingerprint"]


def test_a_sample_of_files_vectors_and_labelled_documents(ammi: Run, tmp_path):
    sample = ("--out", tmp_path / "model", "--sample", 200)
    documents = notes(3000)
    lines = "".join(json.dumps(note) + "\n" for note in documents).encode()
    (tmp_path / "notes.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "notes.jsonl.zst").write_bytes(zstandard.compress(lines))
    for name in ("notes.jsonl.gz", "notes.jsonl.zst"):
        fitted = draw(ammi, tmp_path / name, *sample, "--labels", "subject").json
        assert fitted.items() >= {"documents": 200, "sampled_from": 3000}.items()
        assert fitted["precision_at_100"] > 33
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(1000, 6)))
    rows = write(tmp_path / "rows.jsonl", [{"vector": [i % 7, 1.0, i % 3]} for i in range(1000)])
    for source, options in ((tmp_path / "rows.npy", ()), (rows, ("--vector", "vector"))):
        fitted = draw(ammi, source, *sample, *options).json
        assert fitted.items() >= {"documents": 200, "sampled_from": 1000, "units": "vectors"}.items()
    small = draw(ammi, write(tmp_path / "small.jsonl", documents[:90]), *sample)
    assert small.json.items() >= {"documents": 90, "sampled_from": 90}.items()
    assert "has 90 documents, no more than the sample of 200: all of them are used" in small.err
    view = tmp_path / "rows.npy"
    refused = ammi("fit", tmp_path / "small.jsonl", *sample, "--view", view)
    assert (refused.code, "not for each of a sample" in " ".join(refused.err.replace("│", " ").split())) == (2, True)


def test_a_view_helps_to_find_neighbours(location: Location, ammi: Run, tmp_path):
    view, out = tmp_path / "view.npy", tmp_path / "model"
    np.save(view, np.eye(12, dtype=np.float32)[np.random.default_rng(0).integers(12, size=120)])
    few = ("--bits", 8, "--epochs", 2, "--set", "batch_size=16", "--set", "first_bits=0")  # many texts are the same
    prints = [
        ammi("fit", location.source, "--out", out, *few, *options, "--json").json["fingerprint"]
        for options in ((), ("--view", view, "--view", view))  # one view alone tells less than equal texts do
    ]
    assert len(set(prints)) == 2
    assert ammi("fit", location.source, "--out", out, *few, "--view", view, "--labels", "subject").code == 0
    good = shutil.copy(view, tmp_path / "good.npy")
    np.save(view, np.ones((119, 4)))
    for options, code, words in (
        (("--view", view), 1, "view 1 has 119 rows for 120 documents"),
        (("--view", location.source), 2, "is not an array that numpy.save wrote"),
        (("--view", tmp_path / "none.npy"), 2, "does not exist"),
        (("--view", view, "--method", "itq"), 2, "ITQ looks for no neighbours"),
        (("--view", good, "--set", "neighbours=0"), 1, "AMMI with neighbours=0 looks for none"),
    ):
        refused = ammi("fit", location.source, "--out", out, *few[:2], *options)
        assert refused.code == code
        assert words in " ".join(refused.err.replace("│", " ").split())


def test_a_fit_that_learns_nothing_good_is_an_error_and_writes_nothing(ammi: Run, tmp_path):
    """Exit code 0, and a model of one code."""
    rows = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32) * np.float32(1e30)
    np.save(tmp_path / "rows.npy", rows)
    refused = ammi("fit", tmp_path / "rows.npy", "--method", "dvq", "--bits", 8, "--out", tmp_path / "model")
    assert refused.code == 1
    assert "training left the finite numbers in epoch 1" in " ".join(refused.err.split())
    assert "Traceback" not in refused.err
    for option in (("--bits", 10**9), ("--set", "device=cuda:99"), ("--set", "n_jobs=-1"), ("--set", "prior_order=40")):
        refused = ammi("fit", tmp_path / "rows.npy", *option, "--out", tmp_path / "model")
        assert refused.code in (1, 2)
        assert "Traceback" not in refused.err
    assert os.listdir(tmp_path) == ["rows.npy"]


def test_what_is_read_is_not_written_over(ammi: Run, location: Location, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(location.model, model)
    source = model / "notes.jsonl"
    shutil.copy(location.source, source)
    for command in (
        ("fit", source, "--out", model),
        ("encode", model, source, "--out", model / "config.json"),
        ("encode", model, source, "--out", source),
        ("index", "export", location.index, location.index / "index.sqlite"),
    ):
        refused = ammi(*command)
        assert refused.code == 1, command
    assert source.read_bytes() == location.source.read_bytes()
    assert ammi("search", location.index, "ship").code == 0
