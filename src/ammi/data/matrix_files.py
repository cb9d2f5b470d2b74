"""Matrices from files: `.npy`, and `.npz` of numpy and of scipy.sparse. Nothing is unpickled.

An `.npy` file is mapped, so that it may be larger than memory. The arrays of an `.npz` are read whole.
"""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ammi.data.codes import holds_codes
from ammi.data.formats import MATRIX_FORMATS
from ammi.data.matrices import SlicedRows, VectorMatrix
from ammi.data.rows import OnError
from ammi.data.streams import BROKEN_ARCHIVE, check_archive

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Names of the arrays of an .npz that are used if a user names no others; the first that is there.
VECTORS, IDS, TEXTS = ("vectors", "vector"), ("ids", "id"), ("texts", "text")


class MappedRows:
    """The rows of an `.npy` file, mapped anew for each slice.

    The pages of a map count as memory of the process for as long as the map is open.
    """

    def __init__(self, path: Path):
        self._path = path
        self.shape, self.dtype = self._mapped().shape, self._mapped().dtype

    def __getitem__(self, rows: slice) -> NDArray:
        return np.array(self._mapped()[rows])

    def _mapped(self) -> NDArray:
        return np.lib.format.open_memmap(self._path, mode="r")


def holds_matrix(source: str | Path, format: str | None = None) -> bool:
    """Return whether a source is a file of a matrix, rather than one of documents or of codes."""
    path = Path(source)
    return (format or path.suffix.lower().lstrip(".")) in MATRIX_FORMATS and (bool(format) or not holds_codes(path))


def holds_sparse(source: str | Path) -> bool:
    """Return whether a file is a sparse matrix that scipy wrote."""
    try:
        with zipfile.ZipFile(source) as archive:
            return "indices.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def read_matrix(
    path: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,
    vector: str | None = None,
    format: str | None = None,
    single: bool = False,
    on_error: OnError = "refuse",
) -> VectorMatrix:
    """Open the matrix in an `.npy` or `.npz` file.

    An `.npz` has one 2-D array, or one called `vectors`. Its other arrays have a value for each row: `ids`, `texts`,
    and metadata in all others; `vector`, `id` and `text` name other arrays for these. Single values, which describe the
    whole file, are left out.

    Args:
        format: `npy` or `npz`, for a file with another ending.
        single: take an `.npy` of one dimension for one vector.
        on_error: what to do with rows of NaN or infinity, as in `read_documents`.
    """
    path = Path(path)
    if str(path) == "-" or path.is_fifo():
        raise ValueError(f"{path} is a pipe, and a matrix cannot be read from one: write it to a file first")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if (format or path.suffix.lower().lstrip(".")) == "npz":
        if holds_codes(path):
            raise ValueError(f"{path} holds codes, not vectors: name the file of the documents that they are of")
        return _read_npz(path, text, id, vector, on_error)
    if named := [name for name in (text, id, vector) if name]:
        raise ValueError(f"{path} has no column {named[0]!r}: it is only a matrix")
    with _naming_damage(path):
        rows: SlicedRows = MappedRows(path)
    if single and len(rows.shape) == 1:
        rows = np.array(rows[:])[None]
    return VectorMatrix(str(path), rows, on_error=on_error)


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, *BROKEN_ARCHIVE) as error:
        if "Object arrays" in str(error) or "Python objects" in str(error):  # numpy has no type for it
            raise ValueError(
                f"{path} holds pickled Python objects, which are never unpickled: save an array of numbers"
            ) from error
        raise ValueError(f"{path} is not a whole file of a matrix: {error}") from error


def _read_npz(path: Path, text: str | None, id: str | None, vector: str | None, on_error: OnError) -> VectorMatrix:
    arrays = _arrays(path)
    if not isinstance(arrays, dict):
        return VectorMatrix(str(path), arrays, on_error=on_error)
    X = arrays.pop(_vectors_among(path, arrays, vector))
    if not X.ndim:
        raise ValueError(f"{path} has a single number in place of its vectors: expected a row for each document")
    columns = {name: array for name, array in arrays.items() if array.ndim}
    for name, array in columns.items():
        if array.shape != X.shape[:1]:
            raise ValueError(
                f"{path} has {len(X)} vectors and an array {name!r} of shape {array.shape}: expected one value for "
                "each vector, so mend it or leave it out"
            )
    ids = _taken(path, columns, id, IDS, "iuUS", "strings or whole numbers")
    texts = _taken(path, columns, text, TEXTS, "US", "strings")
    return VectorMatrix(str(path), X, ids=ids, texts=texts, columns=columns, on_error=on_error)


def _arrays(path: Path) -> "dict[str, NDArray] | csr_matrix":
    """Return the arrays of an `.npz` by their names, or the sparse matrix that it is."""
    with _naming_damage(path):
        if not zipfile.is_zipfile(path):  # numpy would take it for a pickle
            raise ValueError("it is no archive of arrays, or ends early")
        check_archive(path)
        with np.load(path, allow_pickle=False) as content:
            if not {"format", "shape", "data"} <= set(content.files):
                return {name: content[name] for name in content.files}
        from scipy.sparse import csr_matrix, load_npz

        X = csr_matrix(load_npz(path))
        X.check_format(full_check=True)  # else indices outside of the matrix would be read
        return X


def _vectors_among(path: Path, arrays: Mapping[str, NDArray], vector: str | None) -> str:
    """Return the name of the array that holds the vectors."""
    there = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
    if named := [name for name in ((vector,) if vector else VECTORS) if name in arrays]:
        return named[0]
    if vector:
        raise ValueError(f"{path} has no array {vector!r} of vectors: it has {there}")
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) != 1:
        raise ValueError(
            f"{path} has {len(matrices) or 'no'} matrices: expected one array of two dimensions, or one called "
            f"vectors, among {there}"
        )
    return matrices[0]


def _taken(
    path: Path, columns: dict[str, NDArray], chosen: str | None, usual: tuple[str, ...], kinds: str, expected: str
) -> list[str] | None:
    """Take the ids or texts out of the arrays that would become metadata."""
    if chosen and chosen not in columns:
        raise ValueError(f"{path} has no column {chosen!r}: the columns there are {', '.join(columns) or 'none'}")
    name = chosen or next((name for name in usual if name in columns), None)
    if name is None:
        return None
    values = columns.pop(name)
    if values.dtype.kind not in kinds:
        raise ValueError(f"{path} has values of type {values.dtype} in {name!r}: expected {expected}")
    return values.tolist()
