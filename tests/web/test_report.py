"""ammi report: one file with all that the page needs, in which texts stay texts."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.web.serving import N_BITS, RECORDS

SAMPLE = 100


@pytest.fixture(scope="module")
def page(location, tmp_path_factory) -> str:
    out = tmp_path_factory.mktemp("report") / "page.html"
    command = [sys.executable, "-m", "ammi", "report", str(location), "--out", str(out), "--documents", str(SAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert f"shows {SAMPLE} documents" in done.stderr
    return out.read_text("utf-8")


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="ammi-data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_it_asks_nobody(page):
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "@import" not in page
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "connect-src" not in policy[1]
    assert "unsafe" not in policy[1]


def test_only_what_is_in_it_may_run(page):
    policy = page.partition('content="default-src')[2].partition('"')[0]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == 1
    for content in scripts + styles:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy


def test_it_has_the_views_of_a_sample(page, here):
    data = data_of(page)
    assert (data["whole"], data["map"]["documents"]) == (len(RECORDS), len(RECORDS))
    assert data["collection"]["documents"] == SAMPLE
    assert sum(topic["documents"] for topic in data["topics"][0]["topics"]) == pytest.approx(len(RECORDS), abs=2)
    assert len(data["documents"]) == data["map"]["points"] == SAMPLE
    assert data["map"]["state"] == "ready"
    assert [bit["bit"] for bit in data["bit"]] == list(range(N_BITS))
    assert set(data["colours"]) == {"subject", "year"}
    for document in data["documents"][:10]:
        assert np.array_equal(np.frombuffer(bytes.fromhex(document["code"]), np.uint8), here.get(document["id"]).code)


def test_a_text_cannot_leave_its_place(location, page):
    embedded = page.partition('id="ammi-data">')[2].partition("</script>")[0]
    assert "<" not in embedded
    assert str(Path(location).parent) not in page
