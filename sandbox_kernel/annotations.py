"""JSON Schemas of Python annotations, and values of JSON made into what was annotated.

Both directions stand beside each other for each kind of annotation, so that what a schema promises is
what the function gets.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Union, get_args, get_origin, is_typeddict
from uuid import UUID

from .errors import OptionError
from .schemas import problem_with

Schema = dict[str, Any]
Make = Callable[[Any], Any]  # of a value that fits the schema
_DEEPEST = 20  # annotations within each other
_MOST_IN_A_SET = 1_000


class Kind(NamedTuple):
    """What an annotation means. `make` is None if the value is used as it is."""

    schema: Schema
    make: Make | None = None


def _set_of(values: Iterable[Any], into: type = set) -> Any:
    """Of what a guest chose, which may be numbers that collide in it."""
    items = list(values)
    if len(items) > _MOST_IN_A_SET and not all(type(item) is str for item in items):
        raise ValueError(f"a set has at most {_MOST_IN_A_SET:,} items that are not all texts")
    return into(items)


_SCALARS: dict[Any, Kind] = {
    Any: Kind({}),
    object: Kind({}),
    None: Kind({"type": "null"}),
    type(None): Kind({"type": "null"}),
    bool: Kind({"type": "boolean"}),
    int: Kind({"type": "integer"}, int),  # 3.0 is one, too
    float: Kind({"type": "number"}),
    str: Kind({"type": "string"}),
    dict: Kind({"type": "object"}),
    list: Kind({"type": "array"}),
    tuple: Kind({"type": "array"}, tuple),
    set: Kind({"type": "array"}, _set_of),
    date: Kind({"type": "string", "format": "date"}, date.fromisoformat),
    datetime: Kind({"type": "string", "format": "date-time"}, datetime.fromisoformat),
    time: Kind({"type": "string", "format": "time"}, time.fromisoformat),
    timedelta: Kind(
        {"type": "number", "description": "milliseconds"}, lambda ms: timedelta(milliseconds=ms)
    ),
    Decimal: Kind({"type": "string"}, Decimal),
    UUID: Kind({"type": "string", "format": "uuid"}, UUID),
    Path: Kind({"type": "string"}, Path),
}
_LISTS = (list, Sequence, typing.Iterable, AbstractSet, set, frozenset)
_MAPPINGS = (dict, Mapping)


def kind_of(annotation: Any, where: str, depth: int = 0) -> Kind:
    """Raises OptionError for an annotation that JSON has nothing for; `where` names it."""
    if depth > _DEEPEST:
        raise OptionError(
            f"{where} refers to itself, or nests too deep, to be described in a schema"
        )
    try:
        if annotation in _SCALARS:
            return _SCALARS[annotation]
    except TypeError:
        pass  # not hashable, so not one of these
    if get_origin(annotation) is typing.Annotated:
        return _annotated(annotation, where, depth)
    for applies, kind in _KINDS:
        if applies(annotation):
            return kind(annotation, where, depth + 1)
    raise OptionError(
        f"{where} is annotated with {annotation!r:.80}, which JSON has nothing for;"
        " use str, int, float, bool, list, dict, a dataclass, or Any"
    )


def _annotated(annotation: Any, where: str, depth: int) -> Kind:
    """`Annotated[str, "what it is for"]`: a text describes the parameter."""
    inner, *notes = get_args(annotation)
    kind = kind_of(inner, where, depth + 1)
    texts = [note for note in notes if isinstance(note, str)]
    return kind._replace(schema=kind.schema | {"description": texts[0]}) if texts else kind


def _union(annotation: Any, where: str, depth: int) -> Kind:
    kinds = [kind_of(each, where, depth) for each in get_args(annotation)]
    schema = {"anyOf": [kind.schema for kind in kinds]}
    if all(kind.make is None for kind in kinds):
        return Kind(schema)

    def make(value: Any) -> Any:
        for kind in kinds:
            if problem_with(value, kind.schema) is None:
                return value if kind.make is None else kind.make(value)
        return value

    return Kind(schema, make)


def _literal(annotation: Any, where: str, depth: int) -> Kind:
    return Kind({"enum": list(get_args(annotation))})


def _enum(annotation: Any, where: str, depth: int) -> Kind:
    return Kind({"enum": [member.value for member in annotation]}, annotation)


def _list(annotation: Any, where: str, depth: int) -> Kind:
    (inner,) = get_args(annotation) or (Any,)
    item = kind_of(inner, where, depth)
    container = get_origin(annotation)
    into: Any = list
    if isinstance(container, type) and issubclass(container, AbstractSet):
        into = partial(_set_of, into=frozenset) if container is frozenset else _set_of
    schema = {"type": "array", "items": item.schema}
    if item.make is None:
        return Kind(schema, None if into is list else into)
    make_item = item.make
    return Kind(schema, lambda values: into(map(make_item, values)))


def _tuple(annotation: Any, where: str, depth: int) -> Kind:
    args = get_args(annotation)
    if len(args) == 2 and args[1] is Ellipsis:
        inner = _list(list[args[0]], where, depth)  # type: ignore[valid-type]  # known at run time
        return Kind(
            inner.schema, lambda values: tuple(inner.make(values) if inner.make else values)
        )
    kinds = [kind_of(each, where, depth) for each in args]
    schema = {
        "type": "array",
        "prefixItems": [kind.schema for kind in kinds],
        "minItems": len(kinds),
        "maxItems": len(kinds),
    }
    return Kind(schema, lambda values: tuple(_made(kinds, values)))


def _mapping(annotation: Any, where: str, depth: int) -> Kind:
    key, value = get_args(annotation) or (str, Any)
    if key is not str:
        raise OptionError(f"{where} has keys of type {key!r:.80}; the keys of JSON are strings")
    kind = kind_of(value, where, depth)
    schema: Schema = {"type": "object", "additionalProperties": kind.schema}
    if kind.make is None:
        return Kind(schema)
    make = kind.make
    return Kind(schema, lambda given: {name: make(each) for name, each in given.items()})


def _dataclass(annotation: Any, where: str, depth: int) -> Kind:
    hints = typing.get_type_hints(annotation, include_extras=True)
    fields = [field for field in dataclasses.fields(annotation) if field.init]
    needed = [
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    return _record(annotation, {f.name: hints[f.name] for f in fields}, needed, where, depth)


def _named_tuple(annotation: Any, where: str, depth: int) -> Kind:
    hints = typing.get_type_hints(annotation, include_extras=True)
    fields = {name: hints.get(name, Any) for name in annotation._fields}
    needed = [name for name in fields if name not in annotation._field_defaults]
    return _record(annotation, fields, needed, where, depth)


def _typed_dict(annotation: Any, where: str, depth: int) -> Kind:
    hints = typing.get_type_hints(annotation, include_extras=True)
    fields = {name: _without_required(hint) for name, hint in hints.items()}
    needed = [name for name, hint in hints.items() if _is_required(name, hint, annotation)]
    return _record(dict, fields, needed, where, depth)


def _record(
    make: Callable[..., Any], fields: Mapping[str, Any], needed: list[str], where: str, depth: int
) -> Kind:
    kinds = {name: kind_of(each, f"{where}.{name}", depth) for name, each in fields.items()}
    schema = {
        "type": "object",
        "properties": {name: kind.schema for name, kind in kinds.items()},
        "required": needed,
        "additionalProperties": False,
    }
    return Kind(schema, lambda given: make(**made_fields(kinds, given)))


def made_fields(kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> dict[str, Any]:
    """Each value as its kind makes it."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        make = kinds[name].make if name in kinds else None
        made[name] = value if make is None else make(value)
    return made


