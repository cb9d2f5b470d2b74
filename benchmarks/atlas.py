"""The explorer beside embedding-atlas, on the same documents and the same layout: first paint, frames, bytes.

Both pages are opened in the same Chromium, by address, on a server that has started. The first paint is when the map
has colour on the screen: more than 3,000 coloured pixels in the middle of it. Then the map is drawn to and fro; where
there is no graphics card the processor draws. Bytes are those of all answers until the map stands.

    python -m venv build/atlas && build/atlas/bin/pip install embedding-atlas
    python benchmarks/atlas.py COLLECTION --program build/atlas/bin/embedding-atlas
"""

import argparse
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Error, Page, Request, sync_playwright
from rich.console import Console
from rich.table import Table

from ammi import Collection
from ammi.explore.kept import KeptMap
from serve import FRAMES, server, wait_for_map

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import FLAGS, chromium

PORT, PATIENCE, COLOURED = 5056, 120.0, 3000
OFFLINE = {"HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}


def table_of(location: Path, file: Path) -> int:
    """Write the documents of a collection with the places of its kept map; return how many they are."""
    with Collection.open(location) as collection:
        kept = KeptMap.load(collection)
        if kept is None:
            raise SystemExit(f"{location} has no map: run ammi topics {location}")
        entries = [
            entry for start in range(0, len(kept.ids), 1000) for entry in collection.get(kept.ids[start : start + 1000])
        ]
    columns = {"id": [str(entry.id) for entry in entries], "text": [entry.text for entry in entries]}
    for key in kept.colours:
        columns[key] = [entry.metadata.get(key) for entry in entries]
    x, y = (kept.map.layout.astype(np.float64) * 10).T
    pd.DataFrame(columns).assign(x=x, y=y).to_parquet(file)
    return len(entries)


@contextmanager
def atlas(program: Path, file: Path) -> Iterator[str]:
    """The address of embedding-atlas, which gets the places and so needs no model."""
    options = ["--text", "text", "--x", "x", "--y", "y", "--port", str(PORT), "--no-auto-port"]
    process = subprocess.Popen(
        [program, file, *options], env=OFFLINE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address, end = f"http://localhost:{PORT}/", time.monotonic() + PATIENCE
        while True:
            try:
                httpx.get(address)
                break
            except httpx.TransportError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


def coloured_pixels(page: Page) -> int:
    pixels = np.asarray(Image.open(BytesIO(page.screenshot())).convert("HSV"))[150:750, 100:900]
    return int(((pixels[..., 1] > 90) & (pixels[..., 2] > 60)).sum())


def measured(address: str, picture: Path) -> dict[str, float]:
    """Seconds to the first paint, megabytes of answers, and the 95th percentile of frames in milliseconds."""
    n_bytes: list[int] = []

    def heard(request: Request) -> None:
        with suppress(Error):  # an answer of which the browser knows no size
            n_bytes.append(request.sizes()["responseBodySize"])

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.on("requestfinished", heard)
        start = time.perf_counter()
        page.goto(address)
        while coloured_pixels(page) < COLOURED and time.perf_counter() - start < PATIENCE:
            page.wait_for_timeout(50)
        painted = time.perf_counter() - start
        page.wait_for_timeout(5000)
        page.screenshot(path=picture)
        page.evaluate(FRAMES)
        page.mouse.move(500, 450)
        page.mouse.down()
        for step in range(300):
            page.mouse.move(500 + 200 * math.sin(step / 20), 450 + 100 * math.sin(step / 15))
        page.mouse.up()
        frames = page.evaluate("drawn")
        browser.close()
    gaps = [later - earlier for earlier, later in pairwise(frames)]
    return {
        "first paint, s": painted,
        "frame while panning, median, ms": statistics.median(gaps),
        "frame while panning, 95th percentile, ms": statistics.quantiles(gaps, n=20)[-1],
        "megabytes loaded": sum(n_bytes) / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--program", type=Path, required=True, help="embedding-atlas, in an environment of its own")
    parser.add_argument("--pictures", type=Path, default=Path("build"))
    options = parser.parse_args()
    with TemporaryDirectory() as home:
        file = Path(home, "documents.parquet")
        n = table_of(options.collection, file)
        with server(options.collection) as (address, _):
            wait_for_map(address, "ready")
            time.sleep(10)  # it counts words in the background
            own = measured(f"{address}/#/map", options.pictures / "ammi.png")
        with atlas(options.program, file) as address:
            time.sleep(10)
            other = measured(address, options.pictures / "atlas.png")
    table = Table("measure", "ammi serve", "embedding-atlas", title=f"{n:,} documents")
    for name in own:
        table.add_row(name, f"{own[name]:,.2f}", f"{other[name]:,.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
