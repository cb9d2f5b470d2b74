"""Files of all kinds: real ones, which `benchmarks/files.py --golden` made, broken ones and hostile ones."""

import io
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import pytest

from ammi.data import BadRecordError, read_documents
from ammi.data import conversion as conversion_module
from ammi.data.conversion import convert
from ammi.data.converter import rejoined

pytest.importorskip("kreuzberg")

GOLDEN = Path(__file__).parents[1] / "golden" / "files"
FIRST = "The harbour master counted forty lamps in the mist."
SECOND = "The green barge carried barley to the western mills."
MAIL = b"""From: Ada Example <ada@example.org>
Subject: =?utf-8?q?K=C3=A4se?=
Date: Fri, 20 Mar 1987 13:15:48 +0000
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/html; charset=utf-8

<p>The green barge <b>carried</b> barley to the western mills.</p>
--b--
"""


def problems_of(source) -> tuple[list, list[BadRecordError]]:
    problems: list[BadRecordError] = []
    return list(read_documents(source, on_error=problems.append)), problems


@pytest.mark.parametrize("kind", ["docx", "doc", "odt", "rtf", "epub", "html", "md", "xlsx"])
def test_a_file_without_pages_is_one_document(kind):
    path = GOLDEN / f"lamp.{kind}"
    (document,) = read_documents(path)
    assert document.id == f"lamp.{kind}"
    text = " ".join((document.text or "").split())
    assert FIRST in text
    assert SECOND in text
    assert document.metadata["path"] == str(path)
    assert document.metadata["parts"] == 1
    if kind not in ("rtf", "xlsx"):  # which say nothing about themselves
        assert document.metadata["title"] == "The lamp of the harbour"
        assert document.metadata["author"] == "Ada Example"
    if kind in ("epub", "html", "md"):  # the others name the day on which they were made
        assert document.metadata["date"] == "1987-03-20"
        assert document.metadata["language"] == "en"


@pytest.mark.parametrize(("kind", "pages"), [("pdf", [1, 2]), ("pptx", [1, 2, 3])])
def test_pages_and_slides_are_documents(kind, pages):
    documents = list(read_documents(GOLDEN / f"lamp.{kind}"))
    assert [document.id for document in documents] == [f"lamp.{kind}#page={page}" for page in pages]
    assert [document.metadata["page"] for document in documents] == pages
    assert [document.metadata.get("parts") for document in documents] == [None] * (len(pages) - 1) + [len(pages)]
    assert SECOND in " ".join((documents[-1].text or "").split())
    assert {document.metadata["title"] for document in documents} == {"The lamp of the harbour"}


def test_words_that_the_end_of_a_line_divided_are_joined_if_the_file_has_them_whole(tmp_path):
    lines = (
        "The council wrote the whole legislation of the harbour in a single winter, as it had one-",
        "way streets to mend and little time for anything else, and printed the legis-",
        "lation in the spring of the year, which the captains of the barges read at their break-",
        "fast with much laughter and a little fear of what the harbour master would say to it.",
    )
    written = " ".join(f"1 0 0 1 40 {700 - 14 * n} Tm ({line}) Tj" for n, line in enumerate(lines))
    (tmp_path / "law.pdf").write_bytes(pdf(f"BT /F 11 Tf {written} ET".encode()))
    (document,) = read_documents(tmp_path)
    assert "printed the legislation in the spring" in (document.text or "")
    assert "one-way streets" in (document.text or "")
    assert rejoined("one-way, break-fast, Öl-preis, LEGIS-Lation", {"breakfast", "ölpreis", "legislation"}) == (
        "one-way, breakfast, Ölpreis, LEGIS-Lation"
    )


def test_mails_and_mailboxes(tmp_path):
    (tmp_path / "a.eml").write_bytes(MAIL)
    (tmp_path / "b.mbox").write_bytes(2 * (b"From ada@example.org Fri Mar 20 13:15:48 1987\n" + MAIL + b"\n"))
    documents = list(read_documents(tmp_path))
    assert [document.id for document in documents] == ["a.eml", "b.mbox#message=1", "b.mbox#message=2"]
    for document in documents:
        assert (document.text or "").replace("*", "").split() == ["Käse", *SECOND.split()]
        assert document.metadata["title"] == "Käse"
        assert document.metadata["author"] == "Ada Example <ada@example.org>"
        assert document.metadata["date"] == "1987-03-20T13:15:48+00:00"


