"""Pairs that are related and no copies: BM25 against its twin, replies that are replies, what is quoted, halves."""

import gzip
import json
import random
import sys
from datetime import datetime, timedelta
from email.utils import format_datetime
from itertools import chain, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import corpus_path
from ammi.data.pairing import (
    MAX_COPIED,
    MIN_QUERY,
    MIN_RELEVANCE,
    MIN_WORDS,
    first_sentence,
    halves,
    is_copy,
    related_articles,
    replies,
    seconds,
    unquoted,
    without_quotes,
    words,
)
from tests import oracles

WORDS = [f"{a}{b}" for a in ("ba", "ko", "mu", "ri", "tes", "vol") for b in ("dan", "len", "mi", "pur", "sta", "ton")]
START = datetime(1987, 3, 1)

sentence = st.lists(st.sampled_from(WORDS), min_size=5, max_size=25).map(lambda chosen: " ".join(chosen) + ".")
articles = st.builds(
    lambda sentences, day: {"text": " ".join(sentences), "date": (START + timedelta(days=day)).isoformat()},
    st.lists(sentence, min_size=1, max_size=3),
    st.floats(0, 40),
)


def each_once(pairs: list[tuple[int, int]]) -> bool:
    positions = list(chain(*pairs))
    return len(positions) == len(set(positions))


def copied(one: list[str], other: list[str]) -> float:
    runs = [{" ".join(text[i : i + 3]) for i in range(len(text) - 2)} for text in (one, other)]
    return len(runs[0] & runs[1]) / min(map(len, runs))


@settings(deadline=None)
@given(st.lists(articles, min_size=1, max_size=12), st.integers(0, 3), st.floats(0, 30))
def test_the_second_article_is_the_best_by_bm25_of_those_that_may_be(records, seed, days):
    pairs = list(related_articles(records, days=days, seed=seed))
    assert each_once(pairs)
    found, free = dict(pairs), set(range(len(records)))
    tokens = [words(record["text"]) for record in records]
    dates = [datetime.fromisoformat(record["date"]) for record in records]

    def may_be(i: int, first: int) -> bool:  # in so small a corpus, rare words are those in ten articles at most
        shared = set(query) & set(tokens[i])
        rare = any(sum(word in other for other in tokens) <= 10 for word in shared)
        near = abs(dates[i] - dates[first]) <= timedelta(days=days)
        return i != first and near and rare and len(tokens[i]) >= MIN_WORDS and copied(tokens[i], tokens[first]) <= 0.2

    for first in random.Random(seed).sample(range(len(records)), len(records)):
        query = words(first_sentence(records[first]["text"]))
        if first not in free or len(tokens[first]) < MIN_WORDS or len(set(query)) < MIN_QUERY:
            continue
        relevance = oracles.bm25(tokens, query)
        relevance /= relevance[first]
        candidates = [i for i in free if may_be(i, first)]
        best = max(relevance[candidates], default=0)
        if first in found:
            assert found[first] in candidates
            assert relevance[found[first]] == pytest.approx(best, abs=1e-4)
            assert best > MIN_RELEVANCE - 1e-4
            free -= {first, found[first]}
        else:
            assert best < MIN_RELEVANCE + 1e-4
    assert set(found) <= set(range(len(records))) - free


EVENTS = [
    "harbour Ostende fire cranes sailors insurers smoke",
    "bank Verona fraud auditors cashier savers vault",
    "strike Lodz weavers wages mill union looms",
    "flood Mombasa bridge rain ferries rescue dam",
]


def event(subject: str, day: float, i: int) -> dict:
    """An article that opens with the words of its subject and others, in an order of its own."""
    rng = random.Random(i)
    opening = subject.split() + rng.sample(WORDS, 4)
    text = " ".join(rng.sample(opening, len(opening))) + ". " + " ".join(rng.choices(WORDS, k=20))
    return {"text": text, "date": (START + timedelta(days=day)).isoformat(), "subject": subject}


def test_articles_about_one_event_meet_and_copies_and_late_ones_do_not():
    records = [event(subject, 2 * i, i) for i, subject in enumerate(EVENTS)]
    records += [event(subject, 2 * i + 5, i + 10) for i, subject in enumerate(EVENTS)]
    copies = [{**record, "text": record["text"] + " It adds a word."} for record in records[:4]]
    everything = records + copies
    pairs = list(related_articles(everything))
    assert len(pairs) == 4
    assert all(everything[i]["subject"] == everything[j]["subject"] and (i - j) % 8 for i, j in pairs)
    assert list(related_articles(records, days=4)) == []


