"""What is in a page, and that it is well formed."""

from collections import Counter
from html.parser import HTMLParser


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps cells, tags and the addresses of images."""

    VOID = ("meta", "img", "br", "hr")

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.images: list[str] = []
        self.cells: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
        if tag in ("td", "th"):
            self.cells.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data
