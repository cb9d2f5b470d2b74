"""The drift, the map, the bits, duplicates and figures."""

import base64
import json
import re
from io import BytesIO
from itertools import pairwise
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from ammi import Collection
from tests.web.page.conftest import OpenPage, Server, until

NO_WEBGL = """
const real = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith("webgl") ? null : real.call(this, kind, ...rest);
};
"""

# Points that take 20 ms to draw: no time passes, but the clock goes on.
SLOW_POINTS = """
window.painted = 0;
let taken = 0;
const now = performance.now.bind(performance);
performance.now = () => now() + taken;
for (const [{ prototype }, name] of [[WebGL2RenderingContext, "viewport"], [CanvasRenderingContext2D, "clearRect"]]) {
  const real = prototype[name];
  prototype[name] = function (...given) {
    if (this.canvas.className === "dots") [window.painted, taken] = [window.painted + 1, taken + 20];
    return real.apply(this, given);
  };
}
"""


def test_the_slider_goes_through_the_drift_of_a_document(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/document/oil%2F0?t=%3Foil")
    page.get_by_role("link", name="Watch it drift").click()
    steps = collection.drift("oil/0", distances=range(33))
    slider = page.get_by_label("Bits that differ")
    slider.focus()
    page.keyboard.press("End")
    last = page.locator(".drift .portrait").nth(1)
    expect(last.locator(".measure b")).to_have_text(str(steps[-1].distance))
    page.keyboard.press("Home")
    expect(last.locator(".measure b")).to_have_text(str(steps[0].distance))
    expect(last.locator("h2 a")).to_have_attribute("data-id", str(steps[0].id))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]d=\d"))
    expect(slider).to_have_attribute("aria-valuetext", re.compile("away: "))
    table = collection.drift("oil/0")
    rows = page.locator(".drift + section [data-id]")
    expect(rows).to_have_count(len(table))
    assert rows.evaluate_all("links => links.map(link => link.dataset.id)") == [str(step.id) for step in table]
    again = open_page(page.url[page.url.index("#") :])
    expect(again.get_by_label("Bits that differ")).to_have_value(slider.input_value())


