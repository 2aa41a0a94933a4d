"""What a name in a cell stands for, as far as the cell's text and options tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import names
from .intrinsics import Intrinsic, Members, class_of
from .scan import Scan, Token, scan
from .scope import Scope

_LITERALS = {"string": "String", "template": "String", "number": "Number", "regex": "RegExp"}
_ANNOTATIONS = {
    "string": "String", "number": "Number", "boolean": "Boolean", "bigint": "BigInt",
    "symbol": "Symbol", "object": "Object",
}  # fmt: skip
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Thing:
    """What a name stands for; fields that are not known have their defaults."""

    origin: str  # bridged, global, built-in, module, local
    class_name: str = ""  # the intrinsic whose prototype it has
    value: Any = _ABSENT
    arity: int | None = None
    members: tuple[str, ...] = ()
    intrinsic: str = ""  # its name, if it is one

    @property
    def has_value(self) -> bool:
        return self.value is not _ABSENT


class Inference:
    """One cell's text, its scope, and the intrinsics."""

    def __init__(self, whole: Scan, scope: Scope, intrinsics: Mapping[str, Intrinsic]) -> None:
        self._tokens = whole.tokens
        self._scope = scope
        self._intrinsics = intrinsics
        self._imported = {each.name: each for each in names.imports(whole)}
        self._declared = names.declared(whole)

    def candidates(self) -> list[str]:
        """Every name that can start an expression."""
        return [*self._declared, *self._scope.globals, *self._intrinsics, "console", "report"]

    def members_before(self, tokens: Sequence[Token]) -> Iterable[str]:
        """The members of the expression that these tokens end with, the last one being a dot."""
        path: list[str] = []
        at = len(tokens) - 1
        while at >= 1 and tokens[at].text in (".", "?.") and tokens[at - 1].kind == "name":
            path.insert(0, tokens[at - 1].text)
            at -= 2
        if path and not (at >= 0 and tokens[at].text in (".", "?.")):
            thing = self.at(path)
            return self.members_of(thing) if thing else self._prototype("Object")
        last = tokens[-2] if len(tokens) > 1 else None
        if last is None:
            return []
        if last.text == "]":
            return self._prototype("Array")
        return self._prototype(_LITERALS.get(last.kind, "Object"))

    def members_of(self, thing: Thing) -> list[str]:
        """Its own first, then those of its prototype, then what every object has."""
        own = sorted(thing.members)
        if thing.has_value and isinstance(thing.value, Mapping):
            own += [key for key in thing.value if isinstance(key, str)]
        return [*own, *self._prototype(thing.class_name or "Object")]

    def at(self, path: Sequence[str]) -> Thing | None:
        """What `a.b.c` stands for."""
        thing = self._first(path[0])
        for name in path[1:]:
            if thing is None:
                return None
            thing = self._member(thing, name)
        return thing

    def _first(self, name: str) -> Thing | None:
        if name in self._imported:
            return self._import(self._imported[name])
        local = self._local(name)
        if local is not None:
            return local
        if name in self._scope.globals:
            value = self._scope.globals[name]
            return Thing("global", class_of(value), value)
        if name == "console":
            return Thing("built-in", members=_CONSOLE)
        if name == "report":
            return Thing("built-in", "Function", arity=1)
        if name in self._intrinsics:
            intrinsic = self._intrinsics[name]
            kind = "Function" if intrinsic.arity is not None else "Object"
            own = tuple(intrinsic.own)
            return Thing("built-in", kind, arity=intrinsic.arity, members=own, intrinsic=name)
        return None

    def _import(self, imported: names.Imported) -> Thing | None:
        exports = self._scope.imports.get(imported.specifier)
        if exports is not None:
            if imported.export == "*":
                return Thing("bridge", "Object", exports)
            if imported.export in exports:
                value = exports[imported.export]
                return Thing("bridged", class_of(value), value)
            return None
        source = self._scope.modules.get(imported.specifier)
        if source is None:
            return None
        inside = scan(source)
        if imported.export == "*":
            return Thing("module", "Object", members=tuple(names.exports(inside)))
        return Inference(inside, Scope(), self._intrinsics)._local(imported.export) or Thing(
            "module"
        )

    def _local(self, name: str) -> Thing | None:
        """From the first declaration of it that tells a class."""
        for at, token in enumerate(self._tokens):
            if token.text != name or token.kind != "name" or at == 0:
                continue
            before = self._tokens[at - 1].text
            if before == "function":
                return Thing("local", "Function")
            if before in ("const", "let", "var"):
                return Thing("local", self._class_from(at + 1))
        return None

    def _class_from(self, at: int) -> str:
        """The class given by `: Type` or `= value` after a declared name."""
        tokens = self._tokens[at : at + 4]
        words = [token.text for token in tokens] + [""] * 4
        if words[0] == ":":
            if words[2] == "[":
                return "Array"
            return _ANNOTATIONS.get(words[1], words[1] if words[1] in self._intrinsics else "")
        if words[0] != "=" or len(tokens) < 2:
            return ""
        if words[1] == "new" and words[2] in self._intrinsics:
            return words[2]
        if words[1] == "[":
            return "Array"
        return _LITERALS.get(tokens[1].kind, "")

    def _member(self, thing: Thing, name: str) -> Thing | None:
        if thing.has_value and isinstance(thing.value, Mapping) and name in thing.value:
            value = thing.value[name]
            return Thing(
                "bridged" if thing.origin == "bridge" else thing.origin, class_of(value), value
            )
        if thing.intrinsic and name == "prototype":
            return Thing("built-in", thing.intrinsic)
        known = self._intrinsics.get(thing.intrinsic)
        if known is not None and name in known.own:
            return Thing("built-in", "Function", arity=known.own[name])
        prototype = self._members(thing.class_name or "Object")
        return Thing("built-in", arity=prototype[name]) if name in prototype else None

    def _members(self, class_name: str) -> Members:
        known = self._intrinsics.get(class_name)
        return known.prototype if known else {}

    def _prototype(self, class_name: str) -> list[str]:
        return [*sorted(self._members(class_name)), *sorted(self._members("Object"))]


_CONSOLE = (
    "log", "info", "warn", "error", "debug", "table", "group", "groupCollapsed", "groupEnd",
    "count", "countReset", "time", "timeLog", "timeEnd", "assert", "trace", "dir",
)  # fmt: skip
