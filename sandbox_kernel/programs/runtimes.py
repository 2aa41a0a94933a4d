"""The languages of programs: names, other names, suffixes; one table for every face."""

from __future__ import annotations

import itertools
import os
from collections.abc import Container
from typing import NamedTuple

from ..errors import OptionError
from ..spelling import nearest


class Runtime(NamedTuple):
    """What runs programs of one language."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()  # what it calls its source, if it has a file for it
    is_script: bool = False  # runs on the engine

    def names(self, inputs: Container[str]) -> dict[str, str]:
        """Of the files that it may make for its source, beside the program's own."""
        return {key: _free_name(name, inputs) for key, name in self.sources}


def _free_name(name: str, taken: Container[str]) -> str:
    stem, suffix = os.path.splitext(name)
    numbered = (f"{stem}-{number}{suffix}" for number in itertools.count(1))
    return name if name not in taken else next(each for each in numbered if each not in taken)


_SOURCES_OF_NODE = (("name", "program.js"), ("moduleName", "program.mjs"))
_SOURCES_OF_DENO = (("name", "program.ts"),)
PYTHON, NODE, DENO = "python", "node", "deno"
RUNTIMES = (
    Runtime(PYTHON, "Python", ("py", "python3"), (".py",)),
    Runtime(NODE, "Node.js", ("nodejs",), (".cjs",), _SOURCES_OF_NODE),
    Runtime(DENO, "Deno", sources=_SOURCES_OF_DENO),
    Runtime("javascript", "JavaScript", ("js",), (".js", ".mjs"), is_script=True),
    Runtime("typescript", "TypeScript", ("ts",), (".ts", ".mts"), is_script=True),
)
NAMES = tuple(runtime.name for runtime in RUNTIMES)
_BY_NAME = {name: runtime for runtime in RUNTIMES for name in (runtime.name, *runtime.aliases)}


def runtime_of(language: object) -> Runtime:
    """By any of its names, in any case; OptionError if there is none."""
    if not isinstance(language, str):
        raise OptionError(f"language must be a string, not {type(language).__name__}", "language")
    runtime = _BY_NAME.get(language.casefold().strip())
    if runtime is None:
        raise OptionError(f"unknown language {language!r}; {_hint(language)}", "language")
    return runtime


def _hint(language: str) -> str:
    close = nearest(language.casefold(), _BY_NAME)
    guess = f"did you mean {close!r}? " if close else ""
    from .binaries import is_installed  # which looks for those of this table

    there = [name for name in NAMES if is_installed(name)]
    missing = [
        f"; {name} is not installed: `pip install 'sandbox-kernel[{name}]'`"
        for name in NAMES
        if name not in there
    ]
    return f"{guess}Supported: {', '.join(there)}{''.join(missing)}"