def test_a_map_of_another_sample_is_drawn_anew(open_page: OpenPage) -> None:
    """A point is a number, which is another document's once the server has drawn another sample."""
    page = open_page("#/figures")
    until(page, "fetch('/api/map').then((answer) => answer.json()).then(({ state }) => state === 'ready')")
    maps: list[str] = []
    page.on("request", lambda request: maps.append(request.url) if request.url.endswith("/api/map") else None)

    def of_another(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(json=answer.json() | ({"version": "another-1"} if len(maps) == 1 else {}))

    page.route("**/api/map/colours*", of_another)
    page.get_by_role("link", name="Map").click()
    until(page, "document.querySelector('.stage')?.dataset.names > 0")
    expect(page.locator(".legend")).to_be_visible()
    assert len(maps) == 2


def opened_map(open_page: OpenPage, address: str = "#/map", **options: Any) -> Page:
    page = open_page(address, **options)
    expect(page.locator(".over-stage")).to_be_empty()
    expect(page.get_by_role("button", name="Lasso")).to_be_enabled()  # the layout is final
    until(page, "document.querySelector('.stage')?.dataset.names > 0")
    return page


def middle(page: Page) -> tuple[float, float]:
    box = page.locator(".stage").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(("script", "painter"), [("", "webgl"), (NO_WEBGL, "canvas")])
def test_the_map_is_drawn_named_and_coloured(open_page: OpenPage, script: str, painter: str) -> None:
    page = opened_map(open_page, script=script)
    expect(page.locator(".stage")).to_have_attribute("data-painter", painter)
    expect(page.get_by_text("All 202 documents")).to_be_visible()
    assert page.get_by_label("Colour by").input_value() == "subject_area"
    expect(page.locator(".legend button")).to_have_text(
        [re.compile(f"{name} 5[02]") for name in ("oil", "grain", "bank", "health")]
    )
    until(page, lambda: distinct_colours(page) >= 4)
    page.get_by_label("Colour by").select_option("")
    page.wait_for_url("**colour=none*")
    expect(page.locator(".legend")).to_have_count(0)
    until(page, lambda: distinct_colours(page) == 1)


@pytest.mark.parametrize("script", ["", NO_WEBGL])
def test_points_that_are_drawn_slowly_move_as_a_picture(open_page: OpenPage, script: str) -> None:
    page = opened_map(open_page, script=script + SLOW_POINTS)
    dots, (x, y) = page.locator(".dots"), middle(page)
    page.get_by_role("button", name="Nearer").click()  # which draws some more frames, that are measured
    expect(dots).to_have_attribute("style", re.compile("--around: 25%"))
    page.get_by_role("button", name="All").click()
    expect(page.locator(".stage")).to_have_attribute("data-zoom", "1.00")
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 10_000"))  # from here on only `run_for` lets time pass
    page.mouse.move(x, y)
    page.mouse.down()

    def moved(right: int, down: int, milliseconds: int) -> tuple[int, str, np.ndarray]:
        """How often the points have been drawn, how they are moved, and what one sees."""
        page.mouse.move(x + right, y + down)
        page.clock.run_for(milliseconds)
        shown = np.asarray(Image.open(BytesIO(page.locator(".atlas").screenshot())).convert("RGB"), float)
        return page.evaluate("painted"), dots.evaluate("canvas => canvas.style.transform"), shown

    before, _, _ = moved(0, 0, 300)
    painted, transform, shown = moved(90, -40, 40)
    assert (painted, transform) == (before, "translate(90px, -40px) scale(1)")
    painted, transform, drawn = moved(90, -40, 300)  # it stands
    assert (painted, transform) == (before + 1, "translate(0px, 0px) scale(1)")
    assert np.abs(drawn - shown).mean() < 0.1
    painted, transform, _ = moved(700, -40, 40)  # farther than the picture reaches
    assert (painted, transform) == (before + 2, "translate(0px, 0px) scale(1)")


def test_points_that_are_drawn_fast_are_drawn_in_every_frame(open_page: OpenPage) -> None:
    fast = SLOW_POINTS.replace("taken + 20", "taken").replace("now() +", "")  # no drawing takes any time
    page = opened_map(open_page, script=fast)
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    painted = page.evaluate("painted")
    for step in range(1, 4):
        page.mouse.move(x + 20 * step, y)
        until(page, f"painted >= {painted + step}")
    assert "25%" not in (page.locator(".dots").get_attribute("style") or "")


def distinct_colours(page: Page) -> int:
    """How many hues the points have, as the screen shows them."""
    pixels = np.asarray(Image.open(BytesIO(page.locator(".stage").screenshot())).convert("HSV"))
    hues = pixels[..., 0][(pixels[..., 1] > 120) & (pixels[..., 2] > 90)]
    return int((np.bincount(hues // 16, minlength=16) > 20).sum())


def draw_lasso(page: Page, inset: float) -> None:
    """Draw a rectangle on the map, at a share of its size from the edges."""
    page.get_by_role("button", name="Lasso").click()
    box = page.locator(".stage").bounding_box()
    assert box is not None
    low, high = inset, 1 - inset
    corners = [(low, low), (high, low), (high, high), (low, high), (low, low)]
    at = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*at[0])
    page.mouse.down()
    for corner in at[1:]:
        page.mouse.move(*corner, steps=8)
    page.mouse.up()


def test_a_lasso_lists_the_documents_inside_it(open_page: OpenPage) -> None:
    page = opened_map(open_page)
    draw_lasso(page, 0.1)
    heading = page.locator(".side h2").first
    expect(heading).to_have_text(re.compile(r"^\d+ documents$"))
    n = int(heading.inner_text().split()[0])
    assert 100 < n <= 202
    expect(page.locator(".side .card")).to_have_count(25)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".side .card")).to_have_count(50)
    again = opened_map(open_page, page.url[page.url.index("#") :])
    expect(again.locator(".side h2").first).to_have_text(f"{n} documents")
    page.get_by_role("link", name="Show the regions").click()
    expect(page.get_by_role("heading", name="Regions")).to_be_visible()


def places_on_map(page: Page) -> np.ndarray:
    answer = page.evaluate("fetch('/api/map').then((answer) => answer.json())")
    assert answer["state"] == "ready"
    return np.stack([np.frombuffer(base64.b64decode(answer[axis]), "<u2") for axis in "xy"], axis=1) / 65535


def test_a_lasso_at_a_high_zoom_lists_the_documents_inside_it(open_page: OpenPage) -> None:
    """Its corners are close together, and a link must tell them apart."""
    page = opened_map(open_page)
    places = places_on_map(page)
    apart = np.abs(places[:, None] - places).max(axis=2)
    x, y = places[(apart < 0.002).sum(axis=1).argmax()]  # in the densest part
    page = open_page(f"#/map?x={x:.4f}&y={y:.4f}&z=150")
    expect(page.get_by_role("button", name="Lasso")).to_be_enabled()
    draw_lasso(page, 0.3)
    width, height = page.evaluate(
        "(({ clientWidth, clientHeight }) => [clientWidth, clientHeight])(document.querySelector('.stage'))"
    )
    scale = 0.94 * 150 * np.array([min(width, 1.6 * height), min(height, 1.6 * width)])  # as in plane.js
    pixels = np.abs(places - [round(x, 4), round(y, 4)]) * scale
    edge = 0.2 * np.array([width, height])
    least, most = (int((pixels < edge + more).all(axis=1).sum()) for more in (-1, 1))
    heading = page.locator(".side h2").first
    expect(heading).to_have_text(re.compile(r"^\d+ documents$"))
    assert least <= int(heading.inner_text().split()[0]) <= most


def test_a_lasso_and_a_region_wait_for_the_final_layout(open_page: OpenPage) -> None:
    """On a rough layout, as a busy server gives it, they would have other documents."""
    page = opened_map(open_page)
    draw_lasso(page, 0.2)
    heading = page.locator(".side h2").first
    expect(heading).to_have_text(re.compile(r"^\d+ documents$"))
    listed, lasso = heading.inner_text(), page.url
    page.get_by_role("link", name="Show the regions").click()
    page.locator(".regions button").first.click()
    expect(page.locator(".side .card").first).to_be_visible()
    region, name = page.url, heading.inner_text()
    better = False

    def roughly(route: Route) -> None:
        answer = route.fetch()
        final = answer.json()
        rough = {"state": "rough", "retry": 0.1, "version": final["version"].replace("-1", "-0.4"), "x": final["y"]}
        route.fulfill(response=answer, json=final if better else final | rough)

    page.route("**/api/map", roughly)
    for address, shown in [(lasso, listed), (region, name)]:
        better = False
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_text("Waiting for the final layout")).to_be_visible()
        expect(page.get_by_role("button", name="Lasso")).to_be_disabled()
        better = True
        expect(heading).to_have_text(shown)
        expect(page.get_by_role("button", name="Lasso")).to_be_enabled()


