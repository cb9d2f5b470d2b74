"""The API of a real server: the same answers as the collection on this machine, and as plain numpy."""

import base64
import json
import time

import httpx
import numpy as np
import pytest

from ammi.search import Hits
from tests.web.serving import N_BITS, RECORDS, TOKEN

QUESTIONS = ["crude oil prices", "wheat harvest in tonnes", "interest rate of the central bank", "word7"]


def packed(code: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(code), np.uint8)


def as_json(hits: Hits) -> list[dict]:
    return [hit.as_json() for hit in hits]


def without_codes(found: list[dict]) -> list[dict]:
    return [{name: value for name, value in one.items() if name != "code"} for one in found]


@pytest.mark.parametrize("rank", [None, "text", "asymmetric", "distance"])
@pytest.mark.parametrize("where", [[], ["subject=oil,grain", "year>=1970"]])
def test_search_gives_what_the_collection_gives(web, here, rank, where):
    condition = {"subject": ["oil", "grain"], "year": {">=": 1970}} if where else None
    for question in QUESTIONS:
        asked = {"q": question, "k": 7, "where": where, **({"rank": rank} if rank else {})}
        answer = web.get("/api/search", params=asked).json()
        assert without_codes(answer["hits"]) == as_json(here.search(question, 7, condition, rank))
        assert answer["rank"] == rank or (rank is None and answer["rank"] == "text")


def test_codes_and_distances_fit_together(web, here):
    answer = web.get("/api/search", params={"q": QUESTIONS[0], "k": 20}).json()
    own = packed(answer["query"]["code"])
    probabilities = np.array(answer["query"]["probabilities"])
    assert np.array_equal(np.packbits(probabilities > 0.5), own)
    for hit in answer["hits"]:
        assert np.array_equal(packed(hit["code"]), here.get(hit["id"]).code)
        assert hit["distance"] == np.bitwise_count(packed(hit["code"]) ^ own).sum()


def test_a_radius_finds_all_within_it_and_says_how_many(web, here):
    answer = web.get("/api/search", params={"q": QUESTIONS[1], "radius": 9, "k": 5}).json()
    within = here.within(QUESTIONS[1], 9)
    assert len(within) > 5
    assert (without_codes(answer["hits"]), answer["total"]) == (as_json(within[:5]), len(within))


def test_a_filter_of_too_many_conditions_is_the_clients_error(web):
    answer = web.post("/api/search", json={"text": "oil", "where": {f"key{n}": {">=": 1} for n in range(600)}})
    assert (answer.status_code, answer.json()["error"].partition(",")[0]) == (422, "the filter has 600 conditions")


def test_the_code_of_a_query_is_that_of_its_words_without_the_excluded_ones(web, here):
    answer = web.get("/api/search", params={"q": "oil -barrels", "k": 100}).json()
    assert answer["query"]["text"] == "oil -barrels"
    assert (
        answer["query"]["code"]
        == here.encode(["oil"])[0].tobytes().hex()
        != here.encode(["oil barrels"])[0].tobytes().hex()
    )
    for hit in answer["hits"]:
        assert hit["distance"] == (int(hit["code"], 16) ^ int(answer["query"]["code"], 16)).bit_count()


def test_texts_are_cut_where_that_is_asked_for(web):
    hits = web.get("/api/search", params={"q": "oil", "length": 4}).json()["hits"]
    assert {len(hit["text"]) for hit in hits} == {4}


@pytest.mark.parametrize("id", ["d3", "5", "a/b c?"])
def test_a_document_with_the_probability_of_each_bit(web, here, id):
    entry = here.get(id)
    found = web.get(f"/api/documents/{id.replace('/', '%2F').replace('?', '%3F')}").json()
    assert (found["id"], found["text"], found["metadata"]) == (entry.id, entry.text, entry.metadata)
    directions, thresholds, *_ = (here.model.hasher_._arrays()[name] for name in here.model.hasher_.hyperplanes()[:2])
    expected = 1 / (1 + np.exp(thresholds - (here.model.features_.transform([entry.text]) @ directions)[0]))
    assert np.abs(np.array(found["probabilities"]) - expected).max() < 1e-4


def test_like_and_drift_give_what_the_collection_gives(web, here):
    near = web.get("/api/documents/d3/like", params={"k": 6}).json()
    assert without_codes(near["hits"]) == as_json(here.like("d3", 6))
    drift = web.get("/api/documents/d3/drift", params={"distances": "0,3,6,12"}).json()
    assert without_codes(drift["steps"]) == as_json(here.drift("d3", distances=[0, 3, 6, 12]))
    distinct = web.get("/api/documents/d3/drift", params={"distinct": True}).json()
    assert without_codes(distinct["steps"]) == as_json(here.drift("d3", distinct=True))
    from_text = web.get("/api/drift", params={"q": QUESTIONS[2]}).json()
    assert without_codes(from_text["steps"]) == as_json(here.drift(query=QUESTIONS[2]))
    distances = [step["distance"] for step in from_text["steps"]]
    assert distances == sorted(distances)


