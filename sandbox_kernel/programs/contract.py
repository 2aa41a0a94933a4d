"""What goes into a program and what comes out of it, as data: options and result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..brief import brief
from ..calls import Rulebook
from ..errors import OptionError
from ..jsonable import to_jsonable
from ..options import check_policy
from ..sessions import Workspaces
from ..sessions.workspaces import checked_id
from ..spelling import suggestion, synonyms
from ..values import undefined
from .grants import NOTHING, Allowed, checked_allow
from .outputs import OutputFile
from .protocol import Packages
from .runtimes import NODE, PYTHON, Runtime, runtime_of

DEFAULT_TIMEOUT_MS = 30_000
DEFAULT_MEMORY_BYTES = 256 * 2**20
DEFAULT_OUTPUT_BYTES = 512 * 2**10
DEFAULT_FILE_BYTES = 10 * 2**20
_LEAST_MEMORY, _MOST_BYTES = 2**20, 2**40
_MOST_MILLISECONDS = 2**53
_SYNONYMS = synonyms(
    timeout_ms="timeout deadline time_limit seconds max_time",
    memory_limit_bytes="memory mem memory_limit max_memory ram",
    stdin="input",
    args="argv arguments params",
    env="environ environment variables",
    files="inputs",
    language="lang runtime",
)


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The checked options of one program."""

    source: bytes
    runtime: Runtime
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    files: Any = field(default_factory=dict)  # checked against the quota of where it runs
    timeout_ms: float = DEFAULT_TIMEOUT_MS
    memory_limit_bytes: int = DEFAULT_MEMORY_BYTES
    output_bytes: int = DEFAULT_OUTPUT_BYTES
    max_file_bytes: int = DEFAULT_FILE_BYTES
    env: Mapping[str, str] = field(default_factory=dict)
    tools: Any = None  # a Toolbox
    policy: Rulebook | None = None
    allowed: Allowed = NOTHING
    session: str | None = None
    workspaces: Workspaces | None = None
    packages: Packages | None = None
    install: bool = False

    @classmethod
    def of(
        cls,
        code: object,
        language: object,
        options: Mapping[str, Any],
        unknown: Mapping[str, Any] = {},  # never changed
    ) -> ProgramOptions:
        """Checks everything; an option that is None has its default."""
        for name in unknown:
            known = ["language", *_CHECKS, "allow", "engine"]
            hint = suggestion(name, known, others=_SYNONYMS)
            raise OptionError(f"unknown option {name!r}; {hint}", name)
        source = _text("code", code)
        runtime = runtime_of(language)
        given = {name: value for name, value in options.items() if value is not None}
        allowed = checked_allow(given.pop("allow", {}), runtime)
        checked = {name: _CHECKS[name](name, value) for name, value in given.items()}
        if checked.get("packages") and runtime.name != PYTHON:
            raise OptionError(
                f"packages are for Python programs, not for {runtime.title}", "packages"
            )
        if checked.get("install") and runtime.name not in (PYTHON, NODE):
            raise OptionError(f"install is for Python and Node, not for {runtime.title}", "install")
        checked["env"] = {**allowed.env, **checked.get("env", {})}
        return cls(source, runtime, allowed=allowed, **checked)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended, and all that it left. `docs/programs.md` describes each field."""

    stdout: str
    stderr: str
    logs: str
    exit_code: int
    duration_ms: float = 0.0
    killed: bool = False
    oom: bool = False
    truncated: bool = False
    output_files: list[OutputFile] = field(default_factory=list)
    result: Any = undefined
    files: list[OutputFile] = field(default_factory=list)
    reason: str | None = None
    queued_ms: float = 0.0
    calls: list[Any] = field(default_factory=list)

    def __repr__(self) -> str:
        return brief(self)

    def to_json(self) -> dict[str, Any]:
        """Under the names of the service's `/execute`, ready for `json.dumps`."""
        shape = {name: getattr(self, name) for name in _PLAIN}
        shape["output"] = None if self.result is undefined else to_jsonable(self.result)
        shape["files"] = [file.to_json(with_data=True) for file in self.files]
        shape["output_files"] = [file.to_json() for file in self.output_files]
        if self.reason is not None:
            shape["reason"] = self.reason
        if self.calls:
            shape["calls"] = to_jsonable(self.calls)
        return shape


