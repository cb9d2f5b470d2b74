"""Corpora from the files in which Reuters-21578 and 20 Newsgroups are distributed.

Each builder takes the folder or the tar archive (compressed or not) and yields the records of the corpus, ready for
`write_jsonl`. Both collections are latin-1 and small enough to be sorted in memory.
"""

import html
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from email.parser import HeaderParser
from email.utils import parsedate_to_datetime
from pathlib import Path

from ammi.plain import Metadata

_MOST_BYTES = 1 << 28  # of an unpacked archive; both collections have a tenth of it


def reuters_records(path: str | Path) -> Iterator[Metadata]:
    """Yield the articles of `reut2-*.sgm`: id, date, split, title, text, labels (topics), places.

    The split is that of Lewis' "Modified Apte": `train` and `test` among articles whose topics were looked at, all
    others `unused`. The text of an article without a body is everything but its title.
    """
    files = _files(path, r"reut2-\d+\.sgm$")
    if not files:
        raise ValueError(f"{path} holds no files reut2-*.sgm: expected the Reuters-21578 distribution")
    for name, content in sorted(files):
        for attributes, article in re.findall(r"<REUTERS(.*?)>(.*?)</REUTERS>", content, re.DOTALL):
            try:
                yield _article(dict(re.findall(r'(\w+)="(.*?)"', attributes)), article)
            except KeyError as error:
                raise ValueError(f"{name} has an article without the attribute {error}:{attributes}") from error


def _article(attributes: dict[str, str], article: str) -> Metadata:
    split = attributes["LEWISSPLIT"].lower()
    modified_apte = attributes["TOPICS"] == "YES" and split in ("train", "test")
    body = _element("BODY", article)
    if body is None:
        body = re.sub(r"<(TITLE|AUTHOR|DATELINE)>.*?</\1>", "", _element("TEXT", article) or "", flags=re.DOTALL)
    return {
        "id": int(attributes["NEWID"]),
        "date": _without_markup(_element("DATE", article)),
        "split": split if modified_apte else "unused",
        "title": _without_markup(_element("TITLE", article)),
        "text": _without_markup(body),
        "labels": _list("TOPICS", article),
        "places": _list("PLACES", article),
    }


def _element(name: str, article: str) -> str | None:
    found = re.search(rf"<{name}\b[^>]*>(.*?)</{name}>", article, re.DOTALL)
    return found[1] if found else None


def _list(name: str, article: str) -> list[str]:
    return [_without_markup(item) for item in re.findall(r"<D>(.*?)</D>", _element(name, article) or "")]


def _without_markup(sgml: str | None) -> str:
    """Resolve entities, and remove the control characters of the news wire."""
    text = re.sub(r"&(?:#\d+|\w+);", lambda entity: html.unescape(entity[0]), sgml or "")
    return re.sub(r"[^\n\t -~\xa0-\U0010ffff]", "", text).strip()


def newsgroups_records(path: str | Path) -> Iterator[Metadata]:
    """Yield the messages `GROUP/NUMBER`: id, message_id, references, date, from, subject, text, labels (the group).

    A message that was posted to several groups is kept in the first group by name. The date is in ISO format, without
    an offset if the message has none, and empty if it cannot be parsed.
    """
    files = _files(path, r"[^/]+/\d+$")
    if not files:
        raise ValueError(f"{path} holds no messages GROUP/NUMBER: expected the 20 Newsgroups distribution")
    seen = set()
    for group, number, content in sorted(
        (Path(name).parent.name, int(Path(name).name), content) for name, content in files
    ):
        record = _message(group, number, content)
        if not record["message_id"] or record["message_id"] not in seen:
            seen.add(record["message_id"])
            yield record


def _message(group: str, number: int, content: str) -> Metadata:
    message = HeaderParser().parsestr(content)
    header = {name.lower(): re.sub(r"\s*\n\s*", " ", value).strip() for name, value in message.items()}
    return {
        "id": f"{group}/{number}",
        "message_id": header.get("message-id", ""),
        "references": re.findall(r"<[^<>\s]+>", header.get("references", "")),
        "date": _iso(header.get("date", "")),
        "from": header.get("from", ""),
        "subject": header.get("subject", ""),
        "text": str(message.get_payload()).strip(),
        "labels": [group],
    }


def _iso(date: str) -> str:
    try:
        return parsedate_to_datetime(date).isoformat()
    except ValueError:
        return ""


def _files(path: str | Path, pattern: str) -> list[tuple[str, str]]:
    """Return names and contents of the files whose name matches, in a folder or a tar archive, in any order."""
    path = Path(path)
    if path.is_dir():
        paths = (file for file in path.rglob("*") if re.search(pattern, file.as_posix()) and file.is_file())
        return [(file.as_posix(), file.read_bytes().decode("latin-1")) for file in paths]
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    try:
        with tarfile.open(path) as archive:
            return list(_members(archive, pattern))
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} is not a whole tar archive: {error}") from error


def _members(archive: tarfile.TarFile, pattern: str) -> Iterator[tuple[str, str]]:
    size = 0
    for member in archive:
        if re.search(pattern, member.name) and (file := archive.extractfile(member)):
            size += member.size
            if size > _MOST_BYTES:
                raise tarfile.ReadError(f"it unpacks to more than {_MOST_BYTES >> 20} MB")
            yield member.name, file.read().decode("latin-1")


IMPORTERS = {"newsgroups": newsgroups_records, "reuters": reuters_records}
