"""Writes example files into the pages that show them whole: the block after a line `<!-- examples/NAME -->`."""

import re
from pathlib import Path

DOCS = Path(__file__).parent
SHOWN = re.compile(r"(<!-- (examples/\S+) -->\n```\w+\n).*?(?=\n```\n)", re.DOTALL)


def embedded(page: str) -> str:
    """The page with each example as its file has it now."""
    return SHOWN.sub(lambda found: found[1] + (DOCS.parent / found[2]).read_text().rstrip("\n"), page)


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        path.write_text(embedded(path.read_text()))
