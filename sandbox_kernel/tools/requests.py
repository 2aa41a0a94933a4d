"""Seed 001's data: what a runner of code is asked for, and what it gives back."""

from __future__ import annotations

import base64
import binascii
import math
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..brief import brief
from ..errors import OptionError
from ..programs.contract import ProgramResult
from ..programs.outputs import OutputFile
from ..spelling import suggestion
from ..values import undefined

LONGEST_TIMEOUT = 300.0  # seconds
MAX_OUTPUT = 64 * 2**10  # bytes of logs that a runner keeps unless told otherwise
MAX_FILE_SIZE = 10 * 2**20
_LONGEST_ERROR = 2_000


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file that goes to code or comes from it. `data` is None if it was too large to come back."""

    name: str
    data: bytes | None
    mime: str | None = None  # guessed from the name if it is not given
    size: int = -1  # that of the data, unless there is none
    truncated: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise OptionError(f"the name of a file is text, not {self.name!r:.80}", "files")
        if self.data is not None and not isinstance(self.data, bytes):
            raise OptionError(
                f"the data of the file {self.name!r:.80} is {type(self.data).__name__}, not bytes",
                "files",
            )
        if self.mime is None:
            guess = mimetypes.guess_type(self.name)[0] or "application/octet-stream"
            object.__setattr__(self, "mime", guess)
        if self.size < 0:
            object.__setattr__(self, "size", len(self.data or b""))

    def __repr__(self) -> str:
        return brief(self)

    @classmethod
    def of(cls, given: Any) -> CodeFile:
        """A file, one of a program's, or a mapping as `/execute` has it."""
        if isinstance(given, CodeFile):
            return given
        if isinstance(given, OutputFile):
            return cls(given.name, given.data, given.mime, given.size, given.truncated)
        if not isinstance(given, Mapping) or "name" not in given:
            raise OptionError(f"a file has a name and data, which {given!r:.80} has not", "files")
        return cls(
            given["name"],
            _content(given),
            given.get("mime"),
            _size(given.get("size")),
            given.get("truncated") is True,
        )


def _size(given: Any) -> int:
    return given if type(given) is int else -1


def _content(given: Mapping[str, Any]) -> bytes | None:
    """`content` is text, `data` is base64."""
    text, data = given.get("content"), given.get("data")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if data is None or isinstance(data, bytes):
        return data
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise OptionError(f"the data of {given['name']!r:.80} is not base64", "files") from None


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Code to run. `timeout` is in seconds; without one the runner's own holds."""

    code: str
    runtime: str = "python"
    timeout: float | None = None
    session_id: str | None = None
    files: Sequence[CodeFile] = ()
    stdin: str = ""
    args: Sequence[str] = ()
    execution_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("code", "runtime", "stdin"):
            if not isinstance(getattr(self, name), str):
                raise OptionError(f"{name} must be text, not {getattr(self, name)!r:.80}", name)
        for name in ("session_id", "execution_id"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise OptionError(f"{name} must be text, not {given!r:.80}", name)
        if self.timeout is not None:
            check_timeout(self.timeout)
        if not isinstance(self.args, list | tuple) or not all(
            isinstance(each, str) for each in self.args
        ):
            raise OptionError(f"args is a list of text, not {self.args!r:.80}", "args")
        if isinstance(self.files, str | bytes | Mapping):
            raise OptionError(f"files is a list of files, not {self.files!r:.80}", "files")
        object.__setattr__(self, "files", tuple(CodeFile.of(file) for file in self.files))
        names = [file.name for file in self.files]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError(f"two files are called {twice!r:.80}", "files")

    def __repr__(self) -> str:
        return brief(self)

    @classmethod
    def of(cls, given: Any) -> CodeRequest:
        """A request, or a mapping with the fields of `/execute`."""
        if isinstance(given, CodeRequest):
            return given
        if not isinstance(given, Mapping):
            raise OptionError(f"a request is a CodeRequest or a mapping, not {given!r:.80}")
        named = {_OTHER_NAMES.get(str(name), str(name)): value for name, value in given.items()}
        if "timeout_ms" in named:
            limit = named.pop("timeout_ms")
            named["timeout"] = limit / 1000 if isinstance(limit, int | float) else limit
        for name in named:
            if name not in _FIELDS:
                hint = suggestion(name[:80], _FIELDS)
                raise OptionError(f"a request has no field {name!r:.80}; {hint}")
        if "code" not in named:
            raise OptionError("a request has no code", "code")
        return cls(**{name: value for name, value in named.items() if value is not None})


_FIELDS = tuple(field.name for field in fields(CodeRequest))
_OTHER_NAMES = {"language": "runtime"}


def check_timeout(seconds: Any) -> float:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or math.isnan(seconds) or not 0 < seconds <= LONGEST_TIMEOUT:
        raise OptionError(
            f"timeout is a number of seconds, at most {LONGEST_TIMEOUT:g}, not {seconds!r:.80}",
            "timeout",
        )
    return float(seconds)


def check_size(name: str, size: Any) -> int:
    if type(size) is not int or size < 0:
        raise OptionError(f"{name} is a whole number of bytes, not {size!r:.80}", name)
    return size


@dataclass(frozen=True, slots=True)
class CodeResult:
    """How code ended, under the names of `/execute`.

    `output` is what `set_result` was given, None if nothing was; `files` are those that it declared.
    """

    output: Any = None
    logs: str = ""
    exit_code: int = 0
    error: str | None = None  # None if the code ended well
    files: Sequence[CodeFile] = ()
    stdout: str = ""
    stderr: str = ""
    duration_ms: float = 0.0
    killed: bool = False
    oom: bool = False
    truncated: bool = False
    output_files: Sequence[CodeFile] = ()
    execution_id: str | None = None
    session_id: str | None = None

    def __repr__(self) -> str:
        return brief(self)

    @classmethod
    def of(
        cls, program: ProgramResult, max_output: int = MAX_OUTPUT, **ids: str | None
    ) -> CodeResult:
        """What a program left; of its logs the first `max_output` bytes."""
        logs = beginning(program.logs, max_output)
        return cls(
            output=None if program.result is undefined else program.result,
            logs=logs,
            exit_code=program.exit_code,
            error=failure_of(program),
            files=tuple(map(CodeFile.of, program.files)),
            stdout=program.stdout,
            stderr=program.stderr,
            duration_ms=program.duration_ms,
            killed=program.killed,
            oom=program.oom,
            truncated=program.truncated or logs != program.logs,
            output_files=tuple(map(CodeFile.of, program.output_files)),
            **ids,
        )


def failure_of(program: ProgramResult) -> str | None:
    """Why a program failed, in a line: our reason, or the last that it said itself."""
    if program.exit_code == 0:
        return None
    if program.reason is not None:
        return program.reason
    if program.oom:
        return "it ran out of memory"
    said = program.stderr[-_LONGEST_ERROR:].strip().splitlines()
    return said[-1] if said else f"exit code {program.exit_code}"


def beginning(text: str, most: int) -> str:
    """At most so many bytes of it, cut at a character."""
    if len(text) * 4 <= most:
        return text
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[:most].decode("utf-8", "ignore")
