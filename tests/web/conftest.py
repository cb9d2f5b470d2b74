"""Servers that several tests ask: one that may be read, and its collection on this machine."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ammi import Collection
from tests.web.serving import TOKEN, build, serving


@pytest.fixture(scope="session")
def location(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("served") / "articles")


@pytest.fixture(scope="session")
def address(location) -> Iterator[str]:
    with serving(location) as address:
        yield address


@pytest.fixture(scope="session")
def web(address) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def here(location) -> Iterator[Collection]:
    with Collection.open(location) as collection:
        yield collection


@pytest.fixture(scope="session")
def guarded(tmp_path_factory) -> Iterator[tuple[str, Collection]]:
    """The address of a server that may be changed by those who have its token, and its collection on this machine."""
    location = build(tmp_path_factory.mktemp("guarded") / "articles")
    with serving(location, "--writable", "--token", TOKEN) as address, Collection.open(location) as here:
        yield address, here
