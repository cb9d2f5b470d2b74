"""One small file or folder of each format that ammi has written: `python -m tests.golden` adds those of this version.

They are never written again: a version that reads another format converts these, or refuses them with a sentence.
"""

import shutil
import tempfile
from pathlib import Path

from ammi.hashers.saving import FORMAT as MODEL
from ammi.search.embedded.database import FORMAT as COLLECTION
from ammi.training.checkpoint import FORMAT as CHECKPOINT
from tests.torture import flips

HERE = Path(__file__).parent
NOW = {
    f"collection-{COLLECTION}": ("index", flips.make_index),
    f"vectors-{COLLECTION}": ("index", flips.make_vector_index),
    f"model-{MODEL}": ("model", flips.make_word_model),
    f"checkpoint-{CHECKPOINT}": ("run", flips.make_checkpoint),
}


def write_missing() -> None:
    """Write the golden files of this version's formats, except those that are there."""
    for name, (part, make) in NOW.items():
        if not (HERE / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                make(Path(folder))
                shutil.copytree(Path(folder, part), HERE / name)
