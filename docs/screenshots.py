"""Screenshots of the page for docs/explorer.md: python docs/screenshots.py ADDRESS, of an `ammi serve` of Reuters.

ammi index build reuters "$AMMI_DATA/reuters.jsonl.gz" --key labels
ammi serve reuters & python docs/screenshots.py http://127.0.0.1:8077
"""

import json
import sys
from io import BytesIO
from pathlib import Path
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import FLAGS, MISSING, chromium

IMAGES = Path(__file__).with_name("images")
DESK, PHONE = (1280, 800), (390, 780)
# file: address, size, dark, what must be there
SHOTS = {
    "explorer-search": ("#/search?q=oil+prices", DESK, False, ".card .strip"),
    "explorer-document": ("#/document/144?t=%3Foil+prices", DESK, False, ".neighbours .card"),
    "explorer-compare": ("#/compare?a=5&b=15952", DESK, False, ".compared .text"),
    "explorer-table": ("#/table?q=coffee", DESK, False, ".facet .choice"),
    "explorer-drift": ("#/drift/144?d=8", DESK, False, ".drift .strip"),
    "explorer-map": ("#/map?colour=labels", DESK, False, ".regions li"),
    "explorer-map-dark": ("#/map?colour=labels&q=coffee", DESK, True, ".side .card"),
    "explorer-topics": ("#/topics", DESK, False, ".topics tbody tr"),
    "explorer-map-near": ("#/map?colour=labels&{opec}&z=40", DESK, False, ".regions li"),
    "explorer-map-bit": ("#/map?bit=3", DESK, False, ".legend .words"),
    "explorer-bits": ("#/bits?bit=3", DESK, False, ".pushes li"),
    "explorer-phone-search": ("#/search?q=oil+prices", PHONE, True, ".card .strip"),
    "explorer-phone-drift": ("#/drift/144?d=8", PHONE, False, ".drift .strip"),
    "explorer-phone-map": ("#/map?colour=labels", PHONE, False, ".regions li"),
}


def place_of(word: str, base: str) -> str:
    """Return where on the map the smallest region named by a word is."""
    with urlopen(f"{base}/api/map") as answer:
        regions = [one for one in json.load(answer)["regions"] if word in one["words"]]
    return "x={x}&y={y}".format(**max(regions, key=lambda one: one["level"])) if regions else ""


def shoot(browser: Browser, base: str, name: str) -> None:
    address, (width, height), dark, awaited = SHOTS[name]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    page = context.new_page()
    page.goto(f"{base}/{address.replace('{opec}', place_of('opec', base))}")
    page.locator(awaited).first.wait_for(timeout=300_000)
    page.get_by_text("A better layout is being computed").wait_for(state="detached", timeout=300_000)
    page.wait_for_timeout(1500)  # points glide to their places
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        IMAGES / f"{name}.png", optimize=True
    )
    context.close()


def main() -> None:
    program = chromium()
    if program is None:
        sys.exit(MISSING)
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name in SHOTS:
            shoot(browser, sys.argv[1].rstrip("/"), name)
        browser.close()


if __name__ == "__main__":
    main()
