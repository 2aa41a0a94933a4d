"""Who may ask at all: the key, `Host` against rebinding, no `Origin`, so no page in a browser."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from ..errors import OptionError
from .addresses import meant_by, names_of
from .refusals import refuse
from .settings import Settings

Header = Callable[[str], str | None]
_BEARER = "bearer "


def checked_key(text: str) -> str:
    """Without the line break that files and secrets tend to end with; empty if there is none."""
    key = text.strip()
    if not (key.isascii() and key.isprintable()):
        raise OptionError("a key has printable ASCII characters only, as headers have")
    return key


class Guard:
    """Looks at headers only, so that nothing of a stranger's body is read."""

    def __init__(self, settings: Settings) -> None:
        self._digest = _digest(settings.key) if settings.key else None
        self._names = names_of(settings.address, settings.hosts)

    def check_sender(self, header: Header) -> None:
        """For every request, also those that need no key."""
        if self._names is not None and not meant_by(header("Host") or "", self._names):
            refuse("bad_request", "Host: the service is not addressed by this name")
        if header("Origin") is not None:
            refuse("bad_request", "Origin: pages of a browser are not served")

    def check_key(self, header: Header) -> None:
        if self._digest is None:
            return
        given = [_bearer(header("Authorization")), _plain(header("X-Service-API-Key"))]
        matches = [hmac.compare_digest(_digest(each), self._digest) for each in given]
        if not any(matches):
            refuse(
                "unauthorized",
                "a key is needed: Authorization: Bearer KEY, or X-Service-API-Key: KEY",
            )


def _digest(text: str) -> bytes:
    """Of one length whatever the key is, so that comparing takes the same time."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _bearer(value: str | None) -> str:
    return value[len(_BEARER) :] if value and value[: len(_BEARER)].lower() == _BEARER else ""


def _plain(value: str | None) -> str:
    return _bearer(value) or value or ""
