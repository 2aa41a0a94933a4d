"""The requests of one run of `fetch()`: checked, counted, sent, and what comes back made harmless.

A guest chooses the URL, so it is read once, by rules of ours, and what was read is what is requested.
The address that was checked is the one that is connected to, because the client asks our resolver.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.netutil import Resolver
from tornado.simple_httpclient import HTTPTimeoutError

from .. import __version__
from ..brief import brief_start
from ..errors import LimitError, OptionError
from ..http_client import HTTPClient
from .addresses import is_public
from .blanking import Blanking
from .fetching import Bounds
from .hosts import METHODS, Rule, Target, check_headers, joined, target_of

_MODES = ("follow", "error", "manual")
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_OURS = re.compile(
    r"host|connection|content-length|transfer-encoding|accept-encoding|upgrade|te|trailer|expect"
    r"|keep-alive|proxy-.*|sec-.*|via|forwarded|x-forwarded-.*"
    r"|x-http-method(-override)?|x-method-override|x-original-url|x-rewrite-url",
    re.IGNORECASE,
)
_NOT_FOR_OTHERS = frozenset(("authorization", "cookie", "proxy-authorization"))
_OF_BODIES = frozenset(("content-type", "content-encoding", "content-language", "content-location"))
_DECOMPRESSED = ("content-encoding", "content-length", "transfer-encoding")
_REDIRECTED = "the host that was asked before sends it there"
_MOST_HEADERS = 100
_HEADER_BYTES = 65_536


# Target, method, bytes of the body if there is one, and why it is asked again.
Permit = Callable[[Target, str, int | None, str | None], Awaitable[None]]


class Refused(TypeError):
    """What the web platform calls a failed fetch; the guest sees a TypeError."""


Refused.__name__ = "TypeError"


async def look_up(name: str, port: int) -> list[tuple[int, Any]]:
    """Family and address of each place that a name stands for."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [(int(family), address) for family, _, _, _, address in found]


