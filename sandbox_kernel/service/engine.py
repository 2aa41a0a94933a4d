"""`ServiceEngine`: runs execute in workers of a service, and are talked to from here.

Each run has a WebSocket, through which the worker's bytes pass to the unchanged conversation here. So
bridges are answered here, and every value of the contract crosses, as with an engine of one's own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from types import TracebackType
from typing import Self

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.iostream import StreamClosedError
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from .. import lifetimes, loops
from ..backend import ActiveCode, Lent, Listener
from ..contract import CodeExecutionError
from ..engine.conversation import Conversation
from ..engine.distant import DistantWorker, worker_lost
from ..engine.places import Nest, current_nest
from ..engine.settings import Settings
from ..errors import EngineBusyError, EngineClosedError
from ..wire.order import Order
from .asking import Server
from .relays import LONGEST_PACKET, heard

_AT_ONCE = 8  # runs that ask for a worker at the same time; others wait behind them
_SOONEST, _LATEST = 0.02, 0.5  # seconds until a busy service is asked again
_SECONDS_TO_CONNECT = 20.0
_TIMES = 3  # that a run is begun in all, if its workers are lost before they said anything


class ServiceEngine:
    """A backend: `run_code(source, engine=ServiceEngine(url, key))`. May be used from any thread.

    While the service is busy a run waits, and asks again.
    """

    serves = "run_code"

    def __init__(self, url: str, key: str | None = None) -> None:
        self._server = Server.of(url, key)
        self._settings = Settings()
        self._lock = threading.Lock()
        self._thread: loops.LoopThread | None = None
        self._asking: asyncio.Semaphore | None = None
        self._live: dict[Conversation, Nest | None] = {}
        self._tasks: dict[Conversation, asyncio.Task[None]] = {}
        self._channels: set[Channel] = set()
        self._closed = False
        lifetimes.opened(self)

    def __repr__(self) -> str:
        return f"ServiceEngine({self._server.url!r})"

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        parent = current_nest.get()
        nest = Nest() if parent is None else parent.inner()
        left = _TIMES

        def lost(conversation: Conversation) -> bool:
            nonlocal left
            left -= 1
            return left > 0 and self._ask_for(conversation, nested=parent is not None)

        conversation = Conversation(
            order, lent, listener, loop, self._settings, nest, self._ended, lost
        )
        with self._lock:
            if self._closed:
                raise EngineClosedError("the engine is closed; make another one")
            if len(self._live) >= self._settings.max_queued + _AT_ONCE:
                raise EngineBusyError(
                    f"{len(self._live):,} runs execute or wait, which is as many as may; try later"
                )
            self._live[conversation] = parent
        self._ask_for(conversation, nested=parent is not None)
        return conversation

    def close(self) -> None:
        """Ends every run. Idempotent."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            conversations = list(self._live)
        for conversation in conversations:
            conversation.abandon("the engine was closed")
        if thread is not None:  # a run's own loop may be busy, and let go of its worker late
            with suppress(RuntimeError):
                loops.on_loop(thread.loop, self._close_channels)
            loops.give_back(thread)
        lifetimes.closed(self)

    def forget(self) -> None:
        """In a fork of the host: threads and connections are the parent's."""
        self._lock = threading.Lock()
        self._thread = None
        self._live.clear()
        self._tasks.clear()

    @property
    def closed(self) -> bool:
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- on any thread

    def _ask_for(self, conversation: Conversation, *, nested: bool) -> bool:
        """A worker, as soon as the service has one."""
        with self._lock:
            if self._closed:
                return False
            if self._thread is None:
                self._thread = loops.borrow()
                self._asking = None
            loop = self._thread.loop
        loops.on_loop(loop, self._begin, conversation, nested)
        return True

    def _ended(self, conversation: Conversation) -> None:
        with self._lock:
            self._live.pop(conversation, None)
            loop = None if self._thread is None else self._thread.loop
        if loop is not None:
            with suppress(RuntimeError):
                loops.on_loop(loop, self._cancel, conversation)

    # -- on the channels' loop

    def _close_channels(self) -> None:
        for channel in list(self._channels):
            channel.close()

    def _begin(self, conversation: Conversation, nested: bool) -> None:
        if conversation.ended:
            return
        task = asyncio.get_running_loop().create_task(self._connect(conversation, nested))
        self._tasks[conversation] = task
        task.add_done_callback(lambda _: self._tasks.pop(conversation, None))

    def _cancel(self, conversation: Conversation) -> None:
        """It ended before there was a worker."""
        task = self._tasks.get(conversation)
        if task is not None:
            task.cancel()

    async def _connect(self, conversation: Conversation, nested: bool) -> None:
        """In the order they came, except that nested runs pass by those that may wait for them."""
        if self._asking is None:
            self._asking = asyncio.Semaphore(_AT_ONCE)
        channel = Channel(self._channels.discard)
        try:
            async with nullcontext() if nested else self._asking:
                await self._ask_until_accepted(channel)
        except (OSError, WebSocketError, HTTPClientError, _Refused) as error:
            reason = f"the service gave no worker: {error}"
            conversation.fail(CodeExecutionError("EngineError", reason))
            return
        self._channels.add(channel)
        channel.attach(conversation)

    async def _ask_until_accepted(self, channel: Channel) -> None:
        """Asks again while the service is busy."""
        pause = _SOONEST
        while True:
            try:
                await channel.connect(self._server)
                return
            except HTTPClientError as error:
                if error.code == 599:
                    raise
                if error.code != 503:
                    raise _Refused(_said(error.code)) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LATEST)


