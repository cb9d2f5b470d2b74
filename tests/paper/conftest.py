"""What the tests of the paper share: a folder with every result there can be."""

import pytest

from reproduction.folder import PaperFolder
from tests.paper.made_up import complete_folder


@pytest.fixture(scope="session")
def complete(tmp_path_factory) -> PaperFolder:
    return complete_folder(tmp_path_factory.mktemp("complete") / "with a space")
