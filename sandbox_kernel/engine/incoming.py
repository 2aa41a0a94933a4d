"""What a worker says of its logs and its failure, checked before anybody believes it."""

from __future__ import annotations

import json
from typing import Any

from ..contract import LOG_LEVELS, STATUSES, CodeExecutionError, CodeExecutionLog, Status
from ..errors import ProtocolError
from ..values import LAST_MOMENT
from ..wire.frame import Buffer


def log_of(entry: Any) -> CodeExecutionLog:
    match entry:
        case [str(level), str(method), int(depth), int() | float() as time, list(args)]:
            if level in LOG_LEVELS and 0 <= depth < 1 << 20 and 0 <= time <= LAST_MOMENT:
                return CodeExecutionLog(level, tuple(args), time, method[:20], depth)
    raise ProtocolError("a log entry of unknown shape")


def failure_of(text: Buffer) -> tuple[Status, CodeExecutionError, bool]:
    """Status and error, and whether the engine itself ran out of memory."""
    try:
        fields = json.loads(bytes(text))
        status = fields["status"]
        error = CodeExecutionError(
            _typed(fields["name"], str) or "Error",
            _typed(fields["message"], str) or "",
            _typed(fields["stack"], str),
            _typed(fields["specifier"], str),
            _typed(fields["filename"], str),
            _typed(fields["line"], int),
            _typed(fields["column"], int),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as problem:
        raise ProtocolError(f"a failure that cannot be read: {problem}") from None
    if status not in STATUSES or status in ("success", "terminated"):
        raise ProtocolError(f"a failure of status {status!r}")
    return status, error, fields.get("engine") is True


def _typed(value: Any, kind: type) -> Any:
    if value is None or type(value) is kind:
        return value
    raise ValueError(f"{kind.__name__} expected")