def test_broken_mails_are_read_as_far_as_they_go(tmp_path):
    """Headers that Python's own parser fails on, charsets that nobody knows, bytes that are no text."""
    (tmp_path / "a.eml").write_bytes(b"Subject: =?utf-8?q?\xff?=\nFrom: <<<\nDate: never\n\nThe lamp \xff\xfe\n")
    (tmp_path / "b.eml").write_bytes(b'Content-Type: text/plain; charset="klingon"\n\nThe caf\xe9\n')
    (tmp_path / "c.eml").write_bytes(b"Content-Type: multipart/mixed; boundary=b\n" * 3)
    documents, problems = problems_of(tmp_path)
    assert ["The lamp" in (document.text or "") for document in documents] == [True, False]
    assert documents[1].text == "The café"
    assert [problem.kind for problem in problems] == ["without text"]


def hostile(folder: Path) -> dict[str, str]:
    """Write files that cannot be read; return the kind of each."""
    docx = (GOLDEN / "lamp.docx").read_bytes()
    (folder / "archive.zip").write_bytes(docx)
    (folder / "binary.exe").write_bytes(bytes(range(256)) * 20)
    (folder / "broken.docx").write_bytes(docx[:4000])
    (folder / "broken.pdf").write_bytes((GOLDEN / "lamp.pdf").read_bytes()[:900])
    (folder / "locked.pdf").write_bytes((GOLDEN / "locked.pdf").read_bytes())
    marker = "EncryptedPackage".encode("utf-16-le")
    (folder / "locked.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000) + marker + bytes(1000))
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "song.mp3").write_bytes(b"ID3")
    (folder / "empty.pdf").write_bytes(pdf(b""))
    (folder / "large.docx").write_bytes(with_document(docx, b"<w:p><w:r><w:t>barge</w:t></w:r></w:p>" * 4_000_000))
    entities = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12))
    laughs = b'<!DOCTYPE w [<!ENTITY a0 "ha">' + entities + b"]>"
    (folder / "laughs.docx").write_bytes(with_document(docx, b"<w:p><w:r><w:t>&a11;</w:t></w:r></w:p>", laughs))
    return {
        "archive.zip": "archives",
        "binary.exe": "of an unknown format",
        "broken.docx": "not readable",
        "broken.pdf": "not readable",
        "empty.pdf": "without text",
        "large.docx": "not readable",
        "laughs.docx": "without text",
        "locked.docx": "protected by a password",
        "locked.pdf": "protected by a password",
        "picture.png": "pictures",
        "song.mp3": "recordings",
    }


def with_document(docx: bytes, body: bytes, before: bytes = b"") -> bytes:
    """A Word file with another body."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name == "word/document.xml":
                space = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
                new.writestr(name, before + b"<w:document %s><w:body>" % space + body + b"</w:body></w:document>")
            else:
                new.writestr(name, old.read(name))
    return out.getvalue()


def pdf(stream: bytes, filters: bytes = b"") -> bytes:
    """A PDF of one page with this content."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        b"<</Length %d%s>>stream\n" % (len(stream), filters) + stream + b"\nendstream",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj" % number + content + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + trailer


@pytest.mark.slow
def test_what_cannot_be_read_is_named_and_counted(tmp_path):
    kinds = hostile(tmp_path)
    (tmp_path / "zuletzt.txt").write_text("The lamp")
    documents, problems = problems_of(tmp_path)
    assert [document.id for document in documents] == ["zuletzt.txt"]
    assert {Path(str(problem).split(" ")[0]).name: problem.kind for problem in problems} == kinds
    assert all("\n" not in str(problem) and len(str(problem)) < 600 for problem in problems)


