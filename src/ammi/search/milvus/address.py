"""Locations of Milvus, taken apart."""

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ammi.urls import cuts_password, shown

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,199}")


class Address(NamedTuple):
    """A location taken apart. Messages show `location`, which has no password and no token."""

    location: str
    file: Path | None  # of milvus-lite
    uri: str = ""  # of a server
    token: str = ""
    database: str = ""
    name: str = "ammi"  # of the collection with the settings; the names of the others begin with it


def parsed_address(location: str) -> Address:
    """Parse milvus-lite:FILE, or milvus://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?secure=true][#NAME]."""
    scheme, _, rest = location.partition(":")
    if scheme == "milvus-lite":
        if not rest or rest.startswith("//"):
            raise ValueError(f"{location!r} names no file: write milvus-lite:FILE")
        return Address(location, Path(rest))
    known = shown(location)
    try:
        parts = urlsplit(location)
        host, port = parts.hostname, parts.port or 19530
    except ValueError:
        host = None
    if not host or cuts_password(location) or "/" in parts.path.strip("/") or parts.query not in ("", "secure=true"):
        raise ValueError(f"{known!r} is no address of Milvus: write milvus://HOST:PORT/DATABASE#NAME")
    name = unquote(parts.fragment) or "ammi"
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60} cannot be the name of an index in Milvus: take letters, digits and _")
    token = ":".join(unquote(part) for part in (parts.username, parts.password) if part is not None)
    token = token or os.environ.get("MILVUS_TOKEN", "")
    uri = f"{'https' if parts.query else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    return Address(known, None, uri, token, unquote(parts.path.strip("/")), name)