def test_copies_come_in_pages(web, here):
    pages, offset = [], 0
    while offset is not None:
        page = web.get("/api/duplicates", params={"threshold": 0.5, "limit": 2, "offset": offset}).json()
        if page.get("state") == "computing":  # as the first time on a busy machine
            time.sleep(0.5)
            continue
        pages.append(page)
        offset = page["next"]
    groups = [(one["kept"], [copy["id"] for copy in one["duplicates"]]) for page in pages for one in page["groups"]]
    expected = [(group.kept, [id for id, _ in group.duplicates]) for group in here.duplicates(0.5)]
    assert groups == expected
    assert len(pages) > 1
    assert {(page["total"], page["duplicates"]) for page in pages} == {(len(groups), sum(len(c) for _, c in groups))}


def test_the_figures_are_those_of_the_codes(web, here):
    about = web.get("/api/collection").json()
    bits = np.unpackbits(here.store.export()[1], axis=1)
    assert np.abs(np.array(about["balance"]) - bits.mean(axis=0)).max() < 1e-4
    assert (about["documents"], about["bits"], about["distinct_codes"]) == (
        len(RECORDS),
        N_BITS,
        len(np.unique(bits, axis=0)),
    )
    assert about["entropy"]["independent"] >= about["entropy"]["tree"] >= about["entropy"]["codes"] > 0
    assert [key["name"] for key in about["keys"] if key["indexed"]] == ["subject"]
    assert (about["default_rank"], about["writable"], about["reads"]) == ("text", False, "text")


def ready_map(web):
    end = time.monotonic() + 600  # its process has the lowest priority
    while (found := web.get("/api/map").json())["retry"] is not None:
        assert time.monotonic() < end
        time.sleep(found["retry"])
    return found


def test_the_map_is_rough_at_first_and_then_ready(web, here):
    found = ready_map(web)
    assert (found["state"], found["points"], found["documents"]) == ("ready", len(RECORDS), len(RECORDS))
    assert found["ids"] == here.store.export()[0]
    x = np.frombuffer(base64.b64decode(found["x"]), "<u2")
    y = np.frombuffer(base64.b64decode(found["y"]), "<u2")
    assert len(x) == len(y) == found["points"]
    assert {key for region in found["regions"] for key in region} == {*"xy", "level", "parent", "words", "documents"}
    region = np.frombuffer(base64.b64decode(found["region"]), "<u2")
    counts = np.bincount(region, minlength=len(found["regions"]))
    assert [one["documents"] for one in found["regions"]] == counts.tolist()  # of one level
    assert set(found["colours"]) == {"subject", "year"}
    places = web.post("/api/map/locate", json={"ids": ["d3", "nothing", 5]}).json()["places"]
    assert [(location["id"], location["exact"]) for location in places] == [("d3", True), (5, True)]
    assert abs(places[0]["x"] - x[3] / 65535) < 1e-4


def test_colours_are_values_or_shades(web):
    subject = web.get("/api/map/colours", params={"key": "subject"}).json()
    values = np.frombuffer(base64.b64decode(subject["values"]), np.uint8)
    assert [subject["names"][value] for value in values] == [record["subject"] for record in RECORDS]
    year = web.get("/api/map/colours", params={"key": "year"}).json()
    shades = np.frombuffer(base64.b64decode(year["values"]), np.uint8).astype(int)
    order = np.argsort([record["year"] for record in RECORDS], kind="stable")
    assert year["kind"] == "number"
    assert (np.diff(shades[order]) >= 0).all()
    assert year["ticks"][0] == year["low"] < year["ticks"][2] < year["high"] == year["ticks"][4]
    assert web.get("/api/map/colours", params={"key": "none"}).status_code == 404


def test_a_bit_colours_the_map(web, here):
    found = web.get("/api/map/colours", params={"bit": 3}).json()
    values = np.frombuffer(base64.b64decode(found["values"]), np.uint8)
    own = np.unpackbits(here.store.export()[1], axis=1)[:, 3]
    assert np.array_equal(values, own)
    assert (found["kind"], found["names"], found["counts"][1]) == ("bit", ["0", "1"], own.sum())
    assert web.get("/api/map/colours", params={"bit": N_BITS}).status_code == 404
    for params in ({}, {"bit": 3, "key": "year"}):
        answer = web.get("/api/map/colours", params=params)
        assert (answer.status_code, answer.json()["error"][:15]) == (422, "give a key or a")


