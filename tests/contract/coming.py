"""For the sentences of the contract whose part is still to be built.

A test says what the sentence promises and is a strict xfail until that part is there: whoever
builds it sees the test pass, and takes the mark away.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

SECONDS = 60  # for anything to settle; it measures nothing


def awaits(what: str) -> pytest.MarkDecorator:
    """Until `what` is built."""
    return pytest.mark.xfail(strict=True, reason=f"to be built: {what}")


def part(name: str) -> Any:
    """A part of the package, as `Any`: it may not be there yet."""
    return importlib.import_module(f"sandbox_kernel.{name}" if name else "sandbox_kernel")


def run(code: str, language: str = "python", **options: Any) -> Any:
    """The settled result of a real program."""
    return part("").run_program(code, language, **options).wait(SECONDS)
