"""Strange inputs to every command and to the public functions: each is a success or one sentence of ours.

`python -m tests.torture.inputs --examples 100000` tries so many, in processes of their own, and prints what was counted
as JSON. `attempts` is what Hypothesis draws from; `try_one` runs one and says what is wrong with how it ended.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import typer
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import ammi
from ammi import LSH, Collection, DocumentHasher, HammingIndex, MarkovBits, chain, data, evaluate, search
from ammi.cli import main
from ammi.cli.app import app
from ammi.cli.screen import notes
from ammi.features import WordFeatures
from ammi.search import filters
from ammi.search.ranking import RANKS
from tests.memory import peak_kilobytes
from tests.torture import strange

PACKAGE = str(Path(ammi.__file__).parent)
MOST_KILOBYTES = 2_000_000  # that one input may take
MOST_SECONDS = 60
BATCH = 1000  # inputs of one process
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where folders are made and removed in no time

# Not run to their end: they take minutes, whatever the input.
LONG = {"demo", "paper", "tune", "pairs"}
# Options that would reach for the network or out of the folder.
LEFT_OUT = {"embedder", "storage", "help", "install_completion", "show_completion"}


class Attempt(NamedTuple):
    """Something to try: what it is called, the file that is there, and what is done in the folder with it."""

    name: str
    file: tuple[str, bytes]
    what: str
    do: Callable[[Path], object]


class Outcome(NamedTuple):
    """Whether it was refused, and what is wrong, if anything: nothing may be."""

    refused: bool
    wrong: str | None


def make_template(folder: Path) -> None:
    """What commands and functions are tried on: models, collections, codes and an export."""
    rng = np.random.default_rng(0)
    words = ["ship", "wave", "wheat", "soil", "cloud", "wing"]
    notes_ = [
        {"id": f"note-{i}", "text": " ".join(rng.choice(words, 4)), "label": str(i % 2), "year": 1980 + i}
        for i in range(20)
    ]
    data.write_jsonl(folder / "notes.jsonl", notes_)
    X = rng.normal(size=(20, 4)).astype(np.float32)
    np.save(folder / "vectors.npy", X)
    model = DocumentHasher(LSH(16, random_state=0), WordFeatures()).fit([note["text"] for note in notes_])
    model.save(folder / "model")
    of_vectors = LSH(16, random_state=0).fit(X)
    of_vectors.save(folder / "vector-model")
    with Collection.create(folder / "index", model, keys=["year"]) as collection:
        collection.add(notes_)
        collection.export(folder / "export.jsonl")
    with Collection.create(folder / "vector-index", of_vectors, vectors="float16") as collection:
        collection.add(X)
    codes = model.encode([note["text"] for note in notes_])
    data.write_codes(folder / "codes.npz", [(list(range(20)), codes)], 16, model.fingerprint_)


MADE = ["notes.jsonl", "vectors.npy", "model", "vector-model", "index", "vector-index", "export.jsonl", "codes.npz"]


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
    for name, child in (children or {}).items():
        yield from _commands(child, (*path, name))


COMMAND = typer.main.get_command(app)  # made once: it takes longer than most of the inputs
COMMANDS = dict(_commands(COMMAND))
NUMBERS = {"k", "radius", "bits", "epochs", "seed", "shortlist", "trials", "vocabulary", "threshold", "days"}
NAMES, COLUMNS = ["note-1", "note-2", "1", "2"], ["text", "id", "vector", "label", "year"]
SENSIBLE = {  # by the name of a parameter; others than these are given as well
    "place": ["index", "index", "index", "vector-index", "model", "nowhere"],
    "name": ["reuters", "newsgroups"],
    "on_error": ["skip", "skip", "refuse"],
    "format": ["jsonl", "csv", "tsv", "txt", "npy", "npz", "parquet", "arrow"],
    "rank": list(RANKS),
    "keep_vectors": ["float16", "int8"],
    "method": ["lsh", "itq", "bow"],
    "features": ["words", "vectors"],
    "where": ["year>=1985", "label=1", "!year", "year", "year=1980,1981", "label!=1"],
    "assignments": ["n_bits=16", "random_state=1", "year=7", "label=x"],
    "distances": ["0,1,5", "3"],
    **dict.fromkeys(("labels", "keys", "names", "text", "id", "vector", "date"), COLUMNS),
    **dict.fromkeys(("like", "ids"), NAMES),
    "texts": ["ship wave", "wheat", "soil"],
}
OFTEN = [path for path in COMMANDS if path[-1] not in LONG]
argument_words = strange.texts.filter(lambda text: not set(text) & {"\0", "/", "\ud800"})  # which no shell can pass on
argument_numbers = st.sampled_from(["1", "2", "8", "16", "0.5"]) | st.sampled_from(
    [*map(str, strange.ODD_NUMBERS[:-1]), "nan", "inf", "1e-300", "x", ""]
)
EXACT_ARGUMENTS = {"fit": ("--method", "lsh"), "tune": ("--trials", "1")}  # those that keep a run short


@st.composite
def command_lines(draw: st.DrawFn, file: str) -> list[str]:
    """The name of a command with arguments and options, most of which make sense."""
    path = draw(st.sampled_from(OFTEN * 10 + list(COMMANDS)))
    command = COMMANDS[path]
    names = st.sampled_from([file, file, *MADE, "nowhere.jsonl", "-"])

    def value(name: str) -> str:
        if name in NUMBERS:
            return draw(argument_numbers)
        if name in ("model", "config", "out", "view", "file", "cache", "tensorboard", "markdown"):
            return draw(st.sampled_from(["model", "model", "vector-model", "new", "new.npz", "new.jsonl.gz", file]))
        if name in ("source", "sources", "queries", "path", "data") or (name == "vector" and path == ("search",)):
            return draw(names)
        if name == "id" and path in (("drift",), ("index", "set")):
            return draw(st.sampled_from(NAMES))
        if name in SENSIBLE and draw(st.integers(0, 4)):
            return draw(st.sampled_from(SENSIBLE[name]))
        return draw(argument_words)

    arguments, options = [], []
    for parameter in command.params:
        if parameter.name in LEFT_OUT:
            continue
        if parameter.param_type_name == "argument":
            given = parameter.required or draw(st.booleans())
            count = draw(st.integers(1, 3)) if parameter.nargs == -1 else 1
            arguments += [value(parameter.name) for _ in range(count)] if given else []
        elif draw(st.integers(0, 19)) < (19 if parameter.required else 2):
            options += [parameter.opts[0]] if parameter.is_flag else [parameter.opts[0], value(parameter.name)]
    if path[-1] in LONG:
        options += ["--nonsense"]
    if path == ("index", "build") and "--model" not in options:
        options += ["--model", "model"]  # else it would learn one
    return [*path, *EXACT_ARGUMENTS.get(path[-1], ()), *options, "--", *arguments]


def run_command(arguments: list[str], stdin: bytes) -> tuple[int, str, BaseException | None]:
    """The exit code, standard error, and the error behind a refusal, of a command run as the program runs it."""
    before = sys.argv, sys.stdin, signal.getsignal(signal.SIGPIPE)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    sys.argv, sys.stdin = ["ammi", *arguments], io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    error, code = None, 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _made_once():
            main()
    except SystemExit as ended:
        code, error = int(ended.code or 0), ended.__context__
    finally:
        sys.argv, sys.stdin = before[:2]
        signal.signal(signal.SIGPIPE, before[2])
        notes.quiet = False
        err.flush()
    return code, err.buffer.getvalue().decode(), error


@contextlib.contextmanager
def _made_once() -> Iterator[None]:
    make, typer.main.get_command = typer.main.get_command, lambda typer_instance: COMMAND
    try:
        yield
    finally:
        typer.main.get_command = make


def check_command(folder: Path, arguments: list[str], stdin: bytes) -> Outcome:
    code, said, error = run_command(arguments, stdin)
    if "Traceback" in said or code not in (0, 1, 2):
        return Outcome(True, f"exit code {code}: {said[-600:]}{_where(error)}")
    if code == 1:
        last = said.strip().splitlines()[-1] if said.strip() else ""
        if not last.startswith("ammi: ") or len(last) < 12:
            return Outcome(True, f"exit code 1 without a sentence: {said[-600:]}")
        return Outcome(True, foreign(error) if error else None)
    return Outcome(code == 2, None)


def foreign(error: BaseException) -> str | None:
    """What is wrong with an error: all but one sentence that our code made is."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, OSError | ImportError) and not isinstance(error, UnicodeError):
        return None
    if isinstance(error, RuntimeError) and "must match the size of tensor" in str(error):
        return None  # torch's own sentence on shapes that cannot be broadcast
    ours = place.filename.startswith(PACKAGE) and (place.line or "").startswith("raise")
    if not isinstance(error, ValueError | TypeError) or not ours:
        return f"{type(error).__name__}: {str(error)[:300]}{_where(error)}"
    return None


