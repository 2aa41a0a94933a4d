"""Serves a `Service` over TCP or a unix socket, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import stat
from contextlib import suppress

from tornado.netutil import bind_sockets, bind_unix_socket

from ..errors import OptionError
from .handlers import application
from .punctual import PunctualServer
from .service import Service

_HEADER_BYTES = 32 * 2**10
_EXAMINE_AGAIN = 10.0  # seconds
_log = logging.getLogger("sandbox_kernel.service")


async def serve(service: Service) -> None:
    """Returns when SIGTERM or SIGINT came and what ran has ended, or its grace has."""
    stopping = _signalled()
    sockets = _bound(service)
    server = PunctualServer(
        application(service),
        max_header_size=_HEADER_BYTES,
        max_body_size=2**62,  # handlers count, and answer what tornado would only close
        chunk_size=64 * 2**10,
    )
    server.most = service.settings.max_connections
    server.seconds = service.settings.read_timeout
    server.add_sockets(sockets)
    examining = asyncio.create_task(_examine(service))
    _log.info("listening", extra={"fields": {"address": _spelled(sockets[0], service)}})
    try:
        await stopping.wait()
        await service.drain()
    finally:
        examining.cancel()
        server.stop()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.close_all_connections(), 5)
        _unlink(service.address.path)


async def _examine(service: Service) -> None:
    """Until programs can be run; /readyz says so."""
    while service.problem is not None:
        await asyncio.to_thread(service.examine)
        if service.problem is not None:
            await asyncio.sleep(_EXAMINE_AGAIN)


def _signalled() -> asyncio.Event:
    """Set by the first signal; the second one ends the process as it would without us."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        event.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    return event


def _bound(service: Service) -> list[socket.socket]:
    address = service.address
    try:
        if address.path:
            _refuse_if_served(address.path)
            return [bind_unix_socket(address.path, 0o600)]
        return bind_sockets(address.port, address.host or None)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OptionError(
            f"{service.settings.listen} cannot be listened on: {why}", "listen"
        ) from None


def _refuse_if_served(path: str) -> None:
    """A socket that somebody listens on is not taken away from them."""
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.connect(path)
        raise OptionError(f"unix:{path} is served by another process", "listen")


def _unlink(path: str) -> None:
    with suppress(OSError):
        if path and stat.S_ISSOCK(os.stat(path).st_mode):
            os.unlink(path)


def _spelled(bound: socket.socket, service: Service) -> str:
    """With the port that was chosen, if it was 0."""
    if service.address.path:
        return service.settings.listen
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
