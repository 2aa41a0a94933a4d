"""Asks a service, for its clients; what it answers is not believed."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

from ..errors import EngineBusyError, EngineError, OptionError
from ..tools.posting import NoAnswer, Posted, http_address, post

_MOST_BYTES = 256 * 2**20  # of an answer: 64 MiB of files in base64, and what was printed
_REFUSALS = (400, 404, 409, 413, 415)


class Unreachable(EngineError):
    """No answer came: refused, cut off, or too late. Asking again may help."""


class Server(NamedTuple):
    """Where a service is, and what it is shown as a key."""

    url: str
    key: str = ""

    @classmethod
    def of(cls, url: object, key: object = None) -> Server:
        parts = http_address("url", url)
        if parts.query or parts.fragment or parts.username:
            raise OptionError("url has no user, query or fragment; a key is given as key=")
        if key is not None and not (isinstance(key, str) and key.isascii() and key.isprintable()):
            raise OptionError("key is text of characters that a header can have")
        return cls(parts.geturl().rstrip("/"), key or "")

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def post(self, path: str, body: Any, seconds: float) -> dict[str, Any]:
        """The answer's object; raises OptionError for what is refused, EngineError for the rest."""
        text = await asyncio.to_thread(json.dumps, body)
        try:
            posted = await post(
                self.url + path, text, self.headers, seconds=seconds, most_bytes=_MOST_BYTES
            )
        except NoAnswer as error:
            raise Unreachable(f"the service could not be reached: {error}") from None
        return _read(posted)


def _read(posted: Posted) -> dict[str, Any]:
    if posted.status == 204:
        return {}
    if posted.status != 200:
        raise _refusal(posted)
    try:
        found = json.loads(posted.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise EngineError("the service did not answer with a JSON object")
    return found


def _refusal(posted: Posted) -> EngineError | OptionError:
    text = f"the service answered {posted.status}: {posted.message}"
    if posted.status in _REFUSALS:
        return OptionError(text)
    if posted.status >= 500:
        return EngineBusyError(text)
    return EngineError(text)
