"""Finding a document and reading it: results while one types, why a hit is there, texts as they are, comparing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from ammi import Collection, DocumentHasher
from ammi.hashers import LSH
from tests.web.page.conftest import DOCUMENTS, OpenPage, Server, document, until

PROSE = "\n".join(
    [
        "A report of the ministry says that the harvest of wheat will be",
        "smaller than last year, since there was no rain in the spring and",
        "the fields of the south are dry.",
        "",
        "It names no figures.",
    ]
)
CODE = "def area(shape):\n    if shape.kind == 'square':\n        return shape.side ** 2\n    return shape.area()\n"
TABLE = "Exports in tonnes:\n\ncountry      wheat    corn\nFrance       1,200     300\nSpain           70     812\n"
LOG = "1987-03-01 10:11:12 tanker left the refinery\n1987-03-01 10:15:40 pipeline closed by operator\n"
LONG = "\n".join(f"Line {n} of the record speaks of loans and debts of banks." for n in range(400))
LIBRARY: list[dict[str, Any]] = [
    {"id": "prose", "text": PROSE, "year": 1987},
    {"id": "code", "text": CODE},
    {"id": "table", "text": TABLE},
    {"id": "log", "text": LOG},
    {"id": "long", "text": f"{LONG}\nHere stands the zeppelin 😀 of the title, a zeppelin.\n{LONG}"},
    {"id": "old", "text": "The bank raised the rate of interest on Monday.", "year": 1987},
    {"id": "new", "text": "The central bank raised the rate of interest on Friday.", "year": 1988},
    {"id": "shapes.area.square", "text": "Return how large it is."},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Prose, code, a table, a log, a long text, and two texts that are nearly the same."""
    model = DocumentHasher(LSH(32, random_state=0)).fit([document(n)["text"] for n in range(50)] + [PROSE, LONG])
    location = tmp_path_factory.mktemp("library") / "index"
    with Collection.create(location, model) as created:
        created.add(LIBRARY)
    server = Server(location, "--port", "0")
    yield server
    server.stop()


def type_on(page: Page, query: str) -> None:
    page.locator("#q").evaluate(
        "(field, query) => { field.value = query; field.dispatchEvent(new InputEvent('input', { bubbles: true })); }",
        query,
    )


def test_results_stay_until_the_next_ones_are_there(open_page: OpenPage) -> None:
    page = open_page("#/search?q=wheat")
    results = page.locator("ol.results")
    expect(results).to_have_attribute("aria-label", "Documents for wheat")
    answered: list[str] = []
    page.on("requestfinished", lambda request: answered.append(request.url))
    page.clock.install()
    page.clock.pause_at("2030-01-01")  # from here on only `run_for` lets time pass
    type_on(page, "zzzyzx")
    page.clock.run_for(150)
    until(page, lambda: any("zzzyzx" in url for url in answered))
    expect(results).to_have_attribute("aria-label", "Documents for wheat")  # though the answer is empty
    type_on(page, "wheat export")
    page.clock.run_for(150)
    expect(results).to_have_attribute("aria-label", "Documents for wheat export")
    type_on(page, "zzzyzx")
    page.clock.run_for(150)
    until(page, lambda: sum("zzzyzx" in url for url in answered) == 2)

    def nothing_is_found() -> bool:
        page.clock.run_for(100)
        return page.get_by_role("heading", name="Nothing found").is_visible()

    until(page, nothing_is_found)


def test_every_prefix_of_a_word_finds_something(open_page: OpenPage) -> None:
    page = open_page()
    word = "petroleum"
    for end in range(1, len(word) + 1):
        type_on(page, word[:end])
        if end == 1:
            expect(page.get_by_role("heading", name="Type on")).to_be_visible()
        else:
            expect(page.locator("ol.results")).to_have_attribute("aria-label", f"Documents for {word[:end]}")
    expect(page.locator(".card mark").first).to_have_text("petroleum")


@pytest.mark.parametrize("id", ["oil/100", "copy"])
def test_an_exact_id_comes_first(open_page: OpenPage, id: str) -> None:
    page = open_page()
    type_on(page, id)
    expect(page.locator("ol.results")).to_have_attribute("aria-label", f"Documents for {id}")
    first = page.locator(".card").first
    expect(first.locator("[data-id]")).to_have_attribute("data-id", id)
    expect(first.locator(".facts")).to_contain_text(f"id{id}")


def test_a_part_of_an_id_finds_it(open_page: OpenPage, library: Server) -> None:
    page = open_page("#/search?q=shapes+squa", base=library.address)
    expect(page.locator(".card [data-id]").first).to_have_attribute("data-id", "shapes.area.square")


