"""What makes the API easy to use: pages, chosen fields, several queries at once, and mistakes that are named."""

import gzip
import json
from collections.abc import Iterator
from urllib.request import Request, urlopen

import httpx
import pytest

from ammi import Collection
from ammi.search.locations import name_of
from ammi.web.settings import checked_origin
from tests.web.serving import RECORDS, TOKEN, serving

ORIGIN = "https://notes.example.org"


@pytest.fixture(scope="module")
def open_to(location) -> Iterator[str]:
    """A server with a title, a token, and another origin whose pages may ask."""
    options = ("--origin", f"{ORIGIN}/", "--title", "My notes", "--token", TOKEN)
    with serving(location, *options) as address:
        yield address


@pytest.mark.parametrize("asked", [{"q": "crude oil prices"}, {"q": "crude oil prices", "where": "subject=oil"}])
def test_pages_of_a_search_are_those_of_the_whole(web, here, asked):
    where = {"subject": "oil"} if "where" in asked else None
    whole = [hit.id for hit in here.search(asked["q"], 30, where)]
    pages = [web.get("/api/search", params={**asked, "k": 10, "offset": n}).json() for n in (0, 10, 20)]
    assert [hit["id"] for page in pages for hit in page["hits"]] == whole
    assert [page["next"] for page in pages] == [10, 20, 30]


def test_the_last_page_tells_the_total(web, here):
    n = sum(record["subject"] == "bank" for record in RECORDS)
    page = web.get("/api/search", params={"q": "loan", "where": "subject=bank", "k": 50, "offset": 50}).json()
    assert (len(page["hits"]), page["total"], page["next"]) == (n - 50, n, None)
    within = web.get("/api/search", params={"q": "loan", "radius": 12, "k": 3, "offset": 3}).json()
    assert [hit["id"] for hit in within["hits"]] == [hit.id for hit in here.within("loan", 12)[3:6]]
    assert (within["total"], within["next"]) == (len(here.within("loan", 12)), 6)
    beyond = web.get("/api/search", params={"q": "loan", "k": 10, "offset": 995})
    assert (beyond.status_code, "first 1,000 documents" in beyond.json()["error"]) == (422, True)


def test_neighbours_come_in_pages(web, here):
    near = web.get("/api/documents/d3/like", params={"k": 4, "offset": 4}).json()
    assert [hit["id"] for hit in near["hits"]] == [hit.id for hit in here.like("d3", 8)[4:]]
    assert near["next"] == 8


def test_documents_come_in_pages_with_their_number(web, here):
    ids = [entry.id for entry in here]
    first = web.get("/api/documents").json()
    assert [one["id"] for one in first["documents"]] == ids[:20]
    assert (first["total"], first["offset"], first["next"]) == (len(ids), 0, 20)
    last = web.get("/api/documents", params={"offset": 240, "limit": 100, "fields": "text", "length": 5}).json()
    assert last["documents"] == [{"id": id, "text": (here.get(id).text or "")[:5]} for id in ids[240:]]
    assert last["next"] is None
    banks = web.get("/api/documents", params={"where": "subject=bank", "limit": 3, "offset": 1}).json()
    assert [one["id"] for one in banks["documents"]] == [e.id for e in here if e.metadata["subject"] == "bank"][1:4]
    assert banks["total"] == 80


def test_the_list_follows_changes(guarded):
    address, here = guarded
    with httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        before = client.get("/api/documents").json()["total"]
        here.add([{"id": "new in the list", "text": "oil"}])
        page = client.get("/api/documents", params={"offset": before}).json()
        assert (page["total"], [one["id"] for one in page["documents"]]) == (before + 1, ["new in the list"])
        here.delete(["new in the list"])
        assert client.get("/api/documents").json()["total"] == before


def test_only_the_fields_that_are_asked_for(web):
    hits = web.get("/api/search", params={"q": "oil", "fields": "score,distance"}).json()["hits"]
    assert {tuple(hit) for hit in hits} == {("id", "distance", "score")}
    near = web.post("/api/like", json={"id": "d3", "fields": ["code"]}).json()
    assert {tuple(hit) for hit in near["hits"]} == {("id", "code")}
    assert [*web.get("/api/documents/d3?fields=metadata").json()] == ["id", "metadata"]
    assert web.post("/api/get?fields=text&length=3", json={"ids": [5]}).json() == {
        "documents": [{"id": 5, "text": RECORDS[5]["text"][:3]}]
    }
    refused = web.get("/api/search", params={"q": "oil", "fields": "scores"})
    assert (refused.status_code, "'score'" in refused.json()["error"]) == (422, True)


def test_a_document_shows_where_the_words_of_a_query_stand(web, here):
    hit = here.search("crude oil", 1)[0]
    why = web.get(f"/api/documents/{hit.id}", params={"q": "crude oil"}).json()["why"]
    assert (why["passage"], why["start"], why["words"]) == (*hit.why[:2], [[*place] for place in hit.why.words])
    assert web.get(f"/api/documents/{hit.id}").json()["why"] is None


