"""Places as messages show them."""

from pathlib import Path

import pytest

from ammi.urls import cuts_password, shown


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("articles", "articles"),
        (Path("a/b"), "a/b"),
        ("news:1987", "news:1987"),
        ("postgresql://host/db#articles", "postgresql://host/db#articles"),
        ("postgresql://user@host:5432/db", "postgresql://user@host:5432/db"),
        ("postgresql://user:hush@host:5432/db#x", "postgresql://user@host:5432/db#x"),
        ("postgresql://user:@/db?host=/tmp", "postgresql://user@/db?host=/tmp"),
        ("postgresql://user:hu:sh@host/db", "postgresql://user@host/db"),
        ("postgresql://user:hu@sh@host/db", "postgresql://user@host/db"),
        ("postgresql://host/db?password=hush#x", "postgresql://host/db#x"),
        ("postgresql://host/db?user=a&password=hush&sslmode=require", "postgresql://host/db?user=a&sslmode=require"),
        ("postgresql://host/db?sslpassword=hush&user=a", "postgresql://host/db?user=a"),
        ("milvus://root:hush@host:19530/db?token=hush", "milvus://root@host:19530/db"),
        ("milvus://hush@host:19530/db", "milvus://host:19530/db"),
        ("http://hush@host:8077", "http://host:8077"),
        ("postgresql:/user:hush@host/db", "postgresql:/host/db"),
        ("milvus:user:hush@host:1/db", "milvus:host:1/db"),
        ("https://name:hush@host/path", "https://host/path"),
        ("http://[::1]:8077/", "http://[::1]:8077/"),
        ("http://name:hu/sh@host", "http://host"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
        ("postgresql://user:hu/sh@host/db", "postgresql://user@host/db"),
        ("postgresql://user:hu#sh@host/db", "postgresql://user@host/db"),
        ("postgresql://user:hu?sh@host/db?password=hush", "postgresql://user@host/db"),
        ("postgresql://user:hu/s@h/@host/db", "postgresql://user@host/db"),
    ],
)
def test_no_password_is_shown(location, expected):
    assert shown(location) == expected


def test_a_password_that_is_cut_short_is_seen():
    assert cuts_password("postgresql://user:hu/sh@host/db")
    assert cuts_password("postgresql://user:hu@sh@host/db")
    for location in ("postgresql://user:hush@host/db", "postgresql://host:5432/db", "a@b", "postgresql://u@h/db?a=b@c"):
        assert not cuts_password(location)
