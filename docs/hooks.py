"""MkDocs hooks for links that leave docs/: copy figures into the site, and name other files of the repository."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the figures outside of docs/ that pages show."""
    for page in list(files.documentation_pages()):
        for image, _, link in LINK.findall((DOCS / page.src_uri).read_text(encoding="utf-8")):
            outside = _outside(page.src_uri, link)
            if image and outside is not None and files.get_file_from_path(outside) is None:
                files.append(File.generated(config, outside, abs_src_path=str(ROOT / outside)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link to a figure's copy in the site; turn any other link to the repository into the file's name."""
    up = "../" * page.file.src_uri.count("/")

    def inside(found: re.Match[str]) -> str:
        image, text, link = found.groups()
        outside = _outside(page.file.src_uri, link)
        if outside is None:
            return found[0]
        if image:
            return f"![{text}]({up}{outside})"
        return text if outside in text else f"{text} (`{outside}`)"

    return LINK.sub(inside, markdown)


def _outside(page: str, link: str) -> str | None:
    """The path from the root of the repository to a file outside of docs/; None for one inside."""
    target = (DOCS / page).parent.joinpath(link).resolve()
    return None if target.is_relative_to(DOCS) else target.relative_to(ROOT).as_posix()
