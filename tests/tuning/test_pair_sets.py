"""From documents to a folder of pairs: the same every time, each document once, weighed by the training part."""

import random
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from ammi.data import Document
from ammi.data.pairs import read_pair_features, read_pair_texts, read_pairs
from ammi.features import PieceFeatures
from ammi.tuning.pair_sets import PairPlan, build_pairs

SYLLABLES = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("al", "en", "ir", "os", "um")]
SPLITS = ("train", "cv", "test")


def newspaper(n_events: int = 30) -> list[Document]:
    """Two articles for each event, which open with the same names in another order."""
    rng = random.Random(0)
    common = ["".join(rng.sample(SYLLABLES, 2)) for _ in range(200)]
    documents = []
    for event in range(n_events):
        names = ["".join(rng.sample(SYLLABLES, 3)) for _ in range(8)]
        for hours in (0, 30):
            opening = names + rng.sample(common, 4)
            text = " ".join(rng.sample(opening, len(opening))) + ".\n" + " ".join(rng.choices(common, k=30))
            date = datetime(1987, 3, 1) + timedelta(days=event, hours=hours)
            documents.append(Document(f"{event}-{hours}", text, {"date": date.isoformat(), "event": event}))
    return documents


def conversation(n: int = 20) -> list[Document]:
    rng = random.Random(1)
    documents = []
    for i in range(n):
        message, answer = (" ".join(rng.choices(SYLLABLES, k=30)) for _ in range(2))
        asked = {"message_id": f"<{i}@a>", "references": []}
        answered = {"message_id": f"<{i}@b>", "references": [f"<{i}@a>"]}
        documents.append(Document(f"ask-{i}", message, asked))
        documents.append(Document(f"answer-{i}", f"Jo writes:\n> {message}\n{answer}", answered))
    return documents


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs") / "news"
    return folder, build_pairs(newspaper(), folder, PairPlan("newspaper", vocabulary_size=200))


def test_every_event_is_a_pair_and_every_document_in_one_part(made):
    folder, config = made
    texts = read_pair_texts(folder)
    assert config["pairs"] == {"train": 18, "cv": 6, "test": 6} == {split: len(texts[split]) for split in SPLITS}
    pairs = list(chain(*texts.values()))
    ids = [record["id"] for pair in pairs for record in pair]
    assert len(ids) == len(set(ids)) == 60
    assert all(first["event"] == second["event"] for first, second in pairs)
    originals = {document.id: document.text for document in newspaper()}
    assert all(record["text"] == originals[record["id"]] for pair in pairs for record in pair)
    assert (config["source"], config["documents"], config["days"], config["seed"]) == ("newspaper", 60, 14, 0)


def test_rows_are_the_texts_weighed_by_the_training_part(made):
    folder, config = made
    texts, matrices = read_pair_texts(folder), read_pairs(folder)
    vectorizer = PieceFeatures.from_files(read_pair_features(folder))
    assert len(vectorizer.vocabulary_) == config["words"]
    for split in SPLITS:
        for side, X in enumerate(getattr(matrices, split)):
            expected = vectorizer.transform(pair[side]["text"] for pair in texts[split])
            np.testing.assert_array_equal(X.toarray(), expected.toarray())
    learned = PieceFeatures(200).fit(record["text"] for pair in texts["train"] for record in pair)
    assert learned.vocabulary_ == vectorizer.vocabulary_
    np.testing.assert_array_equal(learned.idf_, vectorizer.idf_)


