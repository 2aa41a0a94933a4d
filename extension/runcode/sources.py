"""SOURCES of the magic: Python expressions of the user's namespace, and what they lend.

A dict lends what is in it, as it is. A module or any other object lends its public functions and
those of its public values that can cross; the rest (classes, loggers, other modules) stays home.
"""

from __future__ import annotations

import types
from array import array
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from sandbox_kernel.contract import is_exportable_from_python
from sandbox_kernel.errors import OptionError
from sandbox_kernel.notebook.options.grammar import Source, nearest
from sandbox_kernel.values import GuestFunction, JSMap, JSSet, Undefined

_VALUES = (
    *(type(None), bool, int, float, str, bytes, bytearray, memoryview, array, datetime),
    *(list, tuple, dict, set, frozenset, JSMap, JSSet, Undefined, GuestFunction, Awaitable),
)

Evaluate = Callable[[str], Any]


class Namespace:
    """Resolves the sources of one line."""

    def __init__(
        self, evaluate: Evaluate, names: Mapping[str, Any], modules: Mapping[str, str]
    ) -> None:
        self._evaluate = evaluate
        self._names = names
        self._modules = modules

    def resolve(self, source: Source) -> Any:
        """The value, exports or text that an option named."""
        match source.kind:
            case "import":
                return exports_of(self._value(source))
            case "module":
                return self._module(source)
            case _:
                return self._value(source)

    def _module(self, source: Source) -> str:
        if source.text is None:
            if source.name not in self._modules:
                raise OptionError(
                    f"--module {source.name} names no module of this notebook; "
                    f"%%runmodule {source.name} keeps one",
                    "module",
                )
            return self._modules[source.name]
        text = self._value(source)
        if not isinstance(text, str):
            kind = type(text).__name__
            raise OptionError(f"--module {source.name} must be source text, not {kind}", "module")
        return text

    def _value(self, source: Source) -> Any:
        if source.text is None and not source.name.isidentifier():
            raise OptionError(
                f"--{source.kind} {source.name} needs a source: "
                f"--{source.kind} {source.name}=EXPRESSION",
                source.kind,
            )
        text = source.name if source.text is None else source.text
        try:
            return self._evaluate(text)
        except Exception as error:
            hint = self._hint(error)
            message = f"--{source.kind} {source.name}: {text} gave {type(error).__name__}: {error}"
            raise OptionError(message + hint, source.kind) from error

    def _hint(self, error: Exception) -> str:
        if not isinstance(error, NameError) or error.name is None:
            return ""
        public = [name for name in self._names if not name.startswith("_")]
        hint = nearest(error.name, public)
        return f"; {hint}" if hint.startswith("did you mean") else ""


def exports_of(owner: Any) -> Mapping[str, Any]:
    """What `--import` lends of it."""
    if isinstance(owner, Mapping):
        return owner
    if isinstance(owner, types.ModuleType):
        return _of_module(owner)
    return {name: value for name, value in _public(owner, dir(owner)) if _can_cross(value)}


def _of_module(module: types.ModuleType) -> dict[str, Any]:
    """`__all__` if there is one; else what is public and was not imported from elsewhere."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return {name: value for name, value in _public(module, listed) if _can_cross(value)}
    return {
        name: value
        for name, value in _public(module, vars(module))
        if _can_cross(value) and _home(value, module) == module.__name__
    }


def _home(value: Any, module: types.ModuleType) -> Any:
    """The module a function was defined in; plain values do not say, and count as the module's."""
    return getattr(value, "__module__", None) or module.__name__


def _public(owner: Any, names: Any) -> list[tuple[str, Any]]:
    found = []
    for name in names:
        if is_exportable_from_python(name):
            try:
                found.append((name, getattr(owner, name)))
            except Exception:  # a property may raise whatever it likes
                continue
    return found


def _can_cross(value: Any) -> bool:
    if isinstance(value, type | types.ModuleType):
        return False
    return callable(value) or isinstance(value, _VALUES) or _has_buffer(value)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True
