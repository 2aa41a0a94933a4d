"""What a tool answers: one shape for runs and programs, while they go on and when they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...contract import CodeExecutionError, CodeExecutionLog, CodeExecutionResult
from ...execution import CodeExecution, Execution
from ...explain.hints import hint_for
from ...explain.scene import Scene
from ...programs import OutputFile, ProgramResult
from ...values import undefined
from .cutting import Cutter

_LARGEST_IMAGE = 4 * 2**20
_MOST_IMAGE_BYTES = 8 * 2**20  # of all images of one answer
_IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
}
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """`shape` is plain JSON of a bounded size; texts and images stand beside it."""

    shape: dict[str, Any]
    images: tuple[Image, ...] = ()
    texts: tuple[str, ...] = ()


def still_running(run: str, execution: Execution[Any]) -> Answer:
    """What is known so far, and the handle with which to ask again."""
    if isinstance(execution, CodeExecution):
        return _answer(run, RUNNING, logs=_lines(execution.logs), reports=list(execution.reports))
    return _answer(run, RUNNING)


def answer_of(run: str, result: Any) -> Answer:
    """How it ended: a result, or the error that kept it from beginning."""
    if isinstance(result, CodeExecutionResult):
        return _of_code(run, result)
    if isinstance(result, ProgramResult):
        return _of_program(run, result)
    error = {"name": type(result).__name__, "message": str(result)}
    return _answer(run, "error", error=error)


def _of_code(run: str, result: CodeExecutionResult) -> Answer:
    images = _Images()
    value = images.or_value(result.result)
    texts = images.of_displays(getattr(result, "displays", ()))
    return _answer(
        run,
        result.status,
        images=images.found,
        texts=texts,
        error=_error(result.error),
        result=value,
        reports=result.reports,
        logs=_lines(result.logs),
        calls=_calls(result),
    )


def _of_program(run: str, result: ProgramResult) -> Answer:
    images = _Images()
    images.of_files(result.output_files)
    return _answer(
        run,
        _status(result),
        images=images.found,
        error=_why_killed(result),
        result=images.or_value(result.result),
        exit_code=result.exit_code,
        stdout=result.stdout,
        stderr=result.stderr,
        files=[{"name": each.name, "size": each.size} for each in result.output_files],
        calls=_calls(result),
        truncated=result.truncated,
    )


def _answer(
    run: str,
    status: str,
    *,
    images: Sequence[Image] = (),
    texts: Sequence[str] = (),
    truncated: bool = False,
    **parts: Any,
) -> Answer:
    """Parts that are missing or empty are left out, but for what a program always has."""
    cutter = Cutter()
    shape: dict[str, Any] = {"run": run, "status": status}
    for name, value in parts.items():
        always = name in ("exit_code", "stdout", "stderr") or (
            name == "result" and value is not None
        )
        if value is not undefined and (always or value not in (None, [], ())):
            shape[name] = cutter.spell(value)
    spelled = tuple(cutter.spell(text) for text in texts)
    shape["truncated"] = truncated or cutter.cut
    return Answer(shape, tuple(images), spelled)


def _status(result: ProgramResult) -> str:
    if result.oom:
        return "memory"
    if result.killed:
        return "terminated"
    return "success" if result.exit_code == 0 else "error"


def _why_killed(result: ProgramResult) -> dict[str, str] | None:
    if result.reason is None:
        return None
    return {"name": "Killed", "message": result.reason}


def _error(error: CodeExecutionError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    shape = error.to_json()
    hint = hint_for(error, (error.scene or Scene())._replace(face="mcp"))
    return shape if hint is None else {**shape, "hint": hint}


def _lines(logs: Iterable[CodeExecutionLog]) -> list[dict[str, Any]]:
    return [{"level": log.level, "args": log.args} for log in logs]


def _calls(result: Any) -> Any:
    found = getattr(result, "calls", None) or []
    return [each.to_json() if hasattr(each, "to_json") else each for each in found]


class _Images:
    """Collects the pictures of an answer, within bounds."""

    def __init__(self) -> None:
        self.found: list[Image] = []
        self._left = _MOST_IMAGE_BYTES

    def or_value(self, value: Any) -> Any:
        """What stands for the value in the answer: a note, if it is a picture."""
        if isinstance(value, bytes | bytearray) and self._take(bytes(value)):
            return f"[{self.found[-1].mime}, {len(value):,} bytes]"
        return value

    def of_files(self, files: Iterable[OutputFile]) -> None:
        for file in files:
            if file.data is not None:
                self._take(file.data)

    def of_displays(self, displays: Iterable[Any]) -> list[str]:
        """Pictures as such; of everything else that was shown its text."""
        texts = []
        for shown in displays:
            data = next((each for each in shown.values() if isinstance(each, bytes)), b"")
            if not self._take(data):
                texts.append(str(shown.get("text/plain", "")))
        return [text for text in texts if text]

    def _take(self, data: bytes) -> bool:
        mime = image_type(data)
        if mime is None or len(data) > min(_LARGEST_IMAGE, self._left):
            return False
        self._left -= len(data)
        self.found.append(Image(mime, data))
        return True


def image_type(data: bytes) -> str | None:
    """By the first bytes, not by a name that the guest chose."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for mime, first in _IMAGES.items() if data.startswith(first)), None)
