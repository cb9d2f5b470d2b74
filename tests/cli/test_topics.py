"""ammi topics: a table, JSON lines, CSV."""

import csv
import io
import json

import pytest

from ammi import LSH, Collection, DocumentHasher
from tests.cli.conftest import Run
from tests.explore.test_views import texts


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    given_texts, group = texts(240)
    location = tmp_path_factory.mktemp("topics") / "articles"
    with Collection.create(location, DocumentHasher(LSH(32, random_state=0)).fit(given_texts)) as created:
        created.add(
            {"id": f"d{n}", "title": f"On {n}", "text": text, "subject": f"s{group[n]}"}
            for n, text in enumerate(given_texts)
        )
    return location


def test_topics_as_a_table_as_json_and_as_csv(ammi: Run, location):
    with Collection.open(location) as collection:
        topics = collection.topics(3)
    shown = ammi("topics", location, "-n", 3)
    assert "3 topics in 240 documents" in shown.err
    for topic in topics:
        assert topic.words[0] in shown.out
        assert f"On {str(topic.typical[0])[1:]} " in shown.out  # its title
    lines = ammi("topics", location, "-n", 3, "--json").lines
    assert lines == [json.loads(json.dumps(topic._asdict())) for topic in topics]
    rows = list(csv.DictReader(io.StringIO(ammi("topics", location, "-n", 3, "--csv").out)))
    assert [row["words"].split() for row in rows] == [topic.words for topic in topics]
    assert [int(row["documents"]) for row in rows] == [topic.documents for topic in topics]
    assert all(row["subject"].startswith("s") for row in rows)
    assert rows[0]["typical"].split() == topics[0].typical
