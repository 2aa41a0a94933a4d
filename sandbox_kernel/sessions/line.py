"""Who waits for which session in this process, in the order of arrival."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, InvalidStateError

Place = Future[None]


class Line:
    """A place in it is done when its turn has come; leaving it, at any time, lets the next one in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, deque[Place]] = {}

    def join(self, session_id: str) -> Place:
        place: Place = Future()
        with self._lock:
            places = self._places.setdefault(session_id, deque())
            places.append(place)
            if places[0] is place:
                place.set_result(None)
        return place

    def leave(self, session_id: str, place: Place) -> None:
        with self._lock:
            places = self._places[session_id]
            places.remove(place)
            if not places:
                del self._places[session_id]
                return
            _let_in(places[0])


def _let_in(place: Place) -> None:
    try:
        if not place.done():
            place.set_result(None)
    except InvalidStateError:
        pass  # it was cancelled just now, and leaves
