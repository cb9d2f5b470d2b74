"""The program that reads files of strangers in a process of its own, with bounds on its time and memory.

`conversion.py` runs it, without importing ammi. A line of standard input names a file, its kind and its ending; the
answer is a line of JSON for each part of the file, then one that ends it. Nothing is ever fetched: kreuzberg is only
given the kinds below, for which it needs nothing but the file.
"""

import email.policy
import json
import mailbox
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

MOST_MEMORY = 1 << 31  # bytes of address space
MOST_SECONDS = 30  # of a part
_LONGEST = 1 << 27  # characters of a file's text

_OFFICE = "application/vnd.openxmlformats-officedocument"
MIME_TYPES = {  # by ending, of the files that kreuzberg reads
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".xls": "application/vnd.ms-excel",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".rtf": "application/rtf",
    ".epub": "application/epub+zip",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
}
_WITH_PAGES = (".pdf", ".pptx")  # the others have none, or not those that a reader sees
_WORD = re.compile(r"[^\W\d_]+")
_WITH_HYPHEN = re.compile(r"(?<![\w-])([^\W\d_]{2,})-([^\W\d_]{2,})(?![\w-])")
_DATE_TAGS = ("article:published_time", "dcterms.date", "dcterms_date", "date")
_MAIL_KEYS = {"subject": "title", "from": "author"}

Part = dict[str, Any]  # "text", "metadata", and "page" if the file has pages


class UnreadError(Exception):
    """Why a file cannot be read: its kind in a word or two, for counting, and the reason."""


def parts_of(path: str, ending: str) -> Iterator[Part]:
    """Yield the parts of a file: pages, slides, messages, or the whole."""
    if ending == ".mbox":
        yield from _messages(path)
    elif ending == ".eml":
        with open(path, "rb") as file:
            yield _mail(email.message_from_binary_file(file, policy=email.policy.default))
    else:
        yield from _converted(path, ending)


def _converted(path: str, ending: str) -> Iterator[Part]:
    import kreuzberg

    try:
        found = kreuzberg.extract_bytes_sync(Path(path).read_bytes(), MIME_TYPES[ending], _settings())
    except kreuzberg.KreuzbergError as error:
        raise _unread(str(error), path) from error
    if len(found.content) > _LONGEST:
        raise UnreadError("too long", "its text is too long")
    metadata = _metadata(found)
    words = set(_WORD.findall(found.content.lower())) if ending == ".pdf" else set()
    pages = (found.metadata.get("pages") or {}).get("boundaries") if ending in _WITH_PAGES else None
    if not pages:
        yield {"text": rejoined(_cleaned(found.content), words), "metadata": metadata}
        return
    content = found.content.encode()
    for page in pages:
        text = content[page["byte_start"] : page["byte_end"]].decode(errors="replace")
        yield {"text": rejoined(_cleaned(text), words), "page": page["page_number"], "metadata": metadata}


def rejoined(text: str, words: set[str]) -> str:
    """Join the words that the end of a line divided, if they are among some words without a hyphen.

    kreuzberg joins the lines of many PDFs and keeps the hyphen, so that nothing else tells "legis-lation" of two lines
    from "one-way" of one.
    """

    def whole(found: re.Match[str]) -> str:
        joined = found[1] + found[2]
        return joined if found[2].islower() and joined.lower() in words else found[0]

    return _WITH_HYPHEN.sub(whole, text)


def _settings() -> Any:
    import kreuzberg

    return kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        pages=kreuzberg.PageConfig(extract_pages=True),
        concurrency=kreuzberg.ConcurrencyConfig(max_threads=1),
    )


def _cleaned(text: str) -> str:
    """Join words that were hyphenated at the end of a line, and drop the carriage returns of PDFs."""
    return text.replace("\x02\r\n", "").replace("\x02", "").replace("\r\n", "\n").replace("\0", "").strip()


def _metadata(found: Any) -> dict[str, str]:
    about = found.metadata
    tags = about.get("meta_tags") or {}  # of a page of the web
    authors = about.get("authors") or [about.get("author")]
    dates = (about.get("created_at"), *(tags.get(name) for name in _DATE_TAGS), about.get("modified_at"))
    values = {
        "title": about.get("title"),
        "author": ", ".join(str(author) for author in authors if author),
        "date": next(filter(None, dates), None),
        "language": str(about.get("language") or "").partition("-")[0].lower(),
    }
    return {key: str(value).strip() for key, value in values.items() if value and str(value).strip()}


