"""Help while typing: completion, inspection, and whether a cell is complete."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from ..errors import SandboxError
from ..notebook.assist import names
from ..notebook.assist.completion import blank_magics, code_matches, with_prefix, word_after
from ..notebook.assist.infer import Inference, Thing
from ..notebook.assist.intrinsics import Intrinsics
from ..notebook.assist.scan import scan
from ..notebook.assist.scope import Scope
from ..notebook.options.grammar import CellOptions, Option, parse_options
from ..notebook.options.help import complete_options, options_help
from ..notebook.options.lines import unfolded
from ..notebook.runs import RUNS_WORDS
from ..notebook.show.output import show
from .bridge import signature_of
from .cell import CELL_MAGICS, LINE_MAGICS, parse_cell
from .commands import RESETS
from .completeness import is_complete
from .notebook_state import NotebookState

_CHAIN = re.compile(r"[\w$]+(?:\s*\??\.\s*[\w$]+)*\Z")


class Assistant:
    """Answers from the notebook's state and the cell's text, without running any of the cell."""

    def __init__(self, state: NotebookState, intrinsics: Intrinsics) -> None:
        self._state = state
        self._intrinsics = intrinsics

    def is_complete(self, code: str) -> dict[str, Any]:
        return is_complete(code)

    # ---- completion ----

    async def complete(self, code: str, cursor: int) -> dict[str, Any]:
        """The matches, and the range of the text that they replace."""
        start, matches = await self._matches(unfolded(code), cursor)
        typed = code[start:cursor]
        end = cursor + len(word_after(code, cursor)) if typed else cursor
        return {"matches": with_prefix(matches, typed), "cursor_start": start, "cursor_end": end}

    async def _matches(self, code: str, cursor: int) -> tuple[int, Iterable[str]]:
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start) and _only_magics(code[:line_start]):
            return self._magic_matches(code[line_start:cursor], line_start)
        if code.lstrip().startswith("%%bridge"):
            return cursor, []
        return code_matches(code, cursor, self._scope(code), await self._intrinsics.all())

    def _magic_matches(self, line: str, offset: int) -> tuple[int, Iterable[str]]:
        word, space, rest = line.partition(" ")
        if not space:
            magics = [f"%%{name}" for name in CELL_MAGICS] + [f"%{name}" for name in LINE_MAGICS]
            return offset, magics
        at = offset + len(word) + 1
        if word in ("%%runcode", "%defaults"):
            start, matches = complete_options(rest, "kernel", self._option_values)
            return at + start, matches
        if word == "%reset":
            typed = rest.rsplit(" ", 1)[-1]
            return at + len(rest) - len(typed), list(RESETS)
        if word == "%runs":
            return at, list(RUNS_WORDS)
        if word == "%%bridge":
            return at, list(self._state.bridges)
        return at, list(self._state.modules) if word == "%%module" else []

    def _option_values(self, option: Option, typed: str) -> list[str]:
        bridges = self._state.bridges
        dotted = [
            f"{name}.{export}" for name, bridge in bridges.items() for export in bridge.exports
        ]
        match option.name:
            case "import":
                return list(bridges)
            case "global":
                return [*bridges, *dotted] if "=" in typed else list(bridges)
            case "keep":
                return list(self._state.kept)
            case "module":
                return [] if "=" in typed else list(self._state.modules)
            case _:
                return []

    def _scope(self, code: str) -> Scope:
        """What the cell may use, by the notebook's state and its own options if they are valid."""
        state = self._state
        try:
            cell = parse_cell(code)
            magic = cell.cell_magic
            line = magic.line if magic is not None and magic.name == "runcode" else ""
            given = state.run_options(state.effective(parse_options(line, "kernel")), "")
        except SandboxError:
            given = state.run_options(CellOptions(), "")
        names = {**state.kept.values(), **given["globals"]}
        return Scope(given["imports"], given["modules"], names)

    # ---- inspection ----

    async def inspect(self, code: str, cursor: int, detail: int) -> str | None:
        """A description of what is under the cursor; None if nothing is known about it."""
        code = unfolded(code)
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start):
            return _magic_help(code[line_start:].split("\n", 1)[0])
        if code.lstrip().startswith("%%bridge"):
            return None
        whole = scan(blank_magics(code))
        scope = self._scope(code)
        for token in whole.tokens:
            if token.kind == "string" and token.start <= cursor <= token.end:
                return _describe_module(token.text[1:-1], scope)
        end = cursor + len(word_after(code, cursor))
        chain = _CHAIN.search(code[max(0, end - 500) : end])
        if chain is None:
            return None
        path = re.split(r"\s*\??\.\s*", chain[0])
        things = Inference(whole, scope, await self._intrinsics.all())
        thing = things.at(path)
        return _describe(".".join(path), thing, detail) if thing else None


def _only_magics(text: str) -> bool:
    return all(line.startswith("%") or not line.strip() for line in text.split("\n"))


def _magic_help(line: str) -> str | None:
    word = line.split(" ", 1)[0]
    name = word.lstrip("%")
    usage = (CELL_MAGICS if word.startswith("%%") else LINE_MAGICS).get(name)
    if usage is None:
        return None
    return f"{usage}\n\n{options_help('kernel')}" if name in ("runcode", "defaults") else usage


def _describe_module(specifier: str, scope: Scope) -> str | None:
    if specifier in scope.imports:
        lines = [signature_of(name, value) for name, value in scope.imports[specifier].items()]
        return "\n  ".join([f"bridge '{specifier}' exports", *lines])
    if specifier in scope.modules:
        lines = names.exports(scan(scope.modules[specifier]))
        return "\n  ".join([f"module '{specifier}' exports", *lines])
    return None


def _describe(path: str, thing: Thing, detail: int) -> str:
    lines = [f"{thing.origin} {path}"]
    if thing.has_value and callable(thing.value):
        lines = [f"{thing.origin} {signature_of(path, thing.value)}"]
        doc = inspect.getdoc(thing.value)
        lines += ["", doc] if doc else []
    elif thing.has_value:
        lines += [
            f"type: {thing.class_name}",
            f"value: {show(thing.value, depth=4 if detail else 1)}",
        ]
    elif thing.arity is not None:
        parameters = f"{thing.arity} parameter{'' if thing.arity == 1 else 's'}"
        lines = [f"{thing.origin} function {path} ({parameters})"]
    elif thing.class_name:
        lines += [f"type: {thing.class_name}"]
    return "\n".join(lines)
