"""What Jupyter shows: every result as HTML that is well formed, escaped and asks nobody; and bars in a real kernel."""

import copy
import pickle
import re
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import ammi
from ammi import AMMI, LSH, Collection, DocumentHasher, displays, notebook
from ammi.evaluate import ranking_scores
from ammi.search import Hits

HOSTILE = "<script>alert('$x$')</script> & \"quoted\" \u202e wheat harvest"
TEXTS = [f"{subject} number {n} of the year" for n in range(30) for subject in ("wheat harvest", "crude oil")]


class Checked(HTMLParser):
    """Fails if a tag is left open, may run a script, or loads something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "style", "link", "img", "iframe", "object", "embed", "a"}
        assert not {name for name, _ in attrs if name.startswith("on") or name in {"src", "href"}}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(html: str) -> str:
    """The text of a display."""
    parser = Checked()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    assert "\u202e" not in html
    return parser.text


@pytest.fixture(scope="module")
def model() -> DocumentHasher:
    return DocumentHasher(AMMI(16, epochs=3, random_state=0, verbose=False)).fit(TEXTS)


@pytest.fixture
def collection(model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Collection.create(tmp_path / "<b>place", model, keys=["kind"]) as created:
        created.add({"id": n, "text": text, "kind": text[:5]} for n, text in enumerate(TEXTS))
        created.add([{"id": HOSTILE, "text": HOSTILE, "title": HOSTILE, "kind": HOSTILE, HOSTILE: HOSTILE}])
        yield created


def test_hits_are_a_table_with_marked_words_and_codes(collection):
    hits = collection.search("harvest of wheat", k=3)
    html = hits._repr_html_()
    text = shown(html)
    assert "<mark" in html
    assert html.count("<svg") == 3
    assert "differ from those of the query" in text
    assert f"{hits[0].score:.2f}" in text
    labels = [int(n) for n in re.findall(r"<title>differs in (\d+) of 16 bits", html)]
    assert labels == [hit.distance for hit in hits]


def test_hostile_documents_are_shown_as_text(collection):
    for result in (collection.search(HOSTILE, k=2), collection.like(HOSTILE, k=2), collection.drift(HOSTILE)):
        shown(result._repr_html_())
        repr(result)
    first = collection.search("script alert", k=1)
    assert first[0].id == HOSTILE
    assert "<script>alert('$x$')</script>" in shown(first._repr_html_())
    assert "<script>alert('$x$')</script>" in shown(first[0]._repr_html_())
    assert "tex2jax_ignore" in first._repr_html_()  # its dollar signs are no formula
    assert "<b>place" in shown(collection._repr_html_())


def test_hits_without_codes_and_without_hits_are_shown_too(collection):
    hits = collection.search("wheat zzzz", k=2)
    assert "No document has zzzz." in shown(hits._repr_html_())
    assert "no hits" in shown(Hits()._repr_html_())
    assert repr(Hits()) == "no hits"
    collection.delete(hits[0].id)
    assert "<svg" not in hits._repr_html_()
    collection.close()
    assert "wheat" in shown(hits._repr_html_())
    assert "was closed" in shown(collection._repr_html_())


def test_hits_are_copied_and_pickled_without_the_collection(collection):
    hits = collection.search("wheat", k=2)
    for other in (pickle.loads(pickle.dumps(hits)), copy.deepcopy(hits)):
        assert (other, other.unknown) == (hits, hits.unknown)
        assert "<svg" not in other._repr_html_()


def test_hits_in_a_terminal_are_lines(collection):
    lines = repr(collection.search("wheat harvest", k=3)).splitlines()
    assert lines[0].split() == ["score", "distance", "id", "text"]
    assert len(lines) == 4
    assert all(len(line) < 130 for line in lines)


def test_a_collection_shows_its_map_once_it_is_kept(collection):
    before = collection._repr_html_()
    assert "<svg" not in before
    assert "map()" in shown(before)
    picture = collection.map("kind")
    assert "coloured by kind" in repr(picture)
    text = shown(picture._repr_html_())
    assert "wheat 30" in text
    assert "<script>" in text  # the name of a category
    after = collection._repr_html_()
    assert "<svg" in after
    assert "Documents were changed" not in shown(after)
    collection.delete([0])
    assert "Documents were changed" in shown(collection._repr_html_())
    with pytest.raises(ValueError, match="no document on the map has the key 'colour': the keys there are"):
        collection.map("colour")


def test_each_point_of_a_map_has_the_colour_of_its_value(collection):
    html = collection.map("kind")._repr_html_()
    points = {colour: path.count("M") for path, colour in re.findall(r"<path d='([^']*)' stroke='([^']*)'", html)}
    assert points == {displays.COLOURS[0]: 30, displays.COLOURS[1]: 30, displays.COLOURS[2]: 1}


def test_lists_of_results_are_tables(collection, model):
    topics, groups = collection.topics(2), collection.duplicates(0.5)
    assert "documents" in shown(topics._repr_html_())
    assert str(groups[0].kept) in shown(groups._repr_html_())
    assert isinstance(groups[:2], displays.Rows)
    assert "none" in shown(displays.Rows()._repr_html_())
    many = displays.Rows(collection.search_many(["wheat"], k=1)[0] * 150)
    assert "and 50 more" in shown(many._repr_html_())


def test_models_show_what_they_learned(model):
    text = shown(model._repr_html_())
    assert f"{model.features_.n_features_} words" in text
    assert "H(Z|Y)" in text
    assert "towards 1" in text
    assert model.fingerprint_ != model.hasher_.fingerprint_
    assert model.hasher_.fingerprint_ in text
    assert "not fitted" in shown(AMMI(32)._repr_html_())
    assert "n_bits=32" in shown(DocumentHasher(AMMI(32))._repr_html_())
    assert "120 columns" in shown(LSH(8, random_state=0).fit(np.eye(120))._repr_html_())
    assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_measures_are_tables(collection, model):
    assert "precision" in shown(collection.evaluate("kind")._repr_html_())
    assert "95% interval" in shown(ammi.information(model, TEXTS)._repr_html_())
    scores = ranking_scores([[1, 2, 3]], [[True, False, True]])
    assert repr(scores) == "RankingScores of 1 queries, means: precision=0.6667, ndcg=0.9197, average_precision=0.8333"
    assert "0.9197" in shown(scores._repr_html_())


@pytest.mark.parametrize("n", [1, 8, 64, 65, 600])
def test_a_strip_has_a_cell_for_each_bit(n):
    bits = np.arange(n, dtype=np.uint8) % 2
    html = displays.strip(bits)
    shown(html)
    assert sum(path.count("M") for path in re.findall(r"<path d='([^']*)'", html)) == min(n, 512)
    assert f"differs in {n} of {n} bits" in displays.strip(bits, 1 - bits)


def test_outside_of_a_notebook_there_are_no_bars(capsys):
    assert not notebook.in_notebook()
    with notebook.bar("work", 3) as advance, notebook.busy("more work"):
        advance(3)
    assert capsys.readouterr() == ("", "")


PROGRAM = """
from ammi import notebook
notebook._AFTER = notebook._BETWEEN = 0
import ammi, tempfile
texts = [f"{word} number {n}" for n in range(30) for word in ("wheat", "oil", "<b>")]
model = ammi.DocumentHasher(ammi.AMMI(8, epochs=4, neighbours=0, random_state=0)).fit(texts)
docs = ammi.Collection.create(tempfile.mkdtemp() + "/docs", model)
_ = docs.add(texts)
hits = docs.search("wheat", k=2)
hits
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the client's sockets
def test_in_a_notebook_long_calls_show_one_bar_each_and_results_tables(tmp_path):
    cell = nbformat.v4.new_code_cell(PROGRAM)
    made = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(made, timeout=600, startup_timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = made.cells[0].outputs
    assert [one.output_type for one in outputs] == ["display_data", "display_data", "execute_result"]
    training, adding, hits = (one.data["text/html"] for one in outputs)
    assert re.search(r"<progress value='4' max='4'.*</progress> AMMI  4 of 4  H\(Z\)", training)
    assert "<progress value='90' max='90'" in adding
    assert outputs[1].data["text/plain"] == "documents added  90 of 90"
    assert hits.count("<svg") == 2
    for html in (training, adding, hits):
        shown(html)
