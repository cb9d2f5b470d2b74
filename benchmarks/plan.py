"""What a billion documents take, worked out from what scale.py measured; pages.py writes it into docs/scale.md."""

from typing import Any

N, N_BITS = 10**9, 128

# Assumptions, which the table names as such: change them to yours.
CORES, MEMORY_GB, PRICE = 16, 64, 0.80  # of a machine; dollars an hour
ID_BYTES, TEXT_BYTES, MACHINES, WITHIN_HOURS = 8, 600, 8, 1

Row = tuple[str, str, str]  # what, how much, from where
Measured = dict[str, dict[str, Any]]


def plan_table(scale: Measured) -> str:
    """The plan as a table of Markdown, with those figures that `scale` has."""
    rows = [*_bytes(), *_encoding(scale), *_search(scale)]
    lines = [f"| {what} | {value} | {source} |" for what, value, source in rows]
    return "\n".join(["| what | how much | from |", "|---|---|---|", *lines])


def _bytes() -> list[Row]:
    return [
        ("codes", _gb(N * N_BITS // 8), f"{N_BITS // 8} bytes each"),
        ("the same, on each of the machines", _gb(N * N_BITS // 8 / MACHINES), f"assumption: {MACHINES} machines"),
        ("ids", _gb(N * ID_BYTES), f"assumption: whole numbers of {ID_BYTES} bytes"),
        ("texts", _gb(N * TEXT_BYTES), f"assumption: {TEXT_BYTES} letters each"),
        (
            "an index of the words of texts",
            _gb(N * TEXT_BYTES / 6),
            "assumption: a sixth of the texts; may be left out",
        ),
    ]


def _encoding(scale: Measured) -> list[Row]:
    if "encode, 1 workers" not in scale:
        return []
    rate = scale["encode, 1 workers"]["rate"]
    hours = N / rate / 3600
    cores = hours / WITHIN_HOURS
    return [
        ("documents encoded a second by a core", f"{rate:,.0f}", "`scale.py`: encoding, 1 workers"),
        ("hours of encoding by one core", f"{hours:,.1f}", "the line above"),
        (f"cores to encode all in {WITHIN_HOURS} h", f"{cores:,.1f}", "the line above, and even shards"),
        ("cost of encoding", f"${hours * PRICE / CORES:,.2f}", f"assumption: ${PRICE:.2f} an hour for {CORES} cores"),
    ]


def _search(scale: Measured) -> list[Row]:
    if "store, folder" not in scale:
        return []
    folder, source = scale["store, folder"], "`scale.py`: FAISS alone, one thread, 100 queries at once"
    per_core = 1 / folder["faiss_rate"] / folder["size"]
    all_cores = N * per_core / (MACHINES * CORES)
    rows: list[Row] = [
        ("a core compares with a query, a second", f"{1 / per_core:,.0f} codes", source),
        ("an exact search of all, one core", f"{N * per_core:.2f} s", "the line above"),
        (
            f"an exact search of all, {MACHINES} machines of {CORES} cores",
            f"{1000 * all_cores:.0f} ms",
            f"the line above; assumption: {MACHINES} machines, even shards, memory as fast as there",
        ),
        ("exact searches a second then", f"{1 / all_cores:,.0f}", "the line above"),
        (
            "cost of that, a month",
            f"${MACHINES * PRICE * 730:,.0f}",
            f"assumption: ${PRICE:.2f} an hour for {CORES} cores and {MEMORY_GB} GB",
        ),
    ]
    for name, row in scale.items():
        if name.startswith("store"):
            latency = row["query_ms"] * (N / row["size"] / (MACHINES * CORES) if "hnsw" not in name else 1)
            how = f"exact; assumption: in time with the codes, on {MACHINES * CORES} shards of a core"
            if "hnsw" in name:
                how = f"approximate, recall {row['recall']:.2f}; assumption: as fast on {MACHINES} larger shards"
            rows.append((f"one query, {name[7:]}", f"{latency:,.0f} ms", f"`scale.py`; {how}"))
            hours = N / row["build_rate"] / 3600
            rows.append((f"hours to load, {name[7:]}, one writer", f"{hours:,.1f}", "`scale.py`: codes added a second"))
            rows.append((f"bytes, {name[7:]}", _gb(N * row["bytes"]), "`scale.py`: bytes a code, without texts"))
    return rows


def _gb(n: float) -> str:
    return f"{n / 1e9:,.0f} GB"
