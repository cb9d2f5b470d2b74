"""`ammi information` as users type it."""

import numpy as np
import pytest

from tests.cli.conftest import Run, write
from tests.tuning.test_pair_sets import essays


@pytest.mark.slow
def test_information_of_texts_and_of_pairs(ammi: Run, tmp_path):
    texts = write(tmp_path / "texts.jsonl", [{"id": d.id, "text": d.text} for d in essays(60)])
    model, pairs = tmp_path / "model", tmp_path / "pairs"
    assert ammi("fit", texts, "--out", model, "--method", "itq", "--bits", 8).code == 0
    found = ammi("information", model, texts, "--json").json
    assert (found["documents"], found["bits"], found["related"]) == (60, 8, False)
    assert found["exact"]["kind"] == "exact"
    assert found["exact"]["value"] <= found["ceiling"]
    shown = ammi("information", model, texts)
    assert shown.out.startswith("8 bits, 60 documents (log2 n = 5.91)")
    assert "exact: H(Z) - H(Z|Y)" in shown.out
    assert ammi("data", "pairs", texts, "--halves", "--out", pairs, "--vocabulary", 90).code == 0
    found = ammi("information", model, pairs, "--json").json
    assert (found["documents"], found["related"]) == (12, True)


def test_information_of_vectors(ammi: Run, tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(50, 6)))
    assert ammi("fit", tmp_path / "vectors.npy", "--out", tmp_path / "model", "--method", "lsh", "--bits", 16).code == 0
    assert ammi("information", tmp_path / "model", tmp_path / "vectors.npy", "--json").json["documents"] == 50


def test_too_few_documents_are_refused_in_a_sentence(ammi: Run, tmp_path):
    texts = write(tmp_path / "texts.jsonl", [{"id": d.id, "text": d.text} for d in essays(9)])
    assert ammi("fit", texts, "--out", tmp_path / "model", "--method", "itq", "--bits", 4).code == 0
    refused = ammi("information", tmp_path / "model", texts)
    assert refused.code == 1
    assert "at least 10 documents, got 9" in refused.err
