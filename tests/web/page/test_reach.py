"""The page by keyboard, for a screen reader, on a phone, in the dark, and when things go wrong."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.web.page.conftest import OpenPage, Server, until

VIEWS = {  # the address, and what is there when all of it is
    "begin": ("#/search", ".welcome:has(.chips) .card"),
    "search": ("#/search?q=oil", ".card .strip"),
    "document": ("#/document/oil%2F0?t=%3Foil", ".neighbours .card"),
    "drift": ("#/drift/oil%2F0", ".drift .strip"),
    "map": ("#/map", ".side:has(.legend) .regions li"),
    "map with results": ("#/map?q=oil", ".side:has(.legend) .card"),
    "bits": ("#/bits?bit=3", "main:has(.arcs) .pushes li"),
    "copies": ("#/copies", ".group"),
    "figures": ("#/figures", ".numbers"),
    "not there": ("#/document/nobody", ".problem"),
}
DARK = ("search", "document", "map with results", "bits", "not there")  # where there are colours of their own


@pytest.mark.parametrize(("width", "scheme", "views"), [(390, "light", VIEWS), (1400, "dark", DARK)])
def test_no_view_has_a_serious_finding_of_axe_or_is_wider_than_the_screen(
    open_page: OpenPage, complaints: list[str], width: int, scheme: str, views: Iterable[str]
) -> None:
    page = open_page(width=width, color_scheme=scheme)
    found = {}
    for name in views:
        address, there = VIEWS[name]
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
    open_page: OpenPage, place: Path, complaints: list[str]
) -> None:
    secret = ("--token", "a long word that nobody knows")
    server = Server(place, "--port", "0", *secret)
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
    expect(page.get_by_role("alert")).to_contain_text("see whether ammi serve is still running")
    server = Server(place, "--port", str(server.port), *secret)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    server.stop()
    assert all("ERR_" in one for one in complaints)
    complaints.clear()


def test_a_broken_address_opens_the_search(open_page: OpenPage) -> None:
    page = open_page("#/nothing/%E0%A4%A?bit=x")
    expect(page.get_by_text(re.compile("202 documents, each a code"))).to_be_visible()
