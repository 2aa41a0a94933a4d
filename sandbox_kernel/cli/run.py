"""`sandbox-kernel run`: a file in a sandbox, its result on stdout, all else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..clean import clean
from ..contract import CodeExecutionLog, CodeExecutionResult, Language
from ..errors import OptionError
from ..explain.scene import Scene
from ..folders import Bounds, did_you_mean, read_text, read_texts
from ..jsonable import to_jsonable
from ..notebook.show.output import console_line, show
from ..notebook.show.traceback import traceback_of
from ..run import run_cell
from ..values import undefined
from . import exits, terminal
from .arguments import Arguments, parse

_SOURCE_BYTES = 16 * 2**20
_BOUNDS = Bounds(files=1_000, bytes=16 * 2**20, entries=10_000, depth=8)  # of what can be imported

Runner = Callable[[Arguments], int]


def run(words: list[str]) -> int:
    arguments = parse(words)
    assert arguments.file is not None
    return _runner(arguments.file)(arguments)


def can_run(name: str) -> bool:
    """Whether this is a file that `run` takes."""
    return Path(name).suffix in _RUNNERS and Path(name).is_file()


def _runner(file: str) -> Runner:
    if file == "-":
        return partial(_run_module, "typescript")
    suffix = Path(file).suffix.lower()
    if suffix in _RUNNERS:
        return _RUNNERS[suffix]
    why = _NOT_RUN.get(suffix, f"{suffix} is unknown" if suffix else "its name has no suffix")
    known = ", ".join(_RUNNERS)
    raise OptionError(
        f"cannot run {file}: {why}; run takes {known}, or - for TypeScript from stdin"
    )


def _run_module(language: Language, arguments: Arguments) -> int:
    script = _Script(arguments, language)
    result = script.result()
    if result.status != "success":
        terminal.note(script.explain(result))
        return exits.FAILED
    if arguments.json or result.result is not undefined:
        terminal.say(_spelled(result.result, as_json=arguments.json))
    return exits.SUCCESS


_RUNNERS: dict[str, Runner] = {
    ".ts": partial(_run_module, "typescript"),
    ".mts": partial(_run_module, "typescript"),
    ".js": partial(_run_module, "javascript"),
    ".mjs": partial(_run_module, "javascript"),
}
_NOT_RUN = {
    ".py": "this version runs no Python",
    ".cjs": "it is CommonJS, and only ES modules run here",
    ".tsx": "JSX is not supported",
    ".jsx": "JSX is not supported",
}


class _Script:
    """One module from a file or from stdin, with everything that it may use."""

    def __init__(self, arguments: Arguments, language: Language) -> None:
        assert arguments.file is not None
        self._arguments = arguments
        self._language = language
        self._left_out: str | None = None
        if arguments.file == "-":
            self._name, self._source, beneath = "stdin.ts", _from_stdin(), {}
        else:
            path = Path(arguments.file)
            self._name, self._source = path.name, _from_file(path)
            beneath = self._importable(path)
        self._modules = {**beneath, **arguments.modules}

    def _importable(self, path: Path) -> dict[str, str]:
        """The sources beside the file and beneath; only a worker finds out which it imports."""
        real = path.resolve()
        try:
            found = read_texts(real.parent, tuple(_RUNNERS), _BOUNDS)
        except OSError as error:
            self._left_out = f"it cannot be read: {error.strerror}"
            return {}
        self._left_out = found.exceeded
        found.texts.pop(real.name, None)
        return {f"./{name}": text for name, text in found.texts.items()}

    def result(self) -> CodeExecutionResult:
        run = run_cell(
            self._source,
            lenient=False,
            on_log=_log,
            report=_report,
            language=self._language,
            filename=self._name,
            modules=self._modules,
            globals=self._arguments.globals,
            memory_limit_bytes=self._arguments.memory,
        )
        deadline = self._arguments.deadline
        if deadline is not None:
            run.terminate_after(deadline.seconds, deadline.reason)
        return run.wait()

    def explain(self, result: CodeExecutionResult) -> str:
        """The error with its place, and why a file that is there may not have been found."""
        globals_ = self._arguments.globals
        scene = Scene(self._name, self._source, self._modules, globals=globals_, face="cli")
        lines = traceback_of(result, scene).lines
        if result.status == "link_error" and self._left_out is not None:
            lines.append(f"note: not all of the folder can be imported: {self._left_out}")
        return "\n".join(lines)


def _from_file(path: Path) -> str:
    try:
        return read_text(path, _SOURCE_BYTES)
    except UnicodeDecodeError:
        raise OptionError(f"cannot read {path}: it is not UTF-8") from None
    except FileNotFoundError:
        raise OptionError(f"cannot read {path}: it does not exist{did_you_mean(path)}") from None
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror}") from None


def _from_stdin() -> str:
    content = sys.stdin.buffer.read(_SOURCE_BYTES + 1)
    if len(content) > _SOURCE_BYTES:
        raise OptionError(f"stdin has more than {_SOURCE_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError("stdin is not UTF-8 text") from None


def _log(log: CodeExecutionLog) -> None:
    terminal.note(console_line(log))


def _report(value: Any) -> None:
    terminal.note(f"report: {show(value)}")


def _spelled(value: Any, *, as_json: bool) -> str:
    """A text as it is, other values as a console shows them."""
    if as_json:
        return json.dumps(to_jsonable(value))
    return clean(value) if isinstance(value, str) else show(value)
