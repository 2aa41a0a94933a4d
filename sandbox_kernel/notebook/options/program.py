"""The option grammar of `%%runprogram LANGUAGE OPTIONS`, the same in the kernel and in the magic."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import OptionError
from ...programs.runtimes import NAMES, runtime_of
from .files import read_content
from .grammar import Face, Option, Readers, Source, Table, read_options
from .help import complete_options
from .units import Deadline, read_deadline, read_size
from .words import listed, split_words, words_of

LentAs = Callable[[Any], str | None]
"""What rules know a function by that is lent to cells, too, such as `mail.send`."""


def nowhere_else(function: Any) -> str | None:
    """What rules know a function by that is lent as a tool only."""
    return None


PROGRAM_OPTIONS: Table = (
    Option("arg", "TEXT", "an argument of the program", repeatable=True),
    Option("stdin", "SOURCE", "what it reads from its standard input"),
    Option("file", "NAME[=SOURCE]", "a file in its directory; without a source, yours of that name",
           repeatable=True),
    Option("session", "ID", "run in the workspace of this id, whose files stay"),
    Option("packages", "A,B", "lend installed packages, such as pandas,matplotlib"),
    Option("tool", "NAME[=SOURCE]", "lend a function: `call_tool('NAME', {…})`", repeatable=True),
    Option("ask", None, "ask before each call of what the --tool before this one lends",
           repeatable=True),
    Option("allow", "KIND=LIST", "grant read, write, env or net, such as read=data,more",
           repeatable=True),
    Option("deadline", "TIME", "end the program after 2s, 500ms or 1m; a bare number is seconds",
           choices=("500ms", "2s", "30s")),
    Option("memory", "SIZE", "limit of its memory, such as 512MiB", choices=("64MiB", "256MiB", "1GiB")),
    Option("into", "NAME", "keep the ProgramResult in this variable", face="magic"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramCellOptions:
    """A parsed line. None means not given."""

    language: str = "python"
    args: tuple[str, ...] = ()
    stdin: Source | None = None
    files: Mapping[str, Source] = field(default_factory=dict)
    session: str | None = None
    packages: tuple[str, ...] | None = None
    tools: Mapping[str, Source] = field(default_factory=dict)
    asks: tuple[str, ...] = ()  # those of the tools that were lent with --ask
    allow: Mapping[str, list[str] | bool] | None = None
    deadline: Deadline | None = None
    memory: int | None = None
    into: str | None = None

    def run_options(
        self, resolve: Callable[[Source], Any], lent_as: LentAs = nowhere_else
    ) -> dict[str, Any]:
        """The named options of `run_program`, every source resolved; and `asks`, those of the tools."""
        tools = tools_of(self.tools.values(), resolve, lent_as)
        stdin = None if self.stdin is None else _content(self.stdin, resolve)
        return {
            "args": list(self.args),
            "stdin": stdin,
            "files": {name: _content(source, resolve) for name, source in self.files.items()},
            "timeout_ms": math.inf,
            "memory_limit_bytes": self.memory,
            "packages": None if self.packages is None else list(self.packages),
            "tools": tools or None,
            "asks": [
                name
                for each in self.asks
                for name in tools_of([self.tools[each]], resolve, lent_as)
            ],
            "allow": self.allow,
            "session": self.session,
        }


def parse_program_options(line: str, face: Face) -> ProgramCellOptions:
    """The language, Python's if none is named, and the options."""
    words = [word.text for word in words_of(line)]
    options = ProgramCellOptions()
    if words and not words[0].startswith("-"):
        options = replace(options, language=runtime_of(words.pop(0)).name)
    return read_options(words, options, _READERS, face, PROGRAM_OPTIONS)


def complete_program_options(
    line: str, face: Face, names: Callable[[Option, str], list[str]]
) -> tuple[int, list[str]]:
    """As `complete_options`; the first word may be a language."""
    words, _ = split_words(line)
    start, matches = complete_options(line, face, names, PROGRAM_OPTIONS)
    is_first = not words or (len(words) == 1 and words[0].end == len(line))
    if is_first and not line.lstrip().startswith("-"):
        typed = line.strip()
        matches = [*(name for name in NAMES if name.startswith(typed)), *matches]
    return start, matches


