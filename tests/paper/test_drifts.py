"""Table 3: the walks and the share of common labels, against plain loops."""

import numpy as np
import pytest

from ammi.data.pairs import SPLITS
from ammi.hashers import LSH
from reproduction import drifts
from tests.tuning.small import small_pairs

LABELS = ["sea", "sky", "field"]


@pytest.fixture
def measured(monkeypatch):
    pairs = small_pairs()
    monkeypatch.setitem(drifts.CHOSEN, "small", ("train 3 0", "test 5 1"))

    def article(split: str, row: int, side: int) -> dict:
        labels = [LABELS[row % 3]] if row % 5 else []
        return {
            "id": f"{split} {row} {side}",
            "title": f"Title {row}",
            "text": f"Title {row}\nWords.",
            "labels": labels,
        }

    texts = {
        split: [(article(split, row, 0), article(split, row, 1)) for row in range(getattr(pairs, split)[0].shape[0])]
        for split in SPLITS
    }
    hasher = LSH(32, random_state=0).fit(pairs.train[0])
    codes = {
        record["id"]: hasher.transform(getattr(pairs, split)[side][row])[0]
        for split in SPLITS
        for side in (0, 1)
        for row, record in enumerate(pair[side] for pair in texts[split])
    }
    labels = {record["id"]: record["labels"] for split in SPLITS for pair in texts[split] for record in pair}
    return drifts.drift_of("small", pairs, texts, hasher), codes, labels


def test_a_walk_starts_at_the_chosen_article_and_goes_away(measured):
    found, codes, _ = measured
    assert [walk["from"]["id"] for walk in found["walks"]] == ["train 3 0", "test 5 1"]
    for walk in found["walks"]:
        start = walk["from"]["id"]
        distances = [step["distance"] for step in walk["steps"]]
        assert distances == sorted(distances)
        for step in walk["steps"]:
            assert step["id"] != start
            assert step["distance"] == (codes[step["id"]] != codes[start]).sum()
        assert walk["from"]["beginning"] == "Words."


def test_agreement_is_the_share_of_pairs_with_a_label_in_common(measured):
    found, codes, labels = measured
    names = [name for name in codes if labels[name]]
    queries = np.random.default_rng(0).permutation(len(names))[: drifts.QUERIES]
    counts: dict[int, list[bool]] = {}
    for query in queries:
        for other in range(len(names)):
            if other != query:
                distance = int((codes[names[query]] != codes[names[other]]).sum())
                shared = bool(set(labels[names[query]]) & set(labels[names[other]]))
                counts.setdefault(distance // drifts.STEP * drifts.STEP, []).append(shared)
    assert [row["distance"] for row in found["agreement"]] == sorted(counts)
    for row in found["agreement"]:
        assert row["pairs"] == len(counts[row["distance"]])
        assert row["shared"] == pytest.approx(np.mean(counts[row["distance"]]) * 100)


def test_articles_without_a_common_label_are_so_much_farther(measured):
    found, codes, labels = measured
    names = [name for name in codes if labels[name]]
    query = names[np.random.default_rng(0).permutation(len(names))[0]]
    away: dict[bool, list[int]] = {True: [], False: []}
    for other in names:
        if other != query:
            away[labels[other] == labels[query]].append((codes[other] != codes[query]).sum())
    assert found["farther"][0] == pytest.approx(np.mean(away[False]) - np.mean(away[True]), abs=1e-3)
    assert len(found["farther"]) == min(drifts.QUERIES, len(names))
