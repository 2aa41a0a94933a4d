"""Writes docs/reference: pages made from docstrings, traits, tables of options and help texts.

`python docs/site/reference.py` after a change of any of them; a test compares the pages with these.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Coroutine, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import sandbox_kernel.errors
from sandbox_kernel.cli.help import HELP
from sandbox_kernel.engine import Engine
from sandbox_kernel.kernel.cell import CELL_MAGICS, LINE_MAGICS
from sandbox_kernel.notebook.options.grammar import OPTIONS, known_options
from sandbox_kernel.notebook.options.program import PROGRAM_OPTIONS
from sandbox_kernel.programs import Programs

FOLDER = Path(__file__).resolve().parents[1] / "reference"
PACKAGES = (
    "",
    "capabilities",
    "permissions",
    "sessions",
    "tools",
    "agents",
    "mcp",
    "service",
    "cluster",
)
_FOR_ASYNCIO = ("send", "throw", "close")  # of a handle, for the task that drives it
_HEAD = "<!-- Made by docs/site/reference.py; change the docstring instead. -->\n"


def pages() -> dict[str, str]:
    """The name of each page, and its text."""
    return {
        "names.md": _page("API at a glance: every public name", _names()),
        "configuration.md": _page("Settings", _settings()),
        "command-line.md": _page("Command line", _command_line()),
        "magics.md": _page("Magics and their options", _magics()),
        "errors.md": _page("Errors", _errors()),
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return f"{_HEAD}\n# {title}\n\n" + "\n".join(lines).rstrip() + "\n"


# -- names


def _names() -> Iterator[str]:
    yield "Each with its signature and one line. The guides say when to use which.\n"
    for package in PACKAGES:
        full = f"sandbox_kernel.{package}" if package else "sandbox_kernel"
        module = import_module(full)
        yield f"## {full}\n"
        yield f"{_first_line(module)}\n"
        for name in sorted(module.__all__, key=str.lower):
            if not name.startswith("__"):
                yield from _name(name, getattr(module, name))
        yield ""


def _name(name: str, value: Any) -> Iterator[str]:
    if not callable(value):
        yield f"- `{name}`: {_first_line(type(value))}"
        return
    if isinstance(value, type) and issubclass(value, Enum):
        members = ", ".join(f"`.{member}`" for member in value.__members__)
        yield f"- `{name}`: {_first_line(value)} Members: {members}."
        return
    yield f"- `{name}{_signature(value)}`: {_first_line(value)}"
    if isinstance(value, type) and not issubclass(value, BaseException):
        for member, attribute in _members(value):
            yield f"  - `.{member}{_signature(attribute)}`: {_first_line(attribute)}"


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that say what they do, of this package's own classes."""
    for name in dir(kind):
        attribute = inspect.getattr_static(kind, name)
        attribute = getattr(attribute, "__func__", attribute)  # a class method
        described = isinstance(attribute, property) or inspect.isfunction(attribute)
        if name.startswith("_") or not described or not inspect.getdoc(attribute):
            continue
        if name in _FOR_ASYNCIO and issubclass(kind, Coroutine):
            continue
        home = attribute.fget if isinstance(attribute, property) else attribute
        if home.__module__.startswith("sandbox_kernel"):
            yield name, attribute


def _signature(value: Any) -> str:
    if isinstance(value, property):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [
        each.replace(annotation=each.empty)
        for each in signature.parameters.values()
        if each.name not in ("self", "cls", "unknown")
    ]
    bare = signature.replace(parameters=shown, return_annotation=signature.empty)
    return re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", str(bare).replace("<factory>", "…"))


def _first_line(value: Any) -> str:
    text = inspect.getdoc(value) or ""
    return text.split("\n\n")[0].replace("\n", " ")


# -- settings, command line, magics, errors


def _settings() -> Iterator[str]:
    yield "As keywords (`Engine(spares=2)`), or in a Jupyter configuration file (`c.Engine.spares = 2`).\n"
    for kind in (Engine, Programs):
        yield f"## {kind.__name__}\n\n{_first_line(kind)}\n"
        yield "| setting | default | |\n|---|---|---|"
        for name, trait in sorted(kind.class_own_traits(config=True).items()):
            yield f"| `{name}` | `{trait.default_value!r}` | {trait.help} |"
        yield ""


def _command_line() -> Iterator[str]:
    yield "What `--help` prints.\n"
    for command, text in HELP.items():
        yield f"## sandbox-kernel {command}".rstrip() + f"\n\n```text\n{text.rstrip()}\n```\n"


def _magics() -> Iterator[str]:
    yield "## Magics of the sandbox kernel\n\n| magic | |\n|---|---|"
    for usage in (*CELL_MAGICS.values(), *LINE_MAGICS.values()):
        written, meaning = usage.split(": ", 1)
        yield f"| `{_cell(written)}` | {meaning} |"
    for magic, table in (("%%runcode", OPTIONS), ("%%runprogram", PROGRAM_OPTIONS)):
        yield f"\n## Options of `{magic}`\n\n| option | in | |\n|---|---|---|"
        both = {face: known_options(face, table) for face in ("kernel", "magic")}
        for option in table:
            where = " and ".join(
                words
                for face, words in (("kernel", "the kernel"), ("magic", "IPython"))
                if option in both[face]
            )
            more = " May be repeated." if option.repeatable else ""
            written = f"--{option.name} {option.value or ''}".rstrip()
            yield f"| `{_cell(written)}` | {where} | {_cell(option.help)}.{more} |"


def _cell(text: str) -> str:
    """A bar would end the cell of a table."""
    return text.replace("|", "\\|")


def _errors() -> Iterator[str]:
    yield f"```text\n{(sandbox_kernel.errors.__doc__ or '').split(chr(10), 2)[2].strip()}\n```\n"
    for name, kind in vars(sandbox_kernel.errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            bases = ", ".join(base.__name__ for base in kind.__bases__)
            yield f"- `{name}({bases})`: {_first_line(kind)}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
