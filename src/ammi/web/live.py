"""LiveExplorer: the explorer of a collection that changes, computed in the background and renewed after changes."""

import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import NamedTuple

import numpy as np

from ammi.collection import Collection, Duplicates
from ammi.explore import Explorer
from ammi.explore.colours import Coloured
from ammi.explore.explorer import Map
from ammi.explore.kept import KeptMap
from ammi.explore.layout import Layout
from ammi.search.stopping import check_stopped, stoppable
from ammi.web.schemas import MapState

_LEAST_AGE = 10.0  # seconds before the explorer of a changing collection is computed again
_LEAST_AGE_PER_SECOND = 10  # seconds for each second that a computation takes
_MOST_AGE = 300.0  # seconds, if the store cannot tell whether documents were changed
_SECONDS_TO_WAIT = 2.0  # for near-duplicates, before the first request is told to ask again
_SEARCHES_KEPT = 2  # for near-duplicates
_SECONDS_UNTIL_UNWANTED = 10.0  # after the last request for near-duplicates that are not yet found


class MapProgress(NamedTuple):
    """The map, as far as it is computed."""

    state: MapState
    progress: float
    step: str
    explorer: Explorer
    map: Map | None
    version: str
    colours: dict[str, Coloured] = {}  # by the metadata keys that tell something  # noqa: RUF012


class LiveExplorer:
    """The explorer of a collection, its map, and its near-duplicates."""

    def __init__(self, collection: Collection, most_points: int):
        self._collection, self._store, self._most_points = collection, collection.store, most_points
        self._lock, self._layout_lock = Lock(), Lock()  # the second is held while a layout is computed
        self._explorer: Explorer | None = None
        self._state: str | None = None
        self._computed_at, self._seconds = 0.0, 0.0
        self._is_renewing = False
        self._map: MapProgress | None = None
        self._kept: KeptMap | None = None
        self._layout: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._duplicates: dict[float | None, _DuplicateSearch] = {}  # by threshold

    def start(self) -> None:
        """Start to compute, so that the first request need not wait."""
        self._in_background(self._warm_up)

    def _warm_up(self) -> None:
        explorer = self.explorer()
        _ = explorer.figures, explorer.words, explorer.typical

    def explorer(self) -> Explorer:
        """Return the explorer of the collection as it is, or was a short while ago."""
        with self._lock:
            if self._explorer is None:
                self._renew()
            elif self._is_old() and not self._is_renewing:
                self._is_renewing = True
                self._in_background(self._renew_later)
            assert self._explorer is not None
            return self._explorer

    def compute(self) -> Explorer:
        """Compute the explorer and its map now, for a caller that waits, and never again."""
        explorer = Explorer(self._collection, self._most_points)
        self._explorer, self._state, self._computed_at = explorer, self.state(), math.inf
        map = explorer.fine_map
        self._map = MapProgress("ready", 1.0, "done", explorer, map, "final", explorer.telling_colours(map))
        return explorer

    def map(self) -> MapProgress:
        """Return the map, as far as it is computed."""
        self.explorer()
        assert self._map is not None
        return self._map

    def state(self) -> str:
        """Return a string that differs after every change of the documents."""
        return self._store.state() or f"{len(self._collection)}-{self._collection.fingerprint}"

    def _is_old(self) -> bool:
        age = time.monotonic() - self._computed_at
        if age < max(_LEAST_AGE, _LEAST_AGE_PER_SECOND * self._seconds):
            return False
        return self.state() != self._state or (self._store.state() is None and age > _MOST_AGE)

    def _renew_later(self) -> None:
        try:
            self._renew()
        finally:
            self._is_renewing = False

    def _renew(self) -> None:
        start, state = time.monotonic(), self.state()
        explorer = Explorer(self._collection, self._most_points)
        self._explorer, self._state, self._computed_at = explorer, state, time.monotonic()
        self._seconds = self._computed_at - start
        if self._map is None:
            self._map = MapProgress("computing", 0.05, "reading the codes", explorer, None, f"{state}-0")
        self._in_background(lambda: self._compute_map(explorer, state))

    def _compute_map(self, explorer: Explorer, state: str) -> None:
        def publish(
            map_state: MapState, progress: float, step: str, map: Map, colours: dict[str, Coloured] | None = None
        ) -> None:
            with self._lock:
                if explorer is self._explorer:  # else a newer one has taken over
                    version = f"{state}-{progress:g}"
                    self._map = MapProgress(map_state, progress, step, explorer, map, version, colours or {})

        start, tells = time.monotonic(), self._store.state() is not None
        kept = self._kept or KeptMap.load(self._collection)
        if kept is not None and tells and kept.is_of(explorer, state):
            publish("ready", 1.0, "done", kept.map, kept.colours)
            self._kept = kept
            _ = explorer.word_counts  # of which topics are made
            return
        map = kept and kept.moved_to(explorer.sample)
        if kept is not None and map is not None and kept.ids == explorer.sample.ids:
            publish("ready", 0.8, "reading the documents", map, kept.colours)  # the same documents, with other metadata
        elif map is not None:
            publish("rough", 0.8, "reading the documents", map)
        else:
            rough = explorer.rough_map
            if self._map is None or self._map.map is None:
                publish("rough", 0.2, "reading the documents", rough)
                step = f"laying out {len(explorer.sample):,} codes"
                publish("rough", 0.4, step, explorer.map_of(rough.layout))
            layout = self._fine_layout(explorer)
            # Without one the process failed, and said why on stderr: the rough layout is the best there is.
            map = explorer.map_of(rough.layout if layout is None else layout)
        colours, _ = explorer.telling_colours(map), explorer.word_counts
        publish("ready", 1.0, "done", map, colours)
        self._seconds = max(self._seconds, time.monotonic() - start)
        self._kept = KeptMap.of(explorer, state if tells else None, map, colours)
        self._kept.save(self._collection)

    def _fine_layout(self, explorer: Explorer) -> Layout | None:
        """Compute the layout in a process of its own: its imports and compilation would delay requests for seconds."""
        with self._layout_lock, TemporaryDirectory(prefix="ammi-map-") as folder:
            np.save(Path(folder, "codes.npy"), explorer.sample.codes)
            command = [sys.executable, "-m", "ammi.explore", folder, str(explorer.n_bits)]
            with self._lock:
                if self._closed or explorer is not self._explorer:
                    return None
                self._layout = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            if self._layout.wait() == 0:
                return np.load(Path(folder, "layout.npy"))
        return None

    def duplicates(self, threshold: float | None) -> list[Duplicates] | float:
        """Return the near-duplicates, or the progress of the search for them, 0 to 1.

        One search runs at a time. It makes way for another one if nobody has asked for it for some seconds. Those who
        had to ask again get the near-duplicates of the collection as it was when the search began.
        """
        with self._lock:
            found = self._duplicates.get(threshold)
            if found is not None and not found.is_valid_in(self.state()):
                found = None
            if found is None:
                running = [search for search in self._duplicates.values() if not search.has_ended]
                if running:
                    running[0].stop_if_unwanted()
                    return 0.0  # it is its turn when the other one has ended
                found = self._search_for_duplicates(threshold)
            found.asked_at = time.monotonic()
        try:
            return found.wait(_SECONDS_TO_WAIT)
        except Exception:
            with self._lock:
                if self._duplicates.get(threshold) is found:
                    del self._duplicates[threshold]  # the next request tries again
            raise

    def _search_for_duplicates(self, threshold: float | None) -> "_DuplicateSearch":
        self._duplicates.pop(threshold, None)
        while len(self._duplicates) >= _SEARCHES_KEPT:
            del self._duplicates[next(iter(self._duplicates))]
        self._duplicates[threshold] = search = _DuplicateSearch(self._collection, threshold, self.state())
        self._in_background(search.run)
        return search

    def _in_background(self, job: Callable[[], object]) -> None:
        def run() -> None:
            try:
                job()
            except Exception:
                if not self._closed:  # jobs may fail once the collection is closed
                    raise

        if not self._closed:
            Thread(target=run, daemon=True, name="ammi-explorer").start()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._layout is not None:
                self._layout.kill()


