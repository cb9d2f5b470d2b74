"""Find a sentence from the middle of each file of a pile of files of thirteen kinds, and time 10,000 of them.

The pile is made by real tools, of Debian's packages libreoffice-writer-nogui, libreoffice-calc-nogui,
libreoffice-impress-nogui, pandoc, groff, qpdf and poppler-utils: PDF of LibreOffice and of groff, DOCX, PPTX, XLSX,
ODT, EPUB, HTML (also of installed packages), Markdown, plain text, source code (of Python's library), e-mail and mbox.
Their texts are posts of newsgroups. A sentence of the middle of each is asked for; the first hit should be its file,
and of a PDF the page on which pdftotext finds it. Counted apart: files of which that sentence was read, which is a
matter of conversion, and files that are first, or among the first three, which is one of ranking. `--golden` makes the
small files of the tests instead.
"""

import argparse
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ammi import Collection
from ammi.data import corpus_path, read_documents
from timing import save_part

COPIES_OF = 10_000  # files whose reading is timed
COUNTS = ("asked", "read", "first", "of three", "in quotes", "page known", "page")
KINDS = ("pdf", "groff.pdf", "docx", "pptx", "xlsx", "odt", "epub", "html", "md", "txt", "py", "eml", "mbox")
GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "files"
TITLE, FIRST, SECOND = (
    "The lamp of the harbour",
    "The harbour master counted forty lamps in the mist.",
    "The green barge carried barley to the western mills.",
)


def run(*command: str | Path, **options: Any) -> bytes:
    """What a program prints; an error ends the benchmark."""
    done = subprocess.run(command, capture_output=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command} ended with exit code {done.returncode}: {done.stderr.decode()[-1000:]}")
    return done.stdout


def office(kind: str, out: Path, *sources: Path) -> None:
    """Convert files with LibreOffice, as many at once as it takes."""
    for start in range(0, len(sources), 50):
        run("soffice", "--headless", "--convert-to", kind, "--outdir", out, *sources[start : start + 50])


def groff(source: str) -> bytes:
    """A PDF of text in the language of groff."""
    return run("groff", "-k", "-ms", "-mpdfmark", "-Tpdf", input=source.encode())


