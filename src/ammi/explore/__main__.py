"""python -m ammi.explore FOLDER BITS: lay out the codes of FOLDER/codes.npy, and write FOLDER/layout.npy."""

import os
import sys
from pathlib import Path

import numpy as np

from ammi.explore.layout import fine_layout

if hasattr(os, "nice"):  # Windows has no such call
    os.nice(10)  # requests are more urgent than the map
folder, n_bits = Path(sys.argv[1]), int(sys.argv[2])
np.save(folder / "layout.npy", fine_layout(np.load(folder / "codes.npy"), n_bits))
