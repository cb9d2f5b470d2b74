"""The corpora built from files in the standard formats, which these tests write."""

import gzip
import html
import io
import json
import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import IMPORTERS, corpus_path, data_folder, newsgroups_records, reuters_records

SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>cocoa</D><D>coffee</D></TOPICS>
<PLACES><D>el-salvador</D><D>usa</D></PLACES>
<PEOPLE></PEOPLE>
<ORGS></ORGS>
<EXCHANGES><D>nyse</D></EXCHANGES>
<COMPANIES></COMPANIES>
<UNKNOWN>
&#5;&#5;&#5;C T
&#22;&#22;&#1;f0704&#31;reute
u f BC-COCOA-REVIEW   02-26 0105</UNKNOWN>
<TEXT>&#2;
<TITLE>COCOA &lt;CCA> AND COFFEE</TITLE>
<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Showers at Smith &amp; Co
continued.
    A second paragraph, at 5 &lt; 6.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5545" NEWID="2">
<DATE>27-MAR-1987 00:02:59.13&#5;&#5;&#5;RM
</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="UNPROC">&#2;
NY COCOA 11:31

 MAY7  1928 OFF 6
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="5546" NEWID="3">
<DATE> 2-JUN-1987 09:14:36.57</DATE>
<TOPICS><D>money-fx</D></TOPICS>
<PLACES><D>uk</D></PLACES>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>LAWSON SAYS
 ACCORD SATISFACTORY</TITLE>
<AUTHOR>    By A Writer</AUTHOR>
Blah blah blah.
&#3;

</TEXT>
</REUTERS>
<REUTERS TOPICS="BYPASS" LEWISSPLIT="NOT-USED" CGISPLIT="PUBLISHED-TESTSET" OLDID="5547" NEWID="4">
<DATE> 3-APR-1987 07:09:06.48</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="BRIEF">&#2;
<TITLE>TITLE ALONE \xfc</TITLE>
</TEXT>
</REUTERS>
"""

ARTICLES = [
    {
        "id": 1,
        "date": "26-FEB-1987 15:01:01.79",
        "split": "train",
        "title": "COCOA <CCA> AND COFFEE",
        "text": "Showers at Smith & Co\ncontinued.\n    A second paragraph, at 5 < 6.\n Reuter",
        "labels": ["cocoa", "coffee"],
        "places": ["el-salvador", "usa"],
    },
    {
        "id": 2,
        "date": "27-MAR-1987 00:02:59.13RM",
        "split": "unused",
        "title": "",
        "text": "NY COCOA 11:31\n\n MAY7  1928 OFF 6",
        "labels": [],
        "places": [],
    },
    {
        "id": 3,
        "date": "2-JUN-1987 09:14:36.57",
        "split": "test",
        "title": "LAWSON SAYS\n ACCORD SATISFACTORY",
        "text": "******\n\nBlah blah blah.",
        "labels": ["money-fx"],
        "places": ["uk"],
    },
    {
        "id": 4,
        "date": "3-APR-1987 07:09:06.48",
        "split": "unused",
        "title": "TITLE ALONE ü",
        "text": "",
        "labels": [],
        "places": [],
    },
]

MESSAGES = {
    "sci.med/10000": """Path: cantaloupe.srv.cs.cmu.edu!crabapple
Newsgroups: sci.med,sci.space
From: Natalja <nk@venus.su>
Subject: A long subject \n\tover two lines
Message-ID: <1@venus.su>
Date: 19 Foo 93 99:99
References: <a@b> <c@d>
 <e@f>
Lines: 2

First: not a header

