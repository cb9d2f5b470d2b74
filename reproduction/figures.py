"""The files of the report's plots."""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ammi.files import replacing_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class FigureFiles:
    """Writes plots to a folder, and returns the Markdown links to them."""

    def __init__(self, folder: Path, seen_from: Path):
        self.folder, self.seen_from = folder, seen_from

    def add(self, name: str, alt: str, figure: "Figure") -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.png"
        with replacing_file(path) as file:
            figure.savefig(file, dpi=130)
        link = Path(os.path.relpath(path, self.seen_from)).as_posix()
        return f"![{alt}]({quote(link)})"
