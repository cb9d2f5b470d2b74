"""Markdown and the page of it: any text is shown as it is."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reproduction.page import escaped, table, to_page
from tests.paper.html import Reader

texts = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=30) | st.text(
    "\\`*_[]<>&|~#!$-=+.1 ", max_size=12
)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_escaped_texts_come_back_from_a_table(rows):
    cells = [[escaped(text) for text in row] for row in rows]
    page = Reader(to_page(table(("first", "second"), cells), Path(), "title"))
    assert page.cells == ["first", "second", *(" ".join(text.split()) for row in rows for text in row)]


@given(texts)
def test_escaped_text_is_plain_in_a_sentence(text):
    html = MarkdownIt("commonmark").render(f"Text: {escaped(text)}.")
    assert not re.search(r"<(?!/?p>)", html)


def test_images_are_in_the_page_and_verdicts_have_their_colours(tmp_path):
    (tmp_path / "a picture.png").write_bytes(b"picture")
    page = to_page("**✓ holds** **✗ does not hold** **bold**\n\n![alt](a%20picture.png)", tmp_path, "title")
    assert Reader(page).images == ["data:image/png;base64,cGljdHVyZQ=="]
    assert '<strong class="yes">✓ holds' in page
    assert '<strong class="no">✗ does' in page
    assert "<strong>bold" in page


def test_columns_of_numbers_are_at_the_right():
    assert table(("a", "b", "c"), [("1", "2", "3")], numbers=True).splitlines()[1] == "| --- | ---: | ---: |"
    assert table(("a", "b"), []).splitlines() == ["| a | b |", "| --- | --- |"]