def _where(error: BaseException | None) -> str:
    """The last lines of ours, and the last of all, on the way to an error."""
    if error is None:
        return ""
    stack = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in stack if frame.filename.startswith(PACKAGE)][-2:]
    shown = dict.fromkeys(f"{frame.filename.removeprefix(PACKAGE)}:{frame.lineno}" for frame in [*ours, stack[-1]])
    return f" [{type(error).__name__} at {' > '.join(shown)}]"


OF_ONE_CHAIN = ("entropy", "viterbi", "order_of", "forward", "best_prior", "mixture_entropy", "chow_liu")
OF_TWO_CHAINS = ("cross_entropy", "kl_divergence", "prior_cross_entropy")
codes, texts, numbers = strange.packed_codes | strange.any_array, strange.texts, strange.numbers
ids = st.lists(numbers | texts | strange.scalars, max_size=4)
wheres = st.none() | st.dictionaries(st.sampled_from(["year", "label", "x", "", "\ud800"]), strange.values, max_size=2)
tensors = st.builds(
    lambda shape, kind: torch.full(shape, kind, dtype=torch.float64),
    st.lists(st.sampled_from([0, 1, 2, 3, 4, 8]), max_size=4),
    st.sampled_from([0.0, 1.0, -3.0, float("nan"), float("inf"), 1e300]),
)