def test_the_same_seed_makes_the_same_bytes_and_another_seed_other_parts(made, tmp_path):
    folder, _ = made
    for seed, same in ((0, True), (1, False)):
        build_pairs(newspaper(), tmp_path / "again", PairPlan("newspaper", vocabulary_size=200, seed=seed))
        for name in ("config.json", "pairs.jsonl.gz", "matrices.safetensors"):
            assert ((tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()) == same


def test_replies_are_written_without_what_they_quote(tmp_path):
    config = build_pairs(conversation(), tmp_path / "replies", PairPlan("letters", kind="replies", vocabulary_size=90))
    assert config["pairs"] == {"train": 12, "cv": 4, "test": 4}
    for first, second in chain(*read_pair_texts(tmp_path / "replies").values()):
        assert second["references"] == [first["message_id"]]
        assert len(second["text"].split()) == 30
        assert ">" not in second["text"]


def essays(n: int = 20, words: int = 25) -> list[Document]:
    """Two sentences each, in words of their own."""
    rng = random.Random(2)
    sentences = [" ".join("".join(rng.sample(SYLLABLES, 2)) for _ in range(words)) + "." for _ in range(2 * n)]
    return [Document(i, f"{sentences[2 * i]} {sentences[2 * i + 1]}", {"title": f"essay {i}"}) for i in range(n)]


def test_halves_of_one_text_are_a_pair(tmp_path):
    config = build_pairs(essays(), tmp_path / "halves", PairPlan("essays", kind="halves", vocabulary_size=90))
    assert config["pairs"] == {"train": 12, "cv": 4, "test": 4}
    assert config["halves"] is True
    originals = {f"essay {document.id}": document.text for document in essays()}
    for first, second in chain(*read_pair_texts(tmp_path / "halves").values()):
        assert f"{first['text']} {second['text']}" == originals.pop(first["title"])
        assert (first["id"], second["id"]) == tuple(f"{first['title'].removeprefix('essay ')} {n}/2" for n in (1, 2))
    assert originals == {}


def halves_of(documents: list[Document], folder: Path) -> dict[str, str]:
    """The texts of the pairs by id."""
    build_pairs(documents, folder, PairPlan("essays", kind="halves", vocabulary_size=90))
    return {half["id"]: half["text"] for pair in chain(*read_pair_texts(folder).values()) for half in pair}


def test_a_half_that_is_also_in_a_longer_one_has_no_pair(tmp_path):
    first, *others = essays()
    beginning = str(first.text).split(". ")[0]
    longer = Document("longer", f"{beginning}, as was said. {' '.join(SYLLABLES[:30])}.", {})
    texts = halves_of([first, longer, *others], tmp_path / "halves")
    expected = ["longer", *range(1, 20)]
    assert texts.keys() == {f"{name} {n}/2" for name in expected for n in (1, 2)}


def test_halves_of_messages_are_without_what_they_quote_and_those_of_others_are_whole(tmp_path):
    quoted, own, *others = essays(22)
    text = f"Jo writes:\n> {quoted.text}\n\n{own.text}"
    message = halves_of([Document("it", text, {"message_id": "<1@a>"}), *others], tmp_path / "halves")
    assert f"{message['it 1/2']} {message['it 2/2']}" == own.text
    article = halves_of([Document("it", text, {}), *others], tmp_path / "halves")
    assert f"{article['it 1/2']}\n\n{article['it 2/2']}" == text


def test_what_cannot_be_made_is_refused_before_anything_is_written(tmp_path):
    def refused(complaint, documents, **options):
        with pytest.raises(ValueError, match=complaint):
            build_pairs(documents, tmp_path / "no", PairPlan("s", **options))
        assert not list(tmp_path.iterdir())

    refused("too few pairs were found to hold out 20% of them: 4", newspaper(4))
    refused("none of 60 documents has a date in its column 'day'", newspaper(), date="day")
    refused("none of 60 documents answers another", newspaper(), kind="replies")
    refused("too few pairs were found to hold out 20% of them: 0", newspaper(), kind="halves")
    refused(r"held_out is 0.5: expected a share above 0 and below 0.5", newspaper(), held_out=0.5)
    refused("days is -1: expected 0 or more", newspaper(), days=-1)


def test_a_folder_of_something_else_is_refused_before_the_documents_are_read(tmp_path):
    (tmp_path / "thesis.tex").touch()
    documents = iter(newspaper())
    with pytest.raises(ValueError, match="is there and does not hold pairs"):
        build_pairs(documents, tmp_path, PairPlan("s"))
    assert len(list(documents)) == 60
