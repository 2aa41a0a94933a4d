"""`Capability`, and `Loan`: what of a capability one run is lent.

A guest gets the API it knows from a script of ours, which the sandbox runs before any code of the
guest's, and which calls a few functions of the host. The script is for comfort, never for safety: a
guest may call the functions in any way, so they check everything themselves.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard

Display = dict[str, Any]  # MIME type to data


@dataclass(frozen=True, slots=True)
class Loan:
    """What one run has of a capability. Budgets and the like live in its functions.

    `script` is the text of a JavaScript function `(host, kit) => ({'': {…}, '/promises': {…}})` that
    makes the exports of each module, by the end of the module's name.
    """

    script: str
    host: Mapping[str, Any]  # the functions that the script calls, and values
    exports: Mapping[str, tuple[str, ...]]  # end of a module's name to what it exports
    free: tuple[str, ...] = ()  # exports of the first module that are free identifiers, too
    displays: list[Display] = field(default_factory=list)  # what the run has shown so far
    close: Callable[[], object] = field(default=lambda: None)  # once, when the run has ended


class Capability(Protocol):
    """Something ready-made to lend: `run_code(source, lend=[capability])`."""

    @property
    def name(self) -> str:
        """Of its module, unless it is lent under another."""

    def loan(self, name: str) -> Loan:
        """A fresh one for each run."""

    def describe(self, name: str | None = None) -> str:
        """Its TypeScript declaration, for people, completion and models."""


def spelled_display(display: Display) -> Display:
    """Pictures as Base64, which is how JSON and notebooks spell them."""
    return {
        mime: b64encode(data).decode() if isinstance(data, bytes) else data
        for mime, data in display.items()
    }


def is_capability(value: object) -> TypeGuard[Capability]:
    return not isinstance(value, type) and callable(getattr(value, "loan", None))
