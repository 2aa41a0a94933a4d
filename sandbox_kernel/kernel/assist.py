"""Help while typing: completion, inspection, and whether a cell is complete."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from ..errors import SandboxError
from ..notebook.assist import names
from ..notebook.assist.completion import (
    blank_magics,
    call_before,
    code_matches,
    with_prefix,
    word_after,
)
from ..notebook.assist.infer import Inference, Thing
from ..notebook.assist.intrinsics import Intrinsics
from ..notebook.assist.lent import Declared, lent_scope
from ..notebook.assist.scan import scan
from ..notebook.assist.scope import Scope
from ..notebook.assist.signatures import SIGNATURES
from ..notebook.options.agent import AGENT_OPTIONS
from ..notebook.options.grammar import (
    OPTIONS,
    CellOptions,
    Option,
    Table,
    known_options,
    parse_options,
)
from ..notebook.options.help import complete_options, option_at, option_help, options_help
from ..notebook.options.lines import unfolded
from ..notebook.options.program import PROGRAM_OPTIONS, complete_program_options
from ..notebook.runs import RUNS_WORDS
from ..notebook.show.output import show
from .bridge import signature_of
from .cell import CELL_MAGICS, LINE_MAGICS, parse_cell
from .commands import RESETS
from .completeness import is_complete
from .notebook_state import NotebookState

_NOT_OURS = ("%%bridge", "%%runprogram", "%%agent")  # what stands below is another language
_WITH_OPTIONS = ("%%runcode", "%defaults", "%%runprogram", "%%agent")


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
        fitting = with_prefix(matches, typed)
        place = {"cursor_start": start, "cursor_end": end}
        line = code[code.rfind("\n", 0, cursor) + 1 :]
        has_words = bool(fitting) and fitting[0][0] in "-%"
        metadata = _words(fitting, start, end, _table_of(line)) if has_words else {}
        return {"matches": fitting, **place, "metadata": metadata}

    async def _matches(self, code: str, cursor: int) -> tuple[int, Iterable[str]]:
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start) and _only_magics(code[:line_start]):
            return self._magic_matches(code[line_start:cursor], line_start)
        if code.lstrip().startswith(_NOT_OURS):
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
        if word == "%%runprogram":
            start, matches = complete_program_options(rest, "kernel", self._option_values)
            return at + start, matches
        if word == "%%agent":
            start, matches = complete_options(rest, "kernel", self._option_values, AGENT_OPTIONS)
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
            case "tool":
                return dotted if "=" in typed else list(bridges)
            case "stdin" | "file":
                return list(self._state.kept) if option.name == "stdin" or "=" in typed else []
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
        lent = lent_scope(given.get("lend", {}))
        names = {**lent.globals, **state.kept.values(), **given["globals"]}
        return Scope({**lent.imports, **given["imports"]}, given["modules"], names)

    # ---- inspection ----

    async def inspect(self, code: str, cursor: int, detail: int) -> str | None:
        """A description of what is under the cursor; None if nothing is known about it."""
        code = unfolded(code)
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start):
            return _magic_help(code[line_start:].split("\n", 1)[0], cursor - line_start)
        if code.lstrip().startswith(_NOT_OURS):
            return None
        whole = scan(blank_magics(code))
        scope = self._scope(code)
        for token in whole.tokens:
            if token.kind == "string" and token.start <= cursor <= token.end:
                described = _describe_module(token.text[1:-1], scope)
                if described is not None:
                    return described
        things = Inference(whole, scope, await self._intrinsics.all())
        ends = (cursor + len(word_after(code, cursor)), call_before(blank_magics(code), cursor))
        for end in ends:
            found = things.ending_at(end) if end is not None else None
            if found is not None:
                return _describe(*found, detail)
        return None


def _table_of(line: str) -> Table:
    """The options of the magic on this line."""
    tables = {"%%runprogram": PROGRAM_OPTIONS, "%%agent": AGENT_OPTIONS}
    return tables.get(line.split(" ", 1)[0], OPTIONS)


def _words(matches: list[str], start: int, end: int, table: Table) -> dict[str, Any]:
    """A few words on each option or magic, where JupyterLab and IPython write the type of a name."""
    words = {f"--{option.name}": option.help for option in known_options("kernel", table)}
    for mark, magics in (("%%", CELL_MAGICS), ("%", LINE_MAGICS)):
        words.update((f"{mark}{name}", usage.split(": ", 1)[-1]) for name, usage in magics.items())
    types = [
        {"text": match, "type": words.get(match, ""), "start": start, "end": end}
        for match in matches
    ]
    return {"_jupyter_types_experimental": types}


def _only_magics(text: str) -> bool:
    return all(line.startswith("%") or not line.strip() for line in text.split("\n"))


def _magic_help(line: str, cursor: int) -> str | None:
    """About the option under the cursor, else about the magic."""
    word = line.split(" ", 1)[0]
    table = _table_of(line)
    option = option_at(line, cursor, "kernel", table) if word in _WITH_OPTIONS else None
    if option is not None:
        return option_help(option)
    name = word.lstrip("%")
    usage = (CELL_MAGICS if word.startswith("%%") else LINE_MAGICS).get(name)
    if usage is None:
        return None
    return f"{usage}\n\n{options_help('kernel', table)}" if word in _WITH_OPTIONS else usage


def _describe_module(specifier: str, scope: Scope) -> str | None:
    if specifier in scope.imports:
        exports = scope.imports[specifier].items()
        if any(isinstance(value, Declared) for _, value in exports):
            lines = [name for name, _ in exports if name != "default"]
            return "\n  ".join([f"lent '{specifier}' exports", *lines])
        lines = [signature_of(name, value) for name, value in exports]
        return "\n  ".join([f"bridge '{specifier}' exports", *lines])
    if specifier in scope.modules:
        lines = names.exports(scan(scope.modules[specifier]))
        return "\n  ".join([f"module '{specifier}' exports", *lines])
    return None


def _describe(path: str, thing: Thing, detail: int) -> str:
    lines = [f"{thing.origin} {path}"]
    if isinstance(thing.value, Declared):
        lines = [f"lent {thing.value.text}"]
        lines += ["", thing.value.note] if thing.value.note else []
    elif thing.has_value and callable(thing.value):
        lines = [f"{thing.origin} {signature_of(path, thing.value)}"]
        doc = inspect.getdoc(thing.value)
        lines += ["", doc] if doc else []
    elif thing.has_value:
        lines += [
            f"type: {thing.class_name}",
            f"value: {show(thing.value, depth=4 if detail else 1)}",
        ]
    elif thing.known_as in SIGNATURES:
        lines = [f"{thing.origin} {SIGNATURES[thing.known_as]}"]
    elif thing.arity is not None:
        parameters = f"{thing.arity} parameter{'' if thing.arity == 1 else 's'}"
        lines = [f"{thing.origin} function {path} ({parameters})"]
    elif thing.class_name:
        lines += [f"type: {thing.class_name}"]
    return "\n".join(lines)