def _with_index(method: str) -> Callable[..., Callable[[Path], object]]:
    def build(*arguments: Any) -> Callable[[Path], object]:
        def do(folder: Path) -> object:
            with HammingIndex.open(folder / "index") as index:
                return _all(getattr(index, method)(*arguments))

        return do

    return build


def _with_collection(method: str) -> Callable[..., Callable[[Path], object]]:
    def build(place: str, *arguments: Any) -> Callable[[Path], object]:
        def do(folder: Path) -> object:
            with Collection.open(folder / place) as collection:
                return _all(getattr(collection, method)(*arguments))

        return do

    return build


def _plainly(function: Callable[..., object]) -> Callable[..., Callable[[Path], object]]:
    return lambda *arguments: lambda folder: _all(function(*arguments))


def _on_file(function: Callable[..., object]) -> Callable[..., Callable[[Path], object]]:
    return lambda name, **more: lambda folder: _all(function(folder / name, **more))


def _all(found: Any) -> object:
    return list(found) if isinstance(found, Iterator) else found


@cache
def function_calls(file: str) -> dict[str, st.SearchStrategy[Callable[[Path], object]]]:
    """Public functions and methods, each with arguments of the right kind and of any value."""
    names, place = st.sampled_from([file, file, *MADE, "nowhere"]), st.sampled_from(["index", "vector-index"])
    queries, few_texts = texts | strange.vectors.map(np.array), st.lists(texts, max_size=4)
    many = st.lists(strange.documents | texts | strange.vectors, max_size=4)
    labels = st.lists(strange.scalars | st.lists(texts, max_size=2), max_size=6)
    metadata = st.lists(st.dictionaries(texts | strange.scalars, strange.values, max_size=3), max_size=4)
    columns = st.fixed_dictionaries({}, optional={"text": texts, "id": texts, "vector": texts, "format": texts})
    packed, labels_of = strange.packed_codes, strange.any_array
    known, ranks = st.sampled_from(["note-1", 1, "x"]) | texts, st.sampled_from([None, *RANKS, "x"])
    of_index: dict[str, tuple[st.SearchStrategy, ...]] = {
        "add": (codes, st.none() | ids, st.none() | few_texts, st.none() | metadata),
        "delete": (ids,),
        "get": (ids,),
        "search": (codes, numbers, wheres),
        "within": (codes, numbers, wheres),
        "set_metadata": (st.just(["note-1"]), metadata),
        "column": (texts,),
        "index_keys": (few_texts,),
        "entries": (wheres,),
    }
    of_collection: dict[str, tuple[st.SearchStrategy, ...]] = {
        "add": (many | codes,),
        "search": (queries, numbers, wheres, ranks),
        "within": (queries, numbers, wheres),
        "like": (known, numbers, wheres),
        "get": (numbers | texts | ids,),
        "duplicates": (strange.floats,),
        "evaluate": (st.sampled_from(["label", "year"]) | texts,),
    }
    of_values: dict[Callable[..., object], tuple[st.SearchStrategy, ...]] = {
        data.documents_from: (many,),
        data.label_column: (metadata, texts, st.just("x")),
        search.nearest: (packed, packed, st.integers(0, 9)),
        search.within: (packed, packed, numbers),
        filters.parse: (wheres,),
        filters.from_text: (few_texts,),
        evaluate.distinct_codes: (packed,),
        evaluate.precision_at_k: (packed, labels_of, packed, labels_of, numbers),
        evaluate.matching_at_k: (packed, packed, numbers),
        evaluate.labelled_precision: (packed, labels, numbers),
        evaluate.drift: (packed, packed, st.lists(numbers, max_size=3)),
        **{getattr(chain, name): (tensors,) for name in OF_ONE_CHAIN},
        **{getattr(chain, name): (tensors, tensors) for name in OF_TWO_CHAINS},
        chain.log_prob: (tensors, tensors.map(lambda z: (z > 0).to(z.dtype))),  # of others MarkovBits speaks
        _distribution: (tensors, tensors, st.integers(-1, 9)),
    }
    of_files: list[Any] = [ammi.load, data.read_matrix, data.read_codes, data.read_pairs, data.read_pair_texts]
    of_files += [data.read_mat, data.holds_codes, data.holds_matrix, data.holds_pairs, *data.IMPORTERS.values()]
    return {
        **{f"HammingIndex.{name}": st.builds(_with_index(name), *found) for name, found in of_index.items()},
        **{f"Collection.{name}": st.builds(_with_collection(name), place, *g) for name, g in of_collection.items()},
        **{function.__name__: st.builds(_plainly(function), *found) for function, found in of_values.items()},
        **{function.__name__: st.builds(_on_file(function), names) for function in of_files},
        "HammingIndex.create": st.builds(_create, numbers | strange.scalars),
        "Collection.export": st.builds(
            _export, st.sampled_from(["a.jsonl", "a.jsonl.zst", "a.parquet", "a.txt", "index"])
        ),
        "read_documents": st.builds(_read, names, columns),
        "write_codes": st.builds(_write_codes, ids, codes, st.integers(1, 20)),
    }


