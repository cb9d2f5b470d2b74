"""The page by keyboard, for a screen reader, on a phone, in the dark, and when things go wrong."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from ammi import Collection, DocumentHasher
from ammi.hashers import LSH
from tests.web.page.conftest import OpenPage, Server, document, until

VIEWS = {  # the address, and what is there when all of it is
    "begin": ("#/search", ".welcome:has(.chips) .card"),
    "search": ("#/search?q=oil", ".card .strip"),
    "document": ("#/document/oil%2F0?t=%3Foil", ".neighbours .card"),
    "compare": ("#/compare?a=oil%2F0&b=oil%2F4", ".apart li"),
    "drift": ("#/drift/oil%2F0", ".drift .strip"),
    "map": ("#/map", ".side:has(.legend) .regions li"),
    "map by a bit": ("#/map?bit=3", ".side:has(.legend .words) .regions li"),
    "topics": ("#/topics", ".topics tbody tr"),
    "map with results": ("#/map?q=oil", ".side:has(.legend) .card"),
    "table": ("#/table", ".split:has(.facet) .table"),
    "browsing": ("#/search?where=subject_area%3D%22oil%22", ".card"),
    "map with a filter": ("#/map?where=subject_area%3D%22oil%22", ".side:has(.legend):has(.chip.on) .regions li"),
    "bits": ("#/bits?bit=3", "main:has(.arcs) .pushes li"),
    "duplicates": ("#/duplicates", ".group"),
    "figures": ("#/figures", ".numbers"),
    "not there": ("#/document/nobody", ".problem"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_no_view_has_a_serious_finding_of_axe_or_is_wider_than_the_screen(
    open_page: OpenPage, complaints: list[str], width: int, scheme: str
) -> None:
    page = open_page(width=width, color_scheme=scheme)
    found = {}
    for name, (address, there) in VIEWS.items():
        page.goto(f"{page.url.partition('#')[0]}{address}")
        expect(page.locator(there).first).to_be_visible()
        until(page, "!document.querySelector('.waiting, [aria-busy]')")
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        bad = [
            f"{one['id']}: {one['nodes'][0]['html'][:120]}"
            for one in violations
            if one["impact"] in ("serious", "critical")
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            bad.append("wider than the screen")
        if bad:
            found[name] = bad
    assert found == {}
    assert all("404" in one for one in complaints)  # of the document that is not there
    complaints.clear()


def test_everything_is_reached_by_the_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page()
    expect(page.locator(".results [data-id]").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("oil barrels")
    expect(page.locator("ol.results")).to_have_attribute("aria-label", "Documents for oil barrels")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".results [data-id]").nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".results [data-id]").nth(1)).to_be_focused()
    outline = page.locator(".card").nth(1).evaluate("card => getComputedStyle(card).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("End")
    expect(page.locator(".results [data-id]").last).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    title = page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_be_focused()


AWKWARD = [
    {"id": "line", "text": "a long line of oil " * 10_000},
    {"id": "word", "text": "w" * 3000 + " oil"},
    {"id": "right to left", "text": "שלום עולם oil"},
    {"id": "empty", "text": ""},
]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Documents without metadata, of one long line, one long word, letters from right to left, no text."""
    model = DocumentHasher(LSH(32, random_state=0)).fit([document(number)["text"] for number in range(50)])
    location = tmp_path_factory.mktemp("awkward") / "odd"
    with Collection.create(location, model) as created:
        created.add(AWKWARD)
    server = Server(location, "--port", "0", "--writable")
    yield server
    server.stop()


@pytest.mark.parametrize("width", [390, 1400])
def test_awkward_documents_fit_on_the_page(open_page: OpenPage, awkward: Server, width: int) -> None:
    page = open_page(width=width, base=awkward.address)
    documents = {f"document/{one['id']}": f".document .facts:has-text('id{one['id']}')" for one in AWKWARD}
    views = {
        "search?q=oil": "ol.results[aria-label='Documents for oil']",
        "bits": "nav.bits a",
        "figures": ".numbers",
        "duplicates": ".message",
        "map": ".side .hint:has-text('All 4 documents')",
        "topics": ".topics tbody tr",
    }
    for view, there in (documents | views).items():
        page.goto(f"{awkward.address}/#/{view}")
        expect(page.locator(there).first).to_be_visible()
        until(page, "!document.querySelector('.waiting, [aria-busy]')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        if view in views:
            assert "null" not in page.locator("main").inner_text()
    page.goto(f"{awkward.address}/#/document/empty")
    expect(page.get_by_text("Its text is empty.")).to_be_visible()


def test_the_page_follows_changes(open_page: OpenPage, awkward: Server) -> None:
    page = open_page(base=awkward.address)
    expect(page.locator("#size")).to_have_text("4 documents")
    with Collection.open(awkward.address) as collection:
        collection.add([{"id": "new", "text": "new oil"}])
        page.evaluate("{ const now = Date.now; Date.now = () => now() + 3100; }")  # what the page knows counts as old
        page.get_by_role("link", name="Figures").click()
        expect(page.locator("#size")).to_have_text("5 documents")
        expect(page.locator(".numbers dd").first).to_have_text("5")
        collection.delete(["new"])


def test_filters_fit_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("#/search?q=oil", width=390)
    page.get_by_text("Filter", exact=True).click()
    expect(page.get_by_label("Only documents whose")).to_be_visible()
    expect(page.locator(".choice").first).to_be_visible()
    box = page.locator(".filter > div").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.get_by_label("Only documents whose").input_value() == "subject_area"  # the key that was named


def test_the_first_tab_skips_to_the_content(open_page: OpenPage) -> None:
    page = open_page("#/figures")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert page.url.endswith("#/figures")


def test_colours_follow_the_system_and_the_switch(open_page: OpenPage) -> None:
    page = open_page("#/figures", color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    dark = page.evaluate(paper)
    page.locator("#theme").click()  # as the system, then light
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light
    page.locator("#theme").click()
    assert page.evaluate(paper) == dark


def test_a_token_is_asked_for_and_a_server_that_is_gone_is_said_to_be_gone(
    open_page: OpenPage, location: Path, complaints: list[str]
) -> None:
    secret = ("--token", "a long word that nobody knows")
    server = Server(location, "--port", "0", *secret)
    page = open_page(base=server.address)
    page.get_by_label("The token that ammi serve").fill("a wrong one")
    page.get_by_role("button", name="Open the collection").click()
    expect(page.get_by_role("alert")).to_contain_text("token")
    page.get_by_label("The token that ammi serve").fill("a long word that nobody knows")
    page.get_by_role("button", name="Open the collection").click()
    expect(page.locator("#size")).to_have_text("202 documents")
    assert all("401" in one for one in complaints)
    complaints.clear()

    page = open_page("#token=a+long+word+that+nobody+knows", base=server.address)
    expect(page.locator("#size")).to_have_text("202 documents")
    assert "token" not in page.url
    server.stop()
    page.locator("#q").fill("oil")
    expect(page.get_by_role("alert")).to_contain_text("check that ammi serve is still running")
    server = Server(location, "--port", str(server.port), *secret)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    server.stop()
    assert all("ERR_" in one for one in complaints)
    complaints.clear()


def test_a_broken_address_opens_the_search(open_page: OpenPage) -> None:
    page = open_page("#/nothing/%E0%A4%A?bit=x")
    expect(page.get_by_text(re.compile("202 documents, each a code"))).to_be_visible()
