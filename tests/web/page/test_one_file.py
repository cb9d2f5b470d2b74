"""`ammi report`: the same page as one file, which asks nobody."""

import re
from pathlib import Path

from playwright.sync_api import expect

from ammi import Collection
from ammi.web.report import make_report
from tests.web.page.conftest import EVIL, OpenPage, until


def test_a_report_is_the_same_page_without_a_server(
    open_page: OpenPage, collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "report.html").write_text(make_report(collection, 2000), "utf-8")
    page = open_page("report.html", base=tmp_path.as_uri())
    expect(page.get_by_text("This page is one file")).to_be_visible()
    expect(page.locator("#size")).to_have_text("202 documents")
    page.locator("#q").fill("disease")
    expect(page.locator(".card .measure").first).to_have_text("found by words")
    first = page.locator(".card h3 a").first
    chosen = first.get_attribute("data-id") or ""
    first.click()
    expect(page.locator(".neighbours .card")).to_have_count(20)
    near = page.locator(".neighbours [data-id]").evaluate_all("links => links.map(link => link.dataset.id)")
    away = {str(hit.id): hit.distance for hit in collection.like(chosen, len(collection))}
    assert [away[id] for id in near] == sorted(away.values())[:20]  # the server orders ties by words
    page.get_by_role("link", name="Watch it drift").click()
    expect(page.locator(".drift .portrait")).to_have_count(2)
    page.get_by_role("link", name="Bits", exact=True).click()
    expect(page.locator(".pushes.up li").first).to_be_visible()
    page.get_by_role("link", name="Map", exact=True).click()
    until(page, "document.querySelector('.stage')?.dataset.names > 0")
    page.go_back()
    expect(page.get_by_role("heading", name="Bit 0", exact=True)).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}#/document/evil")
    expect(page.locator(".document .text")).to_have_text(EVIL)
    page.goto(f"{page.url.partition('#')[0]}#/table")
    expect(page.locator(".sums")).to_contain_text("202 documents")
    page.locator(".facet[data-key='subject_area']").get_by_role("checkbox", name=re.compile("bank")).check()
    expect(page.locator(".sums")).to_contain_text("50 of 202")
    page.locator(".table [data-name='year']").click()
    expect(page.locator("th[aria-sort=ascending]")).to_be_visible()
    years = page.locator(".table td.number").all_inner_texts()
    assert years == sorted(years)
    page.goto(f"{page.url.partition('#')[0]}#/map?where=subject_area%3D%22bank%22")
    expect(page.get_by_role("heading", name="50 documents pass the filters")).to_be_visible()


def test_a_report_says_how_many_documents_it_holds_and_every_tab_works(
    open_page: OpenPage, collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "report.html").write_text(make_report(collection, 120), "utf-8")
    page = open_page("report.html", base=tmp_path.as_uri())
    expect(page.locator("#size")).to_have_text("120 of 202 documents")
    tabs = page.locator("nav [data-view]")
    assert "duplicates" not in tabs.evaluate_all("links => links.map(link => link.dataset.view)")
    for tab in tabs.all():
        tab.click()
        until(page, "!document.querySelector('.waiting, [aria-busy]') && document.querySelector('main').innerText")
        expect(page.locator(".problem")).to_have_count(0)
    expect(page.locator(".numbers")).to_contain_text("this file holds 120 of them")
    page.get_by_role("link", name="Topics", exact=True).click()
    page.locator(".topics th a").first.click()
    expect(page.locator(".side .card").first).to_be_visible()
    page.locator(".side .card h3 a").first.click()
    page.locator(".document .strip").first.click()
    expect(page.locator(".legend.bit .words").first).to_be_visible()
    page.locator("#q").fill("disease")
    page.locator(".card h3 a").first.click()
    expect(page.locator(".document mark").first).to_have_text("disease")
    page.get_by_role("link", name=re.compile("^Compare .")).first.click()
    expect(page.locator(".compared .strip")).to_have_count(2)
