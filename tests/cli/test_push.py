"""`ammi push`, and commands that take what is on the Hub."""

import subprocess

import pytest

from tests.cli.conftest import AMMI, ENVIRONMENT
from tests.hub_server import TOKEN

pytest.importorskip("huggingface_hub")
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload:DeprecationWarning")  # of the client


def test_a_collection_is_pushed_with_its_figures_and_searched(hub, ammi, location, tmp_path):
    figures = tmp_path / "figures.json"
    figures.write_text(ammi("evaluate", location.index, "--labels", "subject", "--json").out)
    pushed = ammi("push", location.index, "me/notes", "--figures", figures, "--licence", "mit", "--json").json
    assert pushed["location"] == "hf://me/notes"
    assert "| precision at 100 | " in hub.files("datasets/me/notes")["README.md"].decode()
    assert ammi("info", "hf://me/notes", "--json").json["documents"] == 120
    wanted = ammi("search", location.index, "ship", "--json").lines
    assert ammi("search", "hf://me/notes", "ship", "--json").lines == wanted
    refused = ammi("index", "add", "hf://me/notes", location.source)
    assert (refused.code, "change a copy (ammi index copy)" in refused.err) == (1, True)
    assert ammi("index", "copy", "hf://me/notes", tmp_path / "mine").code == 0
    assert ammi("index", "add", tmp_path / "mine", location.source).code == 0


def test_a_model_is_pushed_and_taken_by_commands(hub, ammi, location, tmp_path):
    said = ammi("push", location.model, "me/words", "--private").out
    assert said.startswith(f"{location.model} is the model hf://me/words; the commit is {hub.endpoint}")
    assert hub.repositories["models/me/words"].private
    about = ammi("info", location.model, "--json").json
    assert ammi("info", "hf://me/words", "--json").json == about
    assert ammi("encode", "hf://me/words", location.source).lines[0]["model"] == about["fingerprint"]
    assert ammi("index", "build", tmp_path / "built", location.source, "--model", "hf://me/words").code == 0
    assert ammi("index", "rebuild", tmp_path / "built", "--model", "hf://me/words").code == 0


def test_refusals_are_one_sentence(hub, ammi, location, tmp_path):
    (tmp_path / "figures.json").write_text("[1]")
    for arguments, sentence in {
        ("info", "hf://me/none"): "the Hub has no collection me/none that you may read",
        ("push", location.model, "words"): "words names no repository",
        ("push", location.model, "me/w", "--figures", tmp_path / "figures.json"): "has no figures by name",
        ("push", tmp_path / "none", "me/w"): "there is no collection in",
        ("index", "build", "hf://me/new", location.source): "hf://me/new can only be opened",
        ("index", "copy", location.index, "hf://me/new"): "hf://me/new can only be opened: write there with ammi push",
    }.items():
        refused = ammi(*arguments)
        assert refused.code == 1
        assert refused.err.count("\n") == 1
        assert sentence in refused.err
    assert not hub.repositories


@pytest.mark.slow
def test_a_process_finds_the_hub_by_the_variables_of_its_client(hub, location, tmp_path):
    environment = ENVIRONMENT | {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    for command in (["push", location.index, "me/notes"], ["search", "hf://me/notes", "ship", "-k", "1", "--json"]):
        done = subprocess.run([AMMI, *command], env=environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
    assert "ship" in done.stdout