class Post:
    """A text of some paragraphs, and the sentence of its middle that will be asked for."""

    def __init__(self, texts: list[str], number: int):
        paragraphs = [one for text in texts for one in re.split(r"\n\s*\n", text)]
        self.paragraphs = [" ".join(one.split()) for one in paragraphs]
        self.paragraphs = [one for one in self.paragraphs if len(one) > 80 and one.isascii() and one.isprintable()]
        self.paragraphs = [re.sub(r"[^\w\s.,;:?!'()-]", " ", one) for one in self.paragraphs]
        self.title = f"Digest {number} of the newsgroups"
        middle = self.paragraphs[len(self.paragraphs) // 2] if self.paragraphs else ""
        self.sentence = " ".join(max(re.split(r"(?<=[.?!]) ", middle), key=len).split()[:16])

    @property
    def markdown(self) -> str:
        """The text with a heading for every six paragraphs."""
        parts = [f"---\ntitle: {self.title}\nauthor: Several hands\nlang: en\n---"]
        for n, paragraph in enumerate(self.paragraphs):
            parts += [f"# Part {n // 6 + 1}"] if n % 6 == 0 else []
            parts.append(re.sub(r"([\\`*_#|<>\[\]~^$@-])", r"\\\1", paragraph))
        return "\n\n".join(parts) + "\n"


def words_of(text: str) -> str:
    """The words of a text, with a space between them."""
    return re.sub(r"[\W_]+", " ", text)


def posts(n: int) -> list[Post]:
    """Texts of twelve posts each, with a sentence that no other has."""
    texts = [document.text or "" for document in read_documents(corpus_path("newsgroups"))]
    random.Random(0).shuffle(texts)
    everything = words_of(" ".join(texts))  # a reply quotes what it answers
    found: list[Post] = []
    number = 0
    while len(found) < n:
        post = Post(texts[12 * number % len(texts) :][:12], number)
        number += 1
        is_unique = everything.count(words_of(post.sentence)) == 1
        if len(post.paragraphs) > 12 and len(post.sentence.split()) >= 8 and is_unique:
            found.append(post)
    return found


def write_pile(home: Path, each: int) -> dict[str, str]:
    """Make the pile; return the sentence to ask for by the name of each file."""
    asked: dict[str, str] = {}
    texts = iter(posts(each * len(KINDS)))
    work = home.with_name("work")
    for folder in (home, work):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for kind in KINDS:
        (home / kind.replace(".", "-")).mkdir()
    pages = sorted(path for path in Path("/usr/share/doc").rglob("*.html") if 4000 < path.stat().st_size < 200_000)
    code = sorted(path for path in Path(sysconfig.get_path("stdlib")).glob("*.py") if path.stat().st_size > 8000)
    for n in range(each):
        for kind, post in zip(KINDS, texts, strict=False):
            path = home / kind.replace(".", "-") / f"digest-{n}.{kind.rpartition('.')[2]}"
            sentence = write_one(path, kind, post, work, pages[n : n + 1] if n % 2 else [], code[n])
            asked[str(path.relative_to(home))] = sentence
    office("pdf", home / "pdf", *sorted((work / "pdf").iterdir()))
    office("xlsx", home / "xlsx", *sorted((work / "xlsx").iterdir()))
    return asked


def write_one(path: Path, kind: str, post: Post, work: Path, page: list[Path], code: Path) -> str:
    """Write a file, or what LibreOffice makes it of; return the sentence to ask for."""
    if kind in ("docx", "pptx", "odt", "epub") or (kind == "html" and not page):
        run("pandoc", "-s", "-f", "markdown", "-o", path, input=post.markdown.encode())
    elif kind == "html":
        shutil.copy(page[0], path)
        words = html.unescape(re.sub(r"<[^>]+>", " ", page[0].read_text(errors="replace"))).split()
        return " ".join(words[len(words) // 2 :][:14])
    elif kind == "pdf":
        (work / kind).mkdir(exist_ok=True)
        run("pandoc", "-s", "-f", "markdown", "-o", work / kind / f"{path.stem}.odt", input=post.markdown.encode())
    elif kind == "groff.pdf":
        escaped = "\n".join(".LP\n" + one.replace("\\", "\\e").lstrip(".'") for one in post.paragraphs)
        path.write_bytes(groff(f'.pdfinfo /Title "{post.title}"\n{escaped}\n'))
    elif kind == "xlsx":
        (work / kind).mkdir(exist_ok=True)
        rows = [f'{n},"{one}"' for n, one in enumerate(post.paragraphs)]
        (work / kind / f"{path.stem}.csv").write_text("number,remark\n" + "\n".join(rows) + "\n")
    elif kind in ("md", "txt"):
        path.write_text(post.markdown if kind == "md" else "\n\n".join(post.paragraphs))
    elif kind == "py":
        lines = code.read_text().splitlines()
        path.write_text("\n".join(lines))
        return " ".join(" ".join(lines[len(lines) // 2 :]).split()[:16])
    else:
        write_mails(path, kind, post)
    return post.sentence


def write_mails(path: Path, kind: str, post: Post) -> None:
    """Write a mail, or an mbox with a mail for each six paragraphs."""
    step = len(post.paragraphs) if kind == "eml" else 6
    with open(path, "wb") as file:
        for start in range(0, len(post.paragraphs), step):
            mail = EmailMessage()
            mail["Subject"], mail["From"], mail["Date"] = (
                post.title,
                "Ada <ada@example.org>",
                "Fri, 20 Mar 1987 13:15:48 +0000",
            )
            mail.set_content("\n\n".join(post.paragraphs[start : start + step]))
            file.write(b"" if kind == "eml" else b"From ada@example.org Fri Mar 20 13:15:48 1987\n")
            file.write(mail.as_bytes() + b"\n")


def ask(collection: Collection, asked: dict[str, str], pile: Path) -> dict[str, dict[str, int]]:
    """Count for each kind how many sentences were read, find their file, as words and in quotes, and their page."""
    texts: dict[str, str] = defaultdict(str)
    for entry in collection:
        texts[entry.metadata["path"]] += f" {words_of(entry.text or '')}"
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, sentence in asked.items():
        kind, path = Path(name).parent.name, pile / name
        words = words_of(sentence)
        hits = collection.search(words, k=3)
        paths = [hit.metadata["path"] for hit in hits]
        quoted = [hit.metadata["path"] for hit in collection.search(f'"{words}"', k=1)]
        counts[kind]["asked"] += 1
        counts[kind]["read"] += words in texts[str(path.absolute())]
        counts[kind]["first"] += paths[:1] == [str(path.absolute())]
        counts[kind]["of three"] += str(path.absolute()) in paths
        counts[kind]["in quotes"] += quoted == [str(path.absolute())]
        if path.suffix == ".pdf":
            pages = pages_of(path, sentence)
            counts[kind]["page known"] += bool(pages)
            counts[kind]["page"] += bool(hits) and hits[0].metadata.get("page") in pages
    return {kind: dict(found) for kind, found in counts.items()}


def pages_of(path: Path, sentence: str) -> list[int]:
    """The pages on which poppler finds a sentence, hyphenated or not."""
    squeezed = re.sub(r"\W", "", sentence)
    pages = run("pdftotext", path, "-").decode(errors="replace").split("\f")
    return [n for n, page in enumerate(pages, 1) if squeezed in re.sub(r"\W", "", page)]


def copy_pile(pile: Path, files: int, home: Path) -> None:
    """Make a folder of so many files, links to those of the pile."""
    originals = sorted(path for path in pile.rglob("*") if path.is_file())
    shutil.rmtree(home, ignore_errors=True)
    for n in range(files):
        path = originals[n % len(originals)]
        copy = home / f"{n // len(originals)}" / path.relative_to(pile)
        copy.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, copy)


def measured(*command: str) -> tuple[float, float, str]:
    """Return the seconds of a command, the megabytes of its largest process, and what it prints.

    A small program starts it: a process counts as at least as large as the one that started it.
    """
    program = (
        "import resource, subprocess, sys; out = subprocess.run(sys.argv[1:], check=True, capture_output=True).stdout\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3, out.decode(), sep='\\n', end='')"
    )
    start = time.perf_counter()
    megabytes, _, printed = run(sys.executable, "-c", program, *command).decode().partition("\n")
    return time.perf_counter() - start, float(megabytes), printed


def read_many(home: Path, files: int) -> dict[str, float]:
    """Read a folder in a process of its own; return seconds and megabytes."""
    program = "import sys; from ammi.data import read_documents; print(sum(1 for _ in read_documents(sys.argv[1])))"
    seconds, megabytes, printed = measured(sys.executable, "-c", program, str(home))
    return {"files": files, "documents": int(printed), "seconds": seconds, "MB": megabytes}


def build_many(home: Path, files: int, place: Path) -> dict[str, float]:
    """Build a collection of a folder, as a user does; return seconds and megabytes."""
    shutil.rmtree(place, ignore_errors=True)
    seconds, megabytes, _ = measured(sys.executable, "-m", "ammi", "index", "build", str(place), str(home))
    with Collection.open(place) as collection:
        return {"files": files, "documents": len(collection), "seconds": seconds, "MB": megabytes}


def change(pile: Path, turn: int) -> None:
    """Change every third text, note and mail of a pile; at first, also delete every third."""
    for n, path in enumerate(sorted(path for path in pile.rglob("*") if path.suffix in (".txt", ".md", ".eml"))):
        if turn == 0 and n % 3 == 1:
            path.unlink()
        elif n % 3 == 0:
            path.write_text(f"{path.read_text()}\n\nchanged in turn {turn}\n")


def kill_syncs(built: Path, pile: Path, copy: Path, place: Path, kills: int) -> dict[str, int]:
    """Kill syncs of a pile, first into an empty collection; count what is lost or there twice after the last one."""
    for folder in (copy, place):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pile, copy)
    with Collection.open(built) as collection:
        Collection.create(place, collection.model).close()
    rng, killed, turns = random.Random(0), 0, 0
    command = [sys.executable, "-m", "ammi", "index", "sync", str(place), str(copy)]
    while killed < kills:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0.3, 2))
            is_running = process.poll() is None
            process.kill()
        killed += is_running
        if is_running and killed % 8:
            continue
        run(*command)
        change(copy, turns)  # so that there is something to add, to replace and to delete when the next one is killed
        turns += 1
    run(*command)
    with Collection.open(place) as synced:
        found = Counter((entry.metadata["path"], str(entry.id), entry.text) for entry in synced)
    expected = Counter((one.metadata["path"], str(one.id), one.text) for one in read_documents(copy))
    return {
        "kills": killed,
        "turns": turns,
        "documents": expected.total(),
        "lost": (expected - found).total(),
        "too many": (found - expected).total(),
    }


def write_golden() -> None:
    """Write a small file of each kind."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    GOLDEN.mkdir(parents=True)
    front = f"---\ntitle: {TITLE}\nauthor: Ada Example\ndate: 1987-03-20\nlang: en\n---\n\n"
    markdown = f"{front}# One\n\n{FIRST}\n\n# Two\n\n{SECOND}\n"
    for kind in ("docx", "pptx", "odt", "epub", "html", "rtf"):
        run("pandoc", "-s", "-f", "markdown", "-o", GOLDEN / f"lamp.{kind}", input=markdown.encode())
    (GOLDEN / "lamp.md").write_text(markdown)
    about = f'.pdfinfo /Title "{TITLE}"\n.pdfinfo /Author "Ada Example"\n'
    (GOLDEN / "lamp.pdf").write_bytes(groff(f"{about}.LP\n{FIRST}\n.bp\n.LP\n{SECOND}\n"))
    run("qpdf", "--encrypt", "secret", "secret", "256", "--", GOLDEN / "lamp.pdf", GOLDEN / "locked.pdf")
    (GOLDEN / "lamp.csv").write_text(f'page,remark\n1,"{FIRST}"\n2,"{SECOND}"\n')
    office("xlsx", GOLDEN, GOLDEN / "lamp.csv")
    office("doc", GOLDEN, GOLDEN / "lamp.docx")
    (GOLDEN / "lamp.csv").unlink()


def measure(home: Path, each: int, kills: int) -> Iterator[tuple[str, Any]]:
    """Make the pile and a collection of it, and yield the results by name."""
    pile, place = home / "pile", home / "collection"
    start = time.perf_counter()
    asked = write_pile(pile, each)
    (home / "asked.json").write_text(json.dumps(asked, indent=1))
    print(f"{len(asked)} files were made in {time.perf_counter() - start:.0f} s", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    start = time.perf_counter()
    run(sys.executable, "-m", "ammi", "index", "build", place, pile)
    yield "build", {"files": len(asked), "seconds": time.perf_counter() - start}
    with Collection.open(place) as collection:
        yield "sentences", ask(collection, asked, pile)
    copy_pile(pile, COPIES_OF, home / "many")
    yield "many", read_many(home / "many", COPIES_OF)
    yield "build of many", build_many(home / "many", COPIES_OF, home / "collection-of-many")
    yield "kills", kill_syncs(place, pile, home / "changed", home / "killed", kills)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(__file__).parents[1] / "build" / "files", help="for the pile")
    parser.add_argument("--each", type=int, default=26, help="files of each kind")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--golden", action="store_true", help="make the small files of the tests, and nothing else")
    options = parser.parse_args()
    if options.golden:
        write_golden()
        return
    results: dict[str, Any] = {}
    for part, found in measure(options.home, options.each, options.kills):
        results[part] = found
        save_part("files", part, found)
    table = Table("kind", *COUNTS)
    for kind, counts in results["sentences"].items():
        table.add_row(kind, *(str(counts.get(name, "")) for name in COUNTS))
    Console().print(table, {name: found for name, found in results.items() if name != "sentences"})


if __name__ == "__main__":
    main()
