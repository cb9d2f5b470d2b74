"""How many near-duplicates are copies: of pairs that were found and then judged by hand, in copies.tsv.

A quoted text is a copy; a text of the same form about another thing is none. Pairs with a similarity of 1 count as
copies. The others of a corpus are represented by those that were judged, which were drawn at random from all that
were found at 0.9. "chosen" marks the pairs on which the weights of words and the default threshold were chosen.
Packages are those of Debian, whose descriptions apt fetches with `apt-get -o Acquire::Languages=en update`.
"""

import csv
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from ammi.data import corpus_path, read_documents
from ammi.search.duplicates import duplicate_groups
from timing import save

THRESHOLDS = (0.9, 0.95)
LISTS = Path("/var/lib/apt/lists")
JUDGED = Path(__file__).with_suffix(".tsv")


def texts_of(corpus: str) -> dict[str, str]:
    """The texts by their ids; none if they are not on this machine."""
    if corpus == "packages":
        return dict(packages())
    return {str(document.id): document.text or "" for document in read_documents(corpus_path(corpus))}


def packages() -> Iterator[tuple[str, str]]:
    """The name and the description of each package that apt knows."""
    for path in sorted(LISTS.glob("*_main_i18n_Translation-en*")):
        shown = subprocess.run(
            ["/usr/lib/apt/apt-helper", "cat-file", path], check=True, capture_output=True, text=True
        )
        for block in shown.stdout.split("\n\n"):
            name = re.search(r"^Package: (\S+)", block, re.MULTILINE)
            if name and (description := re.search(r"^Description-en: (.*(?:\n .*)*)", block, re.MULTILINE)):
                lines = (line.strip() for line in description[1].splitlines())
                yield name[1], "\n".join("" if line == "." else line for line in lines)


def found_pairs(texts: dict[str, str]) -> dict[tuple[str, str], float]:
    """The similarity of each copy that is found at the lowest threshold, by the ids of the kept text and its own."""
    ids, every = [*texts], [*texts.values()]
    blocks = (every[start : start + 1000] for start in range(0, len(every), 1000))
    groups = duplicate_groups(blocks, min(THRESHOLDS))
    return {(ids[group.kept], ids[copy]): share for group in groups for copy, share in group.duplicates}


def precision(found: dict[tuple[str, str], float], judged: dict[tuple[str, str], bool], threshold: float) -> dict:
    """The share of copies among those that are found at a threshold, with a 95 % interval."""
    similarities = [share for share in found.values() if share >= threshold]
    same = sum(share == 1 for share in similarities)
    sample = [is_copy for pair, is_copy in judged.items() if threshold <= found.get(pair, 0) < 1]
    right = binomtest(sum(sample), len(sample))
    low, high = right.proportion_ci(method="wilson")
    rest = len(similarities) - same
    shares = [(same + rest * share) / len(similarities) for share in (right.statistic, low, high)]
    row = dict(zip(("precision", "low", "high"), shares, strict=True))
    return {
        "threshold": threshold,
        "found": len(similarities),
        "judged": len(sample),
        "wrong": len(sample) - sum(sample),
    } | row


def main() -> None:
    judged: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    with open(JUDGED, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            judged[row["corpus"]][row["kept"], row["copy"]] = row["is_copy"] == "1"
    rows = []
    for corpus in ("packages", "newsgroups", "reuters"):
        if not (texts := texts_of(corpus)):
            print(f"no {corpus} on this machine")
            continue
        found = found_pairs(texts)
        rows += [{"corpus": corpus, "documents": len(texts)} | precision(found, judged[corpus], t) for t in THRESHOLDS]
    shown = Table(*rows[0])
    for row in rows:
        shown.add_row(*(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(shown)
    save("copies", rows)


if __name__ == "__main__":
    main()
