"""What may come of an input: a success, or one sentence that our code made. Whatever else is wrong."""

import traceback
from pathlib import Path
from typing import NamedTuple

import ammi

PACKAGE = str(Path(ammi.__file__).parent)
# scikit-learn's own checks of X and y speak for its estimators, whose contract they are.
_SPEAK_FOR_US = tuple(
    f"sklearn/utils/{name}.py" for name in ("validation", "_array_api", "_param_validation", "_available_if")
)


class Judged(NamedTuple):
    """Whether it was refused, and what is wrong, if anything: nothing may be."""

    refused: bool
    wrong: str | None = None


def foreign(error: BaseException) -> str | None:
    """What is wrong with an error: all but one sentence that our code made is."""
    location = traceback.extract_tb(error.__traceback__)[-1]
    if "fault of the server" in str(error):
        return str(error)
    if isinstance(error, OSError | ImportError) and not isinstance(error, UnicodeError):
        return None
    ours = location.filename.startswith(PACKAGE) and (location.line or "").startswith("raise")
    if isinstance(error, ValueError | TypeError) and (ours or location.filename.endswith(_SPEAK_FOR_US)):
        return None
    return f"{type(error).__name__}: {str(error)[:300]}{where(error)}"


def where(error: BaseException | None) -> str:
    """The last lines of ours, and the last of all, on the way to an error."""
    if error is None:
        return ""
    stack = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in stack if frame.filename.startswith(PACKAGE)][-2:]
    shown = dict.fromkeys(f"{frame.filename.removeprefix(PACKAGE)}:{frame.lineno}" for frame in [*ours, stack[-1]])
    return f" [{type(error).__name__} at {' > '.join(shown)}]"
