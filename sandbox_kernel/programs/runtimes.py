"""The languages of programs: names, other names, suffixes; one table for every face."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import OptionError
from ..spelling import nearest


class Runtime(NamedTuple):
    """What runs programs of one language."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    is_supported: bool = False


RUNTIMES = (
    Runtime("python", "Python", ("py", "python3"), (".py",), is_supported=True),
    Runtime("node", "Node.js", ("nodejs",), (".cjs", ".mjs")),
    Runtime("deno", "Deno"),
    Runtime("javascript", "JavaScript", ("js",), (".js",)),
    Runtime("typescript", "TypeScript", ("ts",), (".ts",)),
)
_BY_NAME = {name: runtime for runtime in RUNTIMES for name in (runtime.name, *runtime.aliases)}


def runtime_of(language: object) -> Runtime:
    """By any of its names, in any case; OptionError if no program of it can run."""
    if not isinstance(language, str):
        raise OptionError(f"language must be a string, not {type(language).__name__}", "language")
    runtime = _BY_NAME.get(language.casefold().strip())
    if runtime is None:
        raise OptionError(f"unknown language {language!r}; {_hint(language)}", "language")
    if not runtime.is_supported:
        raise OptionError(
            f"programs in {runtime.title} cannot be run yet; supported: {_supported()}", "language"
        )
    return runtime


def _hint(language: str) -> str:
    close = nearest(language.casefold(), _BY_NAME)
    guess = f"did you mean {close!r}? " if close else ""
    return f"{guess}Supported: {_supported()}"


def _supported() -> str:
    return ", ".join(each.name for each in RUNTIMES if each.is_supported)