class CheckedResolver(Resolver):
    """Gives the client addresses that are allowed, or none at all."""

    def initialize(self, private: bool = False) -> None:
        self._private = private

    async def resolve(
        self, host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[tuple[int, Any]]:
        found = await look_up(host, port)
        if not self._private and not all(is_public(address[0]) for _, address in found):
            raise Refused(
                f"fetch failed: {host} is an address of a private network or of this machine,"
                " which was not lent"
            )
        return found


class Requests:
    """Of one run."""

    def __init__(self, rules: Mapping[str, Rule], bounds: Bounds) -> None:
        self._rules = rules
        self._bounds = bounds
        self._blanking = Blanking([rule.headers for rule in rules.values()])
        self._made = 0
        self._places = asyncio.Semaphore(bounds.concurrency)
        self._client: HTTPClient | None = None

    async def fetch(
        self,
        url: Any,
        method: Any,
        headers: Any,
        body: Any,
        redirect: Any,
        permit: Permit | None = None,
    ) -> list[Any]:
        """Status, its words, the last URL, whether it is another, headers, and the body.

        `permit` raises for a request that must not be made.
        """
        try:
            target, given = target_of(url), _given_headers(headers)
            method, data = _checked_method(method), _checked_body(body, self._bounds.max_bytes)
            if not isinstance(redirect, str) or redirect not in _MODES:
                raise ValueError(
                    f"redirect is {', '.join(_MODES)}, not {brief_start(redirect, 40)}"
                )
            return await self._follow(target, method, given, data, redirect, permit)
        except TimeoutError:
            raise Refused(f"fetch failed: no answer within {self._bounds.timeout:g} s") from None
        except LimitError:
            raise
        except (ValueError, Refused) as error:
            said = str(error).removeprefix("fetch failed: ")
            raise Refused(f"fetch failed: {self._blanking.text(said)}") from None

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.let_go()

    async def _follow(
        self,
        target: Target,
        method: str,
        headers: dict[str, str],
        body: bytes | None,
        mode: str,
        permit: Permit | None,
    ) -> list[Any]:
        first, left = target, self._bounds.timeout
        for hops in range(self._bounds.redirects + 1):
            rule = self._allowing(target, method)
            self._count()
            if permit is not None:
                size = None if body is None else len(body)
                await permit(target, method, size, _REDIRECTED if hops else None)
            async with self._places:
                began = monotonic()
                async with asyncio.timeout(left):
                    answer = await self._request(target, method, headers, body, rule)
                left -= monotonic() - began
            location = answer.headers.get("Location")
            if answer.code not in _REDIRECTS or location is None or mode == "manual":
                return self._answer(answer, target, redirected=target != first)
            if mode == "error":
                raise Refused("the answer is a redirect, and redirect is 'error'")
            if hops == self._bounds.redirects:
                break
            before, target = target, joined(target, location)
            if target.origin != before.origin:
                headers = _without(headers, _NOT_FOR_OTHERS)
            if (answer.code == 303 and method != "HEAD") or (
                answer.code in (301, 302) and method == "POST"
            ):
                method, body, headers = "GET", None, _without(headers, _OF_BODIES)
        raise Refused(f"more than {self._bounds.redirects} redirects")

    def _count(self) -> None:
        if self._made >= self._bounds.requests:
            raise LimitError(
                f"the {self._bounds.requests:,} requests that this run was lent are used up"
            )
        self._made += 1

    async def _request(
        self,
        target: Target,
        method: str,
        headers: dict[str, str],
        body: bytes | None,
        rule: Rule,
    ) -> HTTPResponse:
        sent = HTTPHeaders(_without(headers, {name.lower() for name in rule.headers}))
        for name, value in rule.headers.items():
            sent[name] = value
        sent["Accept-Encoding"] = "gzip, deflate"
        if body is None and method in ("POST", "PUT", "PATCH"):
            body = b""
        request = HTTPRequest(
            target.url,
            method,
            sent,
            body,
            connect_timeout=self._bounds.timeout,
            request_timeout=self._bounds.timeout,
            follow_redirects=False,
            decompress_response=False,
            validate_cert=True,
            allow_nonstandard_methods=True,
            user_agent=sent.get("User-Agent", f"sandbox-kernel/{__version__}"),
        )
        return await self._sent(request, target)

    async def _sent(self, request: HTTPRequest, target: Target) -> HTTPResponse:
        """The answer; failures in words that tell nothing of this machine's network."""
        try:
            return await self._http().fetch(request, raise_error=False)
        except Refused:
            raise
        except HTTPTimeoutError:
            raise Refused(f"no answer within {self._bounds.timeout:g} s") from None
        except ssl.SSLError:
            raise Refused(f"the certificate of {target.key} is not valid") from None
        except socket.gaierror:
            raise Refused(f"no address of {target.key} was found") from None
        except Exception as error:
            too_large = (
                "too long" in str(error) or "too large" in str(error) or "max buffer" in str(error)
            )
            if too_large:
                raise Refused(self._too_large()) from None
            raise Refused(f"{target.key} could not be reached, or gave no proper answer") from None

    def _http(self) -> HTTPClient:
        if self._client is None:
            most = self._bounds.max_bytes
            self._client = HTTPClient(
                force_instance=True,
                max_clients=self._bounds.concurrency,
                resolver=CheckedResolver(private=self._bounds.private),
                max_buffer_size=most + 2 * _HEADER_BYTES,
                max_body_size=most,
                max_header_size=_HEADER_BYTES,
            )
        return self._client

    def _allowing(self, target: Target, method: str) -> Rule:
        rule = self._rules.get(target.key) or self._rules.get(f"{target.name}:{target.port}")
        if rule is None:
            lent = ", ".join(list(self._rules)[:20])
            raise Refused(f"{target.key} is not among the hosts that were lent: {lent}")
        if target.scheme != "https" and not self._bounds.insecure:
            raise Refused(f"only https was lent, not {target.scheme}://{target.key}")
        if method not in rule.methods:
            raise Refused(
                f"{method} was not lent for {target.key}: {', '.join(sorted(rule.methods))}"
            )
        if not rule.allows_path(target.path):
            raise Refused(f"the path {target.path:.200} of {target.key} was not lent")
        return rule

    def _answer(self, answer: HTTPResponse, target: Target, *, redirected: bool) -> list[Any]:
        if answer.code == 599 or (answer.error is not None and answer.code < 100):
            raise Refused(f"{target.key} could not be reached, or gave no proper answer")
        coding = answer.headers.get("Content-Encoding", "")
        body = self._plain(answer.body or b"", coding)
        headers = [
            [name.lower(), self._blanking.text(value)]
            for name, value in answer.headers.get_all()
            if not (coding and name.lower() in _DECOMPRESSED)
        ]
        url = self._blanking.text(target.url)
        reason = self._blanking.text(str(answer.reason or ""))
        return [answer.code, reason, url, redirected, headers, self._blanking.bytes(body)]

    def _plain(self, body: bytes, coding: str) -> bytes:
        """The body as it was before it was compressed, counted while it grows."""
        codings = [each.strip().lower() for each in coding.split(",") if each.strip()]
        if len(codings) > 2:
            raise Refused("the answer is compressed more than twice")
        for each in reversed(codings):
            if each in ("gzip", "x-gzip", "deflate"):
                body = _inflated(body, self._bounds.max_bytes)
            elif each != "identity":
                raise Refused(f"the answer is encoded as {each:.40}, which was not asked for")
            if len(body) > self._bounds.max_bytes:
                raise Refused(self._too_large())
        return body

    def _too_large(self) -> str:
        return f"the answer is larger than {self._bounds.max_bytes:,} bytes"


def _inflated(body: bytes, most: int) -> bytes:
    """As far as one byte too many."""
    for window in (
        zlib.MAX_WBITS | 32,
        -zlib.MAX_WBITS,
    ):  # with a header of either kind, or without
        try:
            return _unpacked(body, window, most)
        except zlib.error:
            continue
    raise Refused("the answer is not compressed as it says")


def _unpacked(body: bytes, window: int, most: int) -> bytes:
    """Gzip may come in several parts, and zeros may fill up what follows them."""
    found = b""
    while body.strip(b"\0") and len(found) <= most:
        part = zlib.decompressobj(window)
        found += part.decompress(body, most + 1 - len(found))
        if not part.eof and len(found) <= most:
            raise Refused("the answer ends before it is complete")
        body = part.unused_data
    return found


def _given_headers(headers: Any) -> dict[str, str]:
    pairs = [] if headers is None else headers
    if not isinstance(pairs, list) or len(pairs) > _MOST_HEADERS:
        raise ValueError(f"headers are at most {_MOST_HEADERS} pairs of name and value")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ValueError("headers are pairs of name and value")
    try:
        given = check_headers(dict(pairs), "headers")
    except (OptionError, TypeError) as error:
        raise ValueError(str(error)) from None
    return {name: value for name, value in given.items() if not _OURS.fullmatch(name)}


def _checked_method(method: Any) -> str:
    if isinstance(method, str) and method.upper() in METHODS:
        return method.upper()
    raise ValueError(
        f"the method {brief_start(method, 40)} is none of {', '.join(sorted(METHODS))}"
    )


def _checked_body(body: Any, most: int) -> bytes | None:
    if body is None:
        return None
    if isinstance(body, str):
        body = body.encode("utf-8", "replace")
    if not isinstance(body, bytes | bytearray | memoryview):
        raise ValueError("the body must be a text or bytes")
    if len(body) > most:
        raise ValueError(f"the body is larger than {most:,} bytes")
    return bytes(body)


def _without(headers: Mapping[str, str], names: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