def test_results_light_up_on_the_map_and_a_point_opens_its_document(
    open_page: OpenPage, collection: Collection
) -> None:
    page = opened_map(open_page)
    page.locator("#q").fill("vaccine trial")
    expect(page.get_by_role("heading", name="The 100 best for “vaccine trial”")).to_be_visible()
    assert page.url.endswith("q=vaccine+trial")
    page.locator(".side [data-id]").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.get_by_role("link", name="Show on the map").click()
    expect(page.locator(".side .card")).to_have_count(1)
    chosen = page.locator(".side [data-id]").get_attribute("data-id")
    until(page, "/z=/.test(location.hash)")
    title = collection.get(chosen or "").metadata["title"]

    tip = page.locator(".tip")

    def is_pointed_at() -> bool:
        page.mouse.move(0, 0)
        page.mouse.move(*middle(page))  # to which the map moves the document
        return tip.is_visible()

    until(page, is_pointed_at)
    expect(tip).to_contain_text(title)


def test_the_map_moves_by_hand_wheel_fingers_and_keys(open_page: OpenPage) -> None:
    page = opened_map(open_page, width=390, has_touch=True)
    zoom = "Number(new URLSearchParams(location.hash.split('?')[1]).get('z') ?? 1)"
    x, y = middle(page)
    touches = page.context.new_cdp_session(page)
    for kind, apart in [("touchStart", 30), ("touchMove", 60), ("touchMove", 90), ("touchEnd", 0)]:
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}] if apart else []
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    until(page, f"{zoom} > 2")
    page.locator(".stage").focus()
    page.keyboard.press("0")
    page.keyboard.press("+")
    until(page, f"Math.abs({zoom} - 1.5) < 0.01")
    before = page.url
    page.keyboard.press("ArrowLeft")
    expect(page).not_to_have_url(before)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    until(page, f"{zoom} > 1.6")