def _create(n_bits: Any) -> Callable[[Path], object]:
    return lambda folder: HammingIndex.create(folder / "new", n_bits).close()


def _export(name: str) -> Callable[[Path], object]:
    return lambda folder: _with_collection("export")("index", folder / name)(folder)


def _read(name: str, columns: dict[str, str]) -> Callable[[Path], object]:
    return lambda folder: list(data.read_documents(folder / name, **columns, on_error=lambda problem: None))  # type: ignore[arg-type]


def _write_codes(ids: list[Any], codes: Any, n_bits: int) -> Callable[[Path], object]:
    return lambda folder: data.write_codes(folder / "new.npz", [(ids, codes)], n_bits, "f")


def _distribution(logits: torch.Tensor, z: torch.Tensor, k: int) -> None:
    bits = MarkovBits(logits)
    bits.entropy(), bits.mode, bits.sample(torch.Size([2])), bits.mean, bits.cross_entropy(bits)
    bits.marginals(k)
    bits.log_prob(z)
    bits.condition(z)


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    file = draw(strange.files())
    if draw(st.integers(0, 2)):
        arguments = draw(command_lines(file[0]))
        stdin = draw(st.just(b"") | strange.CONTENTS[".jsonl"] | strange.CONTENTS[".txt"])
        return Attempt(
            " ".join(["ammi", *arguments[: 2 if arguments[0] in ("index", "data") else 1]]),
            file,
            f"{arguments!r:.1000} stdin={stdin!r:.200}",
            lambda folder: check_command(folder, arguments, stdin),
        )
    calls = function_calls(file[0])
    name = draw(st.sampled_from(list(calls)))
    do = draw(calls[name])
    cells = [cell.cell_contents for cell in do.__closure__ or ()] if hasattr(do, "__closure__") else []
    return Attempt(name, file, f"{cells!r:.1000}", do)


