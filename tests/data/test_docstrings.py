"""The corpus of docstrings, compared with what Python itself says of the same names."""

import inspect
import pydoc

import pytest

from ammi.data.docstrings import FEWEST_WORDS, docstring_records


@pytest.fixture(scope="module")
def records() -> list[dict]:
    return list(docstring_records(["python", "numpy"]))


@pytest.mark.slow
def test_ids_and_texts_are_unique_and_long_enough(records):
    assert len(records) > 3000
    assert len({record["id"] for record in records}) == len({record["text"] for record in records}) == len(records)
    assert min(len(record["text"].split()) for record in records) >= FEWEST_WORDS
    assert {record["package"] for record in records} == {"python", "numpy"}
    assert {record["kind"] for record in records} == {"module", "class", "function"}


@pytest.mark.slow
def test_texts_are_those_that_python_has_for_the_same_names(records):
    loaded = {"argparse", "collections", "json", "numpy.linalg", "numpy.ma", "numpy.polynomial"}
    known = [record for record in records if record["label"] in loaded and pydoc.locate(record["id"])]
    assert {record["label"] for record in known} == loaded
    same = [record["text"] == inspect.getdoc(pydoc.locate(record["id"])) for record in known]
    assert sum(same) / len(same) > 0.95  # some docstrings are changed when their module is imported


@pytest.mark.slow
def test_labels_and_public_names(records):
    by_id = {record["id"]: record for record in records}
    assert by_id["numpy.linalg.inv"]["label"] == "numpy.linalg"  # defined in numpy/linalg/_linalg.py
    assert by_id["email.message.Message.get_payload"]["label"] == "email"
    assert not any(part.startswith("_") for record in records for part in record["id"].split("."))
    assert not {"test", "numpy.testing"} & {record["label"] for record in records}


def test_a_missing_package_is_named():
    with pytest.raises(ModuleNotFoundError, match="the package no_such_package is not installed"):
        next(docstring_records(["no_such_package"]))
