"""The table, counts to click on, histograms to brush, filters in sight, and changes with undo."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ammi import LSH, Collection, DocumentHasher
from tests.web.page.conftest import DOCUMENTS, OpenPage, Server, document, until

SPORTS = "#/table?where=subject_area%3D%22bank%22"


def ids_of(page: Page) -> list[str]:
    return page.locator(".table [data-id]").evaluate_all("links => links.map(link => link.dataset.id)")


def facet(page: Page, key: str):
    return page.locator(f".facet[data-key='{key}']")


def test_a_table_is_browsed_sorted_and_paged_without_a_query(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="Table", exact=True).click()
    expect(page.locator(".sums")).to_contain_text("202 documents")
    expect(page.locator(".table tbody tr")).to_have_count(50)
    assert ids_of(page) == [one["id"] for one in DOCUMENTS[:50]]
    page.locator(".table [data-name='year']").click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("year ↑")
    by_year = [one["id"] for one in sorted(DOCUMENTS, key=lambda one: one["year"])]
    until(page, lambda: ids_of(page) == by_year[:50])
    page.get_by_role("link", name="Next page").click()
    until(page, lambda: ids_of(page) == by_year[50:100])
    page.locator(".table [data-name='year']").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("year ↓")
    down = [one["id"] for one in sorted(DOCUMENTS, key=lambda one: -one["year"])]
    until(page, lambda: ids_of(page) == down[:50])
    assert "page=" not in page.url
    page.go_back()
    until(page, lambda: ids_of(page) == by_year[50:100])
    page.locator(".table [data-id]").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_counts_are_linked_and_filters_are_removed(open_page: OpenPage) -> None:
    page = open_page("#/table")
    facet(page, "subject_area").get_by_role("checkbox", name=re.compile("bank")).check()
    banks = [one for one in DOCUMENTS if one["subject_area"] == "bank"]
    expect(page.locator(".sums")).to_contain_text(f"{len(banks)} of 202 documents")
    years = Counter(str(one["year"]) for one in banks)
    for year, n in years.items():
        expect(facet(page, "year").locator(".choice", has_text=year)).to_contain_text(str(n))
    oil = facet(page, "subject_area").locator(".choice", has_text="oil")
    expect(oil).to_contain_text(str(sum(one["subject_area"] == "oil" for one in DOCUMENTS)))
    expect(facet(page, "subject_area").get_by_role("checkbox", name=re.compile("bank"))).to_be_focused()
    facet(page, "year").get_by_role("checkbox", name=re.compile("1989")).check()
    expect(page.locator(".sums")).to_contain_text(f"{years['1989']} of 202")
    page.get_by_role("button", name="Remove the filter subject_area is bank").click()
    n = sum(one["year"] == 1989 for one in DOCUMENTS)
    expect(page.locator(".sums")).to_contain_text(f"{n} of 202")


def test_a_search_can_be_a_table(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/search?q=vaccine")
    page.get_by_role("link", name="Show as a table").click()
    hits = [hit for hit in collection.search("vaccine", 1000) if hit.why and hit.why.words]
    expect(page.locator(".sums")).to_contain_text(f"{len(hits)} of 202")
    assert ids_of(page) == [str(hit.id) for hit in hits[:50]]
    page.locator("#q").fill("wheat")
    expect(page.get_by_role("button", name="Remove the search for wheat")).to_be_visible()
    page.get_by_role("button", name="Remove the search for wheat").click()
    expect(page.locator(".sums")).to_contain_text("202 documents")


def test_a_filter_without_words_lists_its_documents(open_page: OpenPage) -> None:
    """P8: there was the welcome page."""
    page = open_page("#/search?where=subject_area%3D%22grain%22")
    expect(page.get_by_text("50 documents, as they were added.")).to_be_visible()
    expect(page.locator(".results .card")).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".results .card")).to_have_count(40)
    page.get_by_role("button", name="Remove the filter subject_area is grain").click()
    expect(page.locator(".welcome")).to_be_visible()


def test_a_filter_is_in_sight_on_the_map_and_leads_to_the_table(open_page: OpenPage) -> None:
    page = open_page("#/map?where=subject_area%3D%22grain%22")
    expect(page.get_by_role("button", name="Remove the filter subject_area is grain")).to_be_visible()
    expect(page.get_by_role("heading", name="50 documents pass the filters")).to_be_visible()
    page.get_by_role("link", name="Show as a table").click()
    expect(page.locator(".sums")).to_contain_text("50 of 202 documents")
    page = open_page("#/map")
    page.locator(".regions button").first.click()
    n = page.locator(".side h2").nth(1).inner_text().split()[0]
    page.get_by_role("link", name="Show as a table").click()
    expect(page.locator(".sums")).to_contain_text(f"{n} of 202")
    expect(page.get_by_role("button", name=re.compile("Remove the region"))).to_be_visible()


def test_the_selection_is_saved_as_a_file(open_page: OpenPage) -> None:
    page = open_page(f"{SPORTS}&sort=-year")
    with page.expect_download() as saving:
        page.get_by_role("link", name="Save as CSV").click()
    rows = list(csv.DictReader(io.StringIO(saving.value.path().read_text())))
    banks = sorted((one for one in DOCUMENTS if one["subject_area"] == "bank"), key=lambda one: -one["year"])
    assert [row["id"] for row in rows] == [one["id"] for one in banks]
    assert rows[0].keys() == {"id", "text", "title", "subject_area", "year"}
    with page.expect_download() as saving:
        page.get_by_role("link", name="Save as JSONL").click()
    assert len(saving.value.path().read_text().splitlines()) == len(banks)
    assert page.get_by_role("group", name="Take the documents along").get_by_role("button").count() == 1  # read-only


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server that may be changed, of documents with many different values."""
    documents = [
        document(number)
        | {
            "serial": f"no {number % 240}",
            "place": f"town {number % 90}",
            "size": number * number,
            "day": f"{1990 + number % 12}-0{number % 9 + 1}-11T{number % 24:02}:30:00",
        }
        for number in range(300)
    ]
    documents.append({"id": "twin", "text": documents[0]["text"], "place": "town 0", "year": 1987})
    model = DocumentHasher(LSH(32, random_state=0)).fit([one["text"] for one in documents])
    location = tmp_path_factory.mktemp("many") / "places"
    with Collection.create(location, model) as created:
        created.add(documents)
    server = Server(location, "--port", "0", "--writable")
    server.wait_for_map()
    yield server, location
    server.stop()


