"""Write the tables of docs/ that benchmarks measured: the block after a line `<!-- NAME: benchmarks/pages.py -->`.

A page shows no figure that is older than the code it describes: results from before SINCE are left out, and a block
without results is empty. Move SINCE to the day of a change after which figures have to be measured again. Run it after
a benchmark, and read what it wrote.
"""

import json
import statistics
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from plan import plan_table
from priors import PRIORS, chosen, mean
from quality import BITS, SETS

SINCE = "2026-11-18"
RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"
PARTS = ("first graph", "first model", "second graph", "second model")
BASE = {"documents": 10_000, "words": 10_000, "bits": 64, "order": 0, "prior_order": 3}  # growth.py's

Row = dict[str, Any]


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table of Markdown, or nothing without rows."""
    columns = list(columns)
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines]) if lines else ""


def recorded(name: str) -> tuple[Any, str]:
    """The results of a benchmark and a line on where they are from; None if they are too old, or not there."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None, ""
    found = json.loads(path.read_text())
    if found["machine"]["date"] < SINCE:
        return None, ""
    return found["results"], source(f"{name}.py", found["machine"])


def source(script: str, machine: Row) -> str:
    return f"\n\n(`python benchmarks/{script}`, {machine['date']}, {machine['processor']}, {machine['cores']} cores.)"


