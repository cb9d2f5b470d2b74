"""Counts, tables and files of a selection over HTTP, and its changes, which can be undone."""

import csv
import io
import json
import time
from collections import Counter

import httpx
import pytest

from ammi import LSH, Collection, DocumentHasher
from ammi.web.settings import Settings
from tests.web.serving import RECORDS, running


def asked(web: httpx.Client, path: str, **parameters):
    answer = web.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def test_counts_of_a_filter_leave_out_the_filter_on_the_key_itself(web):
    found = asked(web, "/api/facets", where=["subject=oil", "year>=1980"])
    assert found["total"] == sum(one["subject"] == "oil" and one["year"] >= 1980 for one in RECORDS)
    assert found["documents"] == len(RECORDS)
    facets = {one["key"]: one for one in found["facets"]}
    assert [*facets] == ["subject", "year"]  # the indexed key first
    subjects = Counter(one["subject"] for one in RECORDS if one["year"] >= 1980)
    assert {one["value"]: one["selected"] for one in facets["subject"]["values"]} == subjects
    assert facets["year"]["kind"] == "number"
    for bin in facets["year"]["bins"]:
        inside = [one["subject"] == "oil" for one in RECORDS if bin["low"] <= one["year"] < bin["high"]]
        assert (bin["selected"], bin["all"]) == (sum(inside), len(inside))


def test_counts_of_a_search_are_those_of_the_documents_with_its_words(web, here):
    found = asked(web, "/api/facets", q="opec", keys=["subject"])
    hits = [hit for hit in here.search("opec", 1000) if hit.why and hit.why.words]
    assert found["total"] == len(hits) < len(RECORDS)
    subjects = Counter(hit.metadata["subject"] for hit in hits)
    assert {one["value"]: one["selected"] for one in found["facets"][0]["values"] if one["selected"]} == subjects
    table = asked(web, "/api/table", q="opec", limit=5)
    assert [row["id"] for row in table["rows"]] == [hit.id for hit in hits[:5]]
    assert table["total"] == len(hits)


def test_a_search_selects_documents_with_its_words_in_the_title_alone(tmp_path):
    model = DocumentHasher(LSH(32, random_state=0)).fit([record["text"] for record in RECORDS])
    with Collection.create(tmp_path / "titled", model) as titled:
        titled.add(
            [{"id": n, "text": one["text"], "title": "On opec" if n < 3 else "On all"} for n, one in enumerate(RECORDS)]
        )
        with running(titled, Settings()) as address:
            table = httpx.get(f"{address}/api/table", params={"q": "opec", "limit": 200}, timeout=60).json()
    having = {n for n, one in enumerate(RECORDS) if n < 3 or "opec" in one["text"]}
    assert {row["id"] for row in table["rows"]} == having


def test_values_are_looked_for_page_by_page(web):
    (facet,) = asked(web, "/api/facets", keys=["year"], contains="196", limit=4, offset=2)["facets"]
    assert facet["distinct"] == 10
    assert all("196" in str(one["value"]) for one in facet["values"])
    assert len(facet["values"]) == 4


def test_a_table_needs_no_query_and_has_true_totals(web, here):
    table = asked(web, "/api/table")
    assert table["total"] == len(RECORDS)
    assert [row["id"] for row in table["rows"]] == [entry.id for entry in list(here)[:50]]
    assert max(len(row["text"]) for row in table["rows"]) <= 300
    by_year = sorted(RECORDS, key=lambda one: -one["year"])
    table = asked(web, "/api/table", sort="-year", offset=10, limit=7)
    assert [row["id"] for row in table["rows"]] == [one["id"] for one in by_year[10:17]]
    assert asked(web, "/api/table", offset=1000)["rows"] == []
    ids = ["copy", "nobody", "d2"]
    posted = web.post("/api/table", json={"ids": ids, "where": ["year>=1000"]}).json()
    assert [row["id"] for row in posted["rows"]] == ["d2", "copy"]