def test_all_values_are_found_and_ranges_are_brushed(open_page: OpenPage, many: tuple[Server, Path]) -> None:
    page = open_page("#/table", base=many[0].address)
    place = facet(page, "place")
    expect(place.locator(".choice")).to_have_count(12)
    place.get_by_role("button", name="Show more values").click()
    expect(place.locator(".choice")).to_have_count(62)
    place.get_by_label("Find a value of place").fill("town 77")
    expect(place.locator(".choice")).to_have_count(1)
    place.get_by_role("checkbox", name=re.compile("town 77")).check()
    expect(page.locator(".sums")).to_contain_text("3 of 301")
    page.get_by_role("button", name="Remove the filter place is town 77").click()
    expect(page.locator(".sums b")).to_have_text("301")

    until(page, "!document.querySelector('.waiting, [aria-busy]')")
    chart = facet(page, "day").locator(".histogram")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    bar = box["width"] / chart.locator("rect.own").count()
    page.mouse.move(box["x"] + bar / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 2.5 * bar, box["y"] + 25, steps=4)
    page.mouse.up()
    page.wait_for_url("**where=day*")
    chips = page.locator(".bar .chip.on")
    expect(chips).to_have_count(2)
    low, high = (re.search(r"\d{4}-\d\d-\d\d", text).group() for text in chips.all_inner_texts())  # type: ignore[union-attr]
    with Collection.open(many[1]) as collection:
        passing = sum(low <= entry.metadata.get("day", "") < high for entry in collection)
    expect(page.locator(".sums b")).to_have_text(str(passing))
    assert 0 < passing < 301

    with page.expect_response(lambda answer: "/api/facets" in answer.url):
        page.goto(f"{many[0].address}/#/table")
    expect(page.locator(".bar .chip.on")).to_have_count(0)
    until(page, "!document.querySelector('.waiting, [aria-busy]')")
    dates = facet(page, "day").locator(".range input")
    dates.first.fill("1990-01-11")
    assert all(dates.evaluate_all("fields => fields.map(one => one.scrollWidth <= one.clientWidth)"))  # not cut off
    size = facet(page, "size")
    size.get_by_label("size from").fill("100")
    size.get_by_label("size to").fill("400")
    page.keyboard.press("Enter")
    expect(page.locator(".sums")).to_contain_text("11 of 301")


def test_a_range_of_dates_has_its_last_day(open_page: OpenPage, many: tuple[Server, Path]) -> None:
    """0 documents of a day: those with a time of day came after it."""
    page = open_page("#/table", base=many[0].address)
    with Collection.open(many[1]) as collection:
        days = [entry.metadata.get("day", "") for entry in collection]
    for first, last, n in (
        ("1990-01-11", "1990-01-11", sum(day.startswith("1990-01-11") for day in days)),
        ("1991", "1992-02", sum("1991" <= day < "1992-03" for day in days)),
        ("1990-01-11 00:31", "1990-01-11 12:31", sum("1990-01-11T00:31" <= day <= "1990-01-11T12:31" for day in days)),
    ):
        facet(page, "day").get_by_label("day from").fill(first)
        facet(page, "day").get_by_label("day to").fill(last)
        facet(page, "day").get_by_role("button", name="Apply").click()
        expect(page.locator(".sums")).to_contain_text(f"{n} of 301")
        assert 0 < n < 301
        if last == "1992-02":
            expect(facet(page, "day").get_by_label("day to")).to_have_value(last)
    facet(page, "day").get_by_label("day to").fill("16 April")
    facet(page, "day").get_by_role("button", name="Apply").click()
    assert facet(page, "day").get_by_label("day to").evaluate("field => field.validationMessage").startswith("Write a")
    expect(page.locator(".sums")).to_contain_text(f"{n} of 301")