def _made(kinds: list[Kind], values: list[Any]) -> list[Any]:
    pairs = zip(kinds, values, strict=True)
    return [value if kind.make is None else kind.make(value) for kind, value in pairs]


def _pydantic(annotation: Any, where: str, depth: int) -> Kind:
    """A model's own schema, and its own validation."""
    return Kind(annotation.model_json_schema(), annotation.model_validate)


def _is_pydantic(annotation: Any) -> bool:
    """Only where the caller has loaded pydantic."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and _is_class(annotation, pydantic.BaseModel)


def _without_required(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (typing.Required, typing.NotRequired) else hint


def _is_required(name: str, hint: Any, typed_dict: Any) -> bool:
    """What the field itself says counts; annotations that are text hide it from the class."""
    origin = get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return name in typed_dict.__required_keys__


def _is_class(annotation: Any, of: type) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, of)


_KINDS: list[tuple[Callable[[Any], bool], Callable[[Any, str, int], Kind]]] = [
    (lambda a: get_origin(a) in (Union, types.UnionType), _union),
    (lambda a: get_origin(a) is typing.Literal, _literal),
    (lambda a: _is_class(a, enum.Enum), _enum),
    (is_typeddict, _typed_dict),
    (_is_pydantic, _pydantic),
    (lambda a: isinstance(a, type) and dataclasses.is_dataclass(a), _dataclass),
    (lambda a: _is_class(a, tuple) and hasattr(a, "_fields"), _named_tuple),
    (lambda a: get_origin(a) is tuple, _tuple),
    (lambda a: (get_origin(a) or a) in _MAPPINGS, _mapping),
    (lambda a: (get_origin(a) or a) in _LISTS, _list),
]
