"""The JavaScript of capabilities, and their TypeScript declarations, read from `shims/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("shims")


@cache
def script(*names: str) -> str:
    """One function made of these files, which share its scope."""
    body = "\n".join((_FOLDER / f"{name}.js").read_text("utf-8") for name in names)
    return f"(function (host, kit) {{ 'use strict';\n{body}\n}})"


@cache
def declaration(name: str) -> str:
    return (_FOLDER / f"{name}.d.ts").read_text("utf-8")


def described(file: str, own: str, name: str | None) -> str:
    """The declaration, for a module that is lent under `name`."""
    text = declaration(file)
    return text if name in (None, own) else text.replace(f"module '{own}", f"module '{name}")
