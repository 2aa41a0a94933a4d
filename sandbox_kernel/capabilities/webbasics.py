"""`web()`: URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, crypto. They compute inside the sandbox."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..loans import Loan
from .scripts import described, script

_EXPORTS = ("URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa", "crypto")
_PARTS = (
    "web/text",
    "web/hosts",
    "web/parsing",
    "web/params",
    "web/url",
    "web/random",
    "web/exports",
)
_MOST_RANDOM = 65_536  # bytes at once, the limit of getRandomValues


def web() -> Web:
    """Lends what code for browsers and servers alike takes for granted, and needs nothing outside."""
    return Web()


@dataclass(frozen=True, slots=True)
class Web:
    """What `web()` returns."""

    name = "web"

    def loan(self, name: str) -> Loan:
        exports = {"": (*_EXPORTS, "default")}
        return Loan(script(*_PARTS), {"random": _random}, exports, free=_EXPORTS)

    def describe(self, name: str | None = None) -> str:
        return described("web", self.name, name)


def _random(count: int) -> bytes:
    """Unpredictable bytes: a sandbox has no source of them."""
    if type(count) is not int or not 0 <= count <= _MOST_RANDOM:
        raise ValueError(f"count must be from 0 to {_MOST_RANDOM}")
    return os.urandom(count)
