"""How a run fails: the exception that ends it, and the description of a thrown value."""

from __future__ import annotations

import json
from typing import Any

from .entry import Entry
from .findings import Findings
from .heap import Heap
from .positions import Position, Sources
from .quickjs import OBJECT, Context, GuestThrew, Value

# In the units of JavaScript's strings. With escapes each is at most 6 bytes of JSON, so that a
# failure takes less than 1 MiB.
_NAME_AT_MOST, _TEXT_AT_MOST, _PLACE_AT_MOST = 200, 1 << 16, 1 << 12
_NOTE_AT_MOST = 32
_REDUCE = ("    at reduce (native)", "    at reduceRight (native)")
_MOST_EXPLAINED = 20  # rejections; each may take as long as reading the source does
_MOST_REFUSED = 1_000  # imports that are remembered


class Failure(Exception):
    """Ends the run with a status other than success. Its texts are cut to a bounded length."""

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
            "name": cut(name, _NAME_AT_MOST),
            "message": cut(message, _TEXT_AT_MOST),
            "stack": stack and cut(stack, _TEXT_AT_MOST),
            "specifier": specifier and cut(specifier, _PLACE_AT_MOST),
            "filename": filename and cut(filename, _PLACE_AT_MOST),
            "line": line,
            "column": column,
            "engine": engine,
        }


def cut(text: str, most: int) -> str:
    """The text, or its beginning and how much more there is. As `cut` in errors.js does it."""
    size = _units(text)
    if size <= most:
        return text
    kept = text[: most - _NOTE_AT_MOST]
    while (excess := _units(kept) - (most - _NOTE_AT_MOST)) > 0:
        kept = kept[: len(kept) - (excess + 1) // 2]
    return f"{kept}… ({size - _units(kept)} more characters)"


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def out_of_memory(status: str = "memory") -> Failure:
    """The same failure that the engine reports when memory runs out."""
    return Failure(status, "InternalError", "out of memory", engine=True)


class Describer:
    """Turns what the guest throws into failures with positions in its source."""

    def __init__(
        self, js: Context, entry: Entry, heap: Heap, sources: Sources, findings: Findings
    ) -> None:
        self._js = js
        self._entry = entry
        self._heap = heap
        self._sources = sources
        self._findings = findings
        self._rejections = 0
        self._refused: dict[int, tuple[Value, Failure]] = {}

    def remember(self, error: Value, failure: Failure) -> None:
        """More is known of an error that was made for the guest than the guest can tell."""
        if len(self._refused) < _MOST_REFUSED:
            self._refused[error.bits] = self._js.keep(error), failure

    def rejection(self, reason: Value) -> Failure:
        """The same for promises that nobody handled; of many, only the first are explained."""
        self._rejections += 1
        return self.failure(reason, explains=self._rejections <= _MOST_EXPLAINED)

    def failure(self, thrown: Value, status: str = "error", *, explains: bool = True) -> Failure:
        js = self._js
        is_error = thrown.tag == OBJECT and js.kind(thrown) == "Error"
        frames = None if is_error else js.last_frames()
        with self._heap.without_limit():  # describing an out-of-memory error takes memory
            try:
                described = js.bytes_of(js.call(self._entry.encode_failure, thrown))
            except GuestThrew:
                return out_of_memory(status)
        name, message, stack, engine, classes = json.loads(described)
        promise = None
        if is_error and stack and explains:
            message, stack, promise = self._findings.explained(name, message, stack)
            if message == "empty array" and stack.startswith(_REDUCE):
                message = "reduce of an empty array without an initial value"
        stack, place = self._sources.translate(stack, classes) if stack else ("", None)
        if frames is not None:
            place = self._findings.thrown_at(frames, message)
        failure = Failure(status, name, message, stack=stack or None, place=place, engine=engine)
        failure.fields["promise"] = promise
        return self._completed(failure, thrown)

    def _completed(self, failure: Failure, thrown: Value) -> Failure:
        """With the specifier and the place of an import that was refused."""
        if thrown.tag != OBJECT or thrown.bits not in self._refused:
            return failure
        known = self._refused[thrown.bits][1].fields
        if known["name"] == failure.fields["name"]:
            fields = ("specifier", "filename", "line", "column")
            failure.fields |= {key: known[key] for key in fields if known[key] is not None}
        return failure
