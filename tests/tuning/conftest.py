"""What the tests of tuning share: a search that is over, and that they only look at."""

from collections.abc import Iterator

import pytest

from ammi.tuning.search import Search, Tuning
from tests.tuning.small import SHORT, Scripted


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Iterator[Tuning]:
    with Tuning(Search("small", "ammi", 8, SHORT), Scripted(), tmp_path_factory.mktemp("finished")) as tuning:
        tuning.run_until(40)
        yield tuning
