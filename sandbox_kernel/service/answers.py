"""Results as the service answers them, in JSON."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable
from functools import partial
from typing import Any

from ..contract import CodeExecutionLog, CodeExecutionResult, shape_of
from ..jsonable import JSONSpeller
from ..jsonpieces import json_pieces
from ..programs.contract import ProgramResult
from ..tools.requests import failure_of
from .job import Event

_SMALL = 64 * 2**10
_FIELDS = (
    "stdout", "stderr", "logs", "exit_code", "duration_ms", "killed", "oom", "truncated",
    "output", "files", "output_files",
)  # fmt: skip


async def answer_of(result: Any, execution_id: str, session_id: str | None) -> bytes:
    """Large ones are spelled in a thread, so that other requests go on meanwhile."""
    if isinstance(result, ProgramResult):
        spell = partial(_program, result, execution_id, session_id)
    else:
        spell = partial(_run, result)
    return spell() if _is_small(result) else await asyncio.to_thread(spell)


def outcome_of(result: Any) -> str:
    """One word for the metrics."""
    if isinstance(result, CodeExecutionResult):
        return result.status
    if result.oom:
        return "memory"
    if result.killed:
        return "terminated"
    return "success" if result.exit_code == 0 else "error"


def event_of_log(log: CodeExecutionLog) -> Event:
    return Event("log", log.to_json, is_small=all(map(is_plain, log.args)))


def event_of_report(value: Any) -> Event:
    def fields() -> dict[str, Any]:
        return {"value": JSONSpeller(keeps_buffers=True).spell(value)}

    return Event("report", fields, is_small=is_plain(value))


async def line_of(event: Event) -> bytes:
    """Its line of NDJSON; of a large one in a thread, too."""

    def spell() -> bytes:
        return joined(json_pieces(event.to_json())) + b"\n"

    return spell() if event.is_small else await asyncio.to_thread(spell)


def _program(result: ProgramResult, execution_id: str, session_id: str | None) -> bytes:
    shape = result.to_json()
    ids = {"execution_id": execution_id, "session_id": session_id}
    found = {**ids, **{name: shape[name] for name in _FIELDS}, "error": failure_of(result)}
    return joined(json_pieces(found))


def _run(result: CodeExecutionResult) -> bytes:
    return joined(json_pieces(shape_of(result, JSONSpeller(keeps_buffers=True))))


def joined(pieces: Iterable[str]) -> bytes:
    """Without a list of all of them, which would be as large again."""
    made = io.BytesIO()
    for piece in pieces:
        made.write(piece.encode())
    return made.getvalue()


def _is_small(result: Any) -> bool:
    if isinstance(result, ProgramResult):
        data = sum(len(file.data or b"") for file in result.files)
        return data + len(result.logs) < _SMALL and is_plain(result.result)
    return not result.reports and not result.logs and is_plain(result.result)


def is_plain(value: Any) -> bool:
    """Whether it is spelled so soon that nobody notices."""
    if isinstance(value, str):
        return len(value) < _SMALL
    if isinstance(value, list | tuple):
        return len(value) < 100 and all(map(_is_scalar, value))
    if isinstance(value, dict):
        return len(value) < 100 and all(map(_is_scalar, value.values()))
    return not hasattr(value, "__len__")


def _is_scalar(value: Any) -> bool:
    return not hasattr(value, "__len__") or (isinstance(value, str) and len(value) < 1000)
