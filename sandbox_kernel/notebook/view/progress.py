"""How far many runs have come: a bar that counts items in a notebook, one line in a terminal.

It shows counts and nothing that a guest has said, so there is nothing in it that could be active.
"""

from __future__ import annotations

import sys
from html import escape
from time import monotonic
from typing import Any, Self

from ...many import ManyExecution

_SECONDS_BETWEEN = 0.1  # updates; a page cannot show more


class Progress:
    """`with Progress(many): for result in many: ...`"""

    def __init__(self, many: ManyExecution[Any], *, has_page: bool, quiet: bool = False) -> None:
        self._many = many
        self._has_page = has_page
        self._quiet = quiet
        self._handle: Any = None
        self._shown_at = 0.0

    def __enter__(self) -> Self:
        if not self._quiet:
            self._many.on_change = self._changed
            if self._has_page:
                self._handle = _displayed(bundle_of(self._many))
        return self

    def __exit__(self, *_: object) -> None:
        self._many.on_change = None
        if not self._quiet:
            self._show(last=True)

    def _changed(self) -> None:
        if monotonic() - self._shown_at >= _SECONDS_BETWEEN:
            self._show()

    def _show(self, *, last: bool = False) -> None:
        self._shown_at = monotonic()
        if self._handle is not None:
            self._handle.update(bundle_of(self._many), raw=True)
        elif sys.stdout.isatty():
            sys.stdout.write(f"\r{self._many.summary}" + ("\n" if last else ""))
            sys.stdout.flush()
        elif last:
            sys.stdout.write(self._many.summary + "\n")


def bundle_of(many: ManyExecution[Any]) -> dict[str, str]:
    """A bar whose length is known if the number of items is."""
    length = "" if many.total is None else f' max="{max(1, many.total)}"'
    value = "" if many.total is None and many.running else f' value="{many.done}"'
    page = f"<progress{value}{length}></progress> {escape(many.summary)}"
    return {"text/plain": many.summary, "text/html": page}


def _displayed(bundle: dict[str, str]) -> Any:
    from IPython.display import display

    return display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]  # IPython's


def show(many: ManyExecution[Any]) -> None:
    """What a cell shows that ends in a `ManyExecution`: it goes on while that is iterated."""
    from IPython.core.getipython import get_ipython

    if getattr(get_ipython(), "kernel", None) is None:
        sys.stdout.write(f"{many!r}\n")  # a terminal has no place to update
        return
    handle = _displayed(bundle_of(many))
    shown_at = 0.0

    def changed() -> None:
        nonlocal shown_at
        if monotonic() - shown_at >= _SECONDS_BETWEEN or not many.running:
            shown_at = monotonic()
            handle.update(bundle_of(many), raw=True)

    many.on_change = changed