def test_other_seeds_draw_other_pairs_and_the_same_seed_the_same():
    records = [event(EVENTS[i % 4], i % 5, i) for i in range(40)]
    assert list(related_articles(records, seed=1)) == list(related_articles(records, seed=1))
    assert list(related_articles(records, seed=1)) != list(related_articles(records, seed=2))


@pytest.mark.parametrize("records", [[], [{"text": "a"}], [{"text": "a", "date": "soon"}, {"text": "b", "date": None}]])
def test_a_corpus_without_dates_is_refused(records):
    with pytest.raises(ValueError, match=f"none of {len(records)} documents has a date in its column 'date': expected"):
        list(related_articles(records))


def test_texts_without_words_make_no_pairs():
    assert list(related_articles([{"text": text, "date": "1987-03-01"} for text in ("", "...", "a b", "!")])) == []


def test_without_bm25s_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(ImportError, match=r"needs bm25s: pip install 'ammi\[paper\]'"):
        list(related_articles([event(EVENTS[0], 0, 0)]))


@settings(deadline=None)
@given(st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)).map(lambda moment: moment.replace(microsecond=0)))
def test_dates_are_read_as_iso_mail_and_newswire_write_them(moment):
    wire = f"{moment.day}-{moment:%b-%Y %H:%M:%S}.20".upper()
    expected = (moment - datetime(1970, 1, 1)).total_seconds()
    for written in (moment.isoformat(), f"{moment.isoformat()}Z", format_datetime(moment), wire):
        assert seconds(written) == expected
    assert seconds(f"{moment.isoformat()}-05:00") == expected + 5 * 3600


@pytest.mark.parametrize("written", [None, "", "tomorrow", 7, "31-MAR-1987 605:12:19.12", "1987-13-01", [], {}])
def test_what_is_no_date_is_none(written):
    assert np.isnan(seconds(written))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. It stopped.", "It rained."),
        ("The U.S. and Smith Inc. met.\nThey left.", "The U.S. and Smith Inc. met."),
        ("It rose 1.5 pct,\nsaid Dr. No. The end", "It rose 1.5 pct, said Dr. No."),
        ('"Is it?" he asked. No.', '"Is it?"'),
        ("Shr 34 cts vs 28\n    Net 2 mln. More", "Shr 34 cts vs 28"),
        ("  no stop\n\nNext.", "no stop"),
        ("雨が降った。止んだ。", "雨が降った。"),
        ("", ""),
    ],
)
def test_first_sentences(text, expected):
    assert first_sentence(text) == expected


@settings(deadline=None)
@given(*[st.lists(st.sampled_from(WORDS[:6]), min_size=3, max_size=20)] * 2)
def test_copies_by_their_definition(one, other):
    assert is_copy(one, other) == is_copy(other, one) == (copied(one, other) > MAX_COPIED)
    assert is_copy(one, one)


ATTRIBUTIONS = [
    "In article <1993Apr1.1@a.edu> joe@b.edu (Joe Doe) writes:",
    "In article <1993Apr1.1@a.edu>,\njoe@b.edu\n(Joe Doe) writes:",
    "In <1@a.edu>, joe@b.edu (Joe) wrote...",
    "From article <1993Apr1.1@a.edu>, by joe@b.edu (Joe Doe):",
    "On 1 Apr 93 10:00:00 GMT, joe@b.edu (Joe) said:",
    "joe@b.edu (Joe\nDoe) writes:",
    "Joe Doe <joe@b.edu> wrote: >",
    "Joe writes:",
    "Joe Doe writes",
    "Quoting joe@b.edu in article <1@a.edu>:",
    "Subject: Re: the harbour",
]
own_lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
marks = st.sampled_from(["> ", ">", ">> ", "|> ", "| ", ": ", "} ", "] ", "  > ", "JD> "])
quotations = st.builds(
    lambda who, mark, lines: "\n".join([who, *(mark + line for line in lines)]),
    st.sampled_from(["", *ATTRIBUTIONS]),
    marks,
    st.lists(own_lines, min_size=1, max_size=3),
)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), own_lines, quotations), max_size=6), st.sampled_from(["", "\n-- \nJo\njo@c.edu"])
)
def test_what_is_quoted_goes_and_the_rest_stays(parts, signature):
    message = "\n\n".join(own if is_own else quotation for is_own, own, quotation in parts) + signature
    own = [own for is_own, own, _ in parts if is_own]
    assert without_quotes(message).split() == " ".join(own).split()


@settings(deadline=None)
@given(st.text(st.sampled_from(list(">|:}] \n\r\t\x0b\x85-abJ@<writes."))))
def test_no_quoted_line_is_left_of_any_text(text):
    left = without_quotes(text)
    assert not any(line.lstrip().startswith((">", "|", ":", "}", "]")) for line in left.splitlines())
    assert set(left.split()) <= set(text.split())


