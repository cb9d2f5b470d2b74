"""The Dockerfile: its steps, run without Docker, serve a collection; what it copies, and who runs it."""

import json
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.container import NEEDS_AN_IMAGE, ROOT, context, served_by_the_dockerfile, steps

pytest.importorskip("fastapi")
pytest.importorskip("hatchling")

STEPS = steps((ROOT / "Dockerfile").read_text())


def test_the_image_holds_what_the_wheel_is_made_of_and_nothing_else():
    seen = context()
    assert {"pyproject.toml", "README.md", "LICENSE", "constraints.txt", "src/ammi/py.typed"} <= set(seen)
    assert {name.partition("/")[0] for name in seen} == {
        "src",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "constraints.txt",
    }
    assert not [name for name in seen if "__pycache__" in name]


def test_the_user_is_not_root_and_made_before_it_is_taken():
    assert [step.rest for step in STEPS if step.name == "USER"] == ["ammi"]
    of_an_image = [step.rest for step in STEPS if step.name == "RUN" and step.rest.startswith(NEEDS_AN_IMAGE)]
    assert of_an_image == ["useradd --create-home --uid 1000 ammi && install --directory --owner ammi /data"]
    names = [step.name for step in STEPS]
    assert names.index("USER") > max(n for n, name in enumerate(names) if name in ("RUN", "COPY"))


@pytest.mark.slow
@pytest.mark.servers
def test_its_steps_serve_a_collection(tmp_path: Path):
    from tests.web.serving import build

    collection = build(tmp_path / "notes")
    with served_by_the_dockerfile(tmp_path / "image", collection, token="a token") as served:
        assert served.is_healthy()
        question = urllib.request.Request(f"{served.address}/api/search?q=wheat+harvest")
        with pytest.raises(HTTPError, match="401"):
            urllib.request.urlopen(question)
        question.add_header("Authorization", "Bearer a token")
        with urllib.request.urlopen(question) as answer:
            assert "wheat" in json.load(answer)["hits"][0]["text"]
        package = next(served.stage.root.glob("environment/lib/python*/site-packages/ammi/__init__.py"))
        assert package.is_relative_to(tmp_path)
    assert not served.is_healthy()


def test_a_step_that_fails_is_an_error(tmp_path: Path):
    from tests.container import run_steps

    with pytest.raises(AssertionError, match="RUN false"):
        run_steps("FROM python:3.11-slim\nRUN false\n", tmp_path, offline=True)
    with pytest.raises(AssertionError, match=r"\.dockerignore leaves it out"):
        run_steps("FROM python:3.11-slim\nCOPY tests tests\n", tmp_path, offline=True)