def test_the_parts_of_a_score_on_demand(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/search?q=crude+oil")
    summary = page.locator(".parts summary").first
    summary.focus()
    page.keyboard.press("Enter")
    parts = page.locator(".parts").first.locator("> small")
    expect(parts.first).to_be_visible()
    expect(parts).to_have_text([re.compile(r"from words$"), re.compile(r"from the code$")])
    (hit,) = collection.search("crude oil", 1)
    assert hit.why
    shown = [float(text.split()[0]) for text in parts.all_inner_texts()]
    assert sum(shown) == pytest.approx(hit.score, abs=0.02)


def test_hits_without_a_word_of_the_query_come_behind_a_divider(open_page: OpenPage, library: Server) -> None:
    page = open_page("#/search?q=refinery", base=library.address)
    expect(page.locator(".divider")).to_have_text("Near by their codes only: no word of the query")
    order = page.locator(".results > li").evaluate_all(
        "all => all.map(one => one.querySelector('[data-id]')?.dataset.id)"
    )
    assert order.index(None) == 1  # one document has the word
    assert order[0] == "log"
    expect(page.locator("mark")).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1400])
def test_an_opened_document_shows_the_words_and_scrolls_to_the_passage(
    open_page: OpenPage, library: Server, width: int
) -> None:
    page = open_page("#/search?q=zeppelin", base=library.address, width=width)
    page.locator("[data-id=long]").click()
    marks = page.locator(".document .text mark")
    expect(marks).to_have_text(["zeppelin", "zeppelin"])
    expect(marks.first).to_be_in_viewport()
    expect(marks.first).to_have_class("here")
    expect(page.locator(".read")).to_contain_text("Words of the query: 1 of 2")
    page.get_by_role("button", name="Next word of the query").click()
    expect(marks.nth(1)).to_have_class("here")
    shown = page.locator(".document .text").evaluate("all => all.textContent")
    assert shown.split() == LIBRARY[4]["text"].split()
    page.reload()  # the address says for which words it was opened
    expect(marks.first).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("id", ["code", "table", "log"])
