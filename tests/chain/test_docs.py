"""The examples of docs/markov-bits.md, and of the docstrings, give what they show."""

import doctest
import re
from pathlib import Path

from ammi.chain import distribution

PAGE = Path(__file__).parents[2] / "docs" / "markov-bits.md"


def test_the_page_of_markov_bits_is_true():
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    complaints: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_docstrings_are_true():
    assert doctest.testmod(distribution) == (0, 2)