def test_it_ends_nothing_unless_it_was_the_only_file(tmp_path):
    (tmp_path / "locked.pdf").write_bytes((GOLDEN / "locked.pdf").read_bytes())
    (tmp_path / "lamp.pdf").write_bytes((GOLDEN / "lamp.pdf").read_bytes())
    for source in (tmp_path, sorted(tmp_path.iterdir()), str(tmp_path / "*.pdf")):
        with pytest.warns(UserWarning, match=r"locked\.pdf is left out: it is protected by a password"):
            assert len(list(read_documents(source))) == 2
    with pytest.raises(BadRecordError, match="protected by a password"):
        list(read_documents(tmp_path / "locked.pdf"))


@pytest.mark.slow
def test_a_file_that_takes_too_long_or_too_much_memory_ends_alone(tmp_path, monkeypatch):
    """A page that unpacks to gigabytes: its process is ended, and the next files get another one."""
    monkeypatch.setattr(conversion_module, "MOST_SECONDS", 3)
    monkeypatch.setattr(conversion_module, "_PATIENCE", 2)
    bomb = zlib.compress(zlib.compress(b"q Q " * 150_000_000))
    (tmp_path / "a.pdf").write_bytes(pdf(bomb, b"/Filter[/FlateDecode/FlateDecode]"))
    for name in ("b", "c", "d"):
        (tmp_path / f"{name}.pdf").write_bytes((GOLDEN / "lamp.pdf").read_bytes())
    documents, problems = problems_of(tmp_path)
    assert {str(document.id)[0] for document in documents} == {"b", "c", "d"}
    assert [Path(str(problem).split(" ")[0]).name for problem in problems] == ["a.pdf"]
    assert any(reason in str(problems[0]) for reason in ("takes longer than", "its reader failed"))


def test_reading_that_is_given_up_leaves_no_process(tmp_path):
    files = [(n, GOLDEN / "lamp.pdf") for n in range(100)]
    coming = convert(files)
    key, parts = next(coming)
    assert (key, len(list(parts))) == (0, 2)
    children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True).stdout
    assert "converter.py" in children
    coming.close()
    children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True).stdout
    assert "converter.py" not in children


def test_nothing_is_fetched_and_nothing_written():
    """The converter opens no connection, and creates no file but a library in a folder of its own, which it deletes.

    kreuzberg would load what another user has put into the folder of temporary files.
    """
    if not Path("/usr/bin/strace").exists():
        pytest.skip("strace is not there")
    program = Path(conversion_module.__file__).with_name("converter.py")
    requests = "".join(json.dumps([str(path), path.suffix]) + "\n" for path in sorted(GOLDEN.iterdir()))
    command = ["strace", "-f", "-e", "trace=connect,openat,mkdir,unlink", sys.executable, "-P", str(program)]
    traced = subprocess.run(command, input=requests, capture_output=True, text=True, check=True).stderr
    calls = [line for line in traced.splitlines() if "connect(" in line or "O_CREAT" in line or "mkdir(" in line]
    (own,) = {found[1] for line in calls if (found := re.search(r'mkdir\("(/\S+/ammi-\w+)", 0700\) +=', line))}
    assert [line for line in calls if own not in line and "O_EXCL" not in line] == []  # with which Python tries folders
    assert not Path(own).exists()
    assert not [line for line in traced.splitlines() if "libpdfium" in line and own not in line]