def test_several_queries_at_once(web):
    queries = ["crude oil prices", "wheat harvst", "nobody has xyzzyx"]
    options = {"k": 4, "where": {"year": {">=": 1970}}, "length": 9}
    one_by_one = [web.post("/api/search", json={"text": text, **options}).json() for text in queries]
    many = web.post("/api/search_many", json={"queries": [{"text": text} for text in queries], **options})
    assert many.json() == {"answers": one_by_one}
    near = web.post("/api/search_many", json={"queries": [{"text": "oil"}], "radius": 9, "fields": ["distance"]})
    assert {tuple(hit) for hit in near.json()["answers"][0]["hits"]} == {("id", "distance")}
    refused: list[list[dict[str, str]]] = [[], [{"text": "oil"}] * 101, [{}]]
    for wrong in refused:
        assert web.post("/api/search_many", json={"queries": wrong}).status_code == 422
    large = web.post("/api/search_many", json={"queries": [{"text": "oil"}] * 11, "k": 1000})
    assert (large.status_code, "11,000 documents" in large.json()["error"]) == (422, True)


def test_a_client_in_python_asks_several_queries_at_once(address, here):
    queries = [f"{record['text']} prices" for record in RECORDS[:70]]
    with Collection.open(address) as there:
        assert there.search_many(queries, 3) == here.search_many(queries, 3)
        assert there.search_many(queries[:12], 1000) == here.search_many(queries[:12], 1000)
        assert [entry.id for entry in there] == [entry.id for entry in here]


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("GET", "/api/search?q=oil&offest=10", "'offest' is no parameter of GET /api/search: it takes"),
        ("GET", "/api/documents?k=3", "it takes where, offset, limit, length, fields"),
        ("GET", "/api/collection?x=1", "it takes none"),
        ("GET", "/health?x=1", "'x' is no parameter"),
        ("POST", "/api/search?text=oil", "'text' is no parameter of POST /api/search"),
    ],
)
def test_unknown_parameters_are_refused(web, method, path, words):
    refused = web.request(method, path, json={"text": "oil"} if method == "POST" else None)
    assert (refused.status_code, words in refused.json()["error"]) == (422, True), refused.text


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_without_its_content_type_is_named(web, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    refused = web.post("/api/search", content=b'{"text": "oil"}', headers=headers)
    assert refused.status_code == 415
    assert refused.json()["error"] == (
        f"the content type is {kind or 'missing'}: send the header Content-Type: application/json"
    )
    right = {"Content-Type": "application/json; charset=utf-8"}
    assert web.post("/api/search", content=b'{"text": "oil"}', headers=right).status_code == 200


@pytest.mark.parametrize("path", ["/api/search?q=oil&k=200", "/api/all", "/api/bits", "/page/app.js"])
def test_answers_are_compressed_for_those_who_ask(address, path):
    plain = urlopen(f"{address}{path}").read()
    with urlopen(Request(f"{address}{path}", headers={"Accept-Encoding": "gzip"})) as answer:
        packed = answer.read()
        assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 2


def test_pages_of_a_named_origin_may_ask_and_no_others(open_to):
    with httpx.Client(base_url=open_to, timeout=60) as client:
        asks = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {TOKEN}"}
        answer = client.post("/api/search", json={"text": "oil"}, headers=asks)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)
        assert "access-control-allow-credentials" not in answer.headers
        before = {
            "Origin": ORIGIN,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
        }
        assert client.options("/api/search", headers=before).status_code == 200
        without = client.get("/api/collection", headers={"Origin": ORIGIN})  # the token is still needed
        assert (without.status_code, without.headers["access-control-allow-origin"]) == (401, ORIGIN)
        for other in ("https://evil.example", "null", f"{ORIGIN}:8443", "http://notes.example.org"):
            refused = client.get("/api/collection", headers={**asks, "Origin": other})
            assert (refused.status_code, "--origin" in refused.json()["error"]) == (403, True)
            assert "access-control-allow-origin" not in refused.headers
            assert client.options("/api/search", headers={**before, "Origin": other}).status_code == 400


@pytest.mark.parametrize(
    "wrong", ["*", "null", "example.org", "https://", "https://a.b/path", "ftp://a.b", "https://u@b"]
)
def test_an_origin_is_checked(wrong):
    with pytest.raises(ValueError, match="write https://HOST"):
        checked_origin(wrong)


def test_a_collection_has_a_title(open_to, web):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert httpx.get(f"{open_to}/api/collection", headers=headers, timeout=60).json()["name"] == "My notes"
    assert web.get("/api/collection").json()["name"] == "articles"


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("/tmp/ammi-demo/index", "ammi-demo"),
        ("/tmp/news/", "news"),
        ("/index", "index"),
        ("postgresql://user:secret@host/library#notes", "notes"),
        ("postgresql://user:secret@host", "user@host"),
    ],
)
def test_the_name_of_a_collection_says_something(location, name):
    assert name_of(location) == name


def test_the_description_has_all_that_it_names(web):
    described = web.get("/api/openapi.json").json()
    named = {part.partition('"')[0] for part in json.dumps(described).split('"#/components/schemas/')[1:]}
    assert named <= described["components"]["schemas"].keys()


def test_the_documentation_is_served_without_other_hosts(open_to):
    page = httpx.get(f"{open_to}/docs", timeout=60)  # without the token, as the page
    assert page.status_code == 200
    assert "http" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
