"""What the tests of the seeds call: the package by name, as its users do, and whole programs."""

from __future__ import annotations

import importlib
from typing import Any

SECONDS = 60  # for anything to settle; it measures nothing


def part(name: str) -> Any:
    """A part of the package, as `Any`: the seeds' sentences are tested, not its types."""
    return importlib.import_module(f"sandbox_kernel.{name}" if name else "sandbox_kernel")


def run(code: str, language: str = "python", **options: Any) -> Any:
    """The settled result of a real program."""
    return part("").run_program(code, language, **options).wait(SECONDS)
