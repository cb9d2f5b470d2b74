"""The shards that a command reads on Ray, and the model that encodes them."""

from pathlib import Path

import typer

from ammi.cli.options import OnError, ReadOptions
from ammi.cli.screen import note
from ammi.cli.sources import SKIPPED_SHOWN, content_for
from ammi.scale.shards import Reading, find_shards
from ammi.stored_model import StoredModel


class ShardJob:
    """Find the shards of the sources, load the model, and combine how to read them."""

    def __init__(self, model: Path, sources: list[str], options: ReadOptions):
        if options.format is not None:
            raise typer.BadParameter("with --ray, the file name of a shard tells its format.", param_hint="'--format'")
        self.shards, self.model = find_shards(sources), StoredModel.of(model)
        self.reading = Reading(
            text=options.text,
            id=options.id,
            vector=options.vector,
            skip=options.on_error == OnError.skip,
            **content_for(self.model.whole),
        )


def note_skipped(skipped: list[str]) -> None:
    """Report the records that workers skipped."""
    for problem in skipped[:SKIPPED_SHOWN]:
        note(f"skipped: {problem}")
    if len(skipped) > SKIPPED_SHOWN:
        note(f"{len(skipped):,} bad records were skipped")
