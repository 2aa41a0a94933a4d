"""What `--lend` gives a cell, read from the TypeScript that capabilities describe themselves with."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...loans import Capability
from .scope import Scope

_MODULE = re.compile(r"^declare module '([^']+)' \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(
    r"(?:^/\*\* ([^\n]*) \*/\n)?^export ((?:function|class|const) ([\w$]+).*?)(?=^[a-z/]|\Z)",
    re.MULTILINE | re.DOTALL,
)
_DEFAULT = re.compile(r"^export default (\w+);", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Declared:
    """A function, class or value as its declaration has it."""

    text: str
    note: str = ""


def lent_scope(lent: Mapping[str, Capability]) -> Scope:
    """The modules of capabilities, and the names that are free: those of all but `fs`."""
    imports: dict[str, Mapping[str, Any]] = {}
    free: dict[str, Declared] = {}
    for name, capability in lent.items():
        for specifier, body in _MODULE.findall(capability.describe(name)):
            exports = _exports(textwrap.dedent(body))
            default = _DEFAULT.search(textwrap.dedent(body))
            whole = {"default": exports if default is None else exports[default[1]]}
            imports[specifier] = imports[f"node:{specifier}"] = {**exports, **whole}
            if specifier == name and capability.name != "fs":
                free |= exports
    return Scope(imports, globals=free)


def _exports(body: str) -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for note, text, name in _EXPORT.findall(body):
        before = found.get(name, Declared("", note))
        found[name] = Declared(f"{before.text}\n{text.strip()}".strip(), before.note)
    return found
