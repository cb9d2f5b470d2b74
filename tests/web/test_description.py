"""The API against its own description: whatever the description allows, and what it does not, gets a proper answer."""

import time
from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.serving import build, serving

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


@schemathesis.serializer("application/x-ndjson")
def as_lines(context, value):
    return str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def changing(tmp_path_factory) -> Iterator[str]:
    """A server that may be changed."""
    with serving(build(tmp_path_factory.mktemp("changing") / "articles"), "--writable") as address:
        while (found := httpx.get(f"{address}/api/map", timeout=60).json())["retry"] is not None:  # areas are selected
            time.sleep(found["retry"])
        yield address


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_every_answer_is_as_described(changing, mode):
    operations = schemathesis.openapi.from_url(f"{changing}/api/openapi.json", timeout=120).get_all_operations()
    tried, failures = 0, []

    for operation in operations:
        described = operation.ok()  # type: ignore[union-attr]

        @settings(
            max_examples=8,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(described.as_strategy(generation_mode=mode))
        def check(case):
            nonlocal tried
            tried += 1
            case.call_and_validate(checks=CHECKS, timeout=60)

        try:
            check()
        except Unsatisfiable:  # it has nothing that could be wrong
            continue
        except Exception as error:
            failures.append(error)
    if failures:
        raise ExceptionGroup("answers that are not as described", failures)
    assert tried > 100
