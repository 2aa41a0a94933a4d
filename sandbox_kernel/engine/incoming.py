"""What a worker says of its logs and its failure, checked before anybody believes it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ..contract import LOG_LEVELS, STATUSES, CodeExecutionError, CodeExecutionLog, Status
from ..errors import ProtocolError
from ..explain.scene import Facts, Scene
from ..values import LAST_MOMENT
from ..wire.frame import Buffer, Frame

_DEEPEST_GROUP = 100  # of console.group within each other
_LONGEST_FAILURE = 1 << 20  # bytes
_LAST_POSITION = 1 << 31
_MOST_NAME, _MOST_TEXT = 5000, 1 << 17  # characters
_MOST_EXPORTS = 50
_LONGEST_PLACE = 4096  # bytes


class Place(NamedTuple):
    """A position in the guest's source."""

    filename: str
    line: int
    column: int


def log_of(entry: Any) -> CodeExecutionLog:
    match entry:
        case [str(level), str(method), int(depth), int() | float() as time, list(args)]:
            if level in LOG_LEVELS and 0 <= depth < 1 << 20 and 0 <= time <= LAST_MOMENT:
                return CodeExecutionLog(
                    level, tuple(args), time, method[:20], min(depth, _DEEPEST_GROUP)
                )
    raise ProtocolError("a log entry has an unknown shape")


def exports_of(entries: Any) -> dict[str, int | None]:
    """The exports of a module that stays open: the number of each function, None for other values."""
    if type(entries) is not list:
        raise ProtocolError("OPENED is not a list")
    exports: dict[str, int | None] = {}
    for entry in entries:
        match entry:
            case [str(name), number] if name not in exports and _is_number(number):
                exports[name] = number if number >= 0 else None
            case _:
                raise ProtocolError("one of OPENED is not a name and a number")
    return exports


def _is_number(value: Any) -> bool:
    return type(value) is int and -1 <= value < 1 << 32


def failure_of(text: Buffer) -> tuple[Status, CodeExecutionError, bool]:
    """Status and error, and whether the engine itself ran out of memory."""
    if len(text) > _LONGEST_FAILURE:
        raise ProtocolError(f"a failure has {len(text)} bytes")
    try:
        fields = json.loads(bytes(text))
        status = fields["status"]
        error = CodeExecutionError(
            _text(fields["name"], _MOST_NAME) or "Error",
            _text(fields["message"], _MOST_TEXT) or "",
            _text(fields["stack"], _MOST_TEXT),
            _text(fields["specifier"], _MOST_NAME),
            _text(fields["filename"], _MOST_NAME),
            _position(fields["line"]),
            _position(fields["column"]),
            Scene(facts=_facts_of(fields)),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as problem:
        raise ProtocolError(f"a failure cannot be read: {str(problem)[:200]}") from None
    if status not in STATUSES or status in ("success", "terminated"):
        raise ProtocolError(f"a failure has the status {str(status)[:20]!r}")
    return status, error, fields.get("engine") is True


def place_of(frame: Frame) -> Place | None:
    """Where the guest was computing; None if it is waiting."""
    if len(frame.text) > _LONGEST_PLACE:
        raise ProtocolError(f"a file name has {len(frame.text)} bytes")
    if not frame.a:
        return None
    try:
        name = bytes(frame.text).decode("utf-8", "surrogatepass")
    except ValueError:
        raise ProtocolError("a file name is not UTF-8") from None
    return Place(name, frame.a, frame.b)


def _facts_of(fields: Any) -> Facts:
    exports = _typed(fields.get("exports"), list)
    if exports is not None:
        exports = tuple(_text(name, _MOST_NAME) or "" for name in exports[:_MOST_EXPORTS])
    return Facts(_text(fields.get("promise"), _MOST_NAME), exports)


def _text(value: Any, most: int) -> str | None:
    """A worker cuts these itself; one that was taken over may not."""
    text: str | None = _typed(value, str)
    return text if text is None else text[:most]


def _position(value: Any) -> int | None:
    """A line or column, if there can be such a one."""
    number: int | None = _typed(value, int)
    return number if number is not None and 0 < number <= _LAST_POSITION else None


def _typed(value: Any, kind: type) -> Any:
    if value is None or type(value) is kind:
        return value
    raise ValueError(f"{kind.__name__} expected")
