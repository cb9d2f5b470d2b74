"""The views of codes, beside the plainest way to compute each."""

import threading
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import LSH, Collection, DocumentHasher
from ammi.explore import Explorer
from ammi.explore.colours import NONE, coloured
from ammi.explore.figures import figures
from ammi.explore.layout import fine_layout, rough_layout
from ammi.explore.once import once
from ammi.explore.regions import find_regions, levels_of, main_level, recounted
from ammi.explore.words import WordCounts, strongest

WORDS = {"oil": "crude oil barrels opec", "grain": "wheat corn harvest tonnes", "bank": "loan rate debt interest"}


def entropy(counts: Counter) -> float:
    share = np.array(list(counts.values())) / sum(counts.values())
    return float(-(share * np.log2(share)).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_figures_are_those_of_counting(n_bits, n, seed):
    rng = np.random.default_rng(seed)
    bits = (rng.random((n, n_bits)) < rng.random(n_bits)).astype(np.uint8)
    found = figures(np.packbits(bits, axis=1), n_bits)
    columns = [bits[:, bit].tolist() for bit in range(n_bits)]
    assert found.distinct == len({tuple(row) for row in bits.tolist()})
    assert np.allclose(found.balance, bits.mean(axis=0))
    assert np.allclose(found.entropy, [entropy(Counter(column)) for column in columns])
    assert found.code_entropy == pytest.approx(entropy(Counter(map(tuple, bits.tolist()))))
    for a, b in product(range(n_bits), repeat=2):
        pair = entropy(Counter(zip(columns[a], columns[b], strict=True)))
        expected = 0 if a == b else entropy(Counter(columns[a])) + entropy(Counter(columns[b])) - pair
        assert found.information[a, b] == pytest.approx(expected, abs=1e-9)
    assert len(found.tree) == n_bits - 1
    assert found.code_entropy <= found.with_tree + 1e-9 <= found.independent + 2e-9


def test_the_tree_follows_bits_that_copy_one_another():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 500)
    chain = [first]
    for _ in range(5):
        chain.append(np.where(rng.random(500) < 0.1, 1 - chain[-1], chain[-1]))
    order = [3, 0, 5, 1, 4, 2]  # the bits of the chain stand in another order
    bits = np.stack([chain[order.index(bit)] for bit in range(6)], axis=1).astype(np.uint8)
    wanted = sorted(tuple(sorted(pair)) for pair in pairwise(order))
    assert figures(np.packbits(bits, axis=1), 6).tree == wanted


def test_no_documents_have_figures_too():
    found = figures(np.zeros((0, 2), np.uint8), 16)
    assert (found.documents, found.distinct, found.independent, found.code_entropy) == (0, 0, 0, 0)