def _unread(message: str, path: str) -> UnreadError:
    said = message.lower()
    if "password" in said or "encrypt" in said or _is_encrypted(path):
        return UnreadError("protected by a password", "it is protected by a password")
    reason = message.splitlines()[0].split(": ", 1)[-1][:200] if message else "it is broken"
    return UnreadError("not readable", f"it is broken or not what its name says ({reason})")


def _is_encrypted(path: str) -> bool:
    """Return whether a file is an Office document inside an encrypted container."""
    with suppress(OSError), open(path, "rb") as file:
        start = file.read(1 << 16)
        return start.startswith(b"\xd0\xcf\x11\xe0") and "EncryptedPackage".encode("utf-16-le") in start
    return False


def _messages(path: str) -> Iterator[Part]:
    box = mailbox.mbox(path, create=False)
    for number, key in enumerate(box.iterkeys(), 1):
        message = email.message_from_bytes(box.get_bytes(key), policy=email.policy.default)
        yield {**_mail(message), "message": number}


def _mail(message: Message) -> Part:
    metadata: dict[str, str] = {}
    for header, key in _MAIL_KEYS.items():
        with suppress(Exception):  # the parser of headers fails on some that are malformed
            if value := " ".join(str(message.get(header) or "").split()):
                metadata[key] = value
    with suppress(Exception):
        metadata["date"] = parsedate_to_datetime(str(message["date"])).isoformat()
    text = _body(message)
    return {"text": f"{metadata.get('title', '')}\n\n{text}".strip(), "metadata": metadata}


def _body(message: Message) -> str:
    body = message.get_body(("plain", "html")) if isinstance(message, EmailMessage) else message
    if body is None:
        return ""
    content = body.get_payload(decode=True)
    raw = content if isinstance(content, bytes) else b""
    try:
        text = raw.decode(body.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = raw.decode("cp1252", "replace")
    if body.get_content_type() != "text/html":
        return text.replace("\r\n", "\n")
    import kreuzberg

    return _cleaned(kreuzberg.extract_bytes_sync(text.encode(errors="replace"), "text/html", _settings()).content)


def answers(path: str, ending: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of a file that have a text, then an object with `end`: "" or the kind and why it is not read."""
    n = 0
    try:
        for part in parts_of(path, ending):
            if part["text"].strip():
                n += 1
                yield part
    except UnreadError as error:
        yield {"end": list(error.args)}
    except MemoryError:
        yield {"end": ["not readable", f"it takes more than {MOST_MEMORY >> 30} GB of memory"]}
    except OSError as error:
        yield {"end": ["not readable", f"it cannot be opened ({error.strerror or error})"]}
    except ImportError:
        yield {"end": ["not readable without ammi[files]", "kreuzberg is not installed: run pip install 'ammi[files]'"]}
    except Exception as error:  # of libraries, on a broken file
        yield {"end": ["not readable", f"it is broken ({type(error).__name__}: {str(error)[:200]})"]}
    else:
        yield {"end": [] if n else ["without text", "there is no text in it, as in a picture"]}


def _load_kreuzberg() -> None:
    """Load all of kreuzberg, before any file is read.

    It unpacks its reader of PDF where temporary files are, and would load what it finds there: another user's file, if
    all users share the place. So it gets a folder of its own, which is deleted once the reader is loaded.
    """
    with suppress(ImportError):
        import kreuzberg

        with tempfile.TemporaryDirectory(prefix="ammi-", ignore_cleanup_errors=True) as folder:
            os.environ.update({"TMPDIR": folder, "TEMP": folder, "TMP": folder})
            with suppress(kreuzberg.KreuzbergError):
                kreuzberg.extract_bytes_sync(b"%PDF-1.4", MIME_TYPES[".pdf"], _settings())


def _bound() -> None:
    """Limit memory, and forbid to write files."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _bound_seconds() -> None:
    """Limit the processor time from now on, so that the process ends even if nobody waits for it any more."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + 2 + MOST_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _as_json(answer: dict[str, Any]) -> bytes:
    """Return a line of JSON, with a question mark for half a character."""
    return json.dumps(answer, ensure_ascii=False).encode(errors="replace")


def main() -> None:
    """Answer the requests of standard input."""
    requests, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    _load_kreuzberg()
    _bound()
    for request in requests:
        path, ending = json.loads(request)
        _bound_seconds()
        for answer in answers(path, ending):
            out.write(_as_json(answer) + b"\n")
            out.flush()
            _bound_seconds()


if __name__ == "__main__":
    main()