def test_a_reply_loses_lines_that_it_quotes_without_a_mark():
    message, reply = unquoted("Is the harbour open?\nI will sail.", "# Is the harbour open?\nYes.\n  I will sail.")
    assert (message, reply) == ("Is the harbour open?\nI will sail.", "Yes.")


@st.composite
def threads(draw):
    """Messages of which each but the first may answer an earlier one, and quotes it."""
    records: list[dict] = []
    for i in range(draw(st.integers(1, 9))):
        parent = records[draw(st.integers(0, i - 1))] if i and draw(st.integers(0, 3)) else None
        rng = random.Random(draw(st.integers(0, 99)))
        text = "\n".join(" ".join(rng.choices(WORDS, k=8)) for _ in range(draw(st.sampled_from([4, 4, 4, 1]))))
        quoted = "".join(f"> {line}\n" for line in parent["text"].splitlines()) if parent else ""
        ids = [*parent["references"], parent["message_id"]] if parent else []
        records.append({"message_id": f"<{i}@a>", "references": ids, "text": quoted + text})
    return records


def most_pairs(edges: list[tuple[int, int]]) -> int:
    """The most edges of which no two share an end."""
    if not edges:
        return 0
    first, *rest = edges
    return max(most_pairs(rest), 1 + most_pairs([edge for edge in rest if not {*first} & {*edge}]))


@settings(deadline=None)
@given(threads(), st.integers(0, 3))
def test_replies_are_replies_and_as_many_as_there_can_be(records, seed):
    if not any(record["references"] for record in records):
        with pytest.raises(ValueError, match="answers another: expected the columns 'message_id', and 'references'"):
            list(replies(records, seed=seed))
        return
    pairs = list(replies(records, seed=seed))
    assert each_once(pairs)

    def suits(i: int, j: int) -> bool:
        one, other = (words(text) for text in unquoted(records[i]["text"], records[j]["text"]))
        return min(len(one), len(other)) >= MIN_WORDS and copied(one, other) <= MAX_COPIED

    edges = [(int(record["references"][-1][1]), i) for i, record in enumerate(records) if record["references"]]
    edges = [edge for edge in edges if suits(*edge)]
    assert set(pairs) <= set(edges)
    assert len(pairs) == most_pairs(edges)
    as_header = [{**record, "references": " ".join(record["references"])} for record in records]
    assert list(replies(as_header, seed=seed)) == pairs


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=3, max_size=30).map(" ".join), max_size=8), st.booleans())
def test_halves_are_cut_where_the_sentence_nearest_to_the_middle_ends(sentences, stops):
    mark = "." if stops else ""
    text = f"{mark}\n".join(sentences) + mark
    cuts = [f"{mark}\n".join(sentences[:n]) + mark for n in range(1, len(sentences) + 1)] if stops else []
    nearest = min((abs(len(cut) - len(text) / 2) for cut in cuts), default=None)
    found = halves(text)
    if found:
        first, second = found
        assert f"{first}\n{second}" == text
        assert abs(len(first) - len(text) / 2) == nearest
        assert min(len(words(first)), len(words(second))) >= MIN_WORDS
        assert copied(words(first), words(second)) <= MAX_COPIED
    else:
        for first in (cut for cut in cuts if abs(len(cut) - len(text) / 2) == nearest):
            one, other = words(first), words(text[len(first) :])
            assert min(len(one), len(other)) < MIN_WORDS or copied(one, other) > MAX_COPIED


def test_a_text_without_sentences_or_that_says_everything_twice_has_no_halves():
    table = "\n".join(f"{word} 12 vs 11" for word in WORDS)
    assert halves(table) is None
    once = " ".join(WORDS[:30]) + "."
    assert halves(f"{once}\n{once}") is None
    assert halves("") is None


def test_real_messages_and_their_replies():
    try:
        path = corpus_path("newsgroups")
    except (FileNotFoundError, ValueError) as error:
        pytest.skip(f"needs the corpus newsgroups: {error}")
    with gzip.open(path, "rt") as lines:
        records = [json.loads(line) for line in islice(lines, 3000)]
    pairs = list(replies(records))
    assert len(pairs) > 300
    assert each_once(pairs)
    for i, j in pairs:
        assert records[j]["references"][-1] == records[i]["message_id"]
        left = "\n".join(unquoted(records[i]["text"], records[j]["text"]))
        assert not any(line.lstrip().startswith((">", "|", ":")) for line in left.splitlines())
        assert records[i]["message_id"] not in left
