"""HTML that the host makes: a few elements of its own, and text that stays text.

The only place that writes markup. A guest's text becomes `Markup` in `text` alone, escaped, and a
type checker finds whoever passes a plain string. Nothing made here loads, links or runs.
"""

from __future__ import annotations

import html
from typing import Literal, NewType

Markup = NewType("Markup", str)
Tag = Literal["code", "details", "div", "path", "span", "summary", "svg", "table", "tbody", "td",
              "th", "thead", "tr"]  # fmt: skip

# Front ends look for LaTeX in HTML, whose \href can run script, but not inside of `code`.
_MATH = ("$", "\\")
_NO_MATH = "background:none;padding:0;font:inherit;color:inherit;white-space:inherit"


def text(plain: str) -> Markup:
    """Text as it is, whatever it looks like; it has been through `clean` before."""
    escaped = html.escape(plain)
    if any(mark in plain for mark in _MATH):
        return Markup(f'<code style="{_NO_MATH}">{escaped}</code>')
    return Markup(escaped)


def element(tag: Tag, *children: Markup, style: str = "", **attributes: str) -> Markup:
    """An element with these children; style and attributes are ours, never a guest's."""
    named = {"style": style, **attributes} if style else attributes
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for name, value in named.items()
    )
    return Markup(f"<{tag}{written}>{''.join(children)}</{tag}>")


def join(children: list[Markup]) -> Markup:
    return Markup("".join(children))