the end  \n\n""",
    "sci.med/9999": "From: x@y\nSubject: Re: x\nMessage-ID: <2@y>\nDate: 5 Apr 1993 19:24:19 GMT\n\nHi \xe9\n",
    "sci.med/10001": "From: x@y\nSubject: no ids\n\nfirst\n",
    "sci.med/10002": "From: x@y\nSubject: no ids\n\nsecond\n",
    "sci.space/3": "Message-ID: <1@venus.su>\nFrom: Natalja <nk@venus.su>\nSubject: A copy\n\nthe end\n",
    "sci.space/4": "Message-ID: <4@z>\nFrom: z\nSubject: naive\nDate: Tue, 6 Apr 93 10:18:25\n\n",
}

RECORDS = [
    ("sci.med/9999", "<2@y>", [], "1993-04-05T19:24:19+00:00", "x@y", "Re: x", "Hi é"),
    (
        "sci.med/10000",
        "<1@venus.su>",
        ["<a@b>", "<c@d>", "<e@f>"],
        "",
        "Natalja <nk@venus.su>",
        "A long subject over two lines",
        "First: not a header\n\nthe end",
    ),
    ("sci.med/10001", "", [], "", "x@y", "no ids", "first"),
    ("sci.med/10002", "", [], "", "x@y", "no ids", "second"),
    ("sci.space/4", "<4@z>", [], "1993-04-06T10:18:25", "z", "naive", ""),
]
FIELDS = ("id", "message_id", "references", "date", "from", "subject", "text")


def distribution(path: Path, files: dict[str, str]) -> Path:
    """Write the files into a folder, or into the tar archive that the path names."""
    if ".tar" not in path.name:
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content.encode("latin-1"))
        return path
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./top/{name}")
            member.size = len(content.encode("latin-1"))
            archive.addfile(member, io.BytesIO(content.encode("latin-1")))
    return path


@pytest.mark.parametrize("name", ["folder", "x.tar.gz", "x.tar"])
def test_reuters(tmp_path, name):
    second = SGML.replace('NEWID="', 'NEWID="100')
    files = {"reut2-001.sgm": second, "README.txt": "no article", "reut2-000.sgm": SGML, "lewis.dtd": "<!-- -->"}
    built = list(reuters_records(distribution(tmp_path / name, files)))
    assert built == ARTICLES + [article | {"id": int(f"100{article['id']}")} for article in ARTICLES]


@pytest.mark.parametrize("name", ["folder", "x.tar.gz", "x.tar"])
def test_newsgroups(tmp_path, name):
    built = list(newsgroups_records(distribution(tmp_path / name, MESSAGES | {"README": "no message"})))
    expected = [dict(zip(FIELDS, record, strict=True)) for record in RECORDS]
    assert built == [record | {"labels": [str(record["id"]).split("/")[0]]} for record in expected]


latin_1 = st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"], include_characters="\n\t")).map(str.strip)


def to_sgml(article: dict) -> str:
    title, text = (html.escape(article[field], quote=False) for field in ("title", "text"))
    topics, places = ("".join(f"<D>{d}</D>" for d in article[field]) for field in ("labels", "places"))
    lewis = "NOT-USED" if article["split"] == "unused" else article["split"].upper()
    return (
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{lewis}" NEWID="{article["id"]}">\n<DATE>{article["date"]}</DATE>\n'
        f"<TOPICS>{topics}</TOPICS>\n<PLACES>{places}</PLACES>\n<UNKNOWN>&#5;&#22;f</UNKNOWN>\n<TEXT>&#2;\n"
        f"<TITLE>{title}</TITLE>\n<DATELINE> X</DATELINE><BODY>{text}\n&#3;</BODY></TEXT>\n</REUTERS>\n"
    )


@settings(max_examples=50)
@given(latin_1, latin_1)
def test_any_reuters_text_survives(tmp_path_factory, title, text):
    article = ARTICLES[0] | {"title": title, "text": text}
    path = distribution(tmp_path_factory.mktemp("reuters"), {"reut2-000.sgm": to_sgml(article)})
    assert list(reuters_records(path)) == [article]


@pytest.mark.parametrize("name", IMPORTERS)
def test_other_inputs_are_refused(tmp_path, name):
    build = IMPORTERS[name]
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        list(build(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"expected the .* distribution"):
        list(build(tmp_path))
    (tmp_path / "junk.tar.gz").write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"junk\.tar\.gz is not a whole tar archive"):
        list(build(tmp_path / "junk.tar.gz"))
    whole = distribution(tmp_path / "whole.tar.gz", {"reut2-000.sgm": SGML * 99, "a/1": SGML * 99}).read_bytes()
    (tmp_path / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"half\.tar\.gz is not a whole tar archive"):
        list(build(tmp_path / "half.tar.gz"))


def test_an_article_without_its_attributes_is_refused(tmp_path):
    path = distribution(tmp_path, {"reut2-000.sgm": re.sub(r' NEWID="\d"', "", SGML)})
    with pytest.raises(ValueError, match=r"reut2-000\.sgm has an article without the attribute 'NEWID'"):
        list(reuters_records(path))


@pytest.mark.slow
def test_the_records_are_those_of_the_shared_corpora(tmp_path):
    try:
        data_folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with gzip.open(corpus_path("reuters"), "rt") as lines:
        articles = [json.loads(line) for line in lines]
    path = distribution(tmp_path, {"reut2-000.sgm": "".join(map(to_sgml, articles))})
    assert list(reuters_records(path)) == articles


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path, content = tmp_path / "news.tar.gz", b"Subject: a\n\n" + b" " * 1000
    with tarfile.open(path, "w:gz") as archive:
        for number in range(3):
            member = tarfile.TarInfo(f"sci.space/{number}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert len(list(newsgroups_records(path))) == 3
    monkeypatch.setattr("ammi.data.imports._MOST_BYTES", 2500)
    with pytest.raises(ValueError, match="is not a whole tar archive: it unpacks to more than"):
        list(newsgroups_records(path))
