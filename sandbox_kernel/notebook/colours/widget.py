"""Cells in another language than their notebook's, in its colours, where the front end is JupyterLab.

A widget that is never displayed, so that no extension of JupyterLab has to be built or installed.
"""

from __future__ import annotations

from pathlib import Path

import anywidget


class CellColours(anywidget.AnyWidget):
    """One per kernel; a page that is loaded again gets it again."""

    _esm = (Path(__file__).parent / "cells.js").read_text("utf-8")
