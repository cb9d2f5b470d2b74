"""Ray actors that load the model once, spread over the nodes, and are replaced when lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ammi.stored_model import StoredModel

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher

T = TypeVar("T")
Handle: TypeAlias = Any  # of an actor or of a result; Ray's types say no more

# How often a lost worker is replaced. Each time the work it had begun is tried again, so a document that crashes every
# process that reads it would otherwise be tried for ever.
TRIES = 10


class Shared(Generic[T]):
    """A value in Ray's object store, which any node gets by calling this object."""

    def __init__(self, value: T):
        import ray

        self._reference = ray.put(value)

    def __call__(self) -> T:
        import ray

        return ray.get(self._reference)


ModelFiles: TypeAlias = Callable[[], Mapping[str, bytes]]  # such as a Shared


class Worker:
    """An actor with a model. Every job brings the model's files, so that a replaced worker gets them as well."""

    kept: StoredModel

    def know(self, files: ModelFiles) -> None:
        """Load the model, unless it is loaded."""
        if not hasattr(self, "kept"):
            self.kept = StoredModel(files())

    @property
    def model(self) -> "DocumentHasher":
        return self.kept.whole


@contextmanager
def pool(kind: type, n: int) -> Iterator[list[Handle]]:
    """Start n actors of a class, which end with the block.

    Actors need a core to be placed but hold none (Ray's default), so a lost one finds room on another node even if no
    core is free.
    """
    import ray

    remote = ray.remote(kind).options(max_restarts=TRIES, max_task_retries=-1, scheduling_strategy="SPREAD")
    actors = [remote.remote() for _ in range(n)]
    try:
        yield actors
    finally:
        for actor in actors:
            ray.kill(actor)


@contextmanager
def original_errors() -> Iterator[None]:
    """Raise an error of a worker as it was raised there."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from None
    except RayError as error:
        raise OSError(
            f"a worker was lost {TRIES} times ({type(error).__name__}): look for nodes that run out of memory, then "
            "run the same command to continue"
        ) from error


def run_jobs(actors: list[Handle], jobs: Sequence[T], submit: Callable[[Handle, T], Handle]) -> Iterator[Any]:
    """Yield the results of jobs as they arrive; each job goes to an idle actor."""
    from ray.util import ActorPool

    with original_errors():
        yield from ActorPool(actors).map_unordered(submit, list(jobs))
