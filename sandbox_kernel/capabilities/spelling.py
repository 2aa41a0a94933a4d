"""Capabilities as they are typed, after `--lend` in notebooks and on the command line.

timers  web  display              each under its own name
fs=files:./data                   a folder, to read; files:./data:write for another mode
fetch=api.example.org,docs.org    hosts
NAME=timers  NAME=fetch:HOST      any of them under another name
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import OptionError
from ..loans import Capability
from ..spelling import suggestion
from .fetching import fetch
from .filesystem import MODES, Mode, files
from .showing import display
from .timing import timers
from .webbasics import web

_ALONE: dict[str, Callable[[], Capability]] = {"timers": timers, "web": web, "display": display}
_USAGE = "write it like timers, web, display, fs=files:./data or fetch=api.example.org"
CHOICES = ("timers", "web", "display", "fs=files:./", "fetch=")


def capability_of(text: str) -> tuple[str, Capability]:
    """The name of the module and the capability that `NAME[=CAPABILITY]` describes."""
    name, equals, given = text.strip().partition("=")
    if not equals:
        if name in _ALONE:
            return name, _ALONE[name]()
        instead = _instead(name.partition(":")[0])
        raise OptionError(f"--lend {text!r:.80} is not a capability; {instead}", "lend")
    if not name or not given:
        raise OptionError(f"--lend {text!r:.80} is not complete; {_USAGE}", "lend")
    return name, _made(name, given, text)


def _made(name: str, given: str, text: str) -> Capability:
    kind, colon, rest = given.partition(":")
    if kind in _ALONE and not colon:
        return _ALONE[kind]()
    if kind == "files":
        return _files(rest)
    if kind == "fetch" and colon:
        return fetch(rest.split(","))
    if name == "fetch":
        return fetch(given.split(","))
    raise OptionError(f"--lend {text!r:.80} is not a capability; {_instead(name)}", "lend")


def _files(rest: str) -> Capability:
    path, _, last = rest.rpartition(":")
    mode: Mode | None = next((each for each in MODES if each == last), None)
    if mode is not None:
        return files(path or ".", mode)
    return files(rest or ".")


def _instead(name: str) -> str:
    if name in ("fs", "files"):
        return "write --lend fs=files:./FOLDER"
    if name in ("fetch", "http", "https"):
        return "write --lend fetch=HOST"
    if name in ("setTimeout", "sleep", "timer"):
        return "write --lend timers"
    return f"{suggestion(name, _ALONE)}; {_USAGE}"
