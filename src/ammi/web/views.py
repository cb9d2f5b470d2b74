"""Views of the collection as it is now, or was a short while ago: computed beside the requests, and computed again
some time after the documents have changed."""

import math
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import Any, Literal, NamedTuple

import numpy as np

from ammi.collection import Collection, Duplicates
from ammi.explore import Explorer
from ammi.explore.explorer import Map
from ammi.explore.layout import Places

_SECONDS_BETWEEN = 10.0  # two computations of the views of a collection that changes all the time
_TIMES_BETWEEN = 10  # or so many times as long as one takes
_SECONDS_UNTOLD = 300.0  # where a store cannot tell whether something was changed
_SECONDS_FOR_COPIES = 2.0  # that a first request for copies waits for them
_REMEMBERED = 8  # searches for copies

State = Literal["computing", "rough", "ready"]


class MapState(NamedTuple):
    """How far the map is."""

    state: State
    progress: float
    step: str
    explorer: Explorer
    map: Map | None
    version: str


class Views:
    """The explorer of a collection, its map, and its near-duplicates."""

    def __init__(self, collection: Collection, most_points: int):
        self._collection, self._most_points = collection, most_points
        self._lock, self._one_layout = Lock(), Lock()  # the second for as long as a layout takes
        self._explorer: Explorer | None = None
        self._state: str | None = None
        self._made, self._took = 0.0, 0.0
        self._renewing = False
        self._map: MapState | None = None
        self._layout: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._copies: dict[tuple[Any, ...], _Copies] = {}

    def start(self) -> None:
        """Begin to compute, so that the first who ask need not wait."""
        self._in_background(self.explorer)

    def explorer(self) -> Explorer:
        """The views of the collection as it is, or was a short while ago."""
        with self._lock:
            if self._explorer is None:
                self._renew()
            elif self._is_old() and not self._renewing:
                self._renewing = True
                self._in_background(self._renew_later)
            assert self._explorer is not None
            return self._explorer

    def unwatched(self) -> Explorer:
        """The views of the collection as it is, for one who waits for each of them."""
        self._explorer, self._state, self._made = Explorer(self._collection, self._most_points), self.state(), math.inf
        return self._explorer

    def map(self) -> MapState:
        """The map, as far as it is."""
        self.explorer()
        assert self._map is not None
        return self._map

    def state(self) -> str:
        """What is another after every change of the documents."""
        return self._collection.store.state() or f"{len(self._collection)}-{self._collection.fingerprint}"

    def _is_old(self) -> bool:
        age = time.monotonic() - self._made
        if age < max(_SECONDS_BETWEEN, _TIMES_BETWEEN * self._took):
            return False
        return self.state() != self._state or (self._collection.store.state() is None and age > _SECONDS_UNTOLD)

    def _renew_later(self) -> None:
        try:
            self._renew()
        finally:
            self._renewing = False

    def _renew(self) -> None:
        start, state = time.monotonic(), self.state()
        explorer = Explorer(self._collection, self._most_points)
        rough = MapState("computing", 0.05, "reading the codes", explorer, None, f"{state}-0")
        self._explorer, self._state, self._made = explorer, state, time.monotonic()
        self._took = self._made - start
        if self._map is None:
            self._map = rough
        self._in_background(lambda: self._make_map(explorer, state))

    def _make_map(self, explorer: Explorer, state: str) -> None:
        start = time.monotonic()
        n = f"{len(explorer.sample):,} codes"
        if self._map is None or self._map.map is None:
            self._publish(explorer, state, "rough", 0.2, "reading the documents", explorer.rough_map)
            named = explorer.map_of(explorer.rough_map.places)
            self._publish(explorer, state, "rough", 0.4, f"laying out {n}", named)
        places = self._fine_places(explorer)
        if places is None:  # the process has failed: its error is on standard error, and the rough map is the best
            places = explorer.rough_map.places
        self._publish(explorer, state, "ready", 1.0, "done", explorer.map_of(places))
        self._took = max(self._took, time.monotonic() - start)

    def _publish(self, explorer: Explorer, version: str, state: State, progress: float, step: str, map: Map) -> None:
        with self._lock:
            if explorer is self._explorer:
                self._map = MapState(state, progress, step, explorer, map, f"{version}-{progress:g}")

    def _fine_places(self, explorer: Explorer) -> Places | None:
        """The layout, by a process of its own: what it imports and compiles would hold up requests for seconds."""
        with self._one_layout, TemporaryDirectory(prefix="ammi-map-") as home:
            np.save(Path(home, "codes.npy"), explorer.sample.codes)
            command = [sys.executable, "-m", "ammi.explore", home, str(explorer.n_bits)]
            with self._lock:
                if self._closed or explorer is not self._explorer:
                    return None
                self._layout = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            if self._layout.wait() == 0:
                return np.load(Path(home, "places.npy"))
        return None

    def copies(self, threshold: float | None) -> "list[Duplicates] | float":
        """The near-duplicates, or how far the search for them is, 0 to 1."""
        with self._lock:
            key = (self.state(), threshold)
            if key not in self._copies:
                while len(self._copies) >= _REMEMBERED:
                    del self._copies[next(iter(self._copies))]
                job = self._copies[key] = _Copies(self._collection, threshold)
                self._in_background(job.run)
            job = self._copies[key]
        try:
            job.wait(_SECONDS_FOR_COPIES)
        except Exception:
            with self._lock:
                self._copies.pop(key, None)  # whoever asks again may have more luck
            raise
        return job.progress if job.found is None else job.found

    def _in_background(self, job: Any) -> None:
        def run() -> None:
            try:
                job()
            except Exception:
                if not self._closed:  # a collection that was closed under it is no fault
                    raise

        if not self._closed:
            Thread(target=run, daemon=True, name="ammi-views").start()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._layout is not None:
                self._layout.kill()


class _Copies:
    """A search for near-duplicates."""

    def __init__(self, collection: Collection, threshold: float | None):
        self._collection, self._threshold = collection, threshold
        self._total, self._done = max(1, 2 * len(collection)), 0
        self.found: list[Duplicates] | None = None
        self._error: BaseException | None = None
        self._over = Event()

    @property
    def progress(self) -> float:
        return min(0.99, self._done / self._total)

    def run(self) -> None:
        try:
            self.found = self._collection.duplicates(self._threshold, advance=self._advance)
        except Exception as error:
            self._error = error
        finally:
            self._over.set()

    def wait(self, seconds: float) -> None:
        self._over.wait(seconds)
        if self._error is not None:
            raise self._error

    def _advance(self, n_documents: int) -> None:
        self._done += n_documents
