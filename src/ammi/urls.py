"""Locations as messages show them: URLs without a password or a token."""

import re
from os import PathLike, fspath

_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)(.*)", re.DOTALL)  # scheme, user and host, all else
# A URL that lacks a slash or two: all before the host may be a password.
_MISSPELT = re.compile(r"(?is)^((?:postgres(?:ql)?|milvus|https?):/?)(?!/).*@(.*)$")
_SECRET = re.compile(r"(?i)(?<=[?&])[^=&#]*(?:password|token|secret)[^=&#]*=[^&#]*&?")
_TOKENS = ("milvus://", "http://", "https://")  # schemes whose URLs have a token in place of a user name
_LOOSE_END = re.compile(r"[?&]+(?=#|$)")


def shown(location: str | PathLike[str]) -> str:
    """Return a location without its password or token; if a password has a / or a #, leave out more than needed."""
    found = _PARTS.fullmatch(location) if isinstance(location, str) else None
    if found is None:
        return _MISSPELT.sub(r"\1\2", location) if isinstance(location, str) else fspath(location)
    scheme, authority, rest = found.groups()
    user, at, host = authority.rpartition("@")
    if _is_cut(authority, rest):
        user, at, host, rest = authority, "@", "", rest.rpartition("@")[2]
    if scheme in _TOKENS and (scheme != "milvus://" or ":" not in user):
        user = at = ""
    return f"{scheme}{user.partition(':')[0]}{at}{_LOOSE_END.sub('', _SECRET.sub('', host + rest))}"


def cuts_password(location: str | PathLike[str]) -> bool:
    """Return whether a URL seems to have a password with a /, # or @ that should be written as %2F, %23 or %40."""
    found = _PARTS.fullmatch(location) if isinstance(location, str) else None
    return found is not None and (_is_cut(found[2], found[3]) or (":" in found[2] and found[2].count("@") > 1))


def _is_cut(authority: str, rest: str) -> bool:
    return ":" in authority and "@" in rest
