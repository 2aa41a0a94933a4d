"""`%%bridge NAME`: a cell of Python whose public functions and values the guest may import.

This is the notebook author's own code and runs in the kernel's process, as any cell of a Python
notebook would. Only what it exports can be reached from a run.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import traceback
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import OptionError, SandboxError
from ..exports import classes_of, exports_of_cell
from ..notebook.interrupts import Guard
from ..specifiers import is_bare

_LINE = 90
_LISTED = 5  # names in an example
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


@dataclass(frozen=True, slots=True)
class Bridge:
    """The module that one `%%bridge` cell lends."""

    name: str
    exports: Mapping[str, Any]
    imported: tuple[str, ...] = ()  # names that the cell imports, which only `__all__` exports
    classes: tuple[str, ...] = ()  # that it defines, and that nothing exports
    asks: tuple[str, ...] = ()  # patterns of names that a person is asked about

    def summary(self) -> str:
        """`fs: readFile(path), ROOT`, or one export per line if that is too long."""
        if not self.exports:
            return self._nothing()
        exports = [signature_of(*each) for each in self.exports.items()]
        line = f"{self.name}: {', '.join(exports)}"
        return line if len(line) <= _LINE else "\n  ".join([f"{self.name}:", *exports])

    def _nothing(self) -> str:
        """What a cell exports, and how this one could export something."""
        if self.imported:
            listed = ", ".join(f'"{name}"' for name in self.imported[:_LISTED])
            return (
                f"{self.name} exports nothing: names that it imports are exported only if"
                f" __all__ lists them, such as\n__all__ = [{listed}]"
            )
        return (
            f"{self.name} exports nothing: it defines no function or value whose name does not"
            " begin with _ (classes are not exported)"
        )


class BridgeFailed(Exception):
    """The Python code of a bridge raised; `traceback` begins with the frame of the cell."""

    def __init__(self, error: BaseException, filename: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.traceback = _own_traceback(error, filename)


def bridge_line(line: str) -> tuple[str, list[str] | None]:
    """The NAME in `%%bridge NAME --ask send,list`, and the functions that are asked about, [] for all
    of them; None without --ask."""
    name, asks, asked = line.partition("--ask")
    listed = [each for each in asked.replace(",", " ").split() if each]
    for each in listed:
        if not each.isidentifier():
            raise OptionError(f"--ask {each} is not the name of a function", "ask")
    return bridge_name(name.strip()), listed if asks else None


def bridge_name(line: str) -> str:
    """The NAME, if it is something that an import can name."""
    if not line:
        raise OptionError("%%bridge needs a name: %%bridge NAME", "bridge")
    if not is_bare(line) or " " in line:
        raise OptionError(
            f"%%bridge {line} is not a valid name; name a bridge like a package: fs or @scope/pkg",
            "bridge",
        )
    return line


async def load_bridge(name: str, code: str, first_line: int, guard: Guard) -> Bridge:
    """Runs the cell; its public names become the exports. Raises `BridgeFailed`."""
    filename = f"<bridge {name}>"
    padded = "\n" * first_line + code
    linecache.cache[filename] = (len(padded), None, padded.splitlines(True), filename)
    module = types.ModuleType(f"bridge.{name}")
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # where dataclasses and pickle look for it
    try:
        tree = ast.parse(padded, filename)
        program = compile(tree, filename, "exec", flags=_FLAGS, dont_inherit=True)
        running = guard.call(eval, program, module.__dict__)
        if inspect.isawaitable(running):
            await guard.drive(running)
        imported = _imported(tree)
        exports, classes = exports_of_cell(module.__dict__, imported), classes_of(module)
        return Bridge(name, exports, tuple(imported), tuple(classes))
    except BaseException as error:
        if before is not None:
            sys.modules[module.__name__] = before
        else:
            del sys.modules[module.__name__]
        if isinstance(error, SandboxError):
            raise
        raise BridgeFailed(error, filename) from None


def _imported(tree: ast.Module) -> list[str]:
    """The names that import statements bind, anywhere in the cell."""
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = ((alias.asname or alias.name).split(".")[0] for alias in node.names)
            names.update((name, None) for name in bound)
    return list(names)


def signature_of(name: str, value: Any) -> str:
    """`readFile(path)`, or the bare name of a value."""
    if not callable(value):
        return name
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(…)"
    return f"{'async ' if inspect.iscoroutinefunction(value) else ''}{name}{signature}"


def _own_traceback(error: BaseException, filename: str) -> list[str]:
    """The traceback as Python prints it, from the cell's first frame on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != filename:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip().split("\n")