def growth() -> str:
    """A fit by documents and threads, and on one thread by everything else."""
    rows = json.loads((RESULTS / "growth.json").read_text())
    rows = [row for row in rows if row.get("date", "") >= SINCE and "threads" in row]
    if not rows:
        return ""
    by_size, others = [], []
    for row in sorted(rows, key=lambda row: (row["documents"], row["threads"])):
        changed = {name: row[name] for name in BASE if row[name] != BASE[name] and name != "documents"}
        seconds = _seconds(row["fit"])
        if changed:
            others.append((", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in changed.items()), seconds))
        else:
            parts = [_seconds(row[part]) for part in PARTS]
            by_size.append((f"{row['documents']:,}", row["threads"], *parts, seconds, f"{row['peak_gb']:.1f}"))
    sizes = table(("documents", "threads", *PARTS, "fit", "peak GB"), by_size)
    return sizes + source("growth.py", rows[-1]) + "\n\n" + table(("10,000 documents, one thread", "fit"), others)


def _seconds(spent: dict[str, float]) -> str:
    return f"{spent['seconds']:.2g}" if spent["seconds"] < 10 else f"{spent['seconds']:,.0f}"


def threads() -> str:
    """The parts of a fit on one thread and on more."""
    results, where = recorded("train")
    if not results or isinstance(results.get("threads"), str):
        return ""
    parts = ("first graph", "second graph", "epoch", "fit")
    rows = results["threads"]
    times = ((row["threads"], *(f"{row[part]:.2f}" for part in parts), rows[0]["fit"] / row["fit"]) for row in rows)
    shown = ((*row[:-1], f"{row[-1]:.2f}") for row in times)
    return table(("threads", *parts, "times one thread"), shown) + where


def retrieval() -> str:
    """Test collections and known items, by ammi, parts of its score, BM25 and MiniLM."""
    results, where = recorded("retrieval")
    if not results:
        return ""
    judged, known = ("cranfield", "cacm", "cisi", "lisa"), ("reuters", "newsgroups")
    columns = ("", "bytes a document", *judged, "mean of the four, 95 %", "recall at 100", "MRR", *known, "ms of CPU")
    rows = []
    for row in results:
        means = [f"{row[name]['ndcg'][0]:.3f}" for name in judged]
        mean = "{:.3f} ({:.3f} to {:.3f})".format(*row["mean"]["ndcg"])
        others = [f"{row['mean'][key][0]:.3f}" for key in ("recall", "mrr")]
        items = [f"{row[name]['mrr'][0]:.3f}" if name in row else "–" for name in known]
        rows.append((row["way"], row["bytes"], *means, mean, *others, *items, f"{row['mean']['ms']:.1f}"))
    return table(columns, rows) + where


def languages() -> str:
    """Questions in several languages, with stems and with words as they are."""
    results, where = recorded("languages")
    if not results:
        return ""
    rows = [
        (
            row["texts"],
            row["told"]["language"] or "none",
            f"{row['told']['first']} of {row['told']['questions']}",
            row["plain"]["first"],
        )
        for row in results
    ]
    return table(("texts", "language told", "first", 'first with `language="none"`'), rows) + where


def fidelity() -> str:
    """Estimates of the cosine from codes, by their length: nDCG / share of the exact ten, means of four collections."""
    results, where = recorded("fidelity")
    if not results:
        return ""
    means: dict[str, dict[int, str]] = {}
    for way, bits in dict.fromkeys((row["way"], row["bits"]) for row in results):
        same = [row for row in results if (row["way"], row["bits"]) == (way, bits)]
        ndcg, ten = (statistics.fmean(row[key] for row in same) for key in ("ndcg", "ten"))
        means.setdefault(way, {})[bits] = f"{ndcg:.3f} / {ten:.2f}"
    widths = sorted({row["bits"] for row in results} - {0})
    rows = ((way, *(by.get(bits, by.get(0, "")) for bits in widths)) for way, by in means.items())
    return table(("nDCG@10 / 10 in 10", *(f"{bits} bits" for bits in widths)), rows) + where


def jobs() -> str:
    """Top-100 precision by subject and by kind."""
    results, where = recorded("jobs")
    if not results:
        return ""
    ways = [name for name in results[0] if name != "labels"]
    ways.sort(key=lambda way: (int(way.split()[-2]), way.startswith("half")))
    rows = ((row["labels"], *(f"{row[way]:.1f}" for way in ways)) for row in results)
    return table(("labels", *ways), rows) + where


def planted() -> str:
    """Planted copies found by ammi and by MinHash."""
    results, where = recorded("duplicates")
    if not results:
        return ""
    kinds = [name for name in results[0] if name.endswith("% changed") or name in ("truncated", "quoted")]
    rows = []
    for row in results:
        shares = (f"{row[name]:.3f}" for name in ("precision", "recall", *kinds))
        rows.append(
            (f"{row['texts']:,}", row["method"], *shares, f"{row['cpu_seconds']:.1f}", f"{row['memory_mb']:,.0f}")
        )
    return table(("texts", "method", "precision", "recall", *kinds, "CPU s", "MB"), rows) + where


def copies() -> str:
    """How many near-duplicates are copies, judged by hand."""
    results, where = recorded("copies")
    rows = (
        (
            row["corpus"],
            row["threshold"],
            f"{row['found']:,}",
            f"{row['judged'] - row['wrong']} of {row['judged']}",
            f"{row['precision']:.3f} ({row['low']:.3f} to {row['high']:.3f})",
        )
        for row in (results or ())
    )
    return table(("corpus", "threshold", "found", "copies among those judged", "precision, 95 %"), rows) + where


def matched() -> str:
    """Changed copies whose originals `Collection.match` finds."""
    results, where = recorded("match")
    if not results:
        return ""
    shares = list(results["kinds"][0])[1:]
    rows = (
        (row["kind"], *("" if row[name] is None else f"{row[name]:.2f}" for name in shares)) for row in results["kinds"]
    )
    shown = table(("new text", *shares), rows)
    cost = f"{results['new']:,} texts among {results['known']:,}: {results['cpu_seconds']:.1f} seconds of one core."
    return f"{shown}\n\n{cost}{where}"


def scale_parts() -> dict[str, Row]:
    parts: dict[str, Row] = json.loads((RESULTS / "scale.json").read_text())["results"]
    return {name: row for name, row in parts.items() if row.get("date", "") >= SINCE}


def scale() -> str:
    """Encoding with and without Ray, and every store."""
    done = scale_parts()
    encoding = ((name.removeprefix("encode, "), row) for name, row in done.items() if name.startswith("encode"))
    stores = ((name.removeprefix("store, "), row) for name, row in done.items() if name.startswith("store"))
    encoded = table(
        ("encoding", "documents a second", "seconds to start", "date"),
        ((name, f"{row['rate']:,.0f}", f"{row.get('start_s', 0):.0f}", row["date"]) for name, row in encoding),
    )
    columns = ("store", "codes added a second", "one query, ms", "queries a second, 100 at once")
    stored = table((*columns, "of FAISS alone, just then", "recall", "bytes a code", "date"), map(_store, stores))
    return "\n\n".join(filter(None, (encoded, stored)))


def _store(part: tuple[str, Row]) -> Iterator[str]:
    name, row = part
    yield f"{name}, {row['size']:,} codes"
    yield f"{row['build_rate']:,.0f}"
    yield f"{row['query_ms']:.1f}"
    yield f"{row['batch_rate']:,.0f}"
    yield f"{row['faiss_rate']:,.0f}"
    yield f"{row['recall']:.3f}"
    yield f"{row['bytes']:.0f}"
    yield row["date"]


def priors() -> str:
    """Precision against other priors, cell by cell, and the mean of the cells that the three first ones have."""
    results, where = recorded("priors")
    if not results:
        return ""
    cells = [(name, bits) for name in SETS for bits in BITS]
    found = {(*cell, prior): chosen(results["runs"], *cell, prior) for cell in cells for prior in PRIORS}
    rows: list[Iterable[object]] = []
    for cell in cells:
        runs = [found[*cell, prior] for prior in PRIORS]
        if any(runs):
            rows.append((*cell, *(f"{mean(one):.1f} ({len(one)})" if one else "" for one in runs)))
    whole = [cell for cell in cells if all(found[*cell, prior] for prior in PRIORS[:3])]
    by_prior = [[found[*cell, prior] for cell in whole] for prior in PRIORS]
    means = [f"{statistics.mean(map(mean, runs)):.1f}" if whole and all(runs) else "" for runs in by_prior]
    return table(("set", "bits", *PRIORS), [*rows, ("mean", f"{len(whole)} cells", *means)]) + where


def sampled_gradient() -> str:
    """The noise of each estimate of the sampled adversary's gradient."""
    results, where = recorded("priors")
    columns = ("bits", "estimate", "codes a document", "variance / squared norm of the gradient", "ms of CPU")
    rows = (
        (
            row["bits"],
            row["estimate"],
            row["codes"],
            f"{row['noise']:,.{0 if row['noise'] > 9 else 1}f}",
            f"{row['ms']:.1f}",
        )
        for row in (results["variance"] if results else ())
    )
    return table(columns, rows) + where


def shown(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def serve() -> str:
    """A server under load, part by part."""
    found = json.loads((RESULTS / "serve.json").read_text())
    parts = found["results"]
    rows = [
        (row["measure"], f"{part['documents']:,}", shown(row["value"]), row["wanted"] or "–", part["date"])
        for part in (parts.values() if isinstance(parts, dict) else ())
        if part["date"] >= SINCE
        for row in part["rows"]
    ]
    columns = ("measure", "documents", "value", "wanted", "date")
    return table(columns, rows) + (source("serve.py", found["machine"]) if rows else "")


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "growth": ("hashers.md", growth),
    "threads": ("hashers.md", threads),
    "priors": ("hashers.md", priors),
    "sampled gradient": ("hashers.md", sampled_gradient),
    "retrieval": ("ranking.md", retrieval),
    "languages": ("ranking.md", languages),
    "copies": ("duplicates.md", copies),
    "fidelity": ("embeddings.md", fidelity),
    "jobs": ("hashers.md", jobs),
    "planted": ("duplicates.md", planted),
    "matched": ("duplicates.md", matched),
    "scale": ("scale.md", scale),
    "serve": ("server.md", serve),
    "plan": ("scale.md", lambda: plan_table(scale_parts())),
}


def main() -> None:
    for name, (page, make) in BLOCKS.items():
        path = DOCS / page
        begin, end = f"<!-- {name}: benchmarks/pages.py -->\n", f"<!-- /{name} -->"
        before, rest = path.read_text().split(begin)
        path.write_text(before + begin + _padded(make()) + end + rest.split(end)[1])


def _padded(text: str) -> str:
    """With empty lines around it, without which Markdown reads no table."""
    return f"\n{text.strip()}\n\n" if text else ""


if __name__ == "__main__":
    main()
