"""Cells in the colours of their own language, asked for while nobody waits: widgets load slowly."""

from __future__ import annotations

import threading
from contextlib import suppress
from contextvars import copy_context
from typing import Any

_made: list[Any] = []  # a widget lives as long as somebody holds it


def colour_cells() -> None:
    """Once in a kernel; returns at once."""
    if not _made:
        _made.append(None)
        threading.Thread(target=copy_context().run, args=(_make,), daemon=True).start()


def _make() -> None:
    with suppress(Exception):  # colours are not worth a failure
        from .widget import CellColours

        _made[:] = [CellColours()]