def test_bits_have_words_and_regions_of_their_own(web, here):
    ready_map(web)
    every = web.get("/api/bits").json()
    assert [bit["bit"] for bit in every["bits"]] == list(range(N_BITS))
    one = web.get("/api/bits/3", params={"n": 5}).json()
    ones = np.unpackbits(here.store.export()[1], axis=1)[:, 3].astype(bool)
    texts = [set((entry.text or "").lower().split()) for entry in here]
    having = {word: np.array([word in text for text in texts]) for word in (push["word"] for push in one["up"])}
    assert all(has[ones].mean() > has[~ones].mean() for has in having.values())
    shares = [region["ones"] for region in one["regions"]]
    assert shares == sorted(shares, reverse=True)
    n_ones = sum(region["ones"] * region["documents"] for region in one["regions"])
    assert n_ones == pytest.approx(ones.sum(), abs=0.2)
    assert all(push["weight"] < 0 for push in one["down"])
    for value, documents in ((1, one["ones"]), (0, one["zeros"])):
        assert documents
        assert all(np.unpackbits(packed(document["code"]))[3] == value for document in documents)
    assert all(link["a"] == 3 for link in one["links"])


def test_all_documents_as_lines_that_can_be_added_again(web, here):
    lines = [json.loads(line) for line in web.get("/api/all").text.splitlines()]
    assert [line["id"] for line in lines] == [entry.id for entry in here]
    some = web.get("/api/all", params={"where": "subject=bank"}).text.splitlines()
    assert {json.loads(line)["metadata"]["subject"] for line in some} == {"bank"}


def test_lines_may_be_those_of_an_export_or_of_a_file(guarded, web):
    address, here = guarded
    kind = {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {TOKEN}"}
    first, second = web.get("/api/all").text.splitlines()[:2]  # of a collection with the same model
    with httpx.Client(base_url=address, timeout=60, headers=kind) as client:
        assert client.post("/api/documents", content=f"{first}\n\n{second}\n").status_code == 200
        columns = '{"id": "from a file", "text": "oil", "year": 1999}\n{"id": "plain", "text": "wheat"}'
        assert client.post("/api/documents", content=columns).json() == {"ids": ["from a file", "plain"]}
        assert here.get("from a file").metadata == {"year": 1999}
        for bad, words in (
            ('{"id": "a", "text": "x"}\n{"id": ', "line 2: the request is no JSON: "),
            ('{"id": "a", "text": "x"}\n\n{"id": "", "text": "y"}', "line 3: id"),
            ('{"id": "a", "text": "x"}\n[1]', "line 2: the request"),
            ('{"id": "a", "text": "x", "year": 1}\n{"text": 7, "year": 1}', "document 2"),
        ):
            refused = client.post("/api/documents", content=bad)
            assert (refused.status_code, words in refused.json()["error"]) == (422, True), refused.text
        assert "a" not in here
        here.delete(["from a file", "plain"])


def test_a_number_that_is_replaced_by_its_address_stays_a_number(guarded):
    address, here = guarded
    with httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        client.post("/api/documents", json={"documents": [{"id": -77, "text": "oil"}]})
        assert client.put("/api/documents/-77", json={"text": "wheat"}).json() == {"ids": [-77]}
    assert here.get(-77).id == -77
    here.delete([-77])


def test_health_and_metrics(web):
    assert web.get("/health").json() == {"status": "ok"}
    before = web.get("/metrics").text
    web.get("/api/search", params={"q": "oil"})
    after = web.get("/metrics").text
    name = 'ammi_requests_total{address="/api/search",method="GET",status="200"}'
    counts = [
        float(line.split()[-1]) for text in (before, after) for line in text.splitlines() if line.startswith(name)
    ]
    assert counts[-1] - (counts[0] if len(counts) == 2 else 0) == 1
    assert f"ammi_documents {len(RECORDS)}.0" in after


def test_every_address_is_described_with_examples(web):
    described = web.get("/api/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], f"{method} {path} says nothing"
            for parameter in operation.get("parameters", []):
                assert parameter.get("description"), f"{method} {path}: {parameter['name']} says nothing"
    schemas = described["components"]["schemas"]
    assert all(schema.get("description") for schema in schemas.values())
    assert schemas["SearchRequest"]["properties"]["text"]["examples"]


@pytest.mark.parametrize("path", ["/", "/health", "/api/collection", "/api/documents/d3", "/nothing"])
def test_head_is_get_without_its_body(web, path):
    plain = {"Accept-Encoding": "identity"}
    whole, head = web.get(path, headers=plain), web.head(path, headers=plain)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-length"] == str(len(whole.content))


def test_the_description_names_the_token(web):
    description = web.get("/api/openapi.json").json()
    assert description["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert description["security"] == [{}, {"token": []}]  # which not every server asks for
