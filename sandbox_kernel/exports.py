"""What of an owner is public: one rule for `%%bridge`, `--import`, completion, and all that lends.

- A mapping lends what is in it.
- An owner with `__all__` lends what that lists, as `from owner import *` would.
- A module lends its public names (no underscore in front) that were made there rather than
  imported. Classes and other modules are left out. The text of a `%%bridge` cell says which names it
  imports; elsewhere a function's `__module__` says so, and data counts as made where it is.
- Any other object lends its public attributes.

What cannot cross into a sandbox is left out of modules and objects, however deep it sits: they
were not written to be lent. So is the data of a large array or frame: `--import df` is for its
functions, and a copy of each view of it would be lent along. A mapping and a `%%bridge` cell were
written to be lent, so there it is an error that names it, raised by whoever lends.
"""

from __future__ import annotations

import inspect
import keyword
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .errors import OptionError, SerializationError
from .plain.containers import cell_count
from .wire.values import encode

# Items of nested data that are looked at to tell whether it can cross. What is larger is lent as
# it is: encoding it twice would cost more than the error that a run may give instead.
LOOKED_AT = 50_000
MOST_CELLS = 1_000  # of data that an array or a frame lends along with its functions

_CONTAINERS = (Mapping, list, tuple, set, frozenset)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_CLASSES_AND_MODULES = (type, types.ModuleType)


@dataclass(frozen=True, slots=True)
class Exports:
    """What an owner lends, and why each of the rest that is public cannot cross."""

    values: Mapping[str, Any]
    skipped: Mapping[str, str] = field(default_factory=dict)


def exports_of(owner: Any) -> Exports:
    """What `owner` lends; properties of an object are read for it."""
    if isinstance(owner, Mapping):
        return Exports(owner)
    values: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for name in _names_to_read(owner):
        try:
            value = getattr(owner, name)
            if not _is_class_or_module(value):
                _check_data(owner, value)
                check_crossing(value, bounded=True)
                values[name] = value
        except Exception as error:  # a property may raise whatever it likes
            skipped[name] = str(error) or type(error).__name__
    return Exports(values, skipped)


def _check_data(owner: Any, value: Any) -> None:
    count = cell_count(value)
    if count > MOST_CELLS and cell_count(owner):
        raise SerializationError(f"it has {count:,} cells; lend the data by itself, as a global")


def exports_of_cell(namespace: Mapping[str, Any], imported: Collection[str]) -> dict[str, Any]:
    """What a cell of Python lends that ended with this namespace and imported these names."""
    names = _listed(namespace.get("__all__"))
    if names is None:
        names = _public(namespace, lambda name, _: name not in imported)
    missing = [name for name in names if name not in namespace]
    if missing:
        raise OptionError(f"__all__ lists {missing[0]!r}, which the cell does not define")
    return {name: namespace[name] for name in names}


def names_of(owner: Any) -> list[str]:
    """What `owner` lends, or would if it can cross. For completion: nothing of the owner is run."""
    if issubclass(type(owner), Mapping):
        keys = dict.keys(owner) if issubclass(type(owner), dict) else ()
        return [key for key in keys if isinstance(key, str)]
    namespace = _static_namespace(owner)
    listed = _listed(namespace.get("__all__"))
    if listed is not None:
        return [name for name in listed if not _is_class_or_module(namespace.get(name))]
    return _public(namespace, _is_made_in(owner))


def classes_of(owner: Any) -> list[str]:
    """The public classes of `owner`, which it does not lend; nothing of the owner is run."""
    namespace = _static_namespace(owner)
    return [n for n, value in namespace.items() if is_public(n) and issubclass(type(value), type)]


def is_public(name: str) -> bool:
    """Whether a Python name is public and usable as it stands."""
    return name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)


def check_crossing(value: Any, path: str = "", *, bounded: bool = False) -> None:
    """Raises `SerializationError` if `value` cannot cross, as the encoder of every run does."""
    if not bounded or _is_small(value):
        encode(value, path, _NoLender())


def holds_functions(value: Any) -> bool:
    """Whether functions would be lent along with `value`, however deep they lie."""
    lender = _NoLender()
    encode(value, "", lender)
    return lender.was_asked


class _NoLender:
    """A `Lender` that keeps nothing, for an encoding that nobody sends."""

    naive_is_utc = False
    was_asked = False

    def lend_function(self, function: Callable[..., Any], path: str) -> tuple[int, int, str]:
        self.was_asked = True
        return 0, 0, ""

    def lend_awaitable(self, awaitable: Any) -> int:
        return 0


def _names_to_read(owner: Any) -> Iterable[str]:
    listed = _listed(inspect.getattr_static(owner, "__all__", None))
    if listed is not None:
        return listed
    if _is_module(owner):
        return _public(vars(owner), _is_made_in(owner))
    return filter(is_public, dir(owner))


def _listed(names: Any) -> list[str] | None:
    """`__all__`, if that is what it is."""
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return list(names)
    return None


def _public(namespace: Mapping[str, Any], is_made_here: Callable[[str, Any], bool]) -> list[str]:
    return [
        name
        for name, value in namespace.items()
        if is_public(name) and not _is_class_or_module(value) and is_made_here(name, value)
    ]


# By their own type: `isinstance` would ask them for their `__class__`.
def _is_class_or_module(value: Any) -> bool:
    return issubclass(type(value), _CLASSES_AND_MODULES)


def _is_module(owner: Any) -> bool:
    return issubclass(type(owner), types.ModuleType)


def _is_made_in(owner: Any) -> Callable[[str, Any], bool]:
    if not _is_module(owner):
        return lambda _name, _value: True
    home = owner.__name__
    return lambda _name, value: not callable(value) or _home(value) in (home, None)


def _home(function: Any) -> str | None:
    """The module it was defined in, if it says; nothing of its own is run to find out."""
    if issubclass(type(function), _FUNCTIONS):
        named: str | None = function.__module__
        return named
    static = inspect.getattr_static(function, "__module__", None)
    return static if type(static) is str else None


def _static_namespace(owner: Any) -> dict[str, Any]:
    """Attributes as they lie in the object and its classes; no property is read for it."""
    namespace: dict[str, Any] = {}
    if not _is_module(owner):
        for each in reversed(type(owner).__mro__[:-1]):
            namespace.update(vars(each))
    try:
        namespace.update(object.__getattribute__(owner, "__dict__"))
    except AttributeError:
        pass  # it has slots
    return namespace


def _is_small(value: Any) -> bool:
    return sum(1 for _ in islice(_items(value), LOOKED_AT)) < LOOKED_AT


def _items(root: Any) -> Iterator[Any]:
    """Everything in nested containers; a container that is met again is not entered again."""
    entered: set[int] = set()
    levels: list[Iterator[Any]] = [iter([root])]
    while levels:
        for value in levels[-1]:
            yield value
            if isinstance(value, _CONTAINERS) and id(value) not in entered:
                entered.add(id(value))
                levels.append(iter(value.values() if isinstance(value, Mapping) else value))
                break
        else:
            levels.pop()
