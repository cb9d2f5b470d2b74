"""MkDocs hooks: notebooks become pages with the style of the others, and links that leave docs/ lead somewhere.

The figures outside of docs/ that a page shows are copied into the site; other files of the repository are named.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

DOCS = Path(__file__).parent
ROOT = DOCS.parent
NOTEBOOK = re.compile(r"(\]\((?:\.\./)?(?:notebooks/)?\w+)\.ipynb\)")
DOWNLOAD = "[This page is a notebook: download it, and run it]({}){{ download }}"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each notebook, and the figures outside of docs/ that pages show."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        for page in _pages_of(notebook, config):
            files.append(page)
    for page in list(files.documentation_pages()):
        for image, _, link in LINK.findall(page.content_string):
            outside = _outside(page.src_uri, link)
            if image and outside is not None and files.get_file_from_path(outside) is None:
                files.append(File.generated(config, outside, abs_src_path=str(ROOT / outside)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link to a figure's copy in the site; turn any other link to the repository into the file's name."""
    markdown = NOTEBOOK.sub(r"\1.md)", markdown)
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


def _pages_of(notebook: File, config: Any) -> list[File]:
    """Return the page of a notebook, with a link to it, and the pictures among its outputs."""
    page = Path(notebook.src_uri)
    markdown, resources = MarkdownExporter().from_filename(str(DOCS / page))
    title, body = markdown.lstrip().split("\n", 1)
    content = f"{title}\n\n{DOWNLOAD.format(page.name)}\n{body}"
    pictures = {f"{page.stem}_{name}": picture for name, picture in resources["outputs"].items()}
    for name in resources["outputs"]:
        content = content.replace(f"]({name})", f"]({page.stem}_{name})")
    made = {page.with_suffix(".md").name: content, **pictures}
    return [File.generated(config, page.with_name(name).as_posix(), content=one) for name, one in made.items()]
