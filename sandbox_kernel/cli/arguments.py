"""The words behind `sandbox-kernel run`: a file, its arguments, and what to lend it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import OptionError
from ..notebook.options.files import parse_json, read_content, read_source, read_value
from ..notebook.options.grammar import SYNONYMS
from ..notebook.options.modules import module_text
from ..notebook.options.units import Deadline, read_deadline, read_size
from ..notebook.options.words import listed
from ..npm import modules_from
from ..programs.runtimes import runtime_of
from ..spelling import suggestion

_ARGS = "args"  # the global that holds them


@dataclass(slots=True)
class Arguments:
    """What stands beside the file; files that it names have been read."""

    args: list[str] = field(default_factory=list)
    globals: dict[str, Any] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    deadline: Deadline | None = None
    memory: int | None = None
    json: bool = False
    language: str | None = None  # of a program, instead of what its suffix says
    packages: list[str] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    out: str | None = None

    def only_for(self, what: str, names: Iterable[str], why: str) -> None:
        """Refuses those of these options that were given."""
        for name in names:
            given = getattr(self, name)
            if name == "globals":
                given = {key for key in given if key != _ARGS}
            if given:
                option = name if name in ("packages", "out") else name.removesuffix("s")
                raise OptionError(f"--{option} is for {what}; {why}", option)


def parse(words: list[str]) -> tuple[Arguments, str]:
    """The file, and the rest. Raises `OptionError` if anything in it cannot be used."""
    parsed = Arguments()
    seen: set[str] = set()
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            plain.extend(rest)
        elif word.startswith("--"):
            _option(parsed, word[2:], rest, seen, has_file=bool(plain))
        elif word.startswith("-") and word != "-" and not plain:
            raise OptionError(f"{word} is not a file; options start with --, such as --json")
        else:
            plain.append(word)
    if not plain:
        raise OptionError("run needs a file, or - for stdin: sandbox-kernel run FILE [ARGS]")
    parsed.args = plain[1:]
    parsed.globals[_ARGS] = parsed.args
    return parsed, plain[0]


def _option(
    parsed: Arguments, text: str, rest: Iterator[str], seen: set[str], *, has_file: bool
) -> None:
    name, equals, value = text.partition("=")
    if name not in _OPTIONS:
        after = " (arguments of the code go after --)" if has_file else ""
        raise OptionError(
            f"unknown option --{name}; {suggestion(name, _OPTIONS, '--', others=SYNONYMS)}{after}"
        )
    if name in seen and name not in _REPEATABLE:
        raise OptionError(f"--{name} was given twice", name)
    seen.add(name)
    if name == "json":
        if equals:
            raise OptionError("--json takes no value; write just --json", name)
        parsed.json = True
        return
    if not equals:
        value = next(rest, "")
    if not value or (value.startswith("--") and not equals):
        raise OptionError(f"--{name} needs a value: --{name} {_OPTIONS[name]}", name)
    _READERS[name](parsed, value)


def _read_global(parsed: Arguments, text: str) -> None:
    name, _, value = text.partition("=")
    if not name or not value:
        raise OptionError(f"--global {text} has no value; write --global NAME=VALUE", "global")
    if name == _ARGS:
        raise OptionError("--global args cannot be given: args are the words after FILE", "global")
    if name in parsed.globals:
        raise OptionError(f"--global {name} was given twice", "global")
    parsed.globals[name] = _value(name, value)


def _value(name: str, text: str) -> Any:
    if text.startswith("@"):
        return read_value(text[1:])
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        quoted = f"'{name}={json.dumps(text)}'" if "'" not in text else f"{name}=@FILE"
        raise OptionError(
            f"--global {name}={text} is not JSON; a text is written --global {quoted}", "global"
        ) from None


def _read_module(parsed: Arguments, text: str) -> None:
    name, equals, source = text.partition("=")
    if not equals:
        modules = modules_from(text)
    elif source.startswith("@"):
        modules = {name: module_text(name, read_source(source[1:]))}
    else:
        raise OptionError(
            f"--module {text} is not a file; write --module PATH or --module ./NAME=@FILE", "module"
        )
    for key in modules:
        if key in parsed.modules:
            raise OptionError(f"--module {key} was given twice", "module")
    parsed.modules.update(modules)


def _read_deadline(parsed: Arguments, text: str) -> None:
    parsed.deadline = read_deadline(text)


def _read_memory(parsed: Arguments, text: str) -> None:
    parsed.memory = read_size(text)


def _read_language(parsed: Arguments, text: str) -> None:
    parsed.language = runtime_of(text).name


def _read_packages(parsed: Arguments, text: str) -> None:
    parsed.packages = listed("packages", text)


def _read_file(parsed: Arguments, text: str) -> None:
    name, equals, path = text.partition("=")
    name, path = (name, path.removeprefix("@")) if equals else (Path(text).name, text)
    if not name or not path:
        raise OptionError(f"--file {text} has no name or no path; write --file PATH", "file")
    if name in parsed.files:
        raise OptionError(f"--file {name} was given twice", "file")
    parsed.files[name] = read_content(path)


def _read_out(parsed: Arguments, text: str) -> None:
    if Path(text).exists() and not Path(text).is_dir():
        raise OptionError(f"--out {text} is not a folder", "out")
    parsed.out = text


_OPTIONS = {
    "global": "NAME=VALUE",
    "module": "PATH",
    "language": "NAME, such as python",
    "packages": "A,B",
    "file": "PATH",
    "out": "DIR",
    "deadline": "TIME, such as 2s",
    "memory": "SIZE, such as 64MiB",
    "json": "",
}
_REPEATABLE = ("global", "module", "file")
_READERS: dict[str, Callable[[Arguments, str], None]] = {
    "global": _read_global,
    "module": _read_module,
    "language": _read_language,
    "packages": _read_packages,
    "file": _read_file,
    "out": _read_out,
    "deadline": _read_deadline,
    "memory": _read_memory,
}
