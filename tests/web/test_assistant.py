"""The tools of assistants, asked by the SDK's own client: a real process, by standard input and by HTTP."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters

from ammi import Collection
from tests.web.serving import TOKEN

pytestmark = pytest.mark.servers


def ask(server: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the results of tools, one after the other, of a server that runs as long as that takes."""

    async def answers() -> list[Any]:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
            return [tools, *[await client.call_tool(name, arguments) for name, arguments in calls]]

    with ThreadPoolExecutor(1) as thread:  # where no other test left a loop running
        return thread.submit(lambda: asyncio.run(answers())).result()


def by_pipe(location) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "ammi", "mcp", str(location)], env={**os.environ})


@contextmanager
def by_http(location, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "ammi", "mcp", str(location), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            found = re.search(r"http://\S+/mcp", process.stderr.readline())
            assert found
            yield found[0]
        finally:
            process.terminate()
            rest = process.stderr.read()
    assert "Traceback" not in rest


def test_an_assistant_searches_reads_and_goes_on(location, here: Collection):
    tools, found, filtered, part, near, topics, keys = ask(
        by_pipe(location),
        ("search", {"query": "crude oil opec", "k": 3}),
        ("search", {"query": "opec", "k": 20, "where": ["year>=2000"]}),
        ("read", {"id": "d3", "start": 6, "length": 20}),
        ("like", {"id": "d3", "k": 2}),
        ("topics", {"n": 3}),
        ("filters", {}),
    )
    assert [tool.name for tool in tools] == ["search", "read", "like", "topics", "filters"]
    documents = found.structured_content["documents"]
    assert [document["id"] for document in documents] == [hit.id for hit in here.search("crude oil opec", 3)]
    text = here.get(documents[0]["id"]).text
    assert text is not None
    start, passage = documents[0]["start"], documents[0]["passage"]
    assert text[start : start + len(passage)] == passage
    years = [document["metadata"]["year"] for document in filtered.structured_content["documents"]]
    assert years
    assert min(years) >= 2000
    assert part.structured_content["text"] == (here.get("d3").text or "")[6:26]
    assert [document["id"] for document in near.structured_content["documents"]] == [
        hit.id for hit in here.like("d3", 2)
    ]
    expected = [(topic.words, topic.documents, topic.typical) for topic in here.topics(3)]
    assert [
        (topic["words"], topic["documents"], topic["typical"]) for topic in topics.structured_content["topics"]
    ] == expected
    assert keys.structured_content == {"documents": len(here), "keys": here.keys()}


def test_what_is_wrong_is_said_in_a_sentence(location):
    _, missing, bad_filter, unknown, too_many = ask(
        by_pipe(location),
        ("read", {"id": "nowhere"}),
        ("search", {"query": "oil", "where": ["year>"]}),
        ("search", {"query": "xyzzyfoo"}),
        ("search", {"query": "oil", "k": 1000}),
    )
    assert missing.is_error
    assert "no document has the id 'nowhere'" in missing.content[0].text
    assert bad_filter.is_error
    assert str(location) not in bad_filter.content[0].text
    assert unknown.structured_content == {"documents": [], "unknown": ["xyzzyfoo"]}
    assert too_many.is_error


def test_by_http_the_guard_asks_for_the_token(location):
    with by_http(location, "--token", TOKEN) as address:
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"accept": "application/json, text/event-stream"}
        assert httpx.post(address, json=request, headers=headers, timeout=60).status_code == 401
        headers["authorization"] = f"Bearer {TOKEN}"
        assert httpx.post(address, json=request, headers=headers, timeout=60).status_code == 200
        foreign = headers | {"origin": "https://elsewhere.example"}
        assert httpx.post(address, json=request, headers=foreign, timeout=60).status_code == 403


def test_by_http_the_same_answers(location, here: Collection):
    with by_http(location) as address:
        _, found = ask(address, ("search", {"query": "wheat harvest", "k": 2}))
    assert [document["id"] for document in found.structured_content["documents"]] == [
        hit.id for hit in here.search("wheat harvest", 2)
    ]


def test_a_missing_package_is_named(location):
    hidden = "import sys; sys.modules['mcp'] = None; import runpy; runpy.run_module('ammi', run_name='__main__')"
    ended = subprocess.run([sys.executable, "-c", hidden, "mcp", str(location)], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "pip install 'ammi[mcp]'" in ended.stderr
