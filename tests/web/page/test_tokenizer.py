"""The page splits texts into the same words as the word index, and marks them where they stand."""

import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from ammi.features.alphabet import words_of

SCRIPT = Path(__file__).parents[3] / "src" / "ammi" / "web" / "page" / "tokenizer.js"
ASSIGNED = np.array(
    [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
)
OFTEN = list("aZ09_ .,-'\n\x00éßİΣσςñאبहि́न्日本語のテ中ภาษาไꓘ한글ﬁ²𠀀😀")


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_script_tag(
        type="module", content=f"{SCRIPT.read_text()}\nObject.assign(window, {{ wordsOf, partsWith }});"
    )
    page.wait_for_function("() => Boolean(window.wordsOf)")
    yield page
    page.close()


def words_in_page(page: Page, texts: list[str]) -> list[list[str]]:
    # As JSON, which is many times faster than a list of arguments.
    return json.loads(page.evaluate("(texts) => JSON.stringify(JSON.parse(texts).map(wordsOf))", json.dumps(texts)))


def test_every_character_belongs_to_the_same_words(page):
    texts = [f"a{character}b c{character}" for character in ASSIGNED]
    assert words_in_page(page, texts) == [words_of(text) for text in texts]


def test_generated_texts_have_the_same_words(page):
    rng = np.random.default_rng(0)
    texts = []
    for length in rng.integers(0, 60, 3000).tolist():
        often = rng.random(length) < 0.7
        chosen = np.where(often, rng.choice(OFTEN, length), rng.choice(ASSIGNED, length))
        texts.append("".join(chosen.tolist()))
    assert words_in_page(page, texts) == [words_of(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Oil, oil-price; boil OIL_x", "oil price", ["Oil", "oil", "price"]),
        (
            "The ﬁne Cafe\u0301 of ΟΔΟΣ in İstanbul",
            "fine café οδος İstanbul",
            ["ﬁne", "Cafe\u0301", "ΟΔΟΣ", "İstanbul"],
        ),
        ("日本語のテキスト", "日本語", ["日本語"]),
        ("a b c", "a", []),
        ("<b>oil</b>", "oil", ["oil"]),
    ],
)
def test_the_words_of_a_query_are_marked_where_they_stand(page, text, query, marked):
    parts = page.evaluate("([text, query]) => partsWith(text, wordsOf(query))", [text, query])
    assert [text[start:end] for start, end in parts] == marked
