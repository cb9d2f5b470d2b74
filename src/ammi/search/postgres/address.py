"""The address of a collection on a PostgreSQL server: postgresql://USER@HOST:PORT/DATABASE?OPTIONS#COLLECTION."""

import os
import re
from os import fspath
from typing import Any, NamedTuple

from ammi.search.postgres.driver import psycopg
from ammi.search.store_methods import Location
from ammi.urls import cuts_password, shown

_NAME = re.compile(r"(?!pg_|information_schema)[A-Za-z_][A-Za-z0-9_-]{0,62}")
_DEFAULT_NAME = "ammi"
_CONNECT_SECONDS = "10"
_FORM = "postgresql://USER@HOST:PORT/DATABASE#COLLECTION"


class Address(NamedTuple):
    """The parts of a location: how to connect, the schema of the collection, and whether search is approximate."""

    conninfo: dict[str, Any]
    schema: str
    approximate: bool
    shown: str


def parsed_address(location: Location) -> Address:
    """Return the address in a URL; libpq's PGHOST, PGUSER, ~/.pgpass and so on fill in missing parts."""
    text = fspath(location)
    if cuts_password(text):
        raise ValueError(
            f"the password in {shown(text)} holds a character that ends it: write / as %2F, # as %23, ? as %3F, @ as "
            "%40 and % as %25"
        )
    url, _, name = text.partition("#")
    name = name or _DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the collection of {shown(text)} has the name {name!r}, expected letters, digits, _ and -, no more than "
            f"63 and no pg_ before them: write {_FORM}"
        )
    base, mark, query = url.partition("?")
    options = [option for option in query.split("&") if option]
    wanted = [option.partition("=")[2] for option in options if option.partition("=")[0] == "approximate"]
    if wanted and wanted != ["hnsw"]:
        raise ValueError(f"approximate is {wanted[-1]!r} in {shown(text)}, but there is hnsw alone: write hnsw")
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    for name_of in (option.partition("=")[0] for option in options):
        if name_of not in known | {"approximate"}:
            raise ValueError(f"{shown(text)} has the option {name_of!r}, which PostgreSQL does not know: leave it out")
    rest = "&".join(option for option in options if option.partition("=")[0] != "approximate")
    try:
        conninfo = psycopg.conninfo.conninfo_to_dict(f"{base}{mark}{rest}" if rest else base)
    except psycopg.Error:  # its message may contain a part of the password
        raise ValueError(
            f"{shown(text)} is no address of a PostgreSQL server: write {_FORM}, and % in a password as %25"
        ) from None
    if "PGCONNECT_TIMEOUT" not in os.environ:
        conninfo.setdefault("connect_timeout", _CONNECT_SECONDS)
    conninfo.setdefault("fallback_application_name", "ammi")
    return Address(conninfo, name, bool(wanted), shown(text))
