"""Help while typing: completion, inspection, and whether a cell is whole."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..errors import SandboxError
from ..notebook.magics import Option, parse_options
from ..notebook.option_help import complete_options, options_help
from ..notebook.show import show
from . import names
from .bridge import signature_of
from .cell import CELL_MAGICS, LINE_MAGICS, parse_cell
from .finished import is_complete
from .infer import Inference, Thing
from .intrinsics import Intrinsics
from .scan import KEYWORDS, Scan, scan
from .workspace import Workspace

_WORD_END = re.compile(r"[\w$]*\Z")
_WORD_START = re.compile(r"[\w$]*")
_CHAIN = re.compile(r"[\w$]+(?:\s*\??\.\s*[\w$]+)*\Z")
_SHOWN = frozenset(("export", "default", "import", "function", "return", "await", "async", "const"))


@dataclass(frozen=True, slots=True)
class Lent:
    """What the cell at hand may use."""

    imports: Mapping[str, Mapping[str, Any]]
    modules: Mapping[str, str]
    globals: Mapping[str, Any]


class Assistant:
    """Answers from the workspace and the cell's text; it runs nothing of the cell."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._intrinsics = Intrinsics()

    def is_complete(self, code: str) -> dict[str, Any]:
        return is_complete(code)

    # ---- completion ----

    async def complete(self, code: str, cursor: int) -> dict[str, Any]:
        """`matches` with the range they replace."""
        start, matches = await self._matches(code, cursor)
        typed = code[start:cursor]
        end = cursor + len(_tail(code, cursor)) if typed else cursor
        fitting = dict.fromkeys(m for m in matches if m.lower().startswith(typed.lower()))
        # Stable: whoever gives the matches gives the likely ones first.
        kept = sorted(fitting, key=lambda m: (not m.startswith(typed), m.startswith("_")))
        return {"matches": kept, "cursor_start": start, "cursor_end": end}

    async def _matches(self, code: str, cursor: int) -> tuple[int, Iterable[str]]:
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start) and _only_magics(code[:line_start]):
            return self._magic_matches(code[line_start:cursor], line_start)
        if code.lstrip().startswith("%%bridge"):
            return cursor, []
        return await self._code_matches(code, cursor)

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
            return at + len(rest) - len(typed), ["defaults", "bridges", "modules"]
        if word == "%%bridge":
            return at, list(self._workspace.bridges)
        return at, list(self._workspace.modules) if word == "%%module" else []

    def _option_values(self, option: Option, typed: str) -> list[str]:
        bridges = self._workspace.bridges
        dotted = [
            f"{name}.{export}" for name, bridge in bridges.items() for export in bridge.exports
        ]
        match option.name:
            case "import":
                return list(bridges)
            case "global":
                return [*bridges, *dotted] if "=" in typed else list(bridges)
            case "module":
                return [] if "=" in typed else list(self._workspace.modules)
            case _:
                return []

    async def _code_matches(self, code: str, cursor: int) -> tuple[int, Iterable[str]]:
        before = scan(_blank_magics(code)[:cursor])
        lent = self._lent(code)
        if before.open_text is not None:
            return _specifier_matches(before, lent)
        start = cursor - len(_head(code, cursor))
        whole = scan(_blank_magics(code))
        if specifier := _braced_import(before, whole, cursor):
            return start, _exports_of(specifier, lent)
        things = Inference(whole, lent, await self._intrinsics.all())
        tokens = [token for token in before.tokens if token.end <= start]
        if tokens and tokens[-1].text in (".", "?."):
            return start, things.members_before(tokens)
        keywords = KEYWORDS if code[start:cursor] else _SHOWN
        return start, sorted([*things.candidates(), *keywords], key=str.lower)

    def _lent(self, code: str) -> Lent:
        """What the cell's own options and the workspace give; without the options if they fail."""
        workspace = self._workspace
        try:
            cell = parse_cell(code)
            magic = cell.cell_magic
            line = magic.line if magic is not None and magic.name == "runcode" else ""
            given = workspace.run_options(parse_options(line, "kernel"))
        except SandboxError:
            given = {
                "imports": {name: bridge.exports for name, bridge in workspace.bridges.items()},
                "modules": workspace.modules,
                "globals": {},
            }
        return Lent(given["imports"], given["modules"], given["globals"])

    # ---- inspection ----

    async def inspect(self, code: str, cursor: int, detail: int) -> str | None:
        """What is under the cursor, as text; None if nothing is known of it."""
        line_start = code.rfind("\n", 0, cursor) + 1
        if code.startswith("%", line_start):
            return _magic_help(code[line_start:].split("\n", 1)[0])
        if code.lstrip().startswith("%%bridge"):
            return None
        whole = scan(_blank_magics(code))
        lent = self._lent(code)
        for token in whole.tokens:
            if token.kind == "string" and token.start <= cursor <= token.end:
                return _describe_module(token.text[1:-1], lent)
        end = cursor + len(_tail(code, cursor))
        chain = _CHAIN.search(code[max(0, end - 500) : end])
        if chain is None:
            return None
        path = re.split(r"\s*\??\.\s*", chain[0])
        things = Inference(whole, lent, await self._intrinsics.all())
        thing = things.at(path)
        return _describe(".".join(path), thing, detail) if thing else None


