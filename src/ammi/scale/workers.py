"""What Ray's workers are: actors that load the model once, spread over the nodes, and replaced where one is lost."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ammi.stored_model import StoredModel

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher

# A worker is replaced so often; what it had begun is tried again each time. So a document that ends every process that
# reads it does not go round for ever.
TRIES = 10


class Worker:
    """Has the model, which every job brings and the first one loads: one in place of a lost worker gets it as well."""

    kept: StoredModel

    def know(self, files: Callable[[], Mapping[str, bytes]]) -> None:
        """Load the model of these files, unless it is there."""
        if not hasattr(self, "kept"):
            self.kept = StoredModel(files())

    @property
    def model(self) -> "DocumentHasher":
        return self.kept.whole


class Kept:
    """A value that Ray keeps for as long as this object lives, and hands to those who call it on any node."""

    def __init__(self, value: Any):
        import ray

        self._reference = ray.put(value)

    def __call__(self) -> Any:
        import ray

        return ray.get(self._reference)


@contextmanager
def pool(kind: type[Any], n: int) -> Iterator[list[Any]]:
    """So many actors of a class, until the block ends.

    They ask for a core to be placed and hold none, as Ray has it by default: so one that is lost with its node finds
    room on another, even where no core is left.
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
def in_one_sentence() -> Iterator[None]:
    """Let an error of a worker be the one that it raised there."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from None
    except RayError as error:
        raise OSError(
            f"a worker was lost {TRIES} times ({type(error).__name__}), and the same command goes on: look for nodes "
            "that run out of memory"
        ) from error


def each_in_turn(actors: list[Any], jobs: list[Any], submit: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """The results of jobs as they come, each done by an actor that has nothing else to do."""
    from ray.util import ActorPool

    with in_one_sentence():
        yield from ActorPool(actors).map_unordered(submit, jobs)