@pytest.mark.parametrize(
    ("path", "parameters", "words"),
    [
        ("facets", {"where": ["sectoin=1"]}, "no document has the metadata key 'sectoin' of the filter"),
        ("table", {"where": ["sectoin~1"]}, "write KEY=VALUE, KEY!=VALUE"),
        ("facets", {"where": ["subject==oil"]}, "cannot be read: write KEY=VALUE"),
        ("facets", {"keys": ["x"]}, "no document has the metadata key 'x': the keys are subject, year"),
        ("table", {"sort": "x"}, "to sort by: the keys are subject, year"),
        ("table", {"limit": 1001}, "limit"),
        ("table", {"lasso": "0,0,1,1"}, "lasso has no three corners"),
        ("export", {"format": "xls"}, "format"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(web, path, parameters, words):
    status, sentence = refusal(web.get(f"/api/{path}", params=parameters))
    assert status == 422
    assert words in sentence


def test_a_lasso_and_a_region_select_documents_of_the_map(web):
    while (map := asked(web, "/api/map"))["retry"] is not None:
        time.sleep(map["retry"])
    assert asked(web, "/api/table", lasso="-1,-1,-1,2,2,2,2,-1")["total"] == len(RECORDS)
    half = asked(web, "/api/facets", lasso="-1,-1,-1,2,0.5,2,0.5,-1")["total"]
    other = asked(web, "/api/facets", lasso="0.5,-1,0.5,2,2,2,2,-1")["total"]
    assert half + other == len(RECORDS)
    assert 0 < half < len(RECORDS)
    named = {" ".join(region["words"]): region for region in reversed(map["regions"])}  # the largest of each name
    for name, region in named.items():
        assert asked(web, "/api/facets", region=name)["total"] == region["documents"]
    assert refusal(web.get("/api/facets", params={"region": "no such words"}))[0] == 404
    points = asked(web, "/api/map/selected", where=["subject=oil"])
    assert {map["ids"][point] for point in points["points"]} == {
        one["id"] for one in RECORDS if one["subject"] == "oil"
    }


def test_a_selection_is_exported_as_csv_and_jsonl(web, tmp_path):
    answer = web.get("/api/export", params={"where": ["subject=oil"], "sort": "year"})
    assert answer.headers["content-disposition"] == 'attachment; filename="articles.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    wanted = sorted((one for one in RECORDS if one["subject"] == "oil"), key=lambda one: one["year"])
    assert [(row["id"], row["text"], row["year"]) for row in rows] == [
        (str(one["id"]), one["text"], str(one["year"])) for one in wanted
    ]
    lines = web.get("/api/export", params={"q": "opec", "format": "jsonl"}).text.splitlines()
    assert len(lines) == asked(web, "/api/table", q="opec")["total"]
    assert json.loads(lines[0]).keys() == {"id", "text", "subject", "year"}
    (tmp_path / "again.csv").write_text(answer.text)
    with Collection.create(tmp_path / "again", DocumentHasher(LSH(8)).fit(["crude oil", "wheat corn"])) as again:
        again.add(tmp_path / "again.csv")
        assert again.get("copy").metadata == {"subject": "oil", "year": 2001}


def test_a_server_that_is_not_writable_changes_nothing(web):
    assert refusal(web.post("/api/remove", json={"expected": 1}))[0] == 403
    assert refusal(web.post("/api/tag", json={"tag": "a", "expected": 1}))[0] == 403


@pytest.fixture
def changing(tmp_path):
    model = DocumentHasher(LSH(16, random_state=0)).fit([one["text"] for one in RECORDS])
    with Collection.create(tmp_path / "articles", model, keys=["tags"]) as collection:
        collection.add(RECORDS)
        with (
            running(collection, Settings(writable=True)) as address,
            httpx.Client(base_url=address, timeout=60) as web,
        ):
            yield web, collection


def test_a_tag_is_a_filter_and_can_be_undone(changing):
    web, collection = changing
    collection.set_metadata("d1", {"tags": "read"})
    collection.set_metadata("d2", {"tags": ["read", "later"]})
    oil = {"where": {"subject": "oil"}}
    n = asked(web, "/api/table", where=["subject=oil"])["total"]
    before = {entry.id: entry.metadata for entry in collection}
    answer = web.post("/api/tag", json=oil | {"tag": "read", "expected": n}).json()
    assert asked(web, "/api/table", where=["subject=oil", "tags=read"])["total"] == n
    new = sum(one["subject"] == "oil" and one["id"] not in ("d1", "d2") for one in RECORDS)
    assert answer["changed"] == new
    assert collection.get("d2").metadata["tags"] == ["read", "later"]
    assert web.post("/api/undo", json={"undo": answer["undo"]}).json() == {"changed": new, "left": []}
    assert {entry.id: {k: v for k, v in entry.metadata.items() if v} for entry in collection} == before
    gone = web.post("/api/tag", json={"ids": ["d1", "d2"], "tag": "read", "remove": True, "expected": 2}).json()
    assert [collection.get(id).metadata["tags"] for id in ("d1", "d2")] == [None, ["later"]]
    web.post("/api/undo", json={"undo": gone["undo"]})
    assert asked(web, "/api/table", where=["tags=read"])["total"] == 2
    collection.set_metadata("d1", {"tags": 7})
    status, sentence = refusal(web.post("/api/tag", json={"ids": ["d1"], "tag": "read", "expected": 1}))
    assert status == 422
    assert "document 'd1' has 7 for 'tags', which is no tag: use another key" in sentence


def test_deleted_documents_come_back_whole(changing):
    web, collection = changing
    whole = {entry.id: entry for entry in collection}
    key = {"Idempotency-Key": "once"}
    body = {"where": ["subject=oil"], "expected": sum(one["subject"] == "oil" for one in RECORDS)}
    answer = web.post("/api/remove", json=body, headers=key).json()
    assert len(collection) == len(RECORDS) - answer["changed"] == len(RECORDS) - body["expected"]
    assert web.post("/api/remove", json=body, headers=key).json() == {"changed": answer["changed"], "undo": None}
    assert asked(web, "/api/facets", keys=["subject"])["facets"][0]["distinct"] == 2
    collection.add([{"id": "copy", "text": "another text now"}])
    undone = web.post("/api/undo", json={"undo": answer["undo"]}).json()
    assert undone == {"changed": answer["changed"] - 1, "left": ["copy"]}
    assert collection.get("copy").text == "another text now"
    for entry in collection:
        if entry.id != "copy":
            old = whole[entry.id]
            assert (entry.text, entry.metadata, entry.code.tolist()) == (old.text, old.metadata, old.code.tolist())
    assert refusal(web.post("/api/undo", json={"undo": answer["undo"]}))[0] == 404


def test_kept_vectors_come_back_as_they_were(tmp_path):
    import numpy as np

    vectors = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32)
    for kind in ("float16", "int8"):
        with Collection.create(tmp_path / kind, LSH(16, random_state=0).fit(vectors), vectors=kind) as collection:
            collection.add(vectors)
            before = [entry.vector for entry in collection]
            with running(collection, Settings(writable=True)) as address:
                answer = httpx.post(f"{address}/api/remove", json={"ids": [3, 4], "expected": 2}, timeout=60).json()
                assert 3 not in collection
                httpx.post(f"{address}/api/undo", json={"undo": answer["undo"]}, timeout=60)
            for id in (3, 4):
                np.testing.assert_array_equal(collection.get(id).vector, before[id])


def test_nothing_is_changed_if_other_documents_are_selected_now(changing):
    web, collection = changing
    status, sentence = refusal(web.post("/api/remove", json={"where": ["subject=oil"], "expected": 3}))
    assert status == 422
    assert "3 were expected: look at them again" in sentence
    assert len(collection) == len(RECORDS)
