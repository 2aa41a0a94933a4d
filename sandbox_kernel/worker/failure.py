"""How a run fails: the exception that ends it, and the description of a thrown value."""

from __future__ import annotations

import json
from typing import Any

from .entry import Entry
from .heap import Heap
from .positions import Position, Sources
from .quickjs import Context, GuestThrew, Value


class Failure(Exception):
    """Ends the run with a status other than success."""

    def __init__(
        self,
        status: str,
        name: str,
        message: str,
        *,
        stack: str | None = None,
        specifier: str | None = None,
        place: Position | None = None,
        engine: bool = False,
    ) -> None:
        super().__init__(message)
        filename, line, column = place or (None, None, None)
        self.fields: dict[str, Any] = {
            "status": status,
            "name": name,
            "message": message,
            "stack": stack,
            "specifier": specifier,
            "filename": filename,
            "line": line,
            "column": column,
            "engine": engine,
        }


def out_of_memory(status: str = "memory") -> Failure:
    """The same failure that the engine reports when memory runs out."""
    return Failure(status, "InternalError", "out of memory", engine=True)


class Describer:
    """Turns what the guest throws into failures with positions in its source."""

    def __init__(self, js: Context, entry: Entry, heap: Heap, sources: Sources) -> None:
        self._js = js
        self._entry = entry
        self._heap = heap
        self._sources = sources

    def failure(self, thrown: Value, status: str = "error") -> Failure:
        js = self._js
        with self._heap.without_limit():  # describing an out-of-memory error takes memory
            try:
                described = js.bytes_of(js.call(self._entry.encode_failure, thrown))
            except GuestThrew:
                return out_of_memory(status)
        name, message, stack, engine = json.loads(described)
        stack, place = self._sources.translate(stack) if stack else ("", None)
        return Failure(status, name, message, stack=stack or None, place=place, engine=engine)
