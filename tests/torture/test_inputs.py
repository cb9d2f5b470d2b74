"""A few of the strange inputs of `inputs`, the same ones every time."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.torture.inputs import Attempt, attempts, make_template, try_one


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    make_template(folder)
    return folder


@settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(attempt=attempts())
def test_every_input_ends_well_or_with_a_sentence(attempt: Attempt, template):
    outcome = try_one(attempt, template)
    assert outcome.wrong is None, f"{attempt.name} {attempt.what} {attempt.file!r:.500}"
