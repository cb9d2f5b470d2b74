"""Searching, filtering and walking from document to document, with the way back."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Request, Route, expect

from ammi import Collection
from tests.web.page.conftest import EVIL, OpenPage, until


def ids_of(page: Page, inside: str = "main") -> list[str]:
    """The ids of the documents that are listed."""
    return page.locator(f"{inside} .results [data-id]").evaluate_all("links => links.map(link => link.dataset.id)")


# All letters in one task of the browser: however busy the machine is, the page cannot search in between.
TYPE = """(field, letters) => {
  for (const letter of letters) {
    field.value += letter;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
}"""


def type_query(page: Page, query: str) -> None:
    """Type word by word, and wait for the results of each."""
    field = page.locator("#q")
    for word in re.findall(r"\S+\s*", query):
        field.evaluate(TYPE, word)
        expect(page.locator("ol.results")).to_have_attribute(
            "aria-label", f"Documents for {field.input_value().strip()}"
        )
    expect(page).to_have_title(re.compile(re.escape(query)))


def test_results_appear_as_one_types_with_distance_score_and_differing_bits(
    open_page: OpenPage, collection: Collection
) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    type_query(page, "crude oil barrels")
    hits = collection.search("crude oil barrels", 20)
    assert ids_of(page) == [str(hit.id) for hit in hits]
    assert sum("/api/search" in url for url in asked) == 3  # one for each word, not for each letter
    first = page.locator(".card").first
    expect(first.locator(".measure b")).to_have_text(str(hits[0].distance))
    expect(first.locator(".measure summary")).to_have_text(f"score {hits[0].score:.2f}")
    told = first.locator("svg.strip").get_attribute("aria-label")
    assert told is not None
    assert re.match(rf"differs in {hits[0].distance} of 32 bits|the same 32 bits", told)
    expect(first.locator("mark").first).to_be_visible()
    expect(page.locator("#status")).to_have_text("20 documents for crude oil barrels")


def test_letters_typed_while_the_server_is_asked_stay(open_page: OpenPage) -> None:
    """While the page opens, and while it asks for the collection again."""
    page = open_page()
    held: list[Route] = []
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # from here on only `run_for` lets time pass
    page.route("**/api/collection", lambda route: held.append(route))
    page.reload()
    until(page, lambda: bool(held))
    page.locator("#q").evaluate(TYPE, "wheat")
    held.pop().continue_()
    expect(page.locator("main[data-shows]")).to_be_visible()
    page.clock.run_for(1000)
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for wheat")

    page.clock.run_for(5000)
    page.locator("#q").evaluate(TYPE, " exports")
    page.clock.run_for(200)
    until(page, lambda: bool(held))
    page.locator("#q").evaluate(TYPE, " fall")
    held.pop().continue_()
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for wheat exports")
    page.clock.run_for(1000)
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for wheat exports fall")


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []
    ended: list[Request] = []
    page.on("requestfinished", lambda request: ended.append(request))
    page.on("requestfailed", lambda request: ended.append(request))
    page.route(re.compile(r"q=wheat&"), lambda route: held.append(route))
    field = page.locator("#q")
    field.fill("wheat")
    until(page, lambda: bool(held))
    field.fill("bank loan")
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for bank loan")
    with suppress(Error):  # the page may have given up this request
        held[0].continue_()
    until(page, lambda: held[0].request in ended)
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for bank loan")


@pytest.mark.parametrize("rank", ["distance", "asymmetric"])
def test_another_order_can_be_chosen(open_page: OpenPage, collection: Collection, rank: str) -> None:
    page = open_page("#/search?q=wheat+harvest")
    page.locator("#rank").select_option(rank)
    page.wait_for_url(f"**rank={rank}*")
    expected = [str(hit.id) for hit in collection.search("wheat harvest", 20, rank=rank)]
    until(page, lambda: ids_of(page) == expected)


def test_filters_narrow_the_results_and_can_be_removed(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/search?q=oil")
    page.get_by_text("Filter", exact=True).click()
    page.locator("#filter-key").select_option("subject_area")
    page.get_by_role("checkbox", name=re.compile("grain")).check()
    page.wait_for_url("**where=*")
    chip = page.get_by_role("button", name="Remove the filter subject_area is grain")
    expect(chip).to_be_visible()
    expect(page.locator(".card .facts").first).to_contain_text("grain")
    where = {"subject_area": "grain"}
    assert ids_of(page) == [str(hit.id) for hit in collection.search("oil", 20, where)]
    chip.click()
    expect(page.locator(".card .facts").first).to_contain_text("oil")
    page.goto(page.url + "&where=year%3E%3D2020")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


def test_more_results_come_on_demand(open_page: OpenPage) -> None:
    page = open_page("#/search?q=oil")
    expect(page.locator(".card")).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".card")).to_have_count(40)
    assert "k=40" in page.url


@pytest.mark.parametrize("address", ["#/search?q=zzzyzx&rank=distance", "#/search?q=zzzyzx", "#/map?q=zzzyzx"])
def test_words_that_nobody_knows_find_nothing(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)


def test_words_that_only_documents_know_find_these(open_page: OpenPage, collection: Collection) -> None:
    assert not collection.knows("onerror")
    page = open_page("#/search?q=onerror")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator('[data-id="evil"]')).to_be_visible()


def test_the_first_page_offers_ways_to_begin(open_page: OpenPage) -> None:
    page = open_page()
    expect(page.get_by_text("202 documents, each a code of 32 bits")).to_be_visible()
    expect(page.locator(".results [data-id]").first).to_be_visible()
    page.locator(".welcome .chips a").first.click()
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator("#q")).not_to_have_value("")


def test_walking_goes_on_and_back_and_forward(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/search?q=oil+barrels")
    first = page.locator(".card h3 a").first
    first_id = first.get_attribute("data-id") or ""
    first_title = first.inner_text()
    first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(first_title)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator(".neighbours .card")).to_have_count(20)
    assert ids_of(page, ".neighbours") == [str(hit.id) for hit in collection.like(first_id, 20)]
    second = page.locator(".neighbours h3 a").first
    second_title = second.inner_text()
    second.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(second_title)
    way = page.get_by_role("navigation", name="The way here").get_by_role("link")
    expect(way).to_have_text(["“oil barrels”", first_title])
    link = page.url
    way.last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(first_title)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(second_title)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(first_title)
    page.go_back()
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for oil barrels")
    expect(page.locator("#q")).to_have_value("oil barrels")
    expect(page.locator(f'[data-id="{first_id}"]')).to_be_focused()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text(first_title)
    page.set_viewport_size({"width": 1400, "height": 400})
    page.go_back()
    page.locator("ol.results .card").nth(10).locator("h3 a").scroll_into_view_if_needed()
    left_at = page.evaluate("scrollY")
    assert left_at > 400
    page.locator("ol.results .card").nth(10).locator("h3 a").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    until(page, f"Math.abs(scrollY - {left_at}) < 2")
    again = open_page(link[link.index("#") :])  # a link that somebody was sent
    expect(again.get_by_role("heading", level=1)).to_have_text(second_title)
    expect(again.get_by_role("navigation", name="The way here").get_by_role("link").last).to_have_text(first_title)


def test_a_text_that_is_markup_is_shown_as_text(open_page: OpenPage) -> None:
    page = open_page("#/search?q=oil+barrels+script")
    expect(page.locator('[data-id="evil"]')).to_contain_text("<script>document.title")
    page.locator('[data-id="evil"]').click()
    expect(page.locator(".document .text")).to_have_text(EVIL)
    page.goto(page.url.replace("/document/", "/drift/"))
    expect(page.locator(".portrait h2").first).to_contain_text("<script>")
    assert page.locator("main script, main img").count() == 0
    assert page.title() != "owned"


def test_a_document_that_is_not_there_says_so(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("#/document/nobody")
    expect(page.get_by_role("alert")).to_contain_text("No document has the id 'nobody'.")
    expect(page.get_by_role("link", name="Search instead")).to_be_visible()
    page.goto(page.url.replace("nobody", "oil%2F0"))
    expect(page.get_by_role("heading", level=1)).to_have_text("oil news number 0")
    assert all("404" in one for one in complaints)
    complaints.clear()