def _content(source: Source, resolve: Callable[[Source], Any]) -> str | bytes:
    """Text or bytes as they are, other plain data as JSON; `@PATH` is that file, in both faces."""
    given = f"--{source.kind} {source.name}".rstrip()
    if source.text is None or source.text.startswith("@"):
        path = source.name if source.text is None else source.text[1:]
        return read_content(path)
    value = resolve(source)
    if isinstance(value, str | bytes):
        return value
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{given}: {error}; give text, bytes or plain data", source.kind
        ) from None


def tools_of(
    sources: Iterable[Source], resolve: Callable[[Source], Any], lent_as: LentAs = nowhere_else
) -> dict[str, Any]:
    """A function under the name that it was given; of a bridge or a mapping all functions."""
    from ...tools.tool import FunctionTool  # slow to load, and most notebooks have none

    tools: dict[str, Any] = {}
    for source in sources:
        value = resolve(source)
        found = {source.name: value} if callable(value) else value
        functions = isinstance(found, Mapping) and {k: v for k, v in found.items() if callable(v)}
        if not functions:
            kind = type(value).__name__
            raise OptionError(
                f"--tool {source.name} must be a function, or a mapping of functions, not {kind}",
                "tool",
            )
        for name, function in functions.items():
            if name in tools and tools[name].function != function:
                raise OptionError(
                    f"two tools are called {name}; give one another name: --tool NAME=SOURCE",
                    "tool",
                )
            tools[name] = FunctionTool(function, name, lent_as=lent_as(function))
    return tools


def _read_arg(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, args=(*options.args, text))


def _read_stdin(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, stdin=Source("stdin", "", text))


def _read_file(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    name, equals, source = text.partition("=")
    if not name or (equals and not source.strip()):
        raise OptionError(f"--file {text} has no {'source' if name else 'name'}", "file")
    found = Source("file", name, source.strip() if equals else None)
    target = name if equals else Path(name).name
    if target in options.files:
        raise OptionError(f"--file {target} was given twice", "file")
    return replace(options, files={**options.files, target: found})


def with_tool(tools: Mapping[str, Source], text: str) -> dict[str, Source]:
    """One more, `NAME` or `NAME=SOURCE`; `shop.price` alone is called `price`."""
    name, equals, source = text.partition("=")
    if not name or (equals and not source.strip()):
        missing = "source" if name else "name"
        raise OptionError(f"--tool {text} has no {missing}; write NAME=SOURCE", "tool")
    if name in tools:
        raise OptionError(f"--tool {name} was given twice", "tool")
    if equals:
        found = Source("tool", name, source.strip())
    else:
        found = Source("tool", name.rpartition(".")[2], name if "." in name else None)
    return {**tools, name: found}


def _read_tool(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, tools=with_tool(options.tools, text))


def _read_ask(options: ProgramCellOptions, lent: str) -> ProgramCellOptions:
    if not lent:
        raise OptionError("--ask goes after the option that it is about: --tool send --ask", "ask")
    return replace(options, asks=(*options.asks, lent))


def _read_allow(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    kind, equals, given = text.partition("=")
    kept = dict(options.allow or {})
    if kind in kept:
        raise OptionError(f"--allow {kind} was given twice; write --allow {kind}=A,B", "allow")
    kept[kind] = listed("allow", given) if equals else True
    return replace(options, allow=kept)


def _read_packages(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, packages=tuple(listed("packages", text)))


def _read_memory(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, memory=read_size(text))


def _read_deadline(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, deadline=read_deadline(text))


def _read_session(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, session=text)


def variable(text: str) -> str:
    if not text.isidentifier():
        raise OptionError(
            f"--into {text} is not a Python name; write it like --into answer", "into"
        )
    return text


def _read_into(options: ProgramCellOptions, text: str) -> ProgramCellOptions:
    return replace(options, into=variable(text))


_READERS: Readers[ProgramCellOptions] = {
    "arg": _read_arg,
    "stdin": _read_stdin,
    "file": _read_file,
    "session": _read_session,
    "packages": _read_packages,
    "tool": _read_tool,
    "ask": _read_ask,
    "allow": _read_allow,
    "deadline": _read_deadline,
    "memory": _read_memory,
    "into": _read_into,
}
