"""Near-duplicates against a twin that compares every text with every other, and on texts whose duplicates are known."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import corpus_path, read_documents
from ammi.features.alphabet import normal
from ammi.search import Entry
from ammi.search.duplicates import DuplicateGroup, duplicate_groups, find_duplicates
from ammi.search.duplicates.across import most_similar
from ammi.search.duplicates.near_vectors import ALL_COMPARED, vector_groups
from ammi.search.duplicates.numbered import numbered
from tests.oracles import words

SHORT = 20
FILLED = "a word that no text has"


def plain_words(text: str) -> list[str]:
    found = words(text, shortest=1) or [normal(text)]
    return found + [FILLED] * (3 - len(found))


def plain_found(words: list[str], longer: list[str]) -> set[int]:
    """Where words are the same as the one beside them, by the phrase before and by the phrase after them."""
    first: dict[tuple[str, ...], int] = {}
    for j in range(len(longer) - 2):
        first.setdefault(tuple(longer[j : j + 3]), j)
    offset: int | None = None
    offsets: list[int | None] = []
    for i in range(len(words)):
        phrase = words[i : i + 3]
        beside = None if offset is None or i + offset < 0 else longer[i + offset : i + offset + 3]
        if len(phrase) == 3 and beside == phrase:
            offsets.append(offset)
        elif tuple(phrase) in first:
            offset = first[tuple(phrase)] - i
            offsets.append(offset)
        else:
            offsets.append(None)
    found = set()
    for direction in (range(len(words)), range(len(words) - 1, -1, -1)):
        offset = None
        for i in direction:
            offset = offset if offsets[i] is None else offsets[i]
            if offset is not None and 0 <= i + offset < len(longer) and words[i] == longer[i + offset]:
                found.add(i)
    return found


def plain_phrases(words: list[str]) -> list[tuple[str, ...]]:
    return [*zip(words, words[1:], words[2:], strict=False)]


def plain_similarity(words: list[str], longer: list[str], counts: Counter[tuple[str, ...]]) -> float:
    found, phrases = plain_found(words, longer), plain_phrases(words)
    if words == longer and phrases:
        return 1.0
    most = [max(counts[phrase] for phrase in phrases[max(0, i - 2) : i + 1]) for i in range(len(words))]
    weights = [round(1000 * (2 / min(max(n, 2), 255)) ** 0.5) for n in most]
    weighted = sum(weights[i] for i in found) / sum(weights)
    return min(len(found) / len(words), weighted) * len(words) / max(len(words), min(len(longer), SHORT))


def plain_groups(texts: list[str], threshold: float) -> list[DuplicateGroup]:
    words = [plain_words(text) for text in texts]
    counts = Counter(phrase for text in words for phrase in plain_phrases(text))
    free = sorted(range(len(texts)), key=lambda position: (-len(words[position]), position))
    groups = []
    while free:
        kept, *others = free
        copies = []
        for other in others:
            similarity = plain_similarity(words[other], words[kept], counts)
            if similarity >= threshold:
                copies.append((other, similarity))
        if copies:
            groups.append(DuplicateGroup(kept, sorted(copies, key=lambda copy: (-copy[1], copy[0]))))
        free = [other for other in others if other not in dict(copies)]
    return sorted(groups)


def plain_most_similar(known: list[str], new: list[str], threshold: float) -> list[tuple[int, float] | None]:
    """The first of the known texts that are most similar to each new one, by comparing all with all."""
    best: list[tuple[int, float] | None] = []
    counts = Counter(phrase for text in [*known, *new] for phrase in plain_phrases(plain_words(text)))
    for text in map(plain_words, new):
        similarities = []
        for other in map(plain_words, known):
            shorter, longer = sorted((text, other), key=len)  # of two equally long texts, the new one is in the other
            similarities.append(plain_similarity(shorter, longer, counts))
        most = max(similarities, default=0)
        best.append((similarities.index(most), most) if most >= threshold else None)
    return best


def random_text(rng: np.random.Generator, n_words: int, vocabulary: int = 5000) -> list[str]:
    return [f"w{number}" for number in rng.integers(0, vocabulary, n_words)]


def changed(words: list[str], share: float, rng: np.random.Generator) -> list[str]:
    words = list(words)
    for location in rng.choice(len(words), round(share * len(words)), replace=False).tolist():
        words[location] = f"w{rng.integers(5000)}"
    return words


def edited(words: list[str], rng: np.random.Generator) -> list[str]:
    """A part of a text, some of it changed, within other words."""
    start, end = sorted(rng.integers(0, len(words) + 1, 2).tolist())
    part = words[start:end] if rng.random() < 0.4 else words
    return random_text(rng, int(rng.integers(3)), 9) + changed(part, rng.choice([0, 0.1, 0.3]), rng)


def related_texts(n: int, vocabulary: int, rng: np.random.Generator) -> list[str]:
    """Short texts, most of them made of others."""
    texts: list[list[str]] = []
    for _ in range(n):
        new = random_text(rng, int(rng.integers(25)), vocabulary)
        texts.append(edited(texts[rng.integers(len(texts))], rng)[:25] if texts and rng.random() < 0.7 else new)
    return [" ".join(words) for words in texts]


@settings(deadline=None, max_examples=300)
@given(
    n=st.integers(0, 40),
    vocabulary=st.sampled_from([1, 2, 5, 100]),
    threshold=st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0]),
    block=st.integers(1, 50),
    seed=st.integers(0, 2**31),
)
def test_groups_are_those_of_comparing_all_with_all(n, vocabulary, threshold, block, seed):
    joined = related_texts(n, vocabulary, np.random.default_rng(seed))
    blocks = [joined[start : start + block] for start in range(0, n, block)]
    assert duplicate_groups(blocks, threshold) == plain_groups(joined, threshold)


@settings(deadline=None, max_examples=100)
@given(
    n=st.integers(0, 30),
    share=st.floats(0, 1),
    vocabulary=st.sampled_from([2, 5, 100]),
    threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    seed=st.integers(0, 2**31),
)
def test_near_duplicates_across_two_sets_are_those_of_comparing_all_with_all(n, share, vocabulary, threshold, seed):
    texts = related_texts(n, vocabulary, np.random.default_rng(seed))
    known, new = texts[: round(share * n)], texts[round(share * n) :]
    best = most_similar(([text] for text in known), new, threshold)
    found = zip(best.known.tolist(), best.similarity.tolist(), strict=True)
    assert [None if position < 0 else (position, similarity) for position, similarity in found] == plain_most_similar(
        known, new, threshold
    )


@settings(deadline=None)
@given(st.lists(st.text() | st.text("ab ,.'-7\n\u3000漢字かก\u0301\xa0"), max_size=20))
def test_words_are_those_of_the_tokenizer_and_single_characters(texts):
    numbers, first = numbered(texts)
    plain = [plain_words(text) for text in texts]
    assert np.diff(first).tolist() == [len(found) for found in plain]
    flat = [word for found in plain for word in found]
    number = dict(zip(flat, numbers.tolist(), strict=True))
    assert [number[word] for word in flat] == numbers.tolist()
    assert len(set(number.values())) == len(number)
    assert number.get(FILLED, 0) == 0


@pytest.mark.parametrize("share", [0, 0.05, 0.1, 0.2, 0.3])
def test_the_similarity_is_the_share_of_words_that_were_not_changed(share):
    rng = np.random.default_rng(0)
    texts = [random_text(rng, 200) for _ in range(60)]
    copies = [changed(words, share, rng) for words in texts]
    groups = duplicate_groups([[" ".join(words) for words in texts + copies]], 0.6)
    assert [group.kept for group in groups] == list(range(60))  # of equally long ones the first
    for group in groups:
        ((copy, similarity),) = group.duplicates
        assert copy == group.kept + 60
        assert similarity == pytest.approx(1 - share, abs=0.04)


def test_a_text_of_repeated_phrases_is_a_copy_of_itself():
    text = "the array of one and the array of two and " * 20
    assert most_similar([[text]], [text], 0.9).similarity.tolist() == [1]
    assert duplicate_groups([[text, text]], 0.9) == [DuplicateGroup(0, [(1, 1.0)])]


def test_a_single_new_text_is_found_after_many_others():
    words = random_text(np.random.default_rng(0), 300_000)
    new = "a few words that stand at the end"
    assert most_similar([[" ".join(words), new]], [new], 0.9).known.tolist() == [1]


def test_what_is_cut_short_or_quoted_is_a_copy_of_the_longer_text():
    rng = np.random.default_rng(0)
    whole, around = " ".join(random_text(rng, 200)), " ".join(random_text(rng, 3000))
    cut, quoting = whole[: len(whole) // 3].rsplit(" ", 1)[0], f"{around}\n> {whole}\n{around[::-1]}"
    assert duplicate_groups([[cut, whole]], 1) == [DuplicateGroup(1, [(0, 1.0)])]
    assert duplicate_groups([[whole, quoting, cut]], 1) == [DuplicateGroup(1, [(0, 1.0), (2, 1.0)])]


def test_texts_of_one_form_are_no_copies_and_copies_of_one_text_are():
    form = "the {0} dictionary for the hunspell spellchecker, used by editors, mailers and browsers, of the {0} project"
    names = ["swedish", "danish", "german", "polish", "latin", "greek", "italian", "french", "turkish", "czech"]
    own = "a first-person shooter with dinosaurs, jetpacks and an orchestra that plays whenever somebody is hit"
    texts = [*map(form.format, names), own, own.replace("whenever", "each time")]
    (group,) = duplicate_groups([texts], 0.85)
    assert (group.kept, [copy for copy, _ in group.duplicates]) == (11, [10])
    assert len(duplicate_groups([texts], 0.5)) == 2


def test_a_few_words_are_no_copy_of_every_text_that_has_them():
    long = (
        "it would be very nice if someone could tell me where to find one, thanks in advance for any help you can give"
    )
    assert duplicate_groups([[long, "Thanks in advance!"]], 0.2) == []
    assert duplicate_groups([["Thanks in advance!", "thanks, in advance"]], 1) == [DuplicateGroup(0, [(1, 1.0)])]
    assert duplicate_groups([["", "", "!", "?", "!"]], 1) == [
        DuplicateGroup(0, [(1, 1.0)]),
        DuplicateGroup(2, [(4, 1.0)]),
    ]


def test_a_chain_of_small_changes_is_no_group():
    """Every copy is similar to the one that is kept, whatever stands between them."""
    rng = np.random.default_rng(0)
    chain = [random_text(rng, 100)]
    for _ in range(40):
        chain.append(changed(chain[-1], 0.06, rng))
    texts = [" ".join(words) for words in chain]
    groups = duplicate_groups([texts], 0.8)
    assert groups == plain_groups(texts, 0.8)
    assert len(groups) > 5


@pytest.mark.slow
def test_reuters_has_copies_and_no_group_of_a_subject():
    """One group of 16,121 of 21,578 articles."""
    try:
        path = corpus_path("reuters")
    except (OSError, ValueError) as error:
        pytest.skip(f"needs the corpus reuters: {error}")
    texts = [document.text or "" for document in read_documents(path)]
    groups = sorted(duplicate_groups([texts], 0.8), key=lambda group: -len(group.duplicates))
    assert [texts[group.kept].split() for group in groups[:2]] == [["******", "Blah", "blah", "blah."], ["******"]]
    assert all(len(group.duplicates) < 30 for group in groups[2:])
    for group in groups[2::20]:
        for copy, similarity in group.duplicates[::10]:
            words, longer = plain_words(texts[copy]), plain_words(texts[group.kept])
            size = max(len(words), min(len(longer), SHORT))
            assert 0.8 <= similarity <= len(plain_found(words, longer)) / size


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.01, 0.5, 1])
def test_memory_is_bounded_whatever_the_threshold(threshold):
    """12,000 random codes at radius 128 took 8 GB."""
    rng = np.random.default_rng(0)
    footer = " ".join(random_text(rng, 40))
    alike = " ".join(random_text(rng, 60))
    texts = [f"{' '.join(random_text(rng, 20))} {footer}" for _ in range(15_000)] + [alike] * 15_000
    duplicate_groups([texts[:10]], threshold)
    tracemalloc.start()
    groups = duplicate_groups((texts[start : start + 1000] for start in range(0, len(texts), 1000)), threshold)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * len(texts)
    assert [len(group.duplicates) for group in groups if texts[group.kept] == alike] == [14_999]


def test_documents_without_texts_are_copies_by_equal_codes():
    codes = np.array([[1, 2], [1, 3], [1, 2], [1, 2], [1, 3]], np.uint8)
    texts = [None, "one and the same text", None, "one and the same text", "another text of five words"]
    entries = [Entry(f"d{n}", code, text, {}) for n, (code, text) in enumerate(zip(codes, texts, strict=True))]
    told: list[int] = []
    found = find_duplicates([entries[:2], entries[2:]], 0.8, told.append)
    assert found == [("d1", [("d3", 1.0)]), ("d0", [("d2", 1.0)])]
    assert sum(told) == 2 * len(entries)


def plain_vector_groups(X: np.ndarray, threshold: float) -> dict[int, list[tuple[int, float]]]:
    """Every pair compared; each row in turn keeps itself, unless it is a copy, and takes all that are free."""
    X = X.astype(np.float64)
    lengths = np.outer(*[np.linalg.norm(X, axis=1)] * 2)
    found = np.divide(X @ X.T, lengths, out=np.zeros((len(X), len(X))), where=lengths > 0)
    free, groups = np.ones(len(X), bool), {}
    for row in range(len(X)):
        if free[row]:
            free[row] = False
            copies = np.flatnonzero(free & (found[row] >= threshold - 1e-9)).tolist()
            free[copies] = False
            if copies:
                groups[row] = sorted(((copy, found[row, copy]) for copy in copies), key=lambda copy: -copy[1])
    return groups


@settings(deadline=None)
@given(n=st.integers(0, 60), threshold=st.sampled_from([0.2, 0.8, 0.98, 1.0]), seed=st.integers(0, 2**31))
def test_groups_of_vectors_are_those_of_comparing_all_with_all(n, threshold, seed):
    rng = np.random.default_rng(seed)
    near = rng.normal(size=(6, 4))[rng.integers(6, size=n)]
    X = near * rng.integers(0, 3, (n, 1)) + rng.choice([0, 0.05, 0.5], (n, 1)) * rng.normal(size=(n, 4))
    X = X.astype(np.float32)
    told: list[int] = []
    groups = vector_groups(X, threshold, told.append)
    expected = plain_vector_groups(X, threshold)
    assert sum(told) == n
    assert list(groups) == list(expected)
    for kept, copies in groups.items():
        assert {copy for copy, _ in copies} == {copy for copy, _ in expected[kept]}
        similarities = [similarity for _, similarity in copies]
        assert similarities == pytest.approx([similarity for _, similarity in expected[kept]], abs=1e-9)


@pytest.mark.slow
def test_among_many_vectors_cells_find_nearly_all_copies():
    rng = np.random.default_rng(0)
    n = 3 * ALL_COMPARED
    centres = rng.normal(size=(300, 24))
    X = (centres[rng.integers(300, size=n)] + 0.7 * rng.normal(size=(n, 24))).astype(np.float32)
    copied = rng.permutation(n)[: n // 5]
    X[copied[: n // 10]] = X[copied[n // 10 :]] + 0.1 * rng.normal(size=(n // 10, 24))
    expected = plain_vector_groups(X[:ALL_COMPARED], 0.98)
    assert vector_groups(X[:ALL_COMPARED], 0.98, lambda n: None).keys() == expected.keys()
    found = vector_groups(X, 0.98, lambda n: None)
    pairs = {tuple(sorted((kept, copy))) for kept, copies in found.items() for copy, _ in copies}
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert all(unit[a] @ unit[b] >= 0.98 - 1e-5 for a, b in pairs)
    planted = [
        (a, b) for a, b in zip(copied[: n // 10], copied[n // 10 :], strict=True) if unit[a] @ unit[b] >= 0.98 + 1e-5
    ]
    copies = {copy for _, members in found.items() for copy, _ in members}
    assert sum(a in copies or b in copies for a, b in planted) >= 0.999 * len(planted)


@pytest.mark.parametrize("threshold", [0.01, 0.98])
def test_memory_for_vectors_is_bounded_whatever_the_threshold(threshold):
    """What is alike, all of it, must not become a list of all pairs."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=16) + 0.02 * rng.normal(size=(12_000, 16))).astype(np.float32)
    tracemalloc.start()
    groups = vector_groups(X, threshold, lambda n: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(map(len, groups.values())) > 11_000
    assert peak < 1000 * len(X)


def test_documents_are_compared_by_text_then_by_vector_then_by_code():
    rng = np.random.default_rng(0)
    row = rng.normal(size=8).astype(np.float32)
    same, code = "one and the same text", np.zeros(2, np.uint8)
    entries = [
        Entry("text", code, same, {}, row),
        Entry("vector", code, None, {}, row),
        Entry("double", code, None, {}, 2 * row),
        Entry("code", code, None, {}),
        Entry("near", code, None, {}, row + np.float32(0.3) * rng.normal(size=8).astype(np.float32)),
        Entry("again", code, same, {}, -row),
        Entry("other code", code, None, {}),
    ]
    told: list[int] = []
    found = find_duplicates([entries[:3], entries[3:]], advance=told.append)
    assert found[0] == ("text", [("again", 1.0)])
    assert found[1] == ("vector", [("double", pytest.approx(1))])
    assert found[2] == ("code", [("other code", 1.0)])
    assert sum(told) == 2 * len(entries)
    assert [copy for copy, _ in find_duplicates([entries], 0.5)[1][1]] == ["double", "near"]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
def test_a_threshold_that_no_similarity_can_have_is_refused(threshold):
    with pytest.raises(ValueError, match=f"threshold is {threshold}"):
        duplicate_groups([["a"]], threshold)
