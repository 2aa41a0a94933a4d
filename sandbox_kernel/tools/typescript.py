"""TypeScript of JSON Schemas: what a model, and a person who completes code, reads of a function."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..schemas import Schema, resolved

_DEEPEST = 8
_NAMES = {"null": "null", "boolean": "boolean", "integer": "number", "number": "number"}
_NAMES |= {"string": "string", "array": "unknown[]", "object": "Record<string, unknown>"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_LONGEST_NOTE = 200  # characters of a description
_MOST = 200  # properties or alternatives that are spelled
_MOST_STEPS = 2000  # types that are spelled in all


def type_of(schema: Any) -> str:
    """The type of the values that fit. Nothing of a text in the schema can leave its quotes."""
    return _Spelling(schema if isinstance(schema, Mapping) else {}).type(schema, 0)


class Declaration(NamedTuple):
    """`line` is to be put behind `declare` or `export`; `note` is the comment above it, or empty."""

    note: str
    line: str


def declaration(name: str, schema: Schema, returns: str = "unknown", note: str = "") -> Declaration:
    """`function name(args: {...}): Promise<...>`, with its description."""
    optional = "?" if not schema.get("required") else ""
    line = f"function {name}(args{optional}: {type_of(schema)}): Promise<{returns}>;"
    return Declaration(f"/** {comment(note)} */\n" if note else "", line)


def comment(text: str) -> str:
    """The first line of a description, cut, and unable to end the comment it stands in."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    plain = "".join(each if each.isprintable() else " " for each in first)
    cut = plain if len(plain) <= _LONGEST_NOTE else plain[: _LONGEST_NOTE - 1] + "…"
    return cut.replace("*/", "*\\/")


def property_name(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


class _Spelling:
    """Of one document, in a bounded number of steps: references can make a small schema endless."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._steps = _MOST_STEPS

    def type(self, given: Any, depth: int) -> str:
        schema = resolved(given, self._root)
        self._steps -= 1
        if depth > _DEEPEST or self._steps < 0:
            return "unknown"
        if isinstance(schema.get("enum"), list):
            return _union([_literal(each) for each in schema["enum"][:_MOST]])
        if "const" in schema:
            return _literal(schema["const"])
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                return _union([self.type(each, depth + 1) for each in schema[keyword][:_MOST]])
        kinds = schema.get("type")
        if isinstance(kinds, list):
            each_kind = [{**schema, "type": kind} for kind in kinds[:_MOST]]
            return _union([self.type(each, depth + 1) for each in each_kind])
        if kinds == "array" or "prefixItems" in schema:
            return self._array(schema, depth)
        if kinds == "object" or "properties" in schema:
            return self._object(schema, depth)
        return _NAMES.get(kinds, "unknown") if isinstance(kinds, str) else "unknown"

    def _array(self, schema: Schema, depth: int) -> str:
        first = schema.get("prefixItems")
        if isinstance(first, list):
            return f"[{', '.join(self.type(each, depth + 1) for each in first[:_MOST])}]"
        inner = self.type(schema.get("items", True), depth + 1)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"

    def _object(self, schema: Schema, depth: int) -> str:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            others = schema.get("additionalProperties", True)
            return "{}" if others is False else f"Record<string, {self.type(others, depth + 1)}>"
        required = schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        fields = [
            f"{property_name(str(name))}{'' if name in needed else '?'}: {self.type(each, depth + 1)}"
            for name, each in list(properties.items())[:_MOST]
        ]
        return f"{{ {'; '.join(fields)} }}"


def _union(types: list[str]) -> str:
    return " | ".join(dict.fromkeys(types[:_MOST])) or "never"


def _literal(value: Any) -> str:
    plain = value is None or isinstance(value, bool | int | float | str)
    return json.dumps(value) if plain else "unknown"
