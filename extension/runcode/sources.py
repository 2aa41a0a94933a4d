"""The SOURCEs of the magic: Python expressions in the user's namespace, and what they lend."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from sandbox_kernel.errors import OptionError
from sandbox_kernel.exports import classes_of, exports_of
from sandbox_kernel.notebook.options.grammar import Source
from sandbox_kernel.notebook.options.modules import module_text
from sandbox_kernel.spelling import nearest

_NAMED = 8  # names in a note
Evaluate = Callable[[str], Any]


class Namespace:
    """Resolves the sources of one line."""

    def __init__(
        self, evaluate: Evaluate, names: Mapping[str, Any], modules: Mapping[str, str]
    ) -> None:
        self._evaluate = evaluate
        self._names = names
        self._modules = modules
        self.skipped: dict[str, list[str]] = {}  # names that could not be lent, by specifier
        self.classes: dict[str, list[str]] = {}  # of what was lent so far

    def resolve(self, source: Source) -> Any:
        """The value, exports or text that an option named."""
        match source.kind:
            case "import":
                owner = _lendable(source, self._value(source))
                self.classes[source.name] = classes_of(owner)
                exports = exports_of(owner)
                self.skipped[source.name] = list(exports.skipped)
                return exports.values
            case "module":
                return self._module(source)
            case _:
                return self._value(source)

    def has(self, name: str) -> bool:
        """Whether there is such a variable, and `--global` could lend it."""
        value = self._names.get(name)
        return name in self._names and not isinstance(value, (ModuleType, type))

    def _module(self, source: Source) -> str:
        if source.text is None:
            if source.name not in self._modules:
                raise OptionError(
                    f"this notebook has no module {source.name}; declare it with "
                    f"%%runmodule {source.name}, or write --module {source.name}=EXPRESSION",
                    "module",
                )
            return self._modules[source.name]
        text = self._value(source)
        if not isinstance(text, str):
            kind = type(text).__name__
            raise OptionError(
                f"--module {source.name}={source.text} must be a string of source text, not {kind}",
                "module",
            )
        return module_text(source.name, text)

    def _value(self, source: Source) -> Any:
        if source.text is None and not source.name.isidentifier():
            raise OptionError(
                f"--{source.kind} {source.name} needs a source, since it is not a Python name: "
                f"--{source.kind} {source.name}=EXPRESSION",
                source.kind,
            )
        text = source.name if source.text is None else source.text
        try:
            return self._evaluate(text)
        except Exception as error:
            hint = self._hint(error)
            raised = f"{text} raised {type(error).__name__}: {error}"
            option = f"--{source.kind} {source.name}".rstrip()
            message = f"{option}: {raised}{hint}"
            raise OptionError(message, source.kind) from error

    def _hint(self, error: Exception) -> str:
        if not isinstance(error, NameError) or error.name is None:
            return ""
        public = [name for name in self._names if not name.startswith("_")]
        close = nearest(error.name, public)
        if close is None and _is_module(error.name):
            return f"; import it first: import {error.name}"
        return f"; did you mean {close}?" if close is not None else ""


def skipped_note(specifier: str, names: list[str]) -> str:
    """What a module or an object has and could not lend, in one line."""
    shown = ", ".join(names[:_NAMED])
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"--import {specifier} left out what cannot be lent: {shown}{rest}"


def _is_module(name: str) -> bool:
    """Whether Python could import it. Looks for a top-level name, which imports nothing."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


# They have attributes, as everything in Python, but nobody means those.
_PLAIN = (str, bytes, int, float, complex, list, tuple, set, frozenset, type(None))


def _lendable(source: Source, value: Any) -> Any:
    if isinstance(value, _PLAIN):
        kind = type(value).__name__
        raise OptionError(
            f"--import {source.name} cannot lend a value of type {kind} as a module;"
            f" write --global {source.name.rpartition('/')[2]}={source.text or source.name}",
            source.kind,
        )
    return value
