"""Command lines that nobody would write on purpose, and the program run with them in this process."""

import contextlib
import io
import signal
import sys
from collections.abc import Iterator
from typing import Any

import typer
from hypothesis import strategies as st

from ammi.cli import main
from ammi.cli.app import app
from ammi.cli.screen import notes
from ammi.search.rank_policy import RANKS
from tests.torture import strange
from tests.torture.judged import Judged, foreign, where
from tests.torture.template import MADE, NO_SERVERS, NOBODY, SERVED

INPUT = "INPUT"  # stands for the file that an input comes with

# Options that would reach for the network or out of the folder, or take minutes whatever the input.
LEFT_OUT = {"embedder", "storage", "help", "install_completion", "show_completion", "quick", "watch"}


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
    for name, child in (children or {}).items():
        yield from _commands(child, (*path, name))


COMMAND = typer.main.get_command(app)  # made once: it takes longer than most of the inputs
COMMANDS = dict(_commands(COMMAND))

# How each command is run: how often, compared with others, and with which arguments that keep it short.
SHORT: dict[str, tuple[int, tuple[str, ...]]] = {
    "demo": (1, ("--out", "notes.jsonl")),  # which is no folder, else it would learn for half a minute
    "fit": (4, ("--method", "lsh")),
    "encode": (4, ()),
    "search": (6, ()),
    "duplicates": (3, ()),
    "match": (2, ()),
    "drift": (3, ()),
    "evaluate": (3, ()),
    "info": (3, ()),
    "information": (3, ()),
    "report": (1, ()),
    "serve": (1, ("--host", "192.0.2.1")),  # which is no address of any machine, else it would listen for ever
    "mcp": (1, ("--host", "192.0.2.1", "--port", "0")),  # the same
    "classify": (3, ()),
    "outliers": (2, ()),
    "push": (1, ("--figures", "nowhere.json")),  # which is refused, else it would look for the Hub
    "topics": (1, ("-n", "0")),  # which is refused, else it would compute a map
    "tune": (1, ("--trials", "1", "--set", "epochs=1")),
    "paper": (1, ()),
    "index build": (4, ("--model", "model")),  # else it would learn one
    "index add": (4, ()),
    "index sync": (1, ()),
    "index set": (3, ()),
    "index delete": (3, ()),
    "index keys": (3, ()),
    "index rebuild": (3, ()),
    "index export": (3, ()),
    "index copy": (3, ()),
    "index backup": (3, ()),
    "index restore": (3, ()),
    "index upgrade": (2, ()),
    "index check": (3, ()),
    "index compact": (2, ()),
    "data list": (1, ()),
    "data import": (2, ()),
    "data pairs": (2, ()),
}
OFTEN = [name for name, (times, _) in SHORT.items() for _ in range(times)]
NUMBERS = {
    "k",
    "radius",
    "bits",
    "documents",
    "epochs",
    "seed",
    "shortlist",
    "trials",
    "vocabulary",
    "threshold",
    "days",
    "workers",
    "port",
    "held_out",
}
NAMES, COLUMNS = ["note-1", "note-2", "1", "2"], ["text", "id", "vector", "label", "year"]
SENSIBLE = {  # by the name of a parameter; others than these are given as well
    "location": ["index", "index", "index", "vector-index", "model", "nowhere", SERVED, SERVED, *NO_SERVERS],
    "store": ["local", "ray"],
    "address": [NOBODY, "127.0.0.1", "nowhere:x"],
    "name": ["reuters", "newsgroups"],
    "part": ["all", "table1", "figure1", "table2", "table3", "controls", "unseen", "report"],
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
_words = strange.texts.filter(lambda text: not set(text) & {"\0", "/", "\ud800"})  # which no shell can pass on
_numbers = st.sampled_from(["1", "2", "8", "16", "0.5"]) | st.sampled_from(
    [*map(str, strange.ODD_NUMBERS[:-1]), "nan", "inf", "1e-300", "x", ""]
)
_sources = st.sampled_from([INPUT, INPUT, *MADE, "nowhere.jsonl", "-"])
_places = st.sampled_from(["model", "model", "vector-model", "new", "new.npz", "new.jsonl.gz", INPUT])
_copied = st.sampled_from(["index", "vector-index", "new", "model", "nowhere", INPUT, SERVED, *NO_SERVERS])
_seldom = st.integers(0, 9).map(lambda drawn: drawn == 9)
_nearly_always = st.integers(0, 19).map(lambda drawn: drawn < 19)


def _values(command: str, name: str) -> st.SearchStrategy[str]:
    """What is given for a parameter of a command."""
    if name in NUMBERS:
        return _numbers
    if name in ("model", "config", "out", "view", "file", "cache", "tensorboard", "markdown", "pairs"):
        return _places
    if command in ("index copy", "index restore"):
        return _copied
    if name in ("source", "sources", "queries", "path", "data") or (name == "vector" and command == "search"):
        return _sources
    if name == "id" and command in ("drift", "index set"):
        return st.sampled_from(NAMES)
    if name in SENSIBLE:
        sensible = st.sampled_from(SENSIBLE[name])
        return st.one_of(sensible, sensible, sensible, sensible, _words)
    return _words


VALUES = {(command, p.name): _values(command, p.name) for command in COMMANDS for p in COMMANDS[command].params}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """The name of a command with arguments and options, most of which make sense."""
    name = draw(st.sampled_from(OFTEN))
    arguments, options = [], []
    for parameter in COMMANDS[name].params:
        if parameter.name in LEFT_OUT:
            continue
        values = VALUES[name, parameter.name]
        if parameter.param_type_name == "argument":
            given = parameter.required or draw(st.booleans())
            count = draw(st.integers(1, 3)) if parameter.nargs == -1 else 1
            arguments += [draw(values) for _ in range(count)] if given else []
        elif draw(_nearly_always if parameter.required else _seldom):
            options += [parameter.opts[0]] if parameter.is_flag else [parameter.opts[0], draw(values)]
    return [*name.split(), *options, *SHORT[name][1], "--", *arguments]


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


def check_command(arguments: list[str], stdin: bytes) -> Judged:
    code, said, error = run_command(arguments, stdin)
    if "Traceback" in said or code not in (0, 1, 2):
        return Judged(True, f"exit code {code}: {said[-600:]}{where(error)}")
    if code == 1:
        last = said.strip().splitlines()[-1] if said.strip() else ""
        if not last.startswith("ammi: ") or len(last) < 12:
            return Judged(True, f"exit code 1 without a sentence: {said[-600:]}")
        return Judged(True, foreign(error) if error else None)
    return Judged(code == 2)
