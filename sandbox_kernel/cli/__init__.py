"""The command line: `sandbox-kernel`, and `python -m sandbox_kernel`, which is the same.

Results go to stdout, everything else to stderr; `exits.py` has the exit codes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

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


def _jsrun(words: list[str]) -> int:
    from .jsrun import jsrun

    return jsrun(words)


def _serve(words: list[str]) -> int:
    from .serve import serve

    return serve(words)


def _mcp(words: list[str]) -> int:
    from .mcp import mcp

    return mcp(words)


# Loaded when they are called, so that each command pays for itself only.
_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "run": _run,
    "jsrun": _jsrun,
    "serve": _serve,
    "mcp": _mcp,
    "doctor": _doctor,
}


def command() -> NoReturn:
    """What a shell starts."""
    code = main(sys.argv[1:])
    if code == exits.INTERRUPTED:
        os._exit(code)  # at once: a thread may be stuck, writing to a pipe that nobody reads
    sys.exit(code)


def main(words: list[str]) -> int:
    """Runs one command; never raises, and prints no traceback of Python."""
    try:
        terminal.prepare()
        code = _dispatch(words)
        terminal.finish()
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    return code


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
    if name in _COMMANDS and not _asks_for_help(rest):
        return _COMMANDS[name](rest)
    if name in _COMMANDS or name in _HELP_WORDS:
        terminal.say(HELP[next((each for each in words if each in _COMMANDS), "")])
    elif name == "--version":
        terminal.say(f"sandbox-kernel {__version__}")
    else:
        raise OptionError(_unknown(name))
    return exits.SUCCESS


def _asks_for_help(words: list[str]) -> bool:
    """Behind `--` the words are somebody else's."""
    ours = words[: words.index("--")] if "--" in words else words
    return "--help" in ours or ours[:1] == ["-h"]


def _unknown(name: str) -> str:
    from .run import can_run

    if can_run(name):
        return f"to run a file, write: sandbox-kernel run {name}"
    what = "option" if name.startswith("-") else "command"
    known = [*_COMMANDS, "--help", "--version"]
    return f"unknown {what} {name}; {suggestion(name, known)}"
