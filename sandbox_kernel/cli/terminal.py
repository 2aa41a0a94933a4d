"""stdout and stderr of the command. A reader that goes away is no error of ours."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from ..clean import clean


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
    """Characters that the terminal cannot show will be escaped."""
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
    except BrokenPipeError:
        _give_up(stream)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)


def _give_up(stream: TextIO) -> None:
    """Nobody reads any more: the rest goes nowhere, also what Python flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