def groups_of_codes(n: int, n_bits: int = 64, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes around four centres, and which centre each is of."""
    rng = np.random.default_rng(seed)
    centres, group = rng.integers(0, 2, (4, n_bits)), rng.integers(0, 4, n)
    bits = centres[group] ^ (rng.random((n, n_bits)) < 0.08)
    return np.packbits(bits.astype(np.uint8), axis=1), group


def share_of_neighbours(places: np.ndarray, group: np.ndarray) -> float:
    """How many of the 10 nearest places are of the same group."""
    distances = ((places[:, None] - places[None]) ** 2).sum(-1)
    nearest = np.argsort(distances, axis=1)[:, 1:11]
    return float((group[nearest] == group[:, None]).mean())


@pytest.mark.parametrize("layout", [rough_layout, fine_layout])
def test_a_layout_keeps_what_is_alike_together(layout):
    codes, group = groups_of_codes(300)
    places = layout(codes, 64)
    assert places.shape == (300, 2)
    assert ((places >= 0) & (places <= 1)).all()
    assert share_of_neighbours(places, group) > (0.85 if layout is rough_layout else 0.97)
    assert np.array_equal(places, layout(codes, 64))


@pytest.mark.parametrize("n", [0, 1, 2, 20])
@pytest.mark.parametrize("n_bits", [1, 2, 9])
def test_few_codes_have_a_layout(n, n_bits):
    codes = np.packbits(np.random.default_rng(n).integers(0, 2, (n, n_bits), dtype=np.uint8), axis=1)
    for layout in (rough_layout, fine_layout):
        assert layout(codes.reshape(n, -(-n_bits // 8)), n_bits).shape == (n, 2)


def texts(n: int) -> tuple[list[str | None], np.ndarray]:
    rng = np.random.default_rng(0)
    group = np.arange(n) % 3
    made = [" ".join(rng.permutation([*list(WORDS.values())[one].split(), "the", f"w{n % 7}"])) for one in group]
    return list(made), group


def test_typical_words_are_those_of_a_group():
    given_texts, group = texts(90)
    counts = WordCounts([*given_texts, None])
    scores = counts.typical(np.append(group, 3)[None] == np.arange(3)[:, None])
    for words, row in zip(WORDS.values(), scores, strict=True):
        assert {word for word, _ in strongest(counts.words, row, 4)} == set(words.split())
    assert "the" not in counts.words  # which all have
    assert WordCounts([None, ""]).words == []


def test_a_word_that_is_common_elsewhere_names_no_group():
    """70% of the group and a third of all others have one word; three quarters of the group alone have another."""
    made = [" ".join(["common"] * (n < 28) + ["own"] * (n < 30) + ["rest"]) for n in range(40)]
    made += ["common" if n < 126 else "rest" for n in range(360)]
    counts = WordCounts(made)
    (scores,) = counts.typical((np.arange(400) < 40)[None])
    assert strongest(counts.words, scores, 1)[0][0] == "own"


def test_regions_are_named_by_their_words():
    given_texts, group = texts(240)
    middle = np.array([[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]])[group]
    places = (middle + np.random.default_rng(0).normal(0, 0.01, middle.shape)).astype(np.float32)
    region_of, regions = find_regions(places, WordCounts(given_texts), np.arange(240))
    assert len(region_of) == 240
    for number, region in enumerate(regions):
        own = Counter(group[region_of == number].tolist()).most_common(1)[0][0]
        assert region.words
        assert set(region.words) <= set(list(WORDS.values())[own].split())
        assert np.hypot(region.x - middle[group == own][0, 0], region.y - middle[group == own][0, 1]) < 0.05


def test_regions_of_different_levels_have_different_names():
    rng = np.random.default_rng(0)
    group = np.arange(900) % 3  # each of several regions, with the same words
    places = (rng.random((3, 2))[group] + rng.normal(0, 0.02, (900, 2))).astype(np.float32)
    words = [f"{one}{last}" for one in ("oil", "wheat", "bank") for last in "abcdef"]
    given_texts = [" ".join(rng.choice(words[6 * one : 6 * one + 6], 3, replace=False)) for one in group]
    _, regions = find_regions(places, WordCounts(given_texts), np.arange(900))
    names = [" ".join(region.words) for region in regions if len(region.words) == 3]
    assert len(names) > 24
    assert len(set(names)) == len(names)


def test_regions_have_levels_whose_points_add_up():
    rng = np.random.default_rng(0)
    places = rng.random((2400, 2)).astype(np.float32)
    region_of, regions = find_regions(places, WordCounts(["word"] * 2400), np.arange(2400))
    by_level = {level: [one for one in regions if one.level == level] for level in (0, 1, 2)}
    assert [len(by_level[level]) for level in (0, 1, 2)] == [8, 24, 60]
    assert levels_of(regions)[2] == list(range(32, 92))
    assert set(region_of.tolist()) <= set(levels_of(regions)[2])
    for level in by_level.values():
        assert sum(region.n_points for region in level) == 2400
    for number, region in enumerate(regions):
        inside = [one for one in regions if one.parent == number]
        assert not inside or sum(one.n_points for one in inside) == region.n_points
        assert all(one.level == region.level + 1 for one in inside)
    assert recounted(regions, region_of) == regions
    assert len(main_level(regions)) == 24


def test_words_of_a_bit_are_its_own():
    """Bit 1 follows bit 0, which is about oil; its own word is "spot", and oil's words do not name it too."""
    rng = np.random.default_rng(0)
    oil, other = rng.random(2000) < 0.3, rng.random(2000) < 0.3
    follows = np.where(rng.random(2000) < 0.2, ~oil, oil)
    made = [
        " ".join(
            ["crude"] * a + ["spot"] * (b and rng.random() < 0.5) + ["wheat"] * c + ["rest"] * (rng.random() < 0.3)
        )
        for a, b, c in zip(oil.tolist(), follows.tolist(), other.tolist(), strict=True)
    ]
    counts = WordCounts(made)
    counts_of_all = counts.own(np.stack([oil, follows, other], axis=1).astype(np.uint8))
    best = [strongest(counts.words, row, 1)[0][0] for row in counts_of_all]
    assert best == ["crude", "spot", "wheat"]
    assert "crude" not in dict(strongest(counts.words, counts_of_all[1], 1))


def test_colours_of_names_numbers_and_nothing():
    names = coloured(["a", "b", "a", None, [], ["b", "c"], True])
    assert names.names[:2] == ["a", "b"]
    assert names.values.tolist() == [0, 1, 0, NONE, NONE, 1, 2]
    numbers = coloured([*range(100), None, "x"])
    assert numbers.kind == "number"
    assert (np.diff(numbers.values[:100].astype(int)) >= 0).all()
    assert numbers.values[100:].tolist() == [NONE, NONE]
    assert coloured([10**400, 1]).kind == "category"


def test_skewed_numbers_use_the_whole_scale():
    numbers = coloured((2.0 ** np.arange(40)).tolist())
    assert np.ptp(np.diff(numbers.values.astype(int))) <= 2
    assert numbers.ticks == sorted(numbers.ticks)
    assert float(numbers.ticks[2]) < float(numbers.ticks[4]) / 1000
    even = coloured(list(range(101)))
    assert even.ticks == pytest.approx([1, 25.5, 50, 74.5, 99], abs=0.5)
    same = coloured([7.0] * 50 + list(range(20)))
    assert len(set(same.values[:50].tolist())) == 1


@pytest.mark.parametrize(
    "form", ["1993-{:02}-11", "1993-{:02}", "1993-{:02}-11T10:00:00+01:00", "1993-{:02}-11 10:00:00"]
)
def test_dates_are_a_scale(form):
    dates = coloured([form.format(month) for month in range(1, 13)] + ["1994-01-11", None, "later"])
    assert dates.kind == "date"
    assert (np.diff(dates.values[:12].astype(int)) > 0).all()
    assert dates.values[13:].tolist() == [NONE, NONE]
    assert str(dates.low).startswith("1993-01")
    assert coloured(["1993-13-01", "1993-99"] * 20).kind == "category"


@pytest.mark.parametrize("form", ["{} Apr 1993", "{}-APR-1993 10:01:02.33", "Mon, {} Apr 1993 10:00:00 GMT"])
def test_dates_with_the_name_of_a_month_are_a_scale(form):
    dates = coloured([form.format(day) for day in range(1, 29)])
    assert (dates.kind, dates.ticks[0], dates.ticks[4]) == ("date", "1993-04-01", "1993-04-27")
    assert coloured(["31 Feb 1993", "1 Foo 1993"] * 20).kind == "category"


def test_keys_of_which_every_document_has_its_own_value_are_not_offered(tmp_path):
    given_texts, group = texts(240)
    records = [
        {"text": text, "title": f"title {n}", "part": n // 8, "subject": str(group[n]), "same": "x"}
        for n, text in enumerate(given_texts)
    ]
    with Collection.create(
        tmp_path / "location", DocumentHasher(LSH(32, random_state=0)).fit(given_texts)
    ) as collection:
        collection.add(records)
        explorer = Explorer(collection)
        offered = explorer.telling_colours(explorer.fine_map)
        explorer.sample.columns.update(path=[n // 20 for n in range(240)], digest=["a", "b"] * 120, parts=[2, 3] * 120)
        of_files = explorer.telling_colours(explorer.fine_map)
    assert set(offered) == set(of_files) == {"subject", "part"}
    assert next(iter(offered)) == "subject"  # about which the regions tell most


def test_once_computes_once_for_all_threads():
    class Slow:
        times = 0

        @once
        def value(self) -> int:
            self.times += 1
            return 7

    slow = Slow()
    threads = [threading.Thread(target=lambda: slow.value) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (slow.value, slow.times) == (7, 1)


def test_a_sample_is_the_same_every_time_and_others_are_found_on_it(tmp_path):
    given_texts, group = texts(120)
    records = [{"id": n, "text": text, "subject": int(group[n])} for n, text in enumerate(given_texts)]
    with Collection.create(
        tmp_path / "location", DocumentHasher(LSH(16, random_state=0)).fit(given_texts)
    ) as collection:
        collection.add(records)
        first, again = Explorer(collection, 50), Explorer(collection, 50)
        assert first.sample.ids == again.sample.ids
        assert (len(first.sample), first.n_documents) == (50, 120)
        assert [first.sample.columns["subject"][n] for n in range(50)] == [int(group[id]) for id in first.sample.ids]
        located = first.locate([*range(120), "nothing"])
        assert [one.id for one in located] == list(range(120))
        assert sum(one.exact for one in located) == 50
        codes = collection.store.export()[1]
        for one in located:
            own = np.bitwise_count(first.sample.codes ^ codes[int(one.id)]).sum(axis=1)
            assert own[one.point] == own.min()
        gone = first.sample.ids[0]
        collection.delete(gone)
        assert again.sample.columns["subject"][0] is None  # which had not read it yet


def test_bits_are_told_by_words_regions_and_documents(tmp_path):
    rng = np.random.default_rng(0)
    given_texts, group = texts(120)
    bits = np.stack([group == 0, rng.integers(0, 2, 120)], axis=1).astype(np.uint8)
    with Collection.create_for_codes(tmp_path / "location", 2, "made elsewhere") as collection:
        collection.store.add(np.packbits(bits, axis=1), texts=given_texts, fingerprint="made elsewhere")
        explorer = Explorer(collection)
        assert {word for word, _ in explorer.words.up(0, 4)} == set(WORDS["oil"].split())
        typical = explorer.typical.of(0, 1, 5)
        assert [one.probability for one in typical] == [None] * 5
        assert all(group[int(one.id)] == 0 for one in typical)
        map = explorer.fine_map
        regions = explorer.regions_of_bit(0, map)
        for region, ones in regions:
            assert ones == pytest.approx(bits[map.region_of == region, 0].mean())
        assert explorer.colours_of_bit(0).values.tolist() == bits[:, 0].tolist()
        assert explorer.colours_of_bit(0).counts == [80, 40]
