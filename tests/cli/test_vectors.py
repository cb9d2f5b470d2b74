"""Vectors on the command line: every command on matrices and on columns of vectors, and odd ones in one sentence."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ammi as package
from ammi import AMMI, ITQ, Collection, DocumentHasher
from tests.cli.conftest import ENVIRONMENT, Run, notes, write
from tests.cli.test_refusals import check_refused

N, WIDTH = 120, 12
QUICK = ("--method", "ammi", "--bits", 16, "--epochs", 3, "--set", "batch_size=16")


@dataclass(frozen=True)
class Embedded:
    """The same vectors as a matrix, with ids and a topic, as a table, as a sparse matrix; and a model of them."""

    X: np.ndarray
    npy: Path
    npz: Path
    parquet: Path
    sparse: Path
    model: Path


@pytest.fixture(scope="module")
def embedded(tmp_path_factory) -> Embedded:
    folder = tmp_path_factory.mktemp("embedded")
    rng = np.random.default_rng(0)
    topics = rng.integers(3, size=N)
    X = (rng.normal(size=(3, WIDTH))[topics] + 0.3 * rng.normal(size=(N, WIDTH))).astype(np.float32)
    made = Embedded(X, *(folder / name for name in ("x.npy", "x.npz", "x.parquet", "sparse.npz", "model")))
    names = np.array(["sea", "sky", "field"])[topics]
    ids = np.array([f"note-{i}" for i in range(N)])
    np.save(made.npy, X)
    np.savez(made.npz, vectors=X, ids=ids, topic=names)
    texts = [f"text {i}" for i in range(N)]
    pd.DataFrame({"id": ids, "text": texts, "topic": names, "row": list(X)}).to_parquet(made.parquet)
    sp.save_npz(made.sparse, sp.csr_matrix(np.where(X > 0.5, X, 0)))
    hasher = package.AMMI(16, epochs=3, batch_size=16, random_state=0, verbose=False)
    DocumentHasher(hasher, package.features.VectorFeatures()).fit(X).save(made.model)
    return made


def test_a_matrix_and_a_column_of_vectors_give_the_same_model(embedded: Embedded, ammi: Run, tmp_path):
    fitted = {}
    for name, source in {
        "npy": (embedded.npy,),
        "npz": (embedded.npz, "--labels", "topic"),
        "parquet": (embedded.parquet, "--vector", "row", "--labels", "topic"),
    }.items():
        shown = ammi("fit", *source, "--out", tmp_path / name, *QUICK, "--json")
        assert shown.code == 0
        assert shown.json.items() >= {"units": "vectors", "columns": WIDTH, "documents": N}.items()
        assert f"Codes are learned from the vectors of {source[0]}, of {WIDTH} numbers each." in shown.err
        fitted[name] = shown.json
    assert fitted["npz"]["fingerprint"] == fitted["parquet"]["fingerprint"]
    assert fitted["npz"]["precision_at_100"] == fitted["parquet"]["precision_at_100"]
    assert fitted["npy"]["fingerprint"] == package.load(embedded.model).fingerprint_
    refused = ammi("fit", embedded.parquet, "--vector", "row", "--features", "words", "--out", tmp_path / "words")
    assert (refused.code, "the features 'words' read texts" in refused.err) == (2, True)
    check_refused(
        ammi("fit", embedded.parquet, "--features", "vectors", "--out", tmp_path / "words"),
        "has no column 'vector': the columns there are id, text, topic, row",
    )


def test_the_codes_of_every_source_are_those_of_the_model(embedded: Embedded, ammi: Run, tmp_path):
    expected = [code.tobytes().hex() for code in package.load(embedded.model).encode(embedded.X)]
    for source, ids in (
        ((embedded.npy,), list(range(N))),
        ((embedded.npz,), [f"note-{i}" for i in range(N)]),
        ((embedded.parquet, "--vector", "row"), [f"note-{i}" for i in range(N)]),
    ):
        lines = ammi("encode", embedded.model, *source).lines
        assert [line["code"] for line in lines] == expected
        assert [line["id"] for line in lines] == ids
    piped = "".join(json.dumps({"vector": row.tolist()}) + "\n" for row in embedded.X)
    assert [line["code"] for line in ammi("encode", embedded.model, "-", stdin=piped).lines] == expected


def test_a_collection_of_vectors_from_a_file_to_answers(embedded: Embedded, ammi: Run, tmp_path):
    index = tmp_path / "index"
    built = ammi("index", "build", index, embedded.npz, "--model", embedded.model, "--key", "topic", "--json")
    assert built.json.items() >= {"added": N, "documents": N}.items()
    again = ammi("index", "add", index, embedded.parquet, "--vector", "row", "--json").json
    assert (again["replaced"], again["documents"]) == (N, N)

    np.save(tmp_path / "one.npy", embedded.X[7])
    np.save(tmp_path / "two.npy", embedded.X[7:9].astype(np.float16))
    (answer,) = ammi("search", index, "--vector", tmp_path / "one.npy", "-k", N, "--rank", "distance", "--json").lines
    assert answer["query"] == f"{tmp_path / 'one.npy'} row 0"
    by_id = {hit["id"]: hit for hit in answer["hits"]}
    assert by_id["note-7"].items() >= {"distance": 0, "text": "text 7"}.items()
    assert [hit["distance"] for hit in answer["hits"]] == sorted(hit["distance"] for hit in answer["hits"])
    two = ammi("search", index, "--vector", tmp_path / "two.npy", "--where", "topic=sea", "--radius", 3, "--json").lines
    assert len(two) == 2
    question = json.dumps({"id": "q", "vector": embedded.X[7].tolist()})
    piped = ammi("search", index, "-k", N, "--rank", "distance", "--json", stdin=question)
    assert piped.json == {"query": "q", "unknown": [], "corrected": {}, "hits": answer["hits"]}
    named = ammi("search", index, "--vector", embedded.npz, "-k", 1, "--json").lines
    assert [line["query"].split()[-1] for line in named] == [f"note-{i}" for i in range(N)]

    measured = ammi("evaluate", index, "--labels", "topic", "-k", 10, "--json").json
    assert measured["queries"] == N
    for source in ((embedded.npz,), (embedded.parquet, "--vector", "row")):
        asked = ammi("evaluate", index, *source, "--labels", "topic", "-k", 10, "--json").json
        assert asked["precision"] >= measured["precision"]  # there each document finds itself
    assert ammi("drift", index, "note-7", "--json").json["steps"]
    assert ammi("duplicates", index, "--json").code == 0
    assert len(ammi("search", index, "--like", "note-7", "--json").json["hits"]) == 10
    for asked in (ammi("search", index, "a text"), ammi("drift", index, "--text", "a text")):
        check_refused(asked, f"the query is a text, but the model of {index} reads vectors: search with --vector FILE")


def test_a_collection_of_texts_is_not_asked_with_vectors(embedded: Embedded, ammi: Run, location):
    refused = ammi("search", location.index, "--vector", embedded.npy)
    check_refused(refused, f"the query is a vector, but the model of {location.index} reads texts: search for a text")


def test_sparse_vectors_stay_sparse(embedded: Embedded, ammi: Run, tmp_path):
    model, index = tmp_path / "model", tmp_path / "index"
    assert ammi("fit", embedded.sparse, "--out", model, *QUICK, "--json").json["columns"] == WIDTH
    assert ammi("index", "build", index, embedded.sparse, "--model", model, "--json").json["documents"] == N
    X = sp.load_npz(embedded.sparse).tocsr()
    with Collection.open(index) as collection:
        kept = np.array([entry.code for entry in collection])
    np.testing.assert_array_equal(kept, package.load(model).encode(X))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["texts", "pipe", "matrix", "table"])
def test_one_command_from_a_file_to_a_collection(kind, embedded: Embedded, ammi: Run, tmp_path):
    index, lines = tmp_path / "index", "".join(json.dumps(note) + "\n" for note in notes())
    source: tuple[Any, ...] = {
        "texts": (write(tmp_path / "notes.jsonl", notes()),),
        "pipe": ("-",),
        "matrix": (embedded.npy,),
        "table": (embedded.parquet, "--vector", "row"),
    }[kind]
    built = ammi("index", "build", index, *source, "--json", stdin=lines if kind == "pipe" else "")
    assert built.json["documents"] == N
    of_text = kind in ("texts", "pipe")
    method, n_bits = (AMMI, 64) if of_text else (ITQ, 256)
    assert f"A model of {n_bits} bits was learned from" in built.err
    with Collection.open(index) as collection:
        assert (collection.n_bits, collection.reads) == (n_bits, "text" if of_text else "vector")
        assert isinstance(collection.model.hasher_, method)
    if of_text:
        assert ammi("search", index, "ship harbour", "-k", 1, "--json").json["hits"][0]["metadata"]["subject"] == "sea"
    else:
        assert len(ammi("search", index, "--vector", embedded.npy, "-k", 1, "--json").lines) == N
    check_refused(ammi("index", "build", index, *source, stdin=lines), f"{index} holds a collection")


@pytest.mark.slow
def test_zero_vectors_are_kept_and_counted_once(embedded: Embedded, ammi: Run, tmp_path):
    X = embedded.X.copy()
    X[[3, 5]] = 0
    np.save(tmp_path / "x.npy", X)
    write(tmp_path / "x.jsonl", [{"vector": row.tolist()} for row in X])
    for source in ("x.npy", "x.jsonl"):
        index = tmp_path / f"{source}-index"
        note = f"2 of the vectors of {tmp_path / source} are zero: they have no direction, and all get the same code"
        features = ("--features", "vectors")
        for command in (
            ("fit", tmp_path / source, "--out", tmp_path / "model", *QUICK, *features),
            ("encode", embedded.model, tmp_path / source),
            ("index", "build", index, tmp_path / source, "--model", embedded.model),
            ("index", "build", tmp_path / f"{source}-learned", tmp_path / source, "--vector", "vector")[
                : 4 if source == "x.npy" else None
            ],
        ):
            shown = ammi(*command)
            assert (shown.code, shown.err.count(note)) == (0, 1)
        with Collection.open(index) as collection:
            codes = [entry.code.tolist() for entry in collection]
        assert len(codes) == N
        assert codes[3] == codes[5]
    assert ammi("info", tmp_path / "x.npy", "--json").json["zero"] == 2


def test_vectors_that_cannot_be_taken(embedded: Embedded, ammi: Run, tmp_path):
    X = embedded.X.copy()
    X[[4, 90], 2] = np.nan, np.inf
    wrong, index = tmp_path / "wrong.npy", tmp_path / "index"
    np.save(wrong, X)
    build = ("index", "build", index, wrong, "--model", embedded.model, "--json")
    for command in (("fit", wrong, "--out", tmp_path / "model"), ("encode", embedded.model, wrong), build):
        check_refused(ammi(*command), f"{wrong} row 4 holds NaN: expected finite numbers, so fill it or drop the row")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["wrong.npy"]
    skipped = ammi(*build, "--on-error", "skip")
    assert skipped.json.items() >= {"added": N - 2, "skipped": 2, "documents": N - 2}.items()
    assert skipped.err.count("skipped:") == 2
    assert "row 90 holds inf" in skipped.err
    about = ammi("info", wrong, "--json").json
    assert about.items() >= {"kind": "vectors", "documents": N - 2, "dimension": WIDTH, "broken": 2}.items()


def test_vectors_of_another_width(embedded: Embedded, ammi: Run, tmp_path):
    narrow, index = tmp_path / "narrow.npy", tmp_path / "index"
    np.save(narrow, np.ones((3, 5)))
    table = tmp_path / "narrow.parquet"
    pd.DataFrame({"id": ["a"], "vector": [[1.0, 2.0]]}).to_parquet(table)
    for source, sentence in (
        (narrow, f"document 0 has a vector of 5 numbers, and the model reads {WIDTH}"),
        (table, f"narrow.parquet row 1 has a vector of 2 numbers: expected {WIDTH}, which the model reads"),
    ):
        check_refused(ammi("encode", embedded.model, source), sentence)
        check_refused(ammi("index", "build", index, source, "--model", embedded.model), sentence)
        assert not index.exists()
    assert ammi("index", "build", index, embedded.npy, "--model", embedded.model).code == 0
    check_refused(ammi("index", "add", index, narrow), "document 'narrow:0' has a vector of 5 numbers")
    check_refused(ammi("search", index, "--vector", narrow), f"has the shape (5,), and the model reads {WIDTH} numbers")


def test_ragged_vectors_of_a_table(embedded: Embedded, ammi: Run, tmp_path):
    rows = [*list(embedded.X[:20]), np.ones(5, np.float32), *list(embedded.X[20:30])]
    source, index = tmp_path / "ragged.parquet", tmp_path / "index"
    pd.DataFrame({"row": rows}).to_parquet(source)
    sentence = f"{source} row 21 has a vector of 5 numbers: expected {WIDTH}, "
    for command in (
        ("fit", source, "--vector", "row", "--out", tmp_path / "model", *QUICK, "--json"),
        ("index", "build", index, source, "--vector", "row", "--model", embedded.model, "--json"),
    ):
        check_refused(ammi(*command), sentence)
        assert [path.name for path in tmp_path.iterdir() if path.name != "model"] == ["ragged.parquet"]
        skipped = ammi(*command, "--on-error", "skip")
        assert (skipped.json["documents"], skipped.json["skipped"]) == (30, 1)
        assert skipped.err.count(f"skipped: {sentence}") == 1


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.ones(3), "holds an array of shape (3,): expected two dimensions"),
        (np.ones((2, 2, 2)), "holds an array of shape (2, 2, 2): expected two dimensions"),
        (np.array([["a"]]), "holds values of type <U1: expected numbers"),
        (np.array([{}, 1], object), "holds pickled Python objects, which are never unpickled"),
    ],
)
def test_what_is_no_matrix(array, sentence, embedded: Embedded, ammi: Run, tmp_path):
    source = tmp_path / "odd.npy"
    np.save(source, array)
    for command in (
        ("fit", source, "--out", tmp_path / "model"),
        ("encode", embedded.model, source),
        ("index", "build", tmp_path / "index", source),
        ("tune", "ammi", source, "--labels", "topic", "--out", tmp_path / "tuned"),
    ):
        check_refused(ammi(*command), f"{source} {sentence}")
    assert [path.name for path in tmp_path.iterdir()] == ["odd.npy"]


def test_an_empty_matrix(embedded: Embedded, ammi: Run, tmp_path):
    source, index = tmp_path / "empty.npy", tmp_path / "index"
    np.save(source, np.ones((0, WIDTH)))
    for command in (("fit", source, "--out", tmp_path / "model"), ("index", "build", index, source)):
        check_refused(ammi(*command), f"{source} holds no vectors: nothing can be learned from it")
    assert ammi("encode", embedded.model, source) == (0, "", "")
    assert ammi("index", "build", index, source, "--model", embedded.model, "--json").json["documents"] == 0


def test_a_matrix_that_has_no_labels(embedded: Embedded, ammi: Run, tmp_path):
    for command in ("fit", ("tune", "ammi")):
        name = (command,) if isinstance(command, str) else command
        refused = ammi(*name, embedded.npy, "--labels", "topic", "--out", tmp_path / "out")
        check_refused(refused, "has a column 'topic': the columns there are none")


def test_tune_on_vectors(embedded: Embedded, ammi: Run, tmp_path):
    options = ("--labels", "topic", "--bits", 8, "--trials", 1, "--set", "epochs=1", "--set", "batch_size=16")
    found = {}
    for name, source in {"npz": (embedded.npz,), "parquet": (embedded.parquet, "--vector", "row")}.items():
        tuned = ammi("tune", "ammi", *source, *options, "--out", tmp_path / name, "--json")
        assert tuned.code == 0
        found[name] = json.loads((tmp_path / name / "trials.json").read_text())
    assert found["npz"]["data"] == found["parquet"]["data"]
    config = ("--config", tmp_path / "npz" / "best.json")
    assert ammi("fit", embedded.npy, *config, "--out", tmp_path / "model", "--json").json["bits"] == 8


MEASURED = """
import sys
from ammi.cli import main
from tests.memory import peak_kilobytes
model, out, *sources = sys.argv[1:]
for source in sources:
    sys.argv = ["ammi", "encode", model, source, "--out", out]
    try:
        main()
    except SystemExit:
        print(peak_kilobytes())
"""


@pytest.mark.slow
def test_encoding_a_large_matrix_takes_the_memory_of_some_blocks(tmp_path):
    sources = []
    for n in (1_000, 60_000):
        sources.append(tmp_path / f"{n}.npy")
        X = np.lib.format.open_memmap(sources[-1], mode="w+", dtype=np.float32, shape=(n, 512))  # 123 MB
        X[:] = 1
        del X
    package.LSH(64, random_state=0).fit(np.load(sources[0])).save(tmp_path / "model")
    started = [sys.executable, "-c", MEASURED, tmp_path / "model", tmp_path / "codes.npz", *sources]
    done = subprocess.run(started, capture_output=True, text=True, timeout=240, env=ENVIRONMENT)
    assert all(f"{n} codes of 64 bits" in done.stderr for n in ("1,000", "60,000"))
    few, many = map(int, done.stdout.split())
    assert many - few < 60_000  # kilobytes
