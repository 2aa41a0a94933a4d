"""The cells executed so far, for front ends that ask for them, mainly `jupyter console`."""

from __future__ import annotations

import fnmatch
from typing import Any

_SESSION = 0  # the protocol's number for the lifetime of a kernel; 0 is the current one


class History:
    """Sources in order, kept only as long as the kernel lives."""

    def __init__(self) -> None:
        self._cells: list[tuple[int, str]] = []

    def add(self, number: int, source: str) -> None:
        if source.strip():
            self._cells.append((number, source))

    def answer(self, request: dict[str, Any]) -> list[tuple[int, int, Any]]:
        """Entries in the form that the messaging protocol prescribes."""
        match request.get("hist_access_type"):
            case "range":
                cells = self._range(request.get("start"), request.get("stop"))
            case "search":
                cells = self._search(request.get("pattern") or "*", bool(request.get("unique")))
                cells = _last(cells, request.get("n"))
            case _:
                cells = _last(self._cells, request.get("n"))
        with_output = bool(request.get("output"))
        return [
            (_SESSION, number, (source, None) if with_output else source)
            for number, source in cells
        ]

    def _range(self, start: int | None, stop: int | None) -> list[tuple[int, str]]:
        """Numbers from `start` up to `stop`, negative ones counting from the end."""
        first = self._from_end(start or 0)
        last = self._from_end(stop) if stop is not None else self._next()
        return [cell for cell in self._cells if first <= cell[0] < last]

    def _from_end(self, number: int) -> int:
        return number if number >= 0 else self._next() + number

    def _next(self) -> int:
        return self._cells[-1][0] + 1 if self._cells else 1

    def _search(self, pattern: str, unique: bool) -> list[tuple[int, str]]:
        found = [cell for cell in self._cells if fnmatch.fnmatchcase(cell[1], pattern)]
        if not unique:
            return found
        latest = {source: number for number, source in found}
        return sorted((number, source) for source, number in latest.items())


def _last(cells: list[tuple[int, str]], count: int | None) -> list[tuple[int, str]]:
    return cells if count is None else cells[-count:] if count > 0 else []
