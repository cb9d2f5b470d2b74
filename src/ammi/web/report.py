"""Reports: the page, its scripts and styles, and the data of a sample in one file that needs no server.

The scripts are modules that import one another. In one file each becomes a function that is called once, after the
modules it imports, and returns its exports; `page/embedded.js` answers in place of the server.
"""

import base64
import hashlib
import re
from html import escape
from pathlib import Path

from ammi.collection import Collection
from ammi.search.documents import Id
from ammi.web import explore_routes, schemas
from ammi.web.app import PAGE
from ammi.web.served import Served
from ammi.web.settings import Settings

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|let|class) (\w+))", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="page/([\w.-]+)">')
_SCRIPT = re.compile(r'<script type="module" src="page/([\w.-]+)"></script>')
_LONGEST = 2000  # characters of a text
_IDS_AT_ONCE = 1000
_SHOWN = 10  # words, documents and bits for each bit


class ReportData(schemas.Model):
    """The answers of the server that a report holds."""

    collection: schemas.CollectionAnswer
    map: schemas.MapAnswer
    colours: dict[str, schemas.Colours]
    documents: list[schemas.Document]
    bits: schemas.BitsAnswer
    bit: list[schemas.BitAnswer]
    topics: list[schemas.TopicsAnswer]  # a table for each level of the map, the coarsest first
    whole: int  # number of documents in the collection, of which the report has a sample


def make_report(collection: Collection, most: int) -> str:
    """Return the page of a collection with a sample of at most `most` documents."""
    served = Served(collection, Settings(), most_points=most)
    explorer = served.live.compute()
    about, current = explore_routes.collection(served), served.live.map()
    data = ReportData(
        collection=about.model_copy(update={"documents": len(explorer.sample)}),
        map=explore_routes.map(served),
        colours={key: explore_routes.colours(served, key) for key in current.colours},
        documents=_documents(served, explorer.sample.ids),
        bits=explore_routes.bits(served),
        bit=[explore_routes.bit(served, bit, _SHOWN, _LONGEST) for bit in range(explorer.n_bits)],
        topics=[explore_routes.topics_answer(current, n) for n in explore_routes.sizes_of(explorer.fine_map) or [1]],
        whole=about.documents,
    )
    return _page(served.name, data)


def _documents(served: Served, ids: list[Id]) -> list[schemas.Document]:
    blocks = (ids[start : start + _IDS_AT_ONCE] for start in range(0, len(ids), _IDS_AT_ONCE))
    return [served.document(entry, _LONGEST) for block in blocks for entry in served.entries(block)]


def _page(name: str, data: ReportData) -> str:
    """Build the page; its content security policy allows its own scripts and styles, by digests, and nothing else."""
    page = (PAGE / "index.html").read_text("utf-8")
    styles = [(PAGE / style).read_text("utf-8") for style in _STYLE.findall(page)]
    script = _SCRIPT.search(page)
    assert script
    program = _bundled(script[1])
    policy = (
        f"default-src 'none'; script-src {_digest(program)}; style-src {' '.join(map(_digest, styles))}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    inlined = iter(styles)
    page = _STYLE.sub(lambda _: f"<style>{next(inlined)}</style>", page)
    embedded = f'<script type="application/json" id="ammi-data">{_inert(data)}</script>'
    # The data comes before the program, which reads it when it starts.
    page = page.replace(script[0], "").replace("</body>", f"{embedded}\n<script>{program}</script>\n</body>")
    head = f'<meta charset="utf-8">\n  <meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    page = page.replace('<meta charset="utf-8">', head, 1)
    return page.replace("<title>ammi</title>", f"<title>{escape(name)} · ammi</title>", 1)


def _inert(data: ReportData) -> str:
    """Return JSON that no browser takes for markup, whatever the texts in it hold."""
    return data.model_dump_json().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _bundled(first: str) -> str:
    """Return a module and all its imports as one script."""
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...] = ()) -> None:
        if name in path:
            raise ValueError(f"the page's modules {' → '.join([*path, name])} import each other in a cycle")
        if name not in order:
            for _, imported in _IMPORT.findall((PAGE / name).read_text("utf-8")):
                visit(imported, (*path, name))
            order.append(name)

    visit(first)
    parts = ['"use strict";', "const modules = {};", *(_as_function(PAGE / name) for name in order)]
    return "\n".join(parts).replace("</script", "<\\/script")


def _as_function(path: Path) -> str:
    """Return a module as a call that stores its exports for the others."""
    source = path.read_text("utf-8")
    exported = [found[1] for found in _EXPORT.finditer(source)]
    source = _IMPORT.sub(lambda found: f'const {{{_renamed(found[1])}}} = modules["{found[2]}"];\n', source)
    source = _EXPORT.sub("", source)
    if re.search(r"^(import|export)\b", source, re.MULTILINE):
        raise ValueError(f"{path.name} imports or exports in a form that a report cannot bundle")
    return f'modules["{path.name}"] = (() => {{\n{source}\nreturn {{ {", ".join(exported)} }};\n}})();'


def _renamed(names: str) -> str:
    """Write `a as b` of an import as the `a: b` of a destructuring."""
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
