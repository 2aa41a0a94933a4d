"""stdout and stderr of the command. A reader that goes away is no error of ours."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from ..clean import clean
from ..errors import SandboxError


def say(text: str) -> None:
    """What was asked for."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """What happens meanwhile, and what went wrong."""
    _write(sys.stderr, text)


def pass_on(stream: str, text: str) -> None:
    """What a program wrote to its `stdout` or `stderr`: as it is, but made harmless on a screen."""
    ours = sys.stdout if stream == "stdout" else sys.stderr
    _write(ours, clean(text) if ours.isatty() else text, ending="")


def complain(text: str) -> None:
    """Why nothing ran."""
    note(f"sandbox-kernel: {clean(text)}")


def prepare() -> None:
    """Characters that the terminal cannot show will be escaped. A stream that is closed is empty."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def finish() -> None:
    """Writes out what Python would write at its end, so that a broken pipe is quiet there too."""
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)


def _write(stream: TextIO, text: str, ending: str = "\n") -> None:
    try:
        stream.write(text if text.endswith("\n") else f"{text}{ending}")
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def _give_up(stream: TextIO, error: OSError) -> None:
    """The rest goes nowhere, also what Python flushes at its end. Raises if somebody still reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    if stream is sys.stdout and not isinstance(error, BrokenPipeError):
        raise SandboxError(f"cannot write to stdout: {error.strerror}") from None
