"""Checks values of JSON against a JSON Schema, as far as schemas of tools go.

Schemas may come from elsewhere, so nothing here can be made slow: there are no regular expressions, and
references and nesting are bounded. A keyword that is not known is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from .brief import brief_start

Schema = Mapping[str, Any]
_DEEPEST = 64  # schemas within each other, references included
_MOST_STEPS = 100_000  # values checked, each time against one schema
_TOO_MUCH = "is too large or nested too deep to be checked"

_IS_TYPE: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value % 1 == 0),
    "number": lambda value: _is_number(value),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
}


def problem_with(value: Any, schema: Schema, name: str = "") -> str | None:
    """What is wrong, and where; None if the value fits. `name` is what the value itself is called."""
    return next(_Check(schema).problems(value, schema, name, 0), None)


def resolved(schema: Any, root: Schema, depth: int = 0) -> Schema:
    """The schema that a `$ref` stands for; only references within the same document are followed."""
    if not isinstance(schema, Mapping):
        return {} if schema is not False else {"not": {}}
    reference = schema.get("$ref")
    if not isinstance(reference, str) or depth > _DEEPEST:
        return schema
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else []:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name, {}) if isinstance(found, Mapping) else {}
    return resolved(found, root, depth + 1)


_PLAIN: dict[Any, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_SAYS_NOTHING = {"type", "default", "description", "title", "pattern", "format"}  # to this check


def sure_check(schema: Schema) -> Callable[[Any], bool]:
    """A quick look for objects of plain fields, which most are: True only if every field surely fits.

    What a schema demands of such an object beside its fields (`allOf` and the like) is not looked at.
    """
    fields = {
        name: kinds
        for name, field in schema["properties"].items()
        if (kinds := _plain_kinds(field))
    }
    required = frozenset(schema["required"])
    nothing: tuple[type, ...] = ()

    def surely_fits(value: Any) -> bool:
        if type(value) is not dict or not required <= value.keys():
            return False
        return all(
            type(item) in fields.get(name, nothing) and item == item for name, item in value.items()
        )

    return surely_fits


def _plain_kinds(field: Schema) -> tuple[type, ...]:
    """Empty if a value of the right type may still be wrong."""
    wanted = field.get("type")
    names = wanted if isinstance(wanted, list) else [wanted]
    if not field.keys() <= _SAYS_NOTHING or not all(name in _PLAIN for name in names):
        return ()
    return tuple(kind for name in names for kind in _PLAIN[name])


def _are_plain(items: Iterable[Any], schema: Schema) -> bool:
    """A quick look, as above, at items that may be very many."""
    kinds = _plain_kinds(schema)
    return bool(kinds) and all(type(item) in kinds and item == item for item in items)


class _Check:
    """One value against one document, in a bounded number of steps."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._steps = _MOST_STEPS

    def problems(self, value: Any, given: Any, path: str, depth: int) -> Iterator[str]:
        schema = resolved(given, self._root)
        at = path or "the value"
        self._steps -= 1
        if depth > _DEEPEST or self._steps < 0:
            yield f"{at} {_TOO_MUCH}"
            return
        yield from _of_itself(value, schema, at)
        yield from self._alternatives(value, schema, path, depth)
        if isinstance(value, Mapping):
            yield from self._in_object(value, schema, path, depth)
        elif isinstance(value, list | tuple):
            yield from self._in_array(value, schema, path, depth)

    def _alternatives(self, value: Any, schema: Schema, path: str, depth: int) -> Iterator[str]:
        for each in _list_of(schema, "allOf"):
            yield from self.problems(value, each, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            found: list[str] = []
            for each in _list_of(schema, keyword):
                problem = next(self.problems(value, each, path, depth + 1), None)
                if problem is None:
                    break
                found.append(problem)
            else:
                if found:
                    yield " and ".join(dict.fromkeys(found[:4]))

    def _in_object(
        self, value: Mapping[Any, Any], schema: Schema, path: str, depth: int
    ) -> Iterator[str]:
        found = schema.get("properties")
        properties = found if isinstance(found, Mapping) else {}
        for name in _list_of(schema, "required"):
            if isinstance(name, str) and name not in value:
                yield f"{_below(path, name)} is missing"
        others = schema.get("additionalProperties", True)
        for name, item in value.items():
            if isinstance(name, str) and name in properties:
                yield from self.problems(item, properties[name], _below(path, name), depth + 1)
            elif others is False:
                yield f"{_below(path, name)} is not known; known: {', '.join(properties) or 'none'}"
            elif isinstance(others, Mapping) and others:
                yield from self.problems(item, others, _below(path, name), depth + 1)

    def _in_array(self, value: Any, schema: Schema, path: str, depth: int) -> Iterator[str]:
        first = _list_of(schema, "prefixItems")
        rest = schema.get("items", True)
        if rest is not True and len(value) > self._steps:
            yield f"{path or 'the value'} {_TOO_MUCH}"
            return
        if not first and _are_plain(value, resolved(rest, self._root)):
            self._steps -= len(value)
            return
        for index, item in enumerate(value):
            wanted = first[index] if index < len(first) else rest
            if wanted is not True:
                yield from self.problems(item, wanted, f"{path}[{index}]", depth + 1)


def _of_itself(value: Any, schema: Schema, at: str) -> Iterator[str]:
    """What can be said of the value without looking into it."""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    known = [name for name in names if isinstance(name, str) and name in _IS_TYPE]
    if known and not any(_IS_TYPE[name](value) for name in known):
        yield f"{at} is {_described(value)}, not {_article(' or '.join(known))}"
        return
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and not any(_same(value, each) for each in choices):
        yield f"{at} is {brief_start(value)}, not one of {_listed(choices)}"
    if schema.get("not") == {}:
        yield f"{at} is not allowed"
    yield from _out_of_range(value, schema, at)


def _out_of_range(value: Any, schema: Schema, at: str) -> Iterator[str]:
    for kinds, measure, least, most in _RANGES:
        if isinstance(value, kinds) and not isinstance(value, bool):
            low, high, measured = schema.get(least), schema.get(most), measure(value)
            if _is_number(low) and measured < low:
                yield f"{at} is below the {least} of {low}"
            if _is_number(high) and measured > high:
                yield f"{at} is above the {most} of {high}"


_RANGES: list[tuple[Any, Callable[[Any], float], str, str]] = [
    ((int, float), lambda value: value, "minimum", "maximum"),
    (str, len, "minLength", "maxLength"),
    ((list, tuple), len, "minItems", "maxItems"),
    (Mapping, len, "minProperties", "maxProperties"),
]


def _below(path: str, name: Any) -> str:
    shown = name[:80] if isinstance(name, str) else brief_start(name)
    return f"{path}.{shown}" if path else shown


def _list_of(schema: Schema, keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _same(left: Any, right: Any) -> bool:
    """As JSON compares: true is not 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _described(value: Any) -> str:
    kind = next((name for name in _IS_TYPE if _IS_TYPE[name](value)), type(value).__name__)
    return "null" if value is None else f"{_article(kind)} ({brief_start(value, 40)})"


def _article(kind: str) -> str:
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _listed(choices: Any) -> str:
    shown = list(choices)[:20]
    return ", ".join("null" if each is None else brief_start(each, 40) for each in shown)