def test_without_the_extra_files_of_text_are_read(tmp_path, monkeypatch):
    (tmp_path / "kreuzberg.py").write_text("raise ImportError('no')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("The lamp")
    (folder / "b.pdf").write_bytes((GOLDEN / "lamp.pdf").read_bytes())
    documents, problems = problems_of(folder)
    assert [document.id for document in documents] == ["a.txt"]
    assert "run pip install 'ammi[files]'" in str(problems[0])


def test_tables_of_a_folder_are_rows_if_they_have_texts(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "a.jsonl").write_text('{"text": "one", "path": "mine"}\n{"text": "two"}\n')
    (tmp_path / "b.csv").write_text("id;text\nx;three\n")
    (tmp_path / "c.csv").write_text("name,year\nanton,1987\n")
    (tmp_path / "d.json").write_text('{\n  "version": 1\n}\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.jsonl").write_text('[{"text": "four"},\n {"text": "five"}]')
    documents = {document.id: document for document in read_documents(tmp_path)}
    texts = {id: document.text for id, document in documents.items()}
    assert texts == {
        "a.jsonl:1": "one", "a.jsonl:2": "two", "x": "three", "c.csv": "name,year\nanton,1987\n",
        "d.json": '{\n  "version": 1\n}\n', "sub/a.jsonl:1": "four", "sub/a.jsonl:2": "five",
    }  # fmt: skip
    assert documents["a.jsonl:1"].metadata["path_"] == "mine"
    assert [document.metadata.get("parts") for document in documents.values()] == [None, 2, 1, 1, 1, None, 2]
    assert any("c.csv has no column 'text', and is one document" in message for message in caplog.messages)


def test_several_sources_have_names_of_their_own(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(folder)
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    sources = [tmp_path / "a", tmp_path / "b", tmp_path / "lines.txt"]
    assert [(one.id, one.text) for one in read_documents(sources)] == [
        ("a/x.txt", "a"), ("b/x.txt", "b"), ("lines:1", "one"), ("lines:2", "two"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"are both called x\.txt: name their folder instead"):
        list(read_documents([tmp_path / "a" / "x.txt", tmp_path / "b" / "x.txt"]))
    with pytest.raises(FileNotFoundError, match=r"no file or folder that matches .*\*\.csv"):
        read_documents(str(tmp_path / "*.csv"))
    assert len(list(read_documents(str(tmp_path / "*")))) == 4


SEPARATED = {
    "semicolons": (b"id;text\r\n1;a, b\r\n", "the fields of {} are separated by a semicolon"),
    "sep=": (b"sep=|\r\nid|text\r\n1|a, b\r\n", "the fields of {} are separated by a bar"),
    "quoted sep=": (b'"sep=;"\r\nid;text\r\n1;a, b\r\n', "the fields of {} are separated by a semicolon"),
    "tabulators": (b"id\ttext\n1\ta, b\n", "the fields of {} are separated by a tabulator"),
    "commas": (b'id,text\n1,"a, b"\n', None),
    "cp1252": (b"id,text\n1,caf\xe9\n", "{} is no UTF-8, and is read as cp1252"),
    "UTF-16": ("id\ttext\n1\tä\n".encode("utf-16"), "{} is read as UTF-16"),
}


@pytest.mark.parametrize("name", SEPARATED)
def test_separators_and_encodings_are_detected_and_reported(tmp_path, name, caplog):
    caplog.set_level("INFO")
    content, message = SEPARATED[name]
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    (document,) = read_documents(path)
    assert (document.id, document.text) == ("1", {"cp1252": "café", "UTF-16": "ä"}.get(name, "a, b"))
    assert [one.startswith((message or "").format(path)) for one in caplog.messages][:1] == ([True] if message else [])


def test_a_bad_line_of_utf_8_is_no_cp1252(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"text\ncaf\xe9\n" + "Käse\n".encode())
    documents, problems = problems_of(tmp_path / "x.csv")
    assert [document.text for document in documents] == ["Käse"]
    assert [problem.kind for problem in problems] == ["not UTF-8"]


@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_of_json(tmp_path, indent):
    rows = [{"text": f"text {n} " + "x" * 5000, "n": n} for n in range(100)]
    (tmp_path / "x.json").write_text(json.dumps(rows, indent=indent))
    assert [(one.id, one.text) for one in read_documents(tmp_path / "x.json")] == [
        (n, row["text"]) for n, row in enumerate(rows, 1)
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows, indent=indent)[:-400])
    documents, problems = problems_of(tmp_path / "x.json")
    assert (len(documents), len(problems)) == (99, 1)
    (tmp_path / "x.json").write_text('[{"text": "a"}, 7, {"text": "b"}]')
    documents, problems = problems_of(tmp_path / "x.json")
    assert [one.text for one in documents] == ["a", "b"]
    assert str(problems[0]) == f"{tmp_path / 'x.json'} element 2 is 7: expected a JSON object"
    with warnings.catch_warnings():
        (tmp_path / "x.json").write_text("[]")
        assert list(read_documents(tmp_path / "x.json")) == []
