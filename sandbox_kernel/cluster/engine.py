"""`DaskEngine`: a backend whose sandboxes are on the workers of a Dask cluster.

Dask tasks hold slots there (slots.py); the bytes of a slot's sandbox come over one connection for each
Dask worker (channel.py) to the conversation here, which decodes them as hostile input and calls what
was lent. No guest value is ever pickled, or seen by Dask.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from typing import Any, Self

from distributed import Client

from .. import lifetimes
from ..backend import ActiveCode, Lent, Listener
from ..contract import CodeExecutionError
from ..engine.conversation import Conversation
from ..engine.places import Nest, current_nest
from ..engine.settings import Settings
from ..errors import EngineClosedError, OptionError
from ..loops import on_loop
from ..wire.order import Order
from .doctor import examine
from .held import Waiting
from .options import check
from .slotting import Slotting

_DEFAULTS = Settings()


class DaskEngine:
    """`run_code(source, engine=DaskEngine(client))`, and `run_many`. Close it, or use it in `with`."""

    serves = "run_code"

    def __init__(
        self,
        client: Client,
        *,
        concurrency: int | None = None,
        retries: int = 1,
        keep: float = 0.2,
        slice: float = 1.0,
        direct: bool | None = None,
        resources: dict[str, float] | None = None,
        priority: int = 0,
        workers: str | list[str] | None = None,
        spares: int = 4,
        patience: float = 30.0,
        default_memory_limit_bytes: int = _DEFAULTS.default_memory_limit_bytes,
        cpu_seconds: int = _DEFAULTS.cpu_seconds,
        require_isolation: bool = True,
    ) -> None:
        """
        Args:
            client: A connected `distributed.Client`, of whatever cluster.
            concurrency: Slots at most; what Dask gives if None.
            retries: How often a run begins again whose Dask worker was lost before it said anything.
            keep: Seconds that an idle slot is kept for the next run.
            slice: Seconds after which a busy slot goes back into Dask's queue: other clients get a turn.
            direct: Whether to connect to workers; False: through the scheduler; None: try, then relay.
            resources: As in `Client.submit`, and so are `priority` and `workers`.
            spares: Sandboxes that wait ready on each Dask worker.
            patience: Seconds without a sign of life after which a Dask worker is lost.
            default_memory_limit_bytes: Heap of a run that sets no limit.
            cpu_seconds: Processor seconds of one run.
            require_isolation: Refuse Dask workers without the system-call filter.
        """
        if not isinstance(client, Client):
            kind = type(client).__name__
            raise OptionError(f"client must be a distributed.Client, not {kind}", "client")
        check(
            {
                "concurrency": concurrency,
                "retries": retries,
                "keep": keep,
                "slice": slice,
                "direct": direct,
                "resources": resources,
                "priority": priority,
                "workers": workers,
                "spares": spares,
                "patience": patience,
                "default_memory_limit_bytes": default_memory_limit_bytes,
                "cpu_seconds": cpu_seconds,
                "require_isolation": require_isolation,
            }
        )
        self.client = client
        self._refuse_if_closed_client()
        _warn_about(client)
        self.settings = _DEFAULTS._replace(
            default_memory_limit_bytes=default_memory_limit_bytes,
            cpu_seconds=cpu_seconds,
            require_isolation=require_isolation,
        )
        self._retries = retries
        self._closed = False
        self._live: dict[Conversation, Waiting] = {}
        self._slotting = Slotting(
            client,
            name=f"sandbox-{os.getpid()}-{os.urandom(6).hex()}",
            isolation=int(require_isolation),
            most=concurrency,
            keep=keep,
            slice=slice,
            direct=direct,
            patience=patience,
            pool=(spares, cpu_seconds),
            submit={"resources": resources, "priority": priority, "workers": workers},
        )
        lifetimes.opened(self)

    # -- the backend's interface

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        """What `run_code` calls."""
        self._refuse_if_closed_client()
        if self._closed:
            raise EngineClosedError("the engine is closed; make another one")
        parent = current_nest.get()
        nest = Nest() if parent is None else parent.inner()
        conversation = Conversation(
            order, lent, listener, loop, self.settings, nest, self._ended, self._lost
        )
        waiting = Waiting(conversation, nest, parent, self._retries)
        self._live[conversation] = waiting
        self._on_loop(self._slotting.queue, waiting)
        return conversation

    def _refuse_if_closed_client(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise EngineClosedError(
                f"the Dask client is {self.client.status}; make another one, and an engine for it"
            )

    def _lost(self, conversation: Conversation) -> bool:
        """Its worker is lost, and it has said nothing: it may begin again elsewhere."""
        waiting = self._live.get(conversation)
        if waiting is None or not waiting.retries or self._closed:
            return False
        waiting.retries -= 1
        self._on_loop(self._slotting.queue, waiting)
        return True

    def _ended(self, conversation: Conversation) -> None:
        waiting = self._live.pop(conversation, None)
        if waiting is not None:
            self._on_loop(self._slotting.forget, waiting)

    # -- what people ask

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Dask's, which is the caller's own if the client is asynchronous."""
        return self._slotting.loop

    @property
    def concurrency(self) -> int:
        """How many runs it is worth to have under way: twice what the cluster executes at once."""
        return self._slotting.width()

    @property
    def executing(self) -> int:
        """How many runs are under way, queued ones among them."""
        return len(self._live)

    def runs(self) -> list[Any]:
        """The handles of all runs that execute or wait, oldest first."""
        handles = [conversation.handle() for conversation in list(self._live)]
        return [handle for handle in handles if handle is not None]

    def terminate_all(self, reason: str | None = None) -> None:
        """Terminates all of these; runs that are started from now on are not affected."""
        for conversation in list(self._live):
            conversation.terminate(reason)

    def warm_up(self) -> None:
        """Asks for a first slot now, so that the sandboxes of one Dask worker get ready."""
        self._on_loop(self._slotting.warm_up)

    def doctor(self) -> dict[str, Any]:
        """Here and on each Dask worker: versions, isolation, and how it is reached."""
        self._refuse_if_closed_client()
        return examine(self.client, self.settings, self._slotting.reached())

    def close(self) -> None:
        """Ends every run, and gives every slot back. The client stays as it is. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for conversation in list(self._live):
            conversation.abandon("the engine was closed")
        self._on_loop(self._slotting.close)
        lifetimes.closed(self)

    def forget(self) -> None:
        """In a fork of the host: connections are the parent's."""
        self._closed = True
        self._live.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_loop(self, function: Any, *args: Any) -> None:
        try:
            on_loop(self._slotting.loop, function, *args)
        except RuntimeError:  # Dask's loop is closed, and so is every connection
            lost = CodeExecutionError("WorkerLost", "the Dask client was closed")
            for conversation in list(self._live):
                conversation.fail(lost)


def _warn_about(client: Client) -> None:
    """Whoever reaches a port of Dask runs code there; and here, where results are unpickled."""
    address = str(client.scheduler.address) if client.scheduler is not None else ""
    scheme, _, rest = address.partition("://")
    local = rest.startswith(("127.", "localhost", "[::1]"))
    if scheme == "tcp" and not local:
        message = f"{address} is not encrypted: use tls:// for a cluster of several machines"
        warnings.warn(message, stacklevel=3)
