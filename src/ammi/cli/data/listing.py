"""`ammi data list`: the data sets there are."""

from rich import box
from rich.table import Table

from ammi.cli.options import AsJson
from ammi.cli.screen import results, say_json


def list_(as_json: AsJson = False) -> None:
    """List the data sets in the folder that the environment variable AMMI_DATA names.

    [bold]Example[/]

    AMMI_DATA=~/corpora ammi data list
    """
    from ammi.data import benchmark_names, corpus_names, corpus_path, data_folder

    folder = data_folder()
    rows = [(name, "documents", corpus_path(name)) for name in corpus_names()]
    rows += [(name, "matrices", folder / "bench" / f"{name}.tfidf.mat") for name in benchmark_names()]
    if as_json:
        for name, kind, path in rows:
            say_json({"name": name, "kind": kind, "path": str(path), "bytes": path.stat().st_size})
        return
    table = Table(title=str(folder), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "kind", "file", "MB"):
        table.add_column(column, justify="right" if column == "MB" else "left")
    for name, kind, path in rows:
        table.add_row(name, kind, str(path.relative_to(folder)), f"{path.stat().st_size / 1e6:.1f}")
    results.print(table)
