"""Servers that several tests ask: one that may be read, and its collection on this machine."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ammi import Collection
from tests.web.serving import TOKEN, build, serving


@pytest.fixture(scope="session")
def place(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("served") / "articles")


@pytest.fixture(scope="session")
def address(place) -> Iterator[str]:
    with serving(place) as address:
        yield address


@pytest.fixture(scope="session")
def web(address) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def here(place) -> Iterator[Collection]:
    with Collection.open(place) as collection:
        yield collection


@pytest.fixture(scope="session")
def guarded(tmp_path_factory) -> Iterator[tuple[str, Collection]]:
    """The address of a server that may be changed by those who have its token, and its collection on this machine."""
    place = build(tmp_path_factory.mktemp("guarded") / "articles")
    with serving(place, "--writable", "--token", TOKEN) as address, Collection.open(place) as here:
        yield address, here
