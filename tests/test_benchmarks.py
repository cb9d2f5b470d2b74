"""The benchmark of estimators, in its quick mode, and the truth of its channels; questions in several languages."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "information", raising=False)
    import information

    yield information
    del sys.modules["information"]


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_the_information_of_a_channel_of_symbols(benchmark, noise):
    joint = np.eye(16) * (1 - noise) / 16 + noise / 256
    positive = joint[joint > 0]
    truth = 2 * math.log2(16) + (positive * np.log2(positive)).sum()
    assert benchmark.Symbols(16, noise).truth == pytest.approx(truth)


def test_the_information_of_codes_is_that_of_the_channel_if_they_tell_symbols_apart(benchmark):
    channel = benchmark.Symbols(16, 0.1)
    bits = (np.arange(16)[:, None] >> (np.arange(12) % 4) & 1).astype(np.float32)
    assert benchmark.exact_information(bits, channel) == pytest.approx(channel.truth, abs=1e-6)
    assert benchmark.exact_information(bits[:, :3], channel) < channel.truth


def test_bounds_of_a_perfect_critic(benchmark):
    torch = pytest.importorskip("torch")
    scores = torch.full((64, 64), -50.0)
    scores.fill_diagonal_(50.0)
    assert benchmark.info_nce(scores).item() == pytest.approx(math.log(64))
    ratio = torch.zeros(64, 64)  # independent: the best critic is 1
    assert benchmark.nwj(ratio + 1).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_the_quick_mode_prints_a_table_and_keeps_nothing(benchmark, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    before = benchmark.RESULTS.read_bytes()
    benchmark.main(["--quick"])
    assert "16 symbols" in capsys.readouterr().out
    assert benchmark.RESULTS.read_bytes() == before


def test_questions_in_several_languages_find_their_answers(monkeypatch):
    """German, French, Japanese and code: at least as many answers are first as were measured."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import languages

    found = {name: languages.asked(pairs, True) for name, pairs in json.loads(languages.DATA.read_text()).items()}
    first = {"german": 8, "french": 8, "japanese": 9, "code": 10}
    assert [name for name in first if found[name]["first"] < first[name]] == []
    assert [one["language"] for one in found.values()] == ["german", "french", None, "english"]
