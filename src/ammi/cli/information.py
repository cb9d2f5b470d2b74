"""`ammi information`: how many bits of information the codes of documents carry."""

from typing import Annotated

import ammi
from ammi.cli.options import DOCUMENTS, AsJson, Model, ReadOptions, argument
from ammi.cli.screen import results, say_json
from ammi.cli.settings import load_model
from ammi.cli.sources import Contents, Documents, content_for


def information(
    model: Model,
    source: Annotated[
        str,
        argument("SOURCE", f"{DOCUMENTS} Or a folder of pairs ([bold]ammi data pairs[/]), whose test part is used."),
    ],
    *,
    options: ReadOptions,
    as_json: AsJson = False,
) -> None:
    """Measure how many bits the codes say about documents, exactly or between bounds.

    I(Y,Z) is how much a code says about which document it belongs to; of n documents it is at most log2 n.
    Of pairs, I(X,Z) is how much the code of a document says about its related document.
    Use documents that the model was not fitted to.

    [bold]Examples[/]

    ammi information model held-out.jsonl
    ammi information model reuters-pairs
    """
    from ammi.data.pairs import holds_pairs, read_pair_texts

    hasher = load_model(model)
    if holds_pairs(source):
        pairs = read_pair_texts(source)["test"]
        related, documents = ([pair[side]["text"] for pair in pairs] for side in (0, 1))
        found = ammi.information(hasher, documents, related=related)
    else:
        read = Documents(source, options, **content_for(hasher))
        rows = Contents(read, learns=False) if hasher.reads == "text" else read.vectors()
        found = ammi.information(hasher, rows)
    if as_json:
        say_json(found.to_dict())
    else:
        results.print(str(found), markup=False, soft_wrap=True)
