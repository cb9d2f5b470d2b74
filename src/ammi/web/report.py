"""A report: the page with its scripts, its styles and the views of a sample in one file, which asks no server.

The scripts are modules that import one another. In one file each becomes a function that is called once, after those
that it imports, and hands over what it exports; `page/embedded.js` answers in place of the server.
"""

import base64
import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any

from ammi.collection import Collection
from ammi.web.app import PAGE
from ammi.web.served import Served, cut
from ammi.web.settings import Settings
from ammi.web.view_routes import about_collection, bit_as_json, bits_as_json, colours_as_json, map_as_json
from ammi.web.views import MapState

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|let|class) (\w+))", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="page/([\w.-]+)">')
_SCRIPT = re.compile(r'<script type="module" src="page/([\w.-]+)"></script>')
_LONGEST = 2000  # characters of a text
_MOST_COLOURS = 20  # keys
_SHOWN = 10  # words, documents and bits for each bit


def make_report(collection: Collection, most: int) -> str:
    """The page of a collection with a sample of so many documents at most."""
    served = Served(collection, Settings(), most_points=most)
    explorer = served.views.unwatched()
    state = MapState("ready", 1.0, "done", explorer, explorer.fine_map, "report")
    data = {
        "collection": about_collection(served),
        "map": map_as_json(state),
        "colours": {key: colours_as_json(state, key) for key in list(explorer.sample.columns)[:_MOST_COLOURS]},
        "documents": _documents(served, explorer.sample.ids),
        "bits": bits_as_json(served),
        "bit": [bit_as_json(served, bit, _SHOWN, _LONGEST) for bit in range(explorer.n_bits)],
        "duplicates": {"groups": [], "total": 0, "copies": 0},
    }
    return _page(served.name, data)


def _documents(served: Served, ids: list[Any]) -> list[dict[str, Any]]:
    found = []
    for start in range(0, len(ids), 1000):
        for entry in served.entries(ids[start : start + 1000]):
            document = served.document(entry, sure=True)
            found.append({**document, "text": cut(entry.text, _LONGEST)})
    return found


def _page(name: str, data: dict[str, Any]) -> str:
    """The page in one file; its policy allows what is in it, by digests, and nothing else."""
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
    # Data stands before the program, which looks for it when it begins.
    page = page.replace(script[0], "").replace("</body>", f"{embedded}\n<script>{program}</script>\n</body>")
    head = f'<meta charset="utf-8">\n  <meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    page = page.replace('<meta charset="utf-8">', head, 1)
    return page.replace("<title>ammi</title>", f"<title>{escape(name)} · ammi</title>", 1)


def _inert(data: dict[str, Any]) -> str:
    """JSON that no browser takes for markup, whatever the texts in it hold."""
    spelled = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return spelled.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _bundled(first: str) -> str:
    """The module and all that it imports as one script."""
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...] = ()) -> None:
        if name in path:
            raise ValueError(f"the modules {' → '.join([*path, name])} of the page import one another")
        if name not in order:
            for _, imported in _IMPORT.findall((PAGE / name).read_text("utf-8")):
                visit(imported, (*path, name))
            order.append(name)

    visit(first)
    parts = ['"use strict";', "const modules = {};", *(_as_function(PAGE / name) for name in order)]
    return "\n".join(parts).replace("</script", "<\\/script")


def _as_function(path: Path) -> str:
    """A module as a call that puts what it exports where others find it."""
    source = path.read_text("utf-8")
    exported = [found[1] for found in _EXPORT.finditer(source)]
    source = _IMPORT.sub(lambda found: f'const {{{_renamed(found[1])}}} = modules["{found[2]}"];\n', source)
    source = _EXPORT.sub("", source)
    if re.search(r"^(import|export)\b", source, re.MULTILINE):
        raise ValueError(f"{path.name} imports or exports in a way that the report cannot put into one file")
    return f'modules["{path.name}"] = (() => {{\n{source}\nreturn {{ {", ".join(exported)} }};\n}})();'


def _renamed(names: str) -> str:
    """`a as b` of an import as a pattern of a constant has it."""
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