def test_a_region_is_reached_without_a_mouse_and_has_a_link(open_page: OpenPage) -> None:
    page = opened_map(open_page, width=1000)  # where the head has two rows
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.locator(".regions button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".side .card").first).to_be_visible()
    name, n = (page.locator(".side h2").nth(location).inner_text() for location in (0, 1))
    expect(page).to_have_url(re.compile("z=.*region=|region=.*z="))
    again = opened_map(open_page, page.url[page.url.index("#") :])
    expect(again.locator(".side h2")).to_have_text([name, n])
    page.go_back()
    expect(page.get_by_role("heading", name="Regions")).to_be_visible()
    expect(page.locator(".stage")).to_have_attribute("data-zoom", "1.00")
    page.wait_for_timeout(400)  # longer than it takes to note where the map is
    until(page, lambda: "z=" not in page.url)  # the whole of it, as before


def test_documents_in_the_middle_of_a_region_are_listed_first(open_page: OpenPage, server: Server) -> None:
    with urlopen(f"{server.address}/api/map") as answer:
        map = json.load(answer)
    x, y = (np.frombuffer(base64.b64decode(map[axis]), "<u2") / 65535 for axis in "xy")
    place = {str(id): (x[point], y[point]) for point, id in enumerate(map["ids"])}
    page = opened_map(open_page)
    page.locator(".regions button").first.click()
    cards = page.locator(".side .card h3 a")
    expect(cards.first).to_be_visible()
    (region,) = (one for one in map["regions"] if f"region={'+'.join(one['words'])}" in page.url)
    ids = cards.evaluate_all("links => links.map(link => link.dataset.id)")
    far = [np.hypot(place[id][0] - region["x"], place[id][1] - region["y"]) for id in ids]
    assert len(far) == 25
    assert all(one <= other + 1e-4 for one, other in pairwise(far))


def test_a_name_of_the_legend_is_shown_alone_and_has_a_link(open_page: OpenPage) -> None:
    page = opened_map(open_page)
    page.locator(".legend button", has_text="bank").click()
    expect(page.locator(".legend button", has_text="bank")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".legend button", has_text="bank")).to_be_focused()
    expect(page.locator("#status")).to_have_text("bank shown alone")
    again = opened_map(open_page, page.url[page.url.index("#") :])
    expect(again.locator(".legend button", has_text="bank")).to_have_attribute("aria-pressed", "true")
    until(page, lambda: distinct_colours(page) == distinct_colours(again))
    alone = distinct_colours(again)
    again.locator(".legend button", has_text="bank").click()
    until(again, lambda: distinct_colours(again) > alone)
    assert "only=" not in again.url


def test_a_better_layout_brings_its_regions_to_a_page_that_is_open(open_page: OpenPage) -> None:
    """First a layout without regions, as a busy server gives it, and then, when it is asked again, the better one."""
    page = opened_map(open_page)
    page.goto("about:blank")
    better: list[bool] = []

    def roughly(route: Route) -> None:
        answer = route.fetch()
        if not better:
            rough = {"state": "rough", "retry": 0.1, "version": "rough", "regions": [], "region": "", "colours": []}
            route.fulfill(response=answer, json=answer.json() | rough)
        else:
            route.fulfill(response=answer)

    page.route("**/api/map", roughly)
    page.go_back()
    expect(page.get_by_text("A better layout is being computed")).to_be_visible()
    expect(page.get_by_text("The regions are being named")).to_be_visible()
    expect(page.locator(".stage")).to_have_attribute("data-names", "0")
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page.locator(".results [data-id]").first).to_be_visible()
    expect(page.get_by_text("Naming the regions")).to_be_visible()
    better.append(True)
    expect(page.locator(".welcome .chips a").first).to_be_visible()
    better.clear()
    page.get_by_role("link", name="Map", exact=True).click()
    expect(page.get_by_text("The regions are being named")).to_be_visible()
    better.append(True)
    expect(page.locator(".regions li").first).to_be_visible()
    expect(page.locator(".legend button").first).to_be_visible()
    until(page, "document.querySelector('.stage').dataset.names > 0")
    expect(page.get_by_text("A better layout is being computed")).to_have_count(0)


