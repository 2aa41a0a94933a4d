"""The scene of a failure: what the run was given, and what its worker found out about the error.

Every run makes one, so this loads and costs little; what explains errors is loaded for the first error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from .problem import Problem

Face = Literal["api", "kernel", "magic", "cli", "mcp", "program"]  # in whose words a hint is given

_EMPTY: Mapping[str, Any] = {}
_MAX_LINE = 500  # characters of a source line that rules look at
_MAX_SOURCE = 100_000  # characters of a source that are searched for a line


class Facts(NamedTuple):
    """What only the worker can find out, because it may parse the source. As hostile as the rest."""

    promise: str | None = None  # the call whose promise was used like a value
    exports: tuple[str, ...] | None = None  # of the module that lacks the export to run


def _in_no_other_cell(name: str) -> int | None:
    return None


def _not_outside(name: str) -> bool:
    return False


class Scene(NamedTuple):
    """Plain data for a run of the API; a notebook adds what it knows of its other cells."""

    filename: str = ""
    source: str = ""
    modules: Mapping[str, str] = _EMPTY
    imports: Mapping[str, Collection[str]] = _EMPTY  # specifier to exports
    globals: Collection[str] = ()
    status: str = "error"
    facts: Facts = Facts()
    face: Face = "api"
    classes: Mapping[str, Collection[str]] = _EMPTY  # of a lent module
    cell_of: Callable[[str], int | None] = _in_no_other_cell  # that declared a name
    is_outside: Callable[[str], bool] = _not_outside  # a variable of the notebook's own language

    def source_of(self, filename: str | None) -> str | None:
        """The text of the entry or of a module; stack frames name modules with or without `./`."""
        if filename == self.filename:
            return self.source
        if filename is None:
            return None
        return self.modules.get(filename) or self.modules.get(f"./{filename}")

    def is_in_entry(self, error: Problem) -> bool:
        return error.filename in (None, self.filename)

    def line_of(self, error: Problem) -> str:
        """The beginning of the source line that an error names, or nothing."""
        source = self.source_of(error.filename or self.filename)
        if source is None or error.line is None:
            return ""
        lines = source[:_MAX_SOURCE].split("\n", error.line)
        return lines[error.line - 1][:_MAX_LINE] if 0 < error.line <= len(lines) else ""
