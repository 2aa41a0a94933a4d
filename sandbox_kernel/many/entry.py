"""The source of a batch is imported by a driver of ours; in errors it has its own name, as if it ran alone."""

from __future__ import annotations

import re
from dataclasses import replace

from ..contract import CodeExecutionError, CodeExecutionResult
from ..explain.scene import Scene
from ..options import CodeExecutionOptions
from ..specifiers import folder_of_entry

DRIVER_NAME = "<run_many>"
_FRAME = re.compile(
    r"^ *at (?:(?P<function>.*) \()?(?P<file>.+?):(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
)
_FRAMES, _CHARACTERS = 200, 2000  # that are looked at, since a guest may write a stack itself


class ImportedSource:
    """Stands in the folder of its file name, so that its own imports find what they always find."""

    def __init__(self, source: str, options: CodeExecutionOptions) -> None:
        self.name = "/".join([".", *folder_of_entry(options.filename), "source"])
        while self.name in options.modules:
            self.name += "_"
        self._filename = options.filename
        self._fn = options.execute.fn
        self._scene = Scene(
            options.filename,
            source,
            options.modules,
            {specifier: list(exports) for specifier, exports in options.imports.items()},
            list(options.globals),
        )

    def renamed(self, result: CodeExecutionResult) -> CodeExecutionResult:
        """How the sandbox of a batch ended, or why it did not begin."""
        error = result.error
        if error is None:
            return result
        if error.specifier == self.name:  # the driver imports it
            missing = f"the module has no export {self._fn!r}"
            error = CodeExecutionError(error.name, missing, scene=error.scene)
        elif error.filename == DRIVER_NAME:
            error = replace(error, filename=None, line=None, column=None)
        elif error.filename == self.name:
            error = replace(error, filename=self._filename)
        stack = error.stack and self._translated(error.stack)[0]
        facts = error.scene.facts if error.scene is not None else self._scene.facts
        scene = self._scene._replace(status=result.status, facts=facts)
        return replace(result, error=replace(error, stack=stack or None, scene=scene))

    def thrown(self, name: str, message: str, stack: str | None) -> CodeExecutionError:
        """What a guest threw for one input, with the place that its stack begins with."""
        shown, filename, line, column = self._translated(stack or "")
        place = (filename, line, column)
        return CodeExecutionError(name, message, shown or None, None, *place, scene=self._scene)

    def _translated(self, stack: str) -> tuple[str, str | None, int | None, int | None]:
        """The guest's own frames, and the place of the first."""
        frames: list[str] = []
        first: tuple[str | None, int | None, int | None] = (None, None, None)
        for raw in stack.splitlines()[:_FRAMES]:
            found = _FRAME.match(raw[:_CHARACTERS])
            file = found and self._file(found["file"])
            if not found or not file:
                continue
            line, column = int(found["line"]), int(found["column"])
            if not frames:
                first = (file, line, column if self._is_plain(file, line) else None)
            where = f"{file}:{line}:{column}"
            function = found["function"]
            named = function not in (None, "<anonymous>", "<eval>")
            frames.append(f"    at {function} ({where})" if named else f"    at {where}")
        return "\n".join(frames), *first

    def _file(self, name: str) -> str | None:
        if name in (self.name, self._filename):
            return self._filename
        return name if name in self._scene.modules else None

    def _is_plain(self, file: str, line: int) -> bool:
        """Whether columns of this line, which the engine counts in bytes, are those of characters."""
        lines = (self._scene.source_of(file) or "").split("\n", line)
        return 0 < line <= len(lines) and lines[line - 1].isascii()