def test_keys_of_many_values_stand_below_others(open_page: OpenPage, many: tuple[Server, Path]) -> None:
    page = open_page("#/table", base=many[0].address)
    facet(page, "place").wait_for()
    keys = page.locator(".facet").evaluate_all("facets => facets.map(one => one.dataset.key)")
    assert keys[-1] == "serial"  # 240 values
    assert set(keys) >= {"place", "day", "size", "subject_area"}


def test_a_message_goes_with_the_next_address_unless_it_can_be_answered(
    open_page: OpenPage, many: tuple[Server, Path]
) -> None:
    page = open_page("#/table", base=many[0].address, permissions=["clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".notice")).to_have_text(re.compile("The link is copied"))
    page.get_by_role("link", name="Topics").click()
    expect(page.locator(".topics")).to_be_visible()
    expect(page.locator(".notice")).to_have_count(0)


def test_tags_and_deletions_are_undone(open_page: OpenPage, many: tuple[Server, Path], complaints: list[str]) -> None:
    server, location = many
    page = open_page("#/table?where=place%3D%22town%205%22", base=server.address)
    with Collection.open(location) as collection:
        before = {entry.id: (entry.text, entry.metadata, entry.code.tolist()) for entry in collection}
        page.get_by_text("Tag…").click()
        expect(page.get_by_label("Tag", exact=True)).to_be_focused()
        page.keyboard.type("to read")
        page.keyboard.press("Enter")
        expect(page.locator(".notice")).to_contain_text("4 documents with the tag to read.")
        expect(page.locator(".table")).to_contain_text("to read")
        page.goto(f"{server.address}/#/table?where=tags%3D%22to%20read%22")
        expect(page.locator(".sums")).to_contain_text("4 of 301")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".notice")).to_contain_text("Undone.")
        expect(page.locator(".sums")).to_have_text("0 of 301 documents")  # with nothing to save or to change
        for view in ("table", "search", "map"):
            page.goto(f"{server.address}/#/{view}?where=tags%3D%22to%20read%22")
            expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
            expect(page.get_by_text("No document has the metadata key 'tags'")).to_be_visible()
            expect(page.get_by_role("button", name="Remove the filter tags is to read")).to_be_visible()
            expect(page.get_by_role("button", name="Try again")).to_have_count(0)
        assert all("422" in one for one in complaints)
        complaints.clear()

        page.goto(f"{server.address}/#/table?where=place%3D%22town%205%22")
        page.locator("summary", has_text="Delete 4 documents…").click()
        page.get_by_role("button", name="Keep").click()
        assert len(collection) == 301
        page.locator("summary", has_text="Delete 4 documents…").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.locator(".notice")).to_contain_text("4 documents deleted.")
        expect(page.locator("#size")).to_have_text("297 documents")
        assert len(collection) == 297
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#size")).to_have_text("301 documents")
        expect(page.locator(".table tbody tr")).to_have_count(4)
        after = {entry.id: (entry.text, entry.metadata, entry.code.tolist()) for entry in collection}
        assert {
            id: (text, {k: v for k, v in about.items() if v is not None}, code)
            for id, (text, about, code) in after.items()
        } == before


def test_copies_are_deleted_and_come_back(
    open_page: OpenPage, many: tuple[Server, Path], complaints: list[str]
) -> None:
    server, location = many
    page = open_page("#/duplicates", base=server.address)
    with Collection.open(location) as collection:
        groups = collection.duplicates()
        n = sum(len(group.duplicates) for group in groups)
        page.locator("summary", has_text=re.compile(rf"Delete {n} near-duplicates?…")).first.click()
        page.get_by_role("button", name="Delete", exact=True).first.click()
        expect(page.locator(".notice")).to_contain_text("deleted.")
        until(page, lambda: len(collection) == 301 - n)
        page.get_by_role("button", name="Undo").click()
        until(page, lambda: len(collection) == 301)


def test_the_table_is_used_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("#/table")
    expect(page.locator(".table tbody tr")).to_have_count(50)
    page.locator(".table [data-name='year']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_be_visible()
    box = facet(page, "subject_area").get_by_role("checkbox").first
    box.focus()
    page.keyboard.press("Space")
    expect(page.locator(".bar .chip.on")).to_have_count(1)
    expect(facet(page, "subject_area").get_by_role("checkbox").first).to_be_focused()
