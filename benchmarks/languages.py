"""Ten questions in German, French and Japanese, and ten about code, each with the one text that answers it.

The texts were written for this. They are asked by words alone, in the language that the texts tell, and with words as
they are: how many answers are first, and the mean reciprocal rank.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi.search import HammingIndex
from ammi.search.ranking import WordRanking
from timing import save

DATA = Path(__file__).with_suffix(".json")


def asked(pairs: list[tuple[str | None, str]], language: str | bool) -> dict[str, Any]:
    """The ranks of the answers to all questions."""
    with TemporaryDirectory() as home, HammingIndex.create(f"{home}/index", 8, text_index=language) as index:
        index.add(np.zeros((len(pairs), 1), np.uint8), texts=[text for _, text in pairs])
        questions = {row: question for row, (question, _) in enumerate(pairs) if question is not None}
        rankings = [WordRanking(question, None) for question in questions.values()]
        found = index.search_ranked(np.zeros((len(questions), 1), np.uint8), rankings, len(pairs))
        ranks = []
        for row, hits in zip(questions, found, strict=True):
            ids = [hit.id for hit in hits]
            ranks.append(1 + ids.index(row) if row in ids else None)
        reciprocal = float(np.mean([1 / rank if rank else 0 for rank in ranks]))
        return {"language": index.language, "first": ranks.count(1), "questions": len(ranks), "mrr": reciprocal}


def main() -> None:
    table = Table("texts", "language", "first", "of", "MRR", "first, words as they are", "MRR")
    results = []
    for name, pairs in json.loads(DATA.read_text()).items():
        told, plain = asked(pairs, True), asked(pairs, "none")
        results.append({"texts": name, "told": told, "plain": plain})
        figures = [str(told["first"]), str(told["questions"]), f"{told['mrr']:.2f}"]
        table.add_row(name, str(told["language"]), *figures, str(plain["first"]), f"{plain['mrr']:.2f}")
    Console().print(table)
    save("languages", results)


if __name__ == "__main__":
    main()