class _DuplicateSearch:
    """A search for near-duplicates in the background."""

    def __init__(self, collection: Collection, threshold: float | None, state: str):
        self._state = state  # of the collection when the search began
        self.asked_at = time.monotonic()
        self._collection, self._threshold = collection, threshold
        self._total, self._done = max(1, 2 * len(collection)), 0
        self._found: list[Duplicates] | None = None
        self._error: Exception | None = None
        self._ended, self._stop = Event(), Event()
        self._ended_at = math.inf
        self._was_late = False  # whether anybody had to ask again

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def is_valid_in(self, state: str) -> bool:
        """Return whether the result may be used for the collection in a state; one that is awaited may."""
        if not self.has_ended:
            return True
        is_new = self._was_late and time.monotonic() - self._ended_at < _LEAST_AGE
        return not self._stop.is_set() and (self._state == state or is_new)

    def run(self) -> None:
        try:
            with stoppable(self._stop.is_set):
                self._found = self._collection.duplicates(self._threshold, advance=self._advance)
        except Exception as error:
            self._error = error
        finally:
            self._ended_at = time.monotonic()
            self._ended.set()

    def wait(self, seconds: float) -> list[Duplicates] | float:
        """Return the result, or the progress after so many seconds."""
        self._was_late |= not self._ended.wait(seconds)
        if self._error is not None and not self._stop.is_set():
            raise self._error
        return min(0.99, self._done / self._total) if self._found is None else self._found

    def stop_if_unwanted(self) -> None:
        """Stop the search, if nobody has asked for it for some seconds."""
        if time.monotonic() - self.asked_at > _SECONDS_UNTIL_UNWANTED:
            self._stop.set()

    def _advance(self, n_documents: int) -> None:
        check_stopped()
        self._done += n_documents
