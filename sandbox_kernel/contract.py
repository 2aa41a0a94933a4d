"""What a run gives back, as data: result, log, error, the five statuses, and their JSON form."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .brief import brief
from .errors import SandboxError
from .explain.scene import Scene
from .jsonable import JSONSpeller, to_jsonable
from .loans import Display, spelled_display
from .values import Undefined, undefined

Status = Literal["success", "error", "memory", "terminated", "link_error"]
LogLevel = Literal["log", "info", "warn", "error", "debug"]

STATUSES: tuple[Status, ...] = ("success", "error", "memory", "terminated", "link_error")
LOG_LEVELS: tuple[LogLevel, ...] = ("log", "info", "warn", "error", "debug")


@dataclass(frozen=True, slots=True)
class CodeExecutionError:
    """Why a run did not succeed. `line` and `column` count from 1, `column` in characters."""

    name: str
    message: str
    stack: str | None = None
    specifier: str | None = None
    filename: str | None = None
    line: int | None = None
    column: int | None = None
    scene: Scene | None = field(default=None, repr=False, compare=False)  # what hints are made of

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name

    @property
    def hint(self) -> str | None:
        """What to write instead, if that is known."""
        from .explain.hints import hint_for  # only for errors, and then only if asked

        return hint_for(self, self.scene or Scene())

    def render(self) -> str:
        """The error for people and models: its place in the source with a caret, and the hint."""
        from .explain.render import render  # only for errors, and then only if asked

        return "\n".join(render(self, self.scene or Scene()))

    def __repr__(self) -> str:
        return brief(self)

    def to_json(self) -> dict[str, Any]:
        fields = ("name", "message", "stack", "specifier", "filename", "line", "column")
        return {key: getattr(self, key) for key in fields if getattr(self, key) is not None}


@dataclass(frozen=True, slots=True)
class CodeExecutionLog:
    """One captured `console` call; `timestamp` is in milliseconds since the epoch."""

    level: LogLevel
    args: tuple[Any, ...]
    timestamp: float
    method: str = (
        "log"  # the console method called, or "uncaught"; it decides how the log is displayed
    )
    depth: int = 0  # the number of open console groups

    def __repr__(self) -> str:
        return brief(self)

    def to_json(self) -> dict[str, Any]:
        return self._json(to_jsonable(self.args))

    def _json(self, args: Any) -> dict[str, Any]:
        return {"level": self.level, "args": args, "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True)
class CodeExecutionResult:
    """How a run ended. Unless `status` is "success", `result` is `undefined` and `error` is set."""

    status: Status
    result: Any = undefined
    reports: list[Any] = field(default_factory=list)
    logs: list[CodeExecutionLog] = field(default_factory=list)
    error: CodeExecutionError | None = None
    duration_ms: float = 0.0
    queued_ms: float = 0.0  # of those, how long it waited before it executed
    memory_used_bytes: int | None = None
    displays: list[Display] = field(default_factory=list, repr=False)
    """What it showed with `display`, in order: MIME type to data."""
    bridge_errors: tuple[BaseException, ...] = field(default=(), repr=False, compare=False)
    """The exceptions that lent functions raised, caught by the script or not; the first 100."""
    calls: list[dict[str, Any]] = field(default_factory=list, repr=False, compare=False)
    """The calls of lent functions: name, args, decision, durationMs, bytes and outcome of each."""

    def __repr__(self) -> str:
        return brief(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles all but the exceptions of bridges, which stay where they were raised."""
        names = [each.name for each in fields(self) if each.name != "bridge_errors"]
        return _result_of, ({name: getattr(self, name) for name in names},)

    def unwrap(self) -> Any:
        """The value of a run that succeeded; raises `RunFailed` for any other."""
        if self.status != "success":
            raise RunFailed(self)
        return self.result

    def to_json(self) -> dict[str, Any]:
        """The contract's camelCase shape, ready for `json.dumps`."""
        return shape_of(self, JSONSpeller())


def shape_of(result: CodeExecutionResult, speller: JSONSpeller) -> dict[str, Any]:
    """Its JSON, with values as the speller spells them."""
    shape: dict[str, Any] = {"status": result.status}
    if not isinstance(result.result, Undefined):
        shape["result"] = speller.spell(result.result)
    shape["reports"] = speller.spell(result.reports)
    shape["logs"] = [log._json(speller.spell(log.args)) for log in result.logs]
    if result.error is not None:
        shape["error"] = result.error.to_json()
    shape["durationMs"] = result.duration_ms
    if result.memory_used_bytes is not None:
        shape["memoryUsedBytes"] = result.memory_used_bytes
    if result.calls:
        shape["calls"] = result.calls
    if result.displays:
        shape["displays"] = [spelled_display(each) for each in result.displays]
    return shape


def _result_of(fields: dict[str, Any]) -> CodeExecutionResult:
    return CodeExecutionResult(**fields)


class RunFailed(SandboxError):
    """A run did not succeed; `.result` is its `CodeExecutionResult`."""

    def __init__(self, result: CodeExecutionResult) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        error = self.result.error
        return self.result.status if error is None else error.render()