_PLAIN = (
    "stdout", "stderr", "logs", "exit_code", "duration_ms", "queued_ms", "killed", "oom", "truncated",
)  # fmt: skip


def _kind(value: object) -> str:
    return type(value).__name__


def _text(name: str, value: object, part: str = "") -> bytes:
    """`part` says where in the option the value stands."""
    if not isinstance(value, str):
        raise OptionError(f"{name}{part} must be text, not {_kind(value)}", name)
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        problem = f"has half of a surrogate pair at character {error.start}"
        raise OptionError(f"{name}{part} {problem}", name) from None


def _check_stdin(name: str, value: object) -> bytes:
    return value if isinstance(value, bytes) else _text(name, value)


def _check_args(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise OptionError(f"{name} must be a list of text, not {_kind(value)}", name)
    for index, each in enumerate(value):
        if b"\0" in _text(name, each, f"[{index}]"):
            raise OptionError(f"{name}[{index}] contains a NUL character", name)
    return tuple(value)


def _check_env(name: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} must be a mapping of names to text, not {_kind(value)}", name)
    for key, content in value.items():
        spelled = _text(name, key, ": a name")
        if not spelled or b"=" in spelled or b"\0" in spelled:
            raise OptionError(f"{name}: {key!r} cannot be the name of a variable", name)
        if b"\0" in _text(name, content, f"[{key!r}]"):
            raise OptionError(f"{name}[{key!r}] contains a NUL character", name)
    return dict(value)


def _check_timeout(name: str, value: object) -> float:
    """`math.inf` means no limit."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise OptionError(f"{name} must be a number of milliseconds, not {value!r}", name)
    if value <= 0 or (value > _MOST_MILLISECONDS and value != math.inf):
        raise OptionError(
            f"{name} must be positive, and math.inf for no limit, not {value!r}", name
        )
    return value


def _bytes(least: int) -> Callable[[str, object], int]:
    def check(name: str, value: object) -> int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole:
            raise OptionError(f"{name} must be a whole number of bytes, not {value!r}", name)
        size = int(value)  # type: ignore[call-overload]  # `whole` says that it is a number
        if not least <= size <= _MOST_BYTES:
            raise OptionError(f"{name} must be {least:,} to {_MOST_BYTES:,}, not {value!r}", name)
        return int(size)

    return check


def _check_tools(name: str, value: object) -> object:
    if not callable(getattr(value, "dispatch_from_code", None)):
        raise OptionError(
            f"{name} must be a Toolbox, or a list or mapping of functions, not {_kind(value)}", name
        )
    return value


def _as_given(_: str, value: Any) -> Any:
    return value


def _check_packages(_: str, value: object) -> Packages | None:
    from .packages import lent_packages  # reads the metadata of packages, which is slow to load

    return lent_packages(value)


def _check_install(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be True or False, not {_kind(value)}", name)
    return value


def _check_session(_: str, value: object) -> str:
    return checked_id(value)


def _check_workspaces(name: str, value: object) -> Workspaces:
    if not isinstance(value, Workspaces):
        raise OptionError(f"{name} must be a Workspaces, not {_kind(value)}", name)
    return value


_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "stdin": _check_stdin,
    "args": _check_args,
    "files": _as_given,
    "timeout_ms": _check_timeout,
    "memory_limit_bytes": _bytes(_LEAST_MEMORY),
    "output_bytes": _bytes(0),
    "max_file_bytes": _bytes(0),
    "env": _check_env,
    "packages": _check_packages,
    "install": _check_install,
    "tools": _check_tools,
    "policy": lambda _, value: check_policy(value),
    "session": _check_session,
    "workspaces": _check_workspaces,
}
