"""What a name in a cell stands for, as far as the cell's text and options tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import names
from .bindings import Bindings
from .intrinsics import Intrinsic, Members, class_of
from .scan import KEYWORDS, Scan, Token, scan
from .scope import Scope

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
    known_as: str = ""  # `Math.max`, `Array.prototype.map`: where its signature is found

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
        self._bindings = Bindings(whole, intrinsics)

    def candidates(self) -> list[str]:
        """Every name that can start an expression."""
        return [*self._declared, *self._scope.globals, *self._intrinsics, "console", "report"]

    def members_before(self, tokens: Sequence[Token]) -> Iterable[str]:
        """The members of the expression that these tokens end with, the last one being a dot.

        None where it is not certain what that is: a wrong offer is worse than none.
        """
        path: list[str] = []
        at = len(tokens) - 1
        while at >= 1 and tokens[at].text in (".", "?.") and tokens[at - 1].kind == "name":
            path.insert(0, tokens[at - 1].text)
            at -= 2
        if at < 0 or tokens[at].text not in (".", "?."):
            thing = self.at(path) if path else None
        else:
            thing = self._follow(self._expression(tokens, at - 1), path)
        return self.members_of(thing) if thing else []

    def _expression(self, tokens: Sequence[Token], end: int) -> Thing | None:
        """What ends with this token, which is no name: a literal, `new X()`, `rows[0]`."""
        if end < 0:
            return None
        index = [token.text for token in tokens[max(0, end - 2) : end + 1]]
        if index[:1] == ["["] and index[2:] == ["]"] and index[1].isdecimal():
            owner = tokens[end - 3] if end >= 3 else None
            before = tokens[end - 4].text if end >= 4 else ""
            is_name = owner is not None and owner.kind == "name" and owner.text not in KEYWORDS
            if owner is not None and is_name and before not in (".", "?."):
                return self._item(self._first(owner.text), int(index[1]))
        found = self._bindings.class_before(end, tokens)
        return Thing("local", found) if found else None

    def _item(self, thing: Thing | None, index: int) -> Thing | None:
        """One item of a lent array."""
        if thing is None or not isinstance(thing.value, list | tuple) or index >= len(thing.value):
            return None
        value = thing.value[index]
        return Thing(thing.origin, class_of(value), value)

    def members_of(self, thing: Thing) -> list[str]:
        """Its own first, then those of its prototype, then what every object has."""
        own = sorted(thing.members)
        if isinstance(thing.value, Mapping) and thing.class_name in ("", "Object"):
            own += [key for key in thing.value if isinstance(key, str)]
        return [*own, *(self._prototype(thing.class_name) if thing.class_name else [])]

    def ending_at(self, end: int) -> tuple[str, Thing] | None:
        """The name or chain of names that ends there, and what it stands for, if that is known."""
        tokens = [token for token in self._tokens if token.end <= end]
        if not tokens or tokens[-1].kind != "name" or tokens[-1].end != end:
            return None
        path = [tokens.pop().text]
        while len(tokens) > 1 and tokens[-1].text in (".", "?.") and tokens[-2].kind == "name":
            tokens.pop()
            path.insert(0, tokens.pop().text)
        if tokens and tokens[-1].text in (".", "?."):
            thing = self._follow(self._expression(tokens, len(tokens) - 2), path)
        else:
            thing = self.at(path)
        return (".".join(path), thing) if thing else None

    def at(self, path: Sequence[str]) -> Thing | None:
        """What `a.b.c` stands for."""
        return self._follow(self._first(path[0]), path[1:])

    def _follow(self, thing: Thing | None, path: Sequence[str]) -> Thing | None:
        for name in path:
            if thing is None:
                return None
            thing = self._member(thing, name)
        return thing

    def _first(self, name: str) -> Thing | None:
        if self._bindings.declares(name):
            return self.local(name)
        if name in self._imported:
            return self._import(self._imported[name])
        if name in self._scope.globals:
            value = self._scope.globals[name]
            return Thing("global", class_of(value), value)
        if name == "console":
            return Thing("built-in", members=_CONSOLE, intrinsic="console")
        if name == "report":
            return Thing("built-in", "Function", arity=1, known_as="report")
        if name in self._intrinsics:
            intrinsic = self._intrinsics[name]
            kind = "Function" if intrinsic.arity is not None else "Object"
            own = tuple(intrinsic.own)
            return Thing(
                "built-in", kind, arity=intrinsic.arity, members=own, intrinsic=name, known_as=name
            )
        return None

    def _import(self, imported: names.Imported) -> Thing | None:
        exports = self._scope.imports.get(imported.specifier)
        if exports is not None:
            if imported.export == "*":
                return Thing("bridge", value=exports)
            if imported.export in exports:
                value = exports[imported.export]
                return Thing("bridged", class_of(value), value)
            return None
        source = self._scope.modules.get(imported.specifier)
        if source is None:
            return None
        inside = scan(source)
        if imported.export == "*":
            return Thing("module", members=tuple(names.exports(inside)))
        return Inference(inside, Scope(), self._intrinsics).local(imported.export)

    def local(self, name: str) -> Thing:
        """What the text itself declares."""
        return Thing("local", self._bindings.class_of(name))

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
            return self._built_in(known.own[name], f"{thing.intrinsic}.{name}")
        prototype = self._members(thing.class_name)
        if name not in prototype:
            return None
        return self._built_in(prototype[name], f"{thing.class_name}.prototype.{name}")

    def _built_in(self, arity: int | None, known_as: str) -> Thing:
        kind = "Function" if arity is not None else ""
        return Thing("built-in", kind, arity=arity, known_as=known_as)

    def _members(self, class_name: str) -> Members:
        known = self._intrinsics.get(class_name)
        return known.prototype if known else {}

    def _prototype(self, class_name: str) -> list[str]:
        return [*sorted(self._members(class_name)), *sorted(self._members("Object"))]


_CONSOLE = (
    "log", "info", "warn", "error", "debug", "table", "group", "groupCollapsed", "groupEnd",
    "count", "countReset", "time", "timeLog", "timeEnd", "assert", "trace", "dir",
)  # fmt: skip
