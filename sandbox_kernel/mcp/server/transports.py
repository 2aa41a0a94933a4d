"""The server on stdin and stdout, or on HTTP. All runs end with it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from ...errors import OptionError
from ...service.addresses import Address
from .desk import Desk
from .door import PATH, Door
from .server import server_of


async def serve_stdio(desk: Desk) -> None:
    """Until stdin ends."""
    server = server_of(desk)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        desk.close()


async def serve_http(
    desk: Desk, address: Address, key: str, listening: Callable[[str], None]
) -> None:
    """Until a signal ends it; `listening` is told the URL. Our own door stands before the SDK's."""
    app = server_of(desk).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    door = Door(app, spelled(address), key)
    config = uvicorn.Config(
        door, log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )
    with _listener(address) as listener:
        listening(url_of(address._replace(port=listener.getsockname()[1])))
        try:
            await uvicorn.Server(config).serve([listener])
        finally:
            desk.close()


def url_of(address: Address) -> str:
    host = address.host or "127.0.0.1"  # where this machine finds it, if it is on all interfaces
    return f"http://{spelled(address._replace(host=host))}{PATH}"


def spelled(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def _listener(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"cannot listen on {spelled(address)}: {why}", "http") from None