class _Refused(Exception):
    """The service answered, and asking again is of no use."""


def _said(status: int) -> str:
    if status == 401:
        return "it wants another key"
    return f"it answered {status}; is this a service of sandbox-kernel?"


class Channel:
    """One WebSocket, and the worker at its other end; on the loop of the engine's thread."""

    def __init__(self, on_closed: Callable[[Channel], None]) -> None:
        self._on_closed = on_closed
        self._connection: WebSocketClientConnection | None = None
        self._worker: DistantWorker | None = None

    async def connect(self, server: Server) -> None:
        request = HTTPRequest(
            f"{server.url}/worker".replace("http", "ws", 1),
            headers=server.headers,
            connect_timeout=_SECONDS_TO_CONNECT,
            request_timeout=_SECONDS_TO_CONNECT,
        )
        connecting = asyncio.ensure_future(
            websocket_connect(
                request, on_message_callback=self._received, max_message_size=LONGEST_PACKET
            )
        )
        try:
            connection = self._connection = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close_if_connected)
            raise
        assert connection.protocol is not None
        connection.protocol.set_nodelay(True)  # packets are small, and somebody waits for each

    def attach(self, conversation: Conversation) -> None:
        worker = self._worker = DistantWorker(asyncio.get_running_loop(), self._send, self._close)
        if conversation.attach(worker):
            worker.begin()
        else:
            worker.close()

    def _received(self, packet: str | bytes | None) -> None:
        """None at the end of the connection."""
        if self._worker is None:
            return
        if isinstance(packet, bytes):
            self._worker.received(packet)
        else:
            self._worker.lost(worker_lost("the connection to the service is gone"))

    def _send(self, packet: bytes) -> None:
        assert self._connection is not None
        with suppress(WebSocketClosedError, StreamClosedError):  # `_received` is told
            self._connection.write_message(packet, binary=True).add_done_callback(heard)

    def _close(self, _: DistantWorker) -> None:
        self.close()

    def close(self) -> None:
        """Idempotent."""
        self._on_closed(self)
        if self._connection is not None:
            self._connection.close()


def _close_if_connected(connecting: asyncio.Future[WebSocketClientConnection]) -> None:
    """Nobody waits for it any more."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()
