"""Texts on their way to a page, without a `<`.

A notebook keeps the state of widgets, and an export to HTML puts it into a script element. There
`<!--<script>` would make a browser overlook the end of that element, and with it every widget of
the page. So each `<` is replaced, and the page (elements.js) puts it back.
"""

from __future__ import annotations

from typing import Any

_MARK = "\ue000"  # for private use; a text that has it itself gets it back as well
_VEILS = {ord(_MARK): f"{_MARK}0", ord("<"): f"{_MARK}1"}


def veiled(value: Any) -> Any:
    """The same lists and dicts, their texts without a `<`."""
    if isinstance(value, str):
        return value.translate(_VEILS) if "<" in value or _MARK in value else value
    if isinstance(value, list | tuple):
        return [veiled(item) for item in value]
    if isinstance(value, dict):
        return {key: veiled(item) for key, item in value.items()}
    return value
