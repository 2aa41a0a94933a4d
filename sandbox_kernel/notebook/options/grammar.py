"""The option grammar of `%%runcode`: one table, used by the kernel and by the IPython magic.

A SOURCE is kept as text here and resolved by whoever runs the cell: in the kernel it is a JSON
literal, `@file.json` or a bridge's name, in the magic a Python expression.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from ...capabilities.spelling import CHOICES, capability_of
from ...errors import OptionError
from ...options import LANGUAGE_SYNONYMS, LANGUAGES, is_python
from ...spelling import suggestion, synonyms
from .units import Deadline, read_deadline, read_size
from .words import unquoted, words_of

Face = Literal["kernel", "magic"]
Read = TypeVar("Read")
Readers = Mapping[str, Callable[[Read, str], Read]]
Kind = Literal["import", "global", "module", "map", "stdin", "file", "tool", "script", "model"]


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the grammar; `value` is None for a flag."""

    name: str
    value: str | None
    help: str
    repeatable: bool = False
    choices: tuple[str, ...] = ()  # offered by completion; other values are allowed
    face: Face | None = None  # None: both


Table = tuple[Option, ...]
OPTIONS: Table = (
    Option("fn", "NAME", "the export to run; without it the default export, if there is one"),
    Option("args", "JSON", "a JSON array of arguments for it, such as [1, \"a\"]"),
    Option("import", "SPEC[=SOURCE]", "lend a module: `import … from 'SPEC'`", repeatable=True),
    Option("global", "NAME[=SOURCE]", "lend a free identifier", repeatable=True),
    Option("lend", "NAME[=CAPABILITY]", "lend timers, web, display, fs=files:./FOLDER or fetch=HOST",
           repeatable=True, choices=CHOICES),
    Option("module", "./PATH[=SOURCE]", "add a relative ES module", repeatable=True),
    Option("ask", None, "ask before each call of what the option before this one lends",
           repeatable=True),
    Option("language", "NAME", "typescript (the default) or javascript",
           choices=("typescript", "javascript")),
    Option("memory", "SIZE", "heap limit, such as 64MiB", choices=("16MiB", "64MiB", "256MiB")),
    Option("filename", "NAME", "the name in stack traces; relative imports resolve from it"),
    Option("deadline", "TIME", "terminate the run after 2s, 500ms or 1m; a bare number is seconds",
           choices=("500ms", "2s", "30s")),
    Option("no-widget", None, "show no live view, even if the run reports"),
    Option("keep", "NAME", "keep the result; later cells have it as the global NAME",
           face="kernel"),
    Option("into", "NAME", "keep the CodeExecutionResult in this variable", face="magic"),
    Option("map", "SOURCE", "call the export for each item; --into names the list of results",
           face="magic"),
    Option("background", None, "return at once; --into names the live handle", face="magic"),
    Option("raw", None, "display nothing", face="magic"),
)  # fmt: skip


SYNONYMS = synonyms(
    **{"import": "imports bridge bridges use require", "global": "env var vars globals set"},
    fn="function func export entry main call",
    args="arg arguments params argv",
    module="modules",
    lend="capability capabilities allow grant permit",
    language="lang",
    memory="mem memory_limit max_memory heap ram",
    filename="file name",
    deadline="timeout time time_limit max_time budget limit",
    into="out output result save",
)


