"""Who may come in by HTTP: the service's guard, in front of the SDK's application."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ...service.guard import Guard
from ...service.refusals import Refusal
from ...service.settings import Settings

App = Callable[[Any, Any, Any], Awaitable[None]]
PATH = "/mcp"


class Door:
    """Lets only those in who may: the key, `Host` against rebinding, no `Origin`."""

    def __init__(self, app: App, listen: str, key: str) -> None:
        self._app = app
        self._guard = Guard(Settings(listen=listen, key=key))

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
            try:
                self._check(headers)
            except Refusal as refusal:
                await _refuse(send, refusal)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Mapping[str, bytes]) -> None:
        def header(name: str) -> str | None:
            value = headers.get(name.lower())
            return None if value is None else value.decode("latin-1")

        self._guard.check_sender(header)
        self._guard.check_key(header)


async def _refuse(send: Any, refusal: Refusal) -> None:
    headers = [(b"content-type", b"application/json")]
    if refusal.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(refusal.to_json()).encode()})