def test_the_map_does_not_take_back_a_page_that_leaves_it(open_page: OpenPage) -> None:
    """The map writes its camera into the address a moment after it moved. The page may be on its way elsewhere then."""
    page = opened_map(open_page)
    held: list[Route] = []
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 10_000"))  # from here on only `run_for` lets time pass
    page.route("**/api/collection", lambda route: held.append(route))
    page.get_by_role("button", name="Nearer").click()
    page.clock.run_for(250)
    page.get_by_role("link", name="Figures", exact=True).click()
    until(page, lambda: bool(held))  # the page asks for the collection before it opens another view
    page.clock.run_for(1000)
    held.pop().continue_()
    expect(page.locator("main[data-shows=figures]")).to_be_visible()
    assert page.url.endswith("#/figures")


def test_each_bit_tells_its_words_documents_and_partners(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/bits")
    expect(page.locator("nav.bits a")).to_have_count(32)
    page.locator("nav.bits a").nth(7).click()
    expect(page.get_by_role("heading", name="Bit 7", exact=True)).to_be_visible()
    share = sum(int(entry.code[0]) & 1 for entry in collection) / len(collection)
    expect(page.locator(".heading p")).to_contain_text(f"1 in {100 * share:.0f}% of documents")
    assert page.locator(".pushes.up li").count() > 3
    assert page.locator(".pushes.down li").count() > 3
    for title, value in [("Typical of 1", 1), ("Typical of 0", 0)]:
        ids = (
            page.get_by_role("list", name=title)
            .locator("[data-id]")
            .evaluate_all("links => links.map(a => a.dataset.id)")
        )
        assert ids
        assert [int(entry.code[0]) & 1 for entry in collection.get(ids)] == [value] * len(ids)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Bit 8", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Bit 7", exact=True)).to_be_visible()
    page.locator(".chain svg").click(position={"x": 4, "y": 100})
    expect(page.get_by_role("heading", name="Bit 0", exact=True)).to_be_visible()


def test_a_bit_has_words_and_regions_of_its_own_which_lead_to_the_map(open_page: OpenPage) -> None:
    page = open_page("#/bits?bit=7")
    expect(page.get_by_role("heading", name="Words of 1")).to_be_visible()
    region = page.locator(".pushes.wholly.up a").first
    name = region.inner_text()
    region.click()
    expect(page.locator(".side h2").first).to_have_text(name)
    expect(page.get_by_label("Colours of bit 7")).to_be_visible()
    page.get_by_role("link", name="What bit 7 means").click()
    page.get_by_role("link", name="Colour the map by it").click()
    expect(page.get_by_label("Colours of bit 7").locator("button").first).to_have_text(re.compile(r"^\s*1 \w+"))


def test_the_regions_of_a_bit_come_when_the_map_is_there(open_page: OpenPage) -> None:
    early = [True]

    def answer(route: Route) -> None:
        response = route.fetch()
        is_early = early.pop() if early else False
        route.fulfill(json=response.json() | ({"regions": [], "map": "rough"} if is_early else {}))

    page = open_page("#/search")
    page.route("**/api/bits/7?*", answer)
    page.goto(page.url.split("#")[0] + "#/bits?bit=7")
    expect(page.get_by_text("Drawing the map, whose regions tell")).to_be_visible()
    expect(page.get_by_role("heading", name="Words of 1")).to_be_visible()
    expect(page.get_by_role("heading", name="Mostly 1 in")).to_be_visible()
    shares = page.locator(".pushes.wholly small").all_inner_texts()
    assert shares
    assert all(int(share.rstrip("%")) > 50 for share in shares)