@dataclass(frozen=True, slots=True)
class Source:
    """What `--import`, `--global` or `--module` named; `text` is None if only a name was given."""

    kind: Kind
    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class CellOptions:
    """A parsed line. None means not given, so that defaults can fill the gap."""

    fn: str | None = None
    args: tuple[Any, ...] | None = None
    imports: Mapping[str, Source] = field(default_factory=dict)
    globals: Mapping[str, Source] = field(default_factory=dict)
    modules: Mapping[str, Source] = field(default_factory=dict)
    asks: Mapping[str, bool] = field(default_factory=dict)  # names that were lent with --ask
    lend: Mapping[str, str] = field(default_factory=dict)  # as it was typed, by the name
    language: str | None = None
    memory: int | None = None
    filename: str | None = None
    deadline: Deadline | None = None
    no_widget: bool | None = None
    keep: str | None = None
    into: str | None = None
    map: str | None = None
    background: bool | None = None
    raw: bool | None = None

    @property
    def shows_reports(self) -> bool:
        """Whether reports are shown during the run, in a view or as text."""
        return not (self.no_widget or self.raw)

    def over(self, defaults: CellOptions) -> CellOptions:
        """These options, with the defaults for those not given; sources of both are kept."""
        merged: dict[str, Any] = {}
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(defaults, each.name)
            if isinstance(mine, Mapping):
                merged[each.name] = {**theirs, **mine}
            else:
                merged[each.name] = theirs if mine is None else mine
        return CellOptions(**merged)

    def run_options(self, resolve: Callable[[Source], Any]) -> dict[str, Any]:
        """The named options of `run_cell`, every source resolved."""
        options: dict[str, Any] = {
            "imports": {name: resolve(source) for name, source in self.imports.items()},
            "globals": {name: resolve(source) for name, source in self.globals.items()},
            "modules": {name: resolve(source) for name, source in self.modules.items()},
            "language": self.language,
            "memory_limit_bytes": self.memory,
            "filename": self.filename,
        }
        if self.lend:
            options["lend"] = dict(map(capability_of, self.lend.values()))
        if self.fn is not None or self.args is not None:
            options["execute"] = {"fn": self.fn or "default", "args": list(self.args or ())}
        return {name: value for name, value in options.items() if value is not None}


def parse_options(line: str, face: Face) -> CellOptions:
    """The options in a magic's line; `OptionError` says what is wrong with it."""
    words = [word.text for word in words_of(line)]
    return read_options(words, CellOptions(), _READERS, face)


def read_options(
    given: Iterable[str], options: Read, readers: Readers[Read], face: Face, table: Table = OPTIONS
) -> Read:
    """The options that words spell, each read by its own function."""
    seen: set[str] = set()
    lent = ""  # by the option before
    words = iter(given)
    for text in words:
        option, value = option_of(text, words, face, table)
        if option.name in seen and not option.repeatable:
            raise OptionError(f"--{option.name} was given twice", option.name)
        seen.add(option.name)
        about = lent if option.name == "ask" else value  # which is about what was lent before it
        options = readers[option.name](options, about)
        lent = value.partition("=")[0] if option.name in _LENDS else ""
    return options


def known_options(face: Face, table: Table = OPTIONS) -> list[Option]:
    return [option for option in table if option.face in (None, face)]


def option_of(
    text: str, words: Iterable[str], face: Face, table: Table = OPTIONS
) -> tuple[Option, str]:
    """The option that begins with this word, and its value, which may be the next one."""
    if not text.startswith("--"):
        usage = f"--{table[0].name} {table[0].value}"
        raise OptionError(f"{text!r} is not an option; options start with --, such as {usage}")
    name, equals, value = text[2:].partition("=")
    option = find_option(name, face, table)
    if option.value is None:
        if equals:
            raise OptionError(f"--{name} takes no value; write just --{name}", name)
        return option, ""
    if not equals:
        value = next(iter(words), "")
        if value.startswith("--") or not value:
            raise OptionError(f"--{name} needs a value: --{name} {option.value}", name)
    return option, unquoted(value)


_MAGICS = {"fn": "%%runcode", "arg": "%%runprogram", "tool": "%%agent"}  # by their first option


