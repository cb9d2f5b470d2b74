"""`ammi index compact`: the space of what was deleted, given back."""

from ammi.cli.options import AsJson, Location
from ammi.cli.screen import counter, plain, results, say_json
from ammi.urls import shown


def compact(location: Location, as_json: AsJson = False) -> None:
    """Give back the space of what was deleted from a collection, and say how many bytes it takes before and after.

    Others may search meanwhile, and wait with their changes. It needs as much free space as the collection has.
    Where a URL of PostgreSQL has ?approximate=hnsw and there is no such index yet, it is made.

    [bold]Example[/]

    ammi index compact index
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection, counter(f"compacting {shown(location)}"):
        before, after = collection.compact()
    if as_json:
        say_json({"location": shown(location), "bytes before": before, "bytes after": after})
    else:
        said = f"took {before:,} bytes, and takes {after:,} now" if before else "is as compact as its server makes it"
        results.print(plain(f"{shown(location)} {said}"), soft_wrap=True)