def try_one(attempt: Attempt, template: Path) -> Outcome:
    """Run an attempt in a copy of the template."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as beside:
        folder = Path(beside) / "tried"
        shutil.copytree(template, folder)
        (folder / attempt.file[0]).write_bytes(attempt.file[1])
        os.chdir(folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = attempt.do(folder)
            return found if isinstance(found, Outcome) else Outcome(False, None)
        except Exception as error:
            return Outcome(True, foreign(error))
        finally:
            os.chdir(here)


def run_batch(number: int, examples: int, report: Path) -> dict[str, Any]:
    """Try so many attempts, and count how they ended; what is tried is written down before, in case it is the last."""
    counts: Counter[str] = Counter()
    findings: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder)
        make_template(template)

        @seed(number)
        @settings(
            max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(attempts())
        def each(attempt: Attempt) -> None:
            report.write_text(f"{attempt.name} {attempt.what} {attempt.file!r:.2000}", errors="replace")
            _forget_peak()
            start = time.monotonic()
            outcome = try_one(attempt, template)
            seconds, kilobytes = time.monotonic() - start, peak_kilobytes()
            wrong = outcome.wrong
            if kilobytes > MOST_KILOBYTES:
                wrong = wrong or f"took {kilobytes:,} kB"
            if seconds > MOST_SECONDS:
                wrong = wrong or f"took {seconds:.0f} s"
            counts["wrong" if wrong else "refused" if outcome.refused else "done"] += 1
            counts["most kilobytes"] = max(counts["most kilobytes"], kilobytes)
            if wrong:
                at = f"{attempt.name}: {wrong[wrong.rfind('[') :] if '[' in wrong else wrong[:60]}"
                kept = findings.setdefault(at, {"times": 0, "wrong": wrong, "example": report.read_text()})
                kept["times"] += 1

        each()
    return {"counts": dict(counts), "findings": findings}


def _forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can do that."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def run_all(examples: int, first: int = 0) -> dict[str, Any]:
    """All attempts in processes of their own, one after the other; what they counted together."""
    total: Counter[str] = Counter()
    findings: dict[str, Any] = {}
    start = time.monotonic()
    for number in range(first, first + -(-examples // BATCH)):
        with tempfile.TemporaryDirectory() as folder:
            report, result = Path(folder, "last.txt"), Path(folder, "result.json")
            size = min(BATCH, examples - (number - first) * BATCH)
            command = [sys.executable, "-m", "tests.torture.inputs", "--batch", str(number), "--examples", str(size)]
            done = subprocess.run([*command, "--report", str(report), "--result", str(result)], capture_output=True)
            if result.exists():
                found = json.loads(result.read_text())
            else:
                last = report.read_text() if report.exists() else ""
                end = {"times": 1, "wrong": done.stderr.decode(errors="replace")[-2000:], "example": last}
                found = {"counts": {"wrong": 1}, "findings": {f"batch {number} ended with {done.returncode}": end}}
        most = max(total["most kilobytes"], found["counts"].pop("most kilobytes", 0))
        total.update(found["counts"])
        total["most kilobytes"] = most
        for at, one in found["findings"].items():
            findings.setdefault(at, {**one, "times": 0})["times"] += one["times"]
        tried = total["done"] + total["refused"] + total["wrong"]
        seconds = time.monotonic() - start
        print(f"{tried:,} of {examples:,}: {dict(total)}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return {
        "examples": total["done"] + total["refused"] + total["wrong"],
        **{name: total[name] for name in ("done", "refused", "wrong", "most kilobytes")},
        "seconds": round(time.monotonic() - start),
        "findings": findings,
    }


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch, to go on where it stopped")
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.batch is None:
        print(json.dumps(run_all(chosen.examples, chosen.first), indent=1))
    else:
        torch.set_num_threads(1)
        chosen.result.write_text(json.dumps(run_batch(chosen.batch, chosen.examples, chosen.report)))


if __name__ == "__main__":
    _main()
