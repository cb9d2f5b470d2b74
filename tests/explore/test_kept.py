"""The map that is kept with a collection, and the topics made of it."""

import json
from pathlib import Path

import numpy as np
import pytest

from ammi import LSH, Collection, DocumentHasher
from ammi.data import Document, KnownCode
from ammi.explore import Explorer, kept
from ammi.explore.kept import FILE, KeptMap
from tests.explore.test_views import WORDS, texts

N = 300


@pytest.fixture
def collection(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given_texts, group = texts(N)
    with Collection.create(tmp_path / "place", DocumentHasher(LSH(32, random_state=0)).fit(given_texts)) as created:
        created.add({"id": n, "text": text, "subject": str(group[n])} for n, text in enumerate(given_texts))
        yield created


def keep(collection: Collection) -> KeptMap:
    explorer = Explorer(collection)
    map = explorer.fine_map
    made = KeptMap.of(explorer, collection.store.state(), map, explorer.telling_colours(map))
    assert made.save(collection)
    return made


def test_a_kept_map_is_that_which_was_made(collection, tmp_path):
    made = keep(collection)
    assert (tmp_path / "place" / FILE).is_file()
    read = KeptMap.load(collection)
    assert read is not None
    assert read.is_of(Explorer(collection), collection.store.state())
    assert np.array_equal(read.map.layout, made.map.layout)
    assert np.array_equal(read.map.region_of, made.map.region_of)
    assert read.map.regions == made.map.regions
    assert read.colours["subject"].names == made.colours["subject"].names
    assert np.array_equal(read.colours["subject"].values, made.colours["subject"].values)


def test_new_documents_are_placed_among_their_neighbours(collection):
    made = keep(collection)
    subject = [str(n % 3) for n in range(N)]
    collection.delete([0, 1])
    collection.add([{"id": f"new {n}", "text": collection.get(n).text} for n in range(2, 32)])
    read = KeptMap.load(collection)
    assert read is not None
    explorer = Explorer(collection)
    assert not read.is_of(explorer, collection.store.state())
    map = read.moved_to(explorer.sample)
    assert map is not None
    assert map.n_placed == 30
    assert np.array_equal(map.layout[: N - 2], made.map.layout[2:])  # the others stay
    middles = {one: made.map.layout[[n for n in range(N) if subject[n] == one]].mean(axis=0) for one in set(subject)}
    for n in range(2, 32):
        point = map.layout[explorer.sample.point_of[f"new {n}"]]
        assert min(middles, key=lambda one: np.hypot(*(middles[one] - point))) == subject[n]
    assert sum(region.n_points for region in map.regions if region.level == 0) == N + 28
    collection.add([{"id": f"more {n}", "text": "crude oil"} for n in range(200)])
    assert read.moved_to(Explorer(collection).sample) is None  # more than a fifth of them


def test_a_kept_map_of_another_model_or_that_is_damaged_is_none(collection, tmp_path):
    keep(collection)
    file = tmp_path / "place" / FILE
    whole = file.read_bytes()
    for wrong in (b"", b"nothing", whole[: len(whole) // 2]):
        file.write_bytes(wrong)
        assert KeptMap.load(collection) is None
    rng = np.random.default_rng(0)
    for _ in range(100):
        some = bytearray(whole)
        for at in rng.integers(0, len(whole), 5):
            some[at] = rng.integers(0, 256)
        file.write_bytes(bytes(some))
        KeptMap.load(collection)  # without an error
    file.write_bytes(whole)
    assert KeptMap.load(collection) is not None
    collection.rebuild(DocumentHasher(LSH(64, random_state=1)).fit(texts(N)[0]))
    assert KeptMap.load(collection) is None


def test_a_map_is_kept_in_the_cache_where_its_folder_cannot_be_written(collection, tmp_path, monkeypatch):
    real = kept.replacing_file

    def refusing(path: Path):
        if path.parent == tmp_path / "place":
            raise PermissionError("it is read-only")
        return real(path)

    monkeypatch.setattr(kept, "replacing_file", refusing)
    keep(collection)
    assert not (tmp_path / "place" / FILE).exists()
    assert len(list((tmp_path / "cache" / "ammi").iterdir())) == 1
    assert KeptMap.load(collection) is not None


def test_topics_are_the_groups_of_documents(collection, tmp_path):
    topics = collection.topics(3)
    assert (tmp_path / "place" / FILE).is_file()
    assert [topic.documents for topic in topics] == sorted((topic.documents for topic in topics), reverse=True)
    assert sum(topic.documents for topic in topics) == N
    assert sum(topic.share for topic in topics) == pytest.approx(1)
    for topic in topics:
        values = topic.categories["subject"]
        subject = max(values, key=values.__getitem__)
        assert values[subject] > 0.9
        assert set(topic.words) & set(list(WORDS.values())[int(subject)].split())
        assert len(topic.typical) == len(topic.odd) == 3
        assert not set(topic.typical) & set(topic.odd)
        assert all(int(id) % 3 == int(subject) for id in topic.typical)
    assert collection.topics(3) == topics
    assert len(collection.topics(1)) == 1
    assert len(collection.topics(1000)) == 7  # as many regions as there are
    json.dumps([topic._asdict() for topic in topics])
    with pytest.raises(ValueError, match="number of topics is 0"):
        collection.topics(0)


def test_a_document_without_words_of_its_topic_is_not_typical_whatever_its_code(collection):
    documents = list(collection)
    collection.delete([one.id for one in documents])
    for id, n in (("short", 0), ("short too", 1), ("short as well", 2)):  # one of each group
        code = KnownCode(documents[n].code, collection.n_bits, collection.fingerprint)
        collection.add_once([Document(id, "cheek", {}, code=code)])
    collection.add({"id": one.id, "text": one.text} for one in documents)
    assert not [id for topic in collection.topics(3) for id in topic.typical if "short" in str(id)]


def test_categories_count_all_values_not_the_coloured_ones_alone(tmp_path):
    given_texts, group = texts(N)
    rare = np.flatnonzero(group == 2)[:20]  # documents: each of the 12 other values has more, but fewer in their topic
    values = [f"often {n // 3 % 12}" for n in range(N)]
    for n in rare:
        values[n] = "rare"
    with Collection.create(tmp_path / "many", DocumentHasher(LSH(32, random_state=0)).fit(given_texts)) as many:
        many.add(
            {"id": n, "text": text, "group": value}
            for n, (text, value) in enumerate(zip(given_texts, values, strict=True))
        )
        best = [next(iter(topic.categories["group"].items())) for topic in many.topics(3)]
    assert "rare" in dict(best)


def test_no_documents_have_no_topics(tmp_path):
    model = DocumentHasher(LSH(8, random_state=0)).fit(["oil", "wheat"])
    with Collection.create(tmp_path / "empty", model) as empty:
        assert empty.topics() == []
        empty.add(["oil"])
        (only,) = empty.topics()
        assert (only.documents, only.share, only.odd) == (1, 1.0, [])
