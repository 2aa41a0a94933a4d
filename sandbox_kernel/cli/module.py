"""`sandbox-kernel run` for JavaScript and TypeScript: a module in a sandbox, and its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ..clean import clean
from ..contract import CodeExecutionLog, CodeExecutionResult
from ..explain.scene import Scene
from ..folders import Bounds, read_texts
from ..jsonable import to_jsonable
from ..notebook.show.output import console_line, show
from ..notebook.show.traceback import traceback_of
from ..options import Language
from ..programs.runtimes import RUNTIMES
from ..run import run_cell
from ..values import undefined
from . import exits, terminal
from .arguments import Arguments
from .sources import source_of

LANGUAGES = {
    suffix: cast(Language, runtime.name)
    for runtime in reversed(RUNTIMES)
    if runtime.is_script
    for suffix in runtime.suffixes
}
_BOUNDS = Bounds(files=1_000, bytes=16 * 2**20, entries=10_000, depth=8)  # of what can be imported


def run_module(arguments: Arguments, file: str) -> int:
    arguments.only_for(
        "programs",
        ("packages", "files", "out"),
        "JavaScript and TypeScript have --global and --module",
    )
    script = _Script(arguments, file)
    result = script.result()
    if result.status != "success":
        terminal.note(script.explain(result))
        return exits.FAILED
    if arguments.json or result.result is not undefined:
        terminal.say(_spelled(result.result, as_json=arguments.json))
    return exits.SUCCESS


class _Script:
    """One module from a file or from stdin, with everything that it may use."""

    def __init__(self, arguments: Arguments, file: str) -> None:
        path = Path(file)
        self._arguments = arguments
        self._left_out: str | None = None
        self._source = source_of(file)
        self._name = "stdin.ts" if file == "-" else path.name
        self._language = LANGUAGES[Path(self._name).suffix.lower()]
        beneath = {} if file == "-" else self._importable(path)
        self._modules = {**beneath, **arguments.modules}

    def _importable(self, path: Path) -> dict[str, str]:
        """The sources beside the file and beneath; only a worker finds out which it imports."""
        real = path.resolve()
        try:
            found = read_texts(real.parent, tuple(LANGUAGES), _BOUNDS)
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


def _log(log: CodeExecutionLog) -> None:
    terminal.note(console_line(log))


def _report(value: Any) -> None:
    terminal.note(f"report: {show(value)}")


def _spelled(value: Any, *, as_json: bool) -> str:
    """A text as it is, other values as a console shows them."""
    if as_json:
        return json.dumps(to_jsonable(value))
    return clean(value) if isinstance(value, str) else show(value)