def test_white_space_that_means_something_is_kept(open_page: OpenPage, library: Server, id: str, width: int) -> None:
    page = open_page(f"#/document/{id}", base=library.address, width=width)
    text = page.locator(".document .text")
    expect(text.locator("pre")).to_be_visible()
    (whole,) = (one["text"] for one in LIBRARY if one["id"] == id)
    assert text.evaluate("all => all.textContent") == whole
    lines = text.locator("pre").evaluate(
        "box => [getComputedStyle(box).whiteSpace, box.textContent.trim().split('\\n').length]"
    )
    assert lines[0] == "pre"
    expect(page.get_by_role("button", name="Join broken lines")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_lines_are_joined_by_choice_and_the_choice_is_kept(open_page: OpenPage, library: Server) -> None:
    page = open_page("#/document/prose", base=library.address)
    text, choice = page.locator(".document .text"), page.get_by_role("button", name="Join broken lines")
    listed = "a : array_like\nThe matrix of the coefficients, to change,\nand is square.\nb, c : bool, optional\nMore."
    reflowed = page.evaluate("async (text) => (await import('/page/reading.js')).reflowed(text)", listed)
    assert reflowed == listed.replace("change,\nand", "change, and")
    assert text.evaluate("all => all.textContent") == PROSE
    expect(choice).to_have_attribute("aria-pressed", "false")
    choice.focus()
    page.keyboard.press("Enter")
    joined = PROSE.replace("will be\n", "will be ").replace("and\n", "and ")
    assert text.evaluate("all => all.textContent") == joined
    page.reload()
    expect(choice).to_have_attribute("aria-pressed", "true")
    assert text.evaluate("all => all.textContent") == joined


def test_two_documents_side_by_side(open_page: OpenPage, library: Server) -> None:
    page = open_page("#/document/old", base=library.address)
    page.get_by_role("link", name="Compare The central bank").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Two documents side by side")
    left, right = page.locator(".compared .document").all()
    expect(left.locator(".text mark")).to_have_text(["Monday"])
    expect(right.locator(".text mark")).to_have_text(["central", "Friday"])
    expect(left.locator(".facts")).to_contain_text("year1987")
    with Collection.open(library.address) as there:
        one, other = (entry.code for entry in there.get(["old", "new"]))
    bits = [n for n in range(32) if (one[n // 8] ^ other[n // 8]) >> (7 - n % 8) & 1]
    expect(page.locator(".lead")).to_contain_text(f"differ in {len(bits)} of 32 bits")
    expect(page.locator(".apart a")).to_have_text([f"Bit {bit}" for bit in bits])
    page.go_back()
    page.locator(".document").get_by_role("link", name="Compare").click()  # with a document that is to be chosen
    page.locator("[data-id=long]").click()
    expect(page.locator(".compared .document")).to_have_count(2)
    assert "a=old" in page.url
    assert "b=long" in page.url


def test_a_duplicate_is_compared_with_the_document_to_keep(open_page: OpenPage) -> None:
    page = open_page("#/duplicates")
    page.get_by_role("link", name="Compare").first.click()
    expect(page.locator(".lead")).to_contain_text("100% of their words are the same")


def test_breadcrumbs_keep_the_rank_and_the_filter(open_page: OpenPage) -> None:
    page = open_page("#/search?q=oil&rank=distance&where=year%3E%3D1989")
    page.locator(".card h3 a").first.click()
    page.get_by_role("link", name="Without near-duplicates").click()
    expect(page.get_by_role("link", name="With near-duplicates")).to_be_visible()
    first_title = page.get_by_role("heading", level=1).inner_text()
    page.locator(".neighbours h3 a").first.click()
    way = page.get_by_role("navigation", name="The way here").get_by_role("listitem")
    expect(way).to_have_count(2)
    expect(way.first).to_contain_text("year from 1989, by distance of codes")
    way.last.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(first_title)
    expect(page.get_by_role("link", name="With near-duplicates")).to_be_visible()
    page.get_by_role("navigation", name="The way here").get_by_role("link").first.click()
    expect(page.locator("#rank")).to_have_value("distance")
    expect(page.get_by_role("button", name="Remove the filter year from 1989")).to_be_visible()


def test_a_document_is_there_before_its_neighbours(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []
    page.route("**/like?*", lambda route: held.append(route))
    page.goto(f"{page.url.partition('#')[0]}#/document/oil%2F0")
    expect(page.get_by_role("heading", level=1)).to_have_text("oil news number 0")
    expect(page.get_by_text("Looking for the nearest documents")).to_be_visible()
    until(page, lambda: bool(held))
    held.pop().continue_()
    expect(page.locator(".neighbours .card")).to_have_count(20)
    expect(page.get_by_text("Looking for the nearest documents")).to_have_count(0)


def test_a_title_alone_does_not_load_a_whole_document(open_page: OpenPage, library: Server) -> None:
    page = open_page(base=library.address)
    expect(page.locator(".results [data-id]").first).to_be_visible()
    sizes: list[int] = []
    page.on(
        "response", lambda response: sizes.append(len(response.body())) if "/documents/long" in response.url else None
    )
    page.evaluate("location.hash = '#/document/old?t=%3Dlong'")
    way = page.get_by_role("navigation", name="The way here").get_by_role("link")
    expect(way).to_contain_text("Line 0 of the record")
    assert all(size < 1000 for size in sizes)


def test_a_new_tab_takes_the_token_of_another(open_page: OpenPage, location: Path) -> None:
    server = Server(location, "--port", "0", "--token", "a long word that nobody knows")
    page = open_page("#token=a+long+word+that+nobody+knows", base=server.address)
    expect(page.locator("#size")).to_have_text("202 documents")
    tab = page.context.new_page()
    tab.goto(f"{server.address}/#/search?q=oil")
    expect(tab.locator(".card").first).to_be_visible()
    assert tab.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    tab.goto(f"{server.address}/docs")
    expect(tab.locator(".request").first).to_be_visible()
    server.stop()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_the_documentation_runs_its_examples(
    open_page: OpenPage, complaints: list[str], width: int, scheme: str
) -> None:
    page = open_page("docs", width=width, color_scheme=scheme)
    expect(page.get_by_role("heading", level=1)).to_have_text("The API of news")
    requests = page.locator(".request")
    for n in range(requests.count()):
        one = requests.nth(n)
        name = one.locator("summary").inner_text()
        one.locator("summary").press("Enter")
        if "/map/colours" in name:
            one.get_by_label("key", exact=True).fill("subject_area")
        one.get_by_role("button", name="Run").click()
        expect(one.locator(".hint")).to_have_text("Status 200", timeout=60_000)
        expect(one.locator("pre").first).to_contain_text("curl")
    assert requests.count() > 20
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_api_is_found_from_the_page(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="the API").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The API of news")


def test_the_title_of_the_page(open_page: OpenPage, library: Server) -> None:
    page = open_page(base=library.address)
    expect(page.locator("#name")).to_have_text(re.compile("library"))  # the folder above the one called index
    assert len(DOCUMENTS) == 202
