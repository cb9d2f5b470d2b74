"""`ammi report`: the same page as one file, which asks nobody."""

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