def test_a_click_on_a_cell_of_a_strip_colours_the_map_by_its_bit(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/search?q=oil")
    strip = page.locator(".card .strip").first
    box = strip.bounding_box()
    assert box
    strip.click(
        position={"x": box["width"] * (17.5 * 6 + 2 * 3) / (32 * 6 + 3 * 3), "y": box["height"] / 2}
    )  # strip.js
    expect(page).to_have_url(re.compile(r"#/map\?bit=17$"))
    ones = sum(int(np.unpackbits(entry.code)[17]) for entry in collection)
    legend = page.get_by_label("Colours of bit 17")
    expect(legend.locator("button small")).to_have_text([str(ones), str(len(collection) - ones)])
    until(page, lambda: distinct_colours(page) == 2)
    assert page.get_by_label("Colour by").input_value() == "bit 17"
    page.get_by_label("Colour by").select_option("bit 3")
    expect(page.get_by_label("Colours of bit 3")).to_be_visible()
    page.get_by_label("Colour by").select_option("subject_area")
    expect(page.locator(".legend button").first).to_have_text(re.compile("oil"))
    assert "bit=" not in page.url


def test_titles_of_documents_appear_when_they_are_near(open_page: OpenPage) -> None:
    page = opened_map(open_page)
    stage = page.locator(".stage")
    expect(stage).to_have_attribute("data-titles", "0")  # more documents than fit
    stage.focus()
    for _ in range(4):
        page.keyboard.press("+")
    until(page, "Number(document.querySelector('.stage').dataset.titles) > 0")
    page.keyboard.press("0")
    expect(stage).to_have_attribute("data-titles", "0")


LEVELS = """async (areas) => {
  const { ofLevel } = await import("/page/labels.js");
  const regions = [8, 24, 72, 216].flatMap((n, level) => Array.from({ length: n }, () => ({ level })));
  return areas.map((area) => ofLevel(regions, area).length);
}"""


def test_names_are_of_finer_regions_the_nearer_the_map_is(open_page: OpenPage) -> None:
    page = open_page("#/figures")
    desk = 940 * 750
    assert page.evaluate(LEVELS, [366 * 366, desk, desk * 2**2, desk * 4**2, desk * 30**2]) == [8, 24, 72, 216, 216]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_camera_flies_to_a_region_unless_motion_is_to_be_reduced(open_page: OpenPage, motion: Any) -> None:
    page = opened_map(open_page, reduced_motion=motion)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 10_000"))  # from here on only `run_for` lets time pass
    page.locator(".regions button").first.click()
    page.wait_for_url("**region=*")
    goal = page.evaluate("Number(new URLSearchParams(location.hash.split('?')[1]).get('z')).toFixed(2)")
    zooms = []

    def is_there() -> bool:
        page.clock.run_for(50)
        zooms.append(page.locator(".stage").get_attribute("data-zoom"))
        return zooms[-1] == goal

    until(page, is_there)
    between = set(zooms) - {"1.00", goal}
    assert not between if motion == "reduce" else len(between) > 5


def test_topics_are_a_table_that_leads_to_the_map_and_to_documents(open_page: OpenPage, collection: Collection) -> None:
    topics = collection.topics()
    page = open_page("#/topics")
    rows = page.locator(".topics tbody tr")
    expect(rows).to_have_count(len(topics))
    for row, topic in zip(rows.all(), topics, strict=True):
        expect(row.locator("th a")).to_have_text(", ".join(topic.words[:3]))
        expect(row.locator(".size")).to_contain_text(str(topic.documents))
        ids = row.locator("[data-id]").evaluate_all("links => links.map(link => link.dataset.id)")
        assert ids == [str(id) for id in [*topic.typical, *topic.odd]]
        subjects = topic.categories["subject_area"]
        best = max(subjects, key=subjects.__getitem__)
        expect(row.locator("td[data-name=subject_area] li").first).to_contain_text(best)
    first = rows.first.locator("th a")
    name = first.inner_text()
    first.click()
    expect(page.locator(".side h2").first).to_have_text(name)
    page.go_back()
    rows.first.locator("[data-id]").first.click()
    expect(page.locator(".document")).to_be_visible()


def test_duplicates_are_listed_with_the_one_to_keep(open_page: OpenPage, collection: Collection) -> None:
    groups = collection.duplicates()
    page = open_page("#/duplicates")
    expect(page.locator(".group")).to_have_count(min(20, len(groups)))
    expect(page.get_by_text(f"{len(groups)} group")).to_be_visible()
    page.locator(".group h2 a").first.click()
    expect(page.locator(".document .facts")).to_contain_text(f"id{groups[0].kept}")


def test_the_collection_in_figures(open_page: OpenPage, collection: Collection) -> None:
    page = open_page("#/figures")
    expect(page.locator(".numbers dd").nth(0)).to_have_text("202")
    expect(page.locator(".numbers dd").nth(1)).to_have_text(str(collection.distinct_codes()))
    expect(page.get_by_role("row", name=re.compile("subject_area"))).to_contain_text("yes")
