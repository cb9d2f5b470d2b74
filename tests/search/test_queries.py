"""Queries as people type them and paste them: their signs, on every store, and the words that were corrected."""

import numpy as np

from ammi.search.queries import Parsed, parse
from ammi.search.ranking import BitRanking, WordRanking
from ammi.search.wanted import _edits
from tests.search.stores import LOCATIONS, every_store

PLAIN = [
    "",
    '"',
    '""',
    "-",
    "-- -",
    "OR",
    "oil OR",
    "OR oil",
    "a well-known e-mail address",
    "git log --help",
    "ls -l",
    "5 - 3",
    "at -5 degrees",
    '19" rack, 21" rack',
    'an "unclosed quote',
    'an unopened" quote',
    "it's the '90s",
    "TO BE OR NOT TO BE",
    "-oil",
    "*",
    "f(*args, **kwargs)",
    "SELECT * FROM oil",
    "char* p",
    "**bold**",
    'one\n"line" -and OR another',
    'more than twenty words, as "a b" pasted text has -them OR others, ' + "and " * 20,
]


SIGNS = {
    '"crude oil" prices': Parsed("crude oil prices", "crude oil prices", required=((("crude", "oil"),),)),
    "“Öl” preise.": Parsed("Öl preise.", "Öl preise.", required=((("öl",),),)),
    "oil -gas -e-mail": Parsed("oil", "oil", excluded=(("gas",), ("e", "mail"))),
    'oil -"natural gas"': Parsed("oil", "oil", excluded=(("natural", "gas"),)),
    "price of oil OR Gas OR C++": Parsed("price of oil Gas C++", "price of", (("oil", "gas", "c++"),)),
    '"a b" OR c': Parsed("a b c", "a b c", required=((("a", "b"), ("c",)),)),
    "日本 OR 中国": Parsed("日本 中国", "", (("日本", "中国"),)),
    "inverse of a matr*": Parsed("inverse of a matr*", "inverse of a matr*", prefix="matr"),
    '"of a" matr*': Parsed("of a matr*", "of a matr*", required=((("of", "a"),),), prefix="matr"),
}


def test_signs_are_parsed_and_other_texts_are_plain():
    for text, parsed in SIGNS.items():
        assert parse(text) == parsed._replace(is_typed=True)
    for text in PLAIN:
        assert parse(text)._replace(is_typed=False) == Parsed(text.strip(), text.strip())


def test_an_edit_is_a_letter_more_or_less_or_another_or_two_swapped():
    assert _edits("ab", "ax") == {"b", "a", "ba", "xb", "aa", "ax", "xab", "aab", "axb", "abx", "aba"}


TEXTS = {
    "jaguar": "The jaguar is a large cat of the rain forest.",
    "car": "The Jaguar is a fast car and a large one.",
    "matrix": "The inverse of a matrix, and matrices in general.",
    "oil": "The price of crude oil, and of natural gas.",
    "crude": "Oil that is crude: its price is in the news.",
    "title": "Nothing of it has been in the text.",
    "japan": "日本語の文書",
    "unpack": "To unpack an archive: tar -xzf archive.tgz",
    "pack": "Pack it by tar -czf, and look into it with parse_archive.",
}
ASKED = {
    '"crude oil"': (["oil"], [], {}),
    '"oil crude" price': (["oil", "crude", "title"], ['"oil crude"'], {}),
    '"of the" jaguar': (["jaguar"], [], {}),
    '"large cat" OR "fast car"': (["car", "jaguar"], [], {}),
    "jaguar -car": (["jaguar"], [], {}),
    'large -"rain forest" -"no such"': (["car"], [], {}),
    "price -gas": (["crude"], [], {}),
    "tar -xzf": (["pack"], [], {}),
    "tar -archive": ([], [], {}),
    "parse archive": (["pack", "unpack"], [], {}),
    "parse_archive": (["pack", "unpack"], [], {}),
    '"parse archive"': (["pack"], [], {}),
    '"crude awakening"': (["title"], [], {}),
    '"文書"': (["japan"], [], {}),
    "cat OR gas": (["jaguar", "oil"], [], {}),
    "matri*": (["matrix"], [], {}),
    "matri": (["matrix"], [], {"matri": "matri*"}),
    "matirx of jaguars": (["jaguar", "car", "matrix"], [], {"matirx": "matrix"}),
    "jaguaar xyzzyx": (["jaguar", "car"], ["xyzzyx"], {"jaguaar": "jaguar"}),
    "beeen cats": (["jaguar"], ["beeen"], {}),  # "been" is a stop word
    "ol 2019 known": ([], ["ol", "2019", "known"], {}),
    "natural\nmatirx": (["oil"], ["matirx"], {}),
}


@every_store
def test_signs_and_corrections_on_every_store(store, tmp_path):
    """The expected documents are found, and no others; the result says what was unknown and what was corrected."""
    with store.create(LOCATIONS[store](tmp_path), 8, text_index="english") as index:
        metadata = [{"title": "A crude awakening"} if id == "title" else {} for id in TEXTS]
        index.add(np.zeros((len(TEXTS), 1), np.uint8), texts=[*TEXTS.values()], metadata=metadata)
        rankings = [WordRanking(query, None, knows="known".__eq__) for query in ASKED]
        found = index.search_ranked(np.zeros((len(ASKED), 1), np.uint8), rankings, 10)
        for query, hits in zip(ASKED, found, strict=True):
            names = [[*TEXTS][hit.id] for hit in hits]
            assert (sorted(names), hits.unknown, hits.corrected) == (sorted(ASKED[query][0]), *ASKED[query][1:]), query
        index.delete([2])  # whose words are not known any more
        (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [WordRanking("matri", None)])
        assert (hits, hits.unknown, hits.corrected) == ([], ["matri"], {})


@every_store
def test_a_phrase_is_found_among_many_documents_with_its_words(store, tmp_path):
    """More documents have the words apart than a shortlist holds; and all of the nearest have the excluded word."""
    with store.create(LOCATIONS[store](tmp_path), 8) as index:
        index.add(np.zeros((300, 1), np.uint8), texts=["oil, the price of"] * 300)
        index.add(np.full((1, 1), 255, np.uint8), ["last"], ["the oil price"])
        near = BitRanking(np.full(8, -1.0))
        rankings = [WordRanking(query, near) for query in ('"oil price"', "price -of")]
        found = index.search_ranked(np.zeros((2, 1), np.uint8), rankings)
        assert [[hit.id for hit in hits] for hits in found] == [["last"], ["last"]]
