"""Topics over HTTP, and the map that is there at once when a server starts again."""

import base64
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from ammi import Collection
from tests.web.serving import RECORDS, build, serving


def ready(address: str) -> dict:
    """The map, when it is ready."""
    end = time.monotonic() + 600  # its process has the lowest priority
    while (found := httpx.get(f"{address}/api/map", timeout=60).json())["retry"] is not None:
        assert time.monotonic() < end
        time.sleep(found["retry"])
    return found


def places(map: dict) -> dict:
    x, y = (np.frombuffer(base64.b64decode(map[axis]), "<u2").tolist() for axis in "xy")
    return dict(zip(map["ids"], zip(x, y, strict=True), strict=True))


def test_topics_are_the_same_over_http(address, here):
    ready(address)
    with Collection.open(address) as there:
        for n in (1, 3, 24):
            own, others = here.topics(n), there.topics(n)
            assert [topic.documents for topic in others] == [topic.documents for topic in own]
            assert [topic._replace(share=0, categories={}) for topic in others] == [
                topic._replace(share=0, categories={}) for topic in own
            ]
            assert [topic.share for topic in others] == pytest.approx([topic.share for topic in own], abs=1e-4)
    answer = httpx.get(f"{address}/api/topics", params={"n": 3}, timeout=60).json()
    assert answer["documents"] == len(RECORDS)
    assert answer["levels"] == [6]
    assert httpx.get(f"{address}/api/topics", params={"n": 0}, timeout=60).status_code == 422


def test_a_second_start_shows_the_kept_map_at_once_and_new_documents_join_it(tmp_path: Path):
    location = build(tmp_path / "articles")
    with serving(location) as address:
        first = ready(address)
    with Collection.open(location) as collection:
        states: list[str] = []
        with serving(location, "--writable") as address:
            while not states or states[-1] == "computing":
                again = httpx.get(f"{address}/api/map", timeout=60).json()
                states.append(again["state"])
            assert set(states) <= {"computing", "ready"}  # never a rough one
            assert {key: again[key] for key in ("ids", "x", "y", "region", "regions", "colours")} == {
                key: first[key] for key in ("ids", "x", "y", "region", "regions", "colours")
            }
        collection.set_metadata("d3", {"subject": "other"})
        with serving(location) as address:
            while (again := httpx.get(f"{address}/api/map", timeout=60).json())["state"] == "computing":
                pass
            assert again["state"] == "ready"  # a tag does not change the map
        collection.delete(["d3"])
        collection.add([{"id": "new", "text": RECORDS[3]["text"], "subject": "oil", "year": 2000}])
        with serving(location) as address:
            changed = ready(address)
    before, after = places(first), places(changed)
    assert {id: after[id] for id in after if id != "new"} == {id: before[id] for id in before if id != "d3"}
    assert max(abs(a - b) for a, b in zip(after["new"], before["d3"], strict=True)) < 0.15 * 65535
