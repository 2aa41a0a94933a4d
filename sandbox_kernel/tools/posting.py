"""One request to a service, one bounded answer: never redirected, which would take code and key elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from ..errors import OptionError

_LONGEST_CONNECT = 20.0  # seconds
_LONGEST_MESSAGE = 1_000


def http_address(name: str, url: object) -> SplitResult:
    """Its parts; OptionError, by the option's name, if it is none."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts and parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # brackets without an end, or a port beyond all
        pass
    raise OptionError(f"{name} is an http or https address, not {url!r:.200}", name)


class NoAnswer(Exception):
    """Refused, cut off, too large or too late."""


class Posted(NamedTuple):
    """What was answered; nothing of it is believed."""

    status: int
    body: bytes

    @property
    def message(self) -> str:
        """Of an error, in the service's own words, cut."""
        try:
            text = str(json.loads(self.body)["error"]["message"])
        except (ValueError, KeyError, TypeError, RecursionError):
            text = self.body[:300].decode("utf-8", "replace")
        return text[:_LONGEST_MESSAGE]


async def post(
    url: str, body: str, headers: Mapping[str, str], *, seconds: float, most_bytes: int
) -> Posted:
    """JSON to a URL. Raises NoAnswer."""
    from tornado.httpclient import HTTPClientError, HTTPRequest

    from ..http_client import HTTPClient

    request = HTTPRequest(
        url,
        method="POST",
        headers={"Content-Type": "application/json", **headers},
        body=body,
        connect_timeout=min(seconds, _LONGEST_CONNECT),
        request_timeout=seconds,
        follow_redirects=False,
    )
    client = HTTPClient(force_instance=True, max_body_size=most_bytes, max_buffer_size=most_bytes)
    try:
        answer = await client.fetch(request, raise_error=False)
    except (HTTPClientError, OSError, ValueError) as error:
        raise NoAnswer(str(error)[:_LONGEST_MESSAGE]) from None
    finally:
        client.let_go()  # a service ends what nobody waits for
    return Posted(answer.code, answer.body or b"")
