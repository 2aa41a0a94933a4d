"""The command line: `sandbox-kernel`, and `python -m sandbox_kernel`, which is the same.

Results go to stdout, everything else to stderr; `exits.py` has the exit codes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from .. import __version__
from ..errors import OptionError, SandboxError
from ..spelling import suggestion
from . import exits, terminal
from .help import HELP

_HELP_WORDS = ("help", "--help", "-h")


def _run(words: list[str]) -> int:
    from .run import run

    return run(words)


def _doctor(words: list[str]) -> int:
    from .doctor import doctor

    return doctor(words)


# Loaded when they are called, so that each command pays for itself only.
_COMMANDS: dict[str, Callable[[list[str]], int]] = {"run": _run, "doctor": _doctor}


def main(words: list[str] | None = None) -> int:
    """Runs one command; never raises, and prints no traceback of Python."""
    given = sys.argv[1:] if words is None else words
    try:
        with terminal.plain():
            return _dispatch(given)
    except KeyboardInterrupt:
        return exits.INTERRUPTED


def _dispatch(words: list[str]) -> int:
    try:
        return _command(words)
    except OptionError as error:
        terminal.complain(str(error))
        return exits.USAGE
    except SandboxError as error:
        terminal.complain(str(error))
        return exits.FAILED


def _command(words: list[str]) -> int:
    if not words:
        terminal.note(HELP[""])
        return exits.USAGE
    name, *rest = words
    if name in _COMMANDS and rest[:1] not in (["--help"], ["-h"]):
        return _COMMANDS[name](rest)
    if name in _COMMANDS or name in _HELP_WORDS:
        terminal.say(HELP[next((each for each in words if each in _COMMANDS), "")])
    elif name == "--version":
        terminal.say(f"sandbox-kernel {__version__}")
    else:
        raise OptionError(_unknown(name))
    return exits.SUCCESS


def _unknown(name: str) -> str:
    from .run import can_run

    if can_run(name):
        return f"to run a file, write: sandbox-kernel run {name}"
    what = "option" if name.startswith("-") else "command"
    known = [*_COMMANDS, "--help", "--version"]
    return f"unknown {what} {name}; {suggestion(name, known)}"