def find_option(name: str, face: Face, table: Table = OPTIONS) -> Option:
    """The option of that name, or an error that suggests the nearest one of this face."""
    known = {option.name: option for option in known_options(face, table)}
    if name in known:
        return known[name]
    if name == "keep" and table is OPTIONS:
        raise OptionError(
            "--keep is for the sandbox kernel; here, --into NAME keeps the result", name
        )
    if any(option.name == name for option in table):
        magic = _MAGICS[table[0].name]
        raise OptionError(f"--{name} is for the IPython magic {magic}, not for this kernel", name)
    instead = suggestion(name, known, "--", others=SYNONYMS)
    raise OptionError(f"unknown option --{name}; {instead}", name)


def _set(options: CellOptions, name: str, value: Any) -> CellOptions:
    changed: dict[str, Any] = {name: value}
    return replace(options, **changed)


def _read_args(options: CellOptions, text: str) -> CellOptions:
    try:
        args = json.loads(text)
    except ValueError as error:
        raise OptionError(f"--args {text} is not JSON: {error}", "args") from None
    if not isinstance(args, list):
        raise OptionError(f"--args {text} is not a JSON array; write --args [{text}]", "args")
    return replace(options, args=tuple(args))


def _read_source(into: str, kind: Kind) -> Callable[[CellOptions, str], CellOptions]:
    def read(options: CellOptions, text: str) -> CellOptions:
        name, equals, source = text.partition("=")
        if not name or (equals and not source.strip()):
            missing = "source" if name else "name"
            raise OptionError(f"--{kind} {text} has no {missing}; write NAME=SOURCE", kind)
        kept: Mapping[str, Source] = getattr(options, into)
        if name in kept:
            raise OptionError(f"--{kind} {name} was given twice", kind)
        source_text = source.strip() if equals else None
        return _set(options, into, {**kept, name: Source(kind, name, source_text)})

    return read


def _read_ask(options: CellOptions, lent: str) -> CellOptions:
    if not lent:
        raise OptionError(
            "--ask goes after the option that it is about: --import mail --ask", "ask"
        )
    return replace(options, asks={**options.asks, lent: True})


def _read_lend(options: CellOptions, text: str) -> CellOptions:
    name, _ = capability_of(text)  # so that what is wrong is told at once
    if name in options.lend:
        raise OptionError(f"--lend {name} was given twice", "lend")
    return replace(options, lend={**options.lend, name: text})


def _read_memory(options: CellOptions, text: str) -> CellOptions:
    return replace(options, memory=read_size(text))


def _read_deadline(options: CellOptions, text: str) -> CellOptions:
    return replace(options, deadline=read_deadline(text))


def _read_text(into: str) -> Callable[[CellOptions, str], CellOptions]:
    return lambda options, text: _set(options, into, text)


def _read_flag(into: str) -> Callable[[CellOptions, str], CellOptions]:
    return lambda options, _: _set(options, into, True)


def _read_language(options: CellOptions, text: str) -> CellOptions:
    if text not in LANGUAGES:
        hint = suggestion(text, LANGUAGES, others=LANGUAGE_SYNONYMS)
        if is_python(text):
            hint = "a cell in Python begins with %%runprogram python"
        raise OptionError(f"--language {text} is unknown; {hint}", "language")
    return replace(options, language=text)


def _read_into(options: CellOptions, text: str) -> CellOptions:
    if not text.isidentifier():
        raise OptionError(
            f"--into {text} is not a Python name; write it like --into answer", "into"
        )
    return replace(options, into=text)


_LENDS = ("import", "global", "lend", "tool")
_READERS: Readers[CellOptions] = {
    "fn": _read_text("fn"),
    "args": _read_args,
    "import": _read_source("imports", "import"),
    "global": _read_source("globals", "global"),
    "module": _read_source("modules", "module"),
    "lend": _read_lend,
    "language": _read_language,
    "ask": _read_ask,
    "memory": _read_memory,
    "filename": _read_text("filename"),
    "deadline": _read_deadline,
    "no-widget": _read_flag("no_widget"),
    "keep": _read_text("keep"),
    "into": _read_into,
    "map": _read_text("map"),
    "background": _read_flag("background"),
    "raw": _read_flag("raw"),
}