def _head(code: str, cursor: int) -> str:
    match = _WORD_END.search(code[max(0, cursor - 200) : cursor])
    return match[0] if match else ""


def _tail(code: str, cursor: int) -> str:
    match = _WORD_START.match(code, cursor)
    return match[0] if match else ""


def _only_magics(text: str) -> bool:
    return all(line.startswith("%") or not line.strip() for line in text.split("\n"))


def _blank_magics(code: str) -> str:
    """The code with its magic lines as spaces, so that positions stay."""
    lines = code.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("%"):
            lines[at] = " " * len(line)
        elif line.strip():
            break
    return "\n".join(lines)


def _specifier_matches(before: Scan, lent: Lent) -> tuple[int, Iterable[str]]:
    """Inside a string that names a module: after `from`, `import` or `import(`."""
    text = before.open_text
    assert text is not None
    last = [token.text for token in before.tokens[-2:]]
    names_module = last[-1:] in (["from"], ["import"]) or last == ["import", "("]
    if text.kind != "string" or not names_module:
        return text.end, []
    return text.start + 1, [*lent.imports, *lent.modules]


def _braced_import(before: Scan, whole: Scan, cursor: int) -> str | None:
    """The specifier of the `import { … }` that the cursor is in."""
    words = [token.text for token in before.tokens]
    if "{" not in words or before.brackets[-1:] != ["{"]:
        return None
    opened = len(words) - 1 - words[::-1].index("{")
    if "import" not in words[max(0, opened - 4) : opened]:
        return None
    following = [token for token in whole.tokens if token.start >= cursor][:100]
    for token, then in pairwise(following):
        if token.text == "from" and then.kind == "string":
            return then.text[1:-1]
        if token.text in (";", "import"):
            break
    return ""


def _exports_of(specifier: str, lent: Lent) -> list[str]:
    if specifier in lent.imports:
        return list(lent.imports[specifier])
    if specifier in lent.modules:
        return names.exports(scan(lent.modules[specifier]))
    return [name for exports in lent.imports.values() for name in exports] if not specifier else []


def _magic_help(line: str) -> str | None:
    word = line.split(" ", 1)[0]
    name = word.lstrip("%")
    usage = (CELL_MAGICS if word.startswith("%%") else LINE_MAGICS).get(name)
    if usage is None:
        return None
    return f"{usage}\n\n{options_help('kernel')}" if name in ("runcode", "defaults") else usage


def _describe_module(specifier: str, lent: Lent) -> str | None:
    if specifier in lent.imports:
        lines = [signature_of(name, value) for name, value in lent.imports[specifier].items()]
        return "\n  ".join([f"bridge '{specifier}' exports", *lines])
    if specifier in lent.modules:
        lines = names.exports(scan(lent.modules[specifier]))
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
