"""WorkerPool: which worker a run gets, how many run at once, and that nothing is left behind.

Loads little, so that the first run can start the zygote before it loads the rest.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import EngineClosedError, IsolationError
from ..wire.messages import FILTERED, PROCESS_ONLY
from .worker import Worker
from .zygote import ZygoteProcess, filters_system_calls

if TYPE_CHECKING:
    import asyncio
    from contextvars import ContextVar

    from .conversation import Conversation
    from .job import ActiveRun, Job, Listener
    from .limits import Limits

_MAX_ZYGOTE_FAILURES = 3


class WorkerPool:
    """Runs code in locked-down worker processes here; `Engine` has its limits as traits."""

    spares = 4
    concurrency = max(8, 4 * (os.cpu_count() or 1))
    default_memory_limit_bytes = 64 * 2**20
    cpu_seconds = 300
    output_bytes = 256 * 2**20
    calls_in_flight = 2**16
    message_bytes = 128 * 2**20
    require_isolation = sys.platform == "linux"

    _shared: ClassVar[WorkerPool | None] = None

    @classmethod
    def shared(cls) -> WorkerPool:
        """The pool of everybody who names no engine; `Engine.instance()` takes it over."""
        pool = WorkerPool._shared
        if pool is None or pool._closed or pool._heir is not None:
            pool = WorkerPool._shared = WorkerPool()
        return pool

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._zygote: ZygoteProcess | None = None
        self._zygote_failures = 0
        self._spares: deque[Worker] = deque()
        self._queue: deque[Conversation] = deque()  # beyond the concurrency limit
        self._waiting: deque[Conversation] = deque()  # for a worker to be forked
        self._active: set[Conversation] = set()
        self._given: dict[
            Conversation, Worker
        ] = {}  # forked for a conversation, on its way to its loop
        self._closed = False
        self._heir: WorkerPool | None = None  # who has taken over
        _pools.add(self)

    # -- the backend's interface

    def start(self, job: Job, listener: Listener, loop: asyncio.AbstractEventLoop) -> ActiveRun:
        """From any thread; the run's conversation is held on `loop`'s own."""
        if self.require_isolation and not filters_system_calls():
            raise IsolationError("no system-call filter here, and the engine requires one")
        self._wake_next()
        conversation_class, inside_a_run, limits_class = _parts()
        limits = limits_class(
            default_memory_bytes=self.default_memory_limit_bytes,
            output_bytes=self.output_bytes,
            message_bytes=self.message_bytes,
            cpu_seconds=self.cpu_seconds,
            calls_in_flight=self.calls_in_flight,
            isolation=FILTERED if self.require_isolation else PROCESS_ONLY,
        )
        conversation = conversation_class(job, listener, loop, limits, self._conversation_ended)
        with self._lock:
            if self._closed:
                raise EngineClosedError("the engine is closed")
            self._drop_orphans()
            # One that a bridge started must not wait for the run that waits for it.
            if len(self._active) >= self.concurrency and not inside_a_run.get():
                self._queue.append(conversation)
                return conversation
            self._active.add(conversation)
        self._assign(conversation)
        return conversation

    def warm_up(self) -> None:
        """Starts the zygote and its spares, as many as are wanted, now rather than at a run."""
        zygote = self._zygote
        if zygote is not None and len(self._spares) + zygote.requested >= self.spares:
            return
        with self._lock:
            if self._closed:
                raise EngineClosedError("the engine is closed")
            self._refill()

    def close(self) -> None:
        """Ends every run and every process; leaves no zombie and no descriptor. Idempotent."""
        with self._lock:
            self._closed = True
            conversations = [*self._queue, *self._waiting, *self._active]
            spares, zygote = list(self._spares), self._zygote
            self._spares.clear()
            self._queue.clear()
            self._waiting.clear()
            self._zygote = None
        for conversation in conversations:
            conversation.abandon("the engine was closed")
        for worker in spares:
            worker.close()
        if zygote is not None:
            zygote.close()
        _pools.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- handing out workers

    def _wake_next(self) -> None:
        """The spare that will get the next job, unless processors have better things to do."""
        with self._lock:
            if self._spares and len(self._spares) >= self.spares and not self._active:
                self._spares[0].wake()

    def _assign(self, conversation: Conversation) -> None:
        """A spare if there is one, the next forked worker otherwise."""
        if self._heir is not None:
            self._heir._assign(conversation)
            return
        while True:
            with self._lock:
                if not self._spares:
                    self._waiting.append(conversation)
                    problem = self._refill()
                    break
                worker = self._spares.popleft()
            if conversation.attach(worker):
                with self._lock:
                    self._refill()
                return
            worker.close()
            if conversation not in self._active:
                return
        if problem is not None and (self._zygote is None or not self._zygote.requested):
            from ..contract import CodeExecutionError

            message = f"no worker could be started: {problem.strerror}"
            conversation.fail(CodeExecutionError("EngineError", message))

    def _refill(self) -> OSError | None:
        """Asks for as many workers as are missing; what the system refused. The lock is held."""
        if self._closed:
            return None
        try:
            if self._zygote is None:
                self._zygote = ZygoteProcess(
                    self.cpu_seconds, self._worker_forked, self._zygote_lost
                )
            missing = self.spares + len(self._waiting) - len(self._spares) - self._zygote.requested
            for _ in range(missing):
                self._zygote.request_worker()
        except OSError as problem:  # such as no descriptor left
            return problem
        return None

    def _worker_forked(self, worker: Worker) -> None:
        """On the zygote's thread."""
        if self._heir is not None:
            self._heir._worker_forked(worker)
            return
        with self._lock:
            self._zygote_failures = 0
            if self._closed:
                worker.close()
                return
            conversation = self._waiting.popleft() if self._waiting else None
            if conversation is None:
                self._spares.append(worker)
                return
            self._given[conversation] = worker
        self._on_loop(conversation, self._attach_forked, conversation)

    def _attach_forked(self, conversation: Conversation) -> None:
        if self._heir is not None:
            self._heir._attach_forked(conversation)
            return
        with self._lock:
            worker = self._given.pop(conversation, None)
        if worker is not None and not conversation.attach(worker):
            worker.close()
            if conversation in self._active:
                self._assign(conversation)

    def _on_loop(self, conversation: Conversation, function: Any, *args: Any) -> None:
        try:
            conversation.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            conversation.abandon("the event loop of this run was closed")

    def _zygote_lost(self, zygote: ZygoteProcess, reason: str) -> None:
        """On the zygote's thread: its workers are dead; who waits for one gets another zygote."""
        if self._heir is not None:
            self._heir._zygote_lost(zygote, reason)
            return
        with self._lock:
            if zygote is not self._zygote:
                return
            self._zygote = None
            self._zygote_failures += 1
            dead = list(self._spares)
            self._spares.clear()
            given_up = []
            if self._zygote_failures >= _MAX_ZYGOTE_FAILURES:
                given_up, self._waiting = list(self._waiting), deque()
            elif self._waiting:
                self._refill()
        zygote.close()
        for worker in dead:
            worker.close()
        for conversation in given_up:
            from ..contract import CodeExecutionError

            error = CodeExecutionError("EngineError", f"no worker could be started: {reason}")
            self._on_loop(conversation, conversation.fail, error)

    # -- bookkeeping

    def _conversation_ended(self, conversation: Conversation) -> None:
        """From any thread: its place goes to the one that waits longest."""
        if self._heir is not None:
            self._heir._conversation_ended(conversation)
            return
        with self._lock:
            if conversation in self._queue:
                self._queue.remove(conversation)
                return
            if conversation in self._waiting:
                self._waiting.remove(conversation)
            if conversation in self._given:
                self._given.pop(conversation).close()
            self._active.discard(conversation)
            if self._closed or not self._queue or len(self._active) >= self.concurrency:
                return
            following = self._queue.popleft()
            self._active.add(following)
        self._on_loop(following, self._assign, following)

    def _drop_orphans(self) -> None:
        """Runs whose event loop was closed under them will never end by themselves."""
        for conversation in [s for s in (*self._active, *self._queue) if s.loop.is_closed()]:
            conversation.abandon("the event loop of this run was closed")

    def take_over(self, other: WorkerPool) -> None:
        """Another pool's processes and runs become this one's; it passes on what it still hears."""
        with other._lock, self._lock:
            if other.cpu_seconds != self.cpu_seconds or self._zygote is not None:
                return
            other._heir = self
            self._zygote, self._spares = other._zygote, other._spares
            self._queue, self._waiting, self._active = other._queue, other._waiting, other._active
            self._given = other._given

    def renew(self) -> None:
        """What zygotes are born with has changed; if runs are under way, the next one has it."""
        with self._lock:
            if self._active or self._zygote is None:
                return
            zygote, self._zygote = self._zygote, None
            spares, self._spares = self._spares, deque()
        for worker in spares:
            worker.close()
        zygote.close()

    def _forget(self) -> None:
        """In a fork of the host: processes and sockets belong to the parent."""
        zygote, self._zygote = self._zygote, None
        self._lock = threading.RLock()
        for worker in (*self._spares, *self._given.values()):
            worker.forget()
        self._spares.clear()
        self._given.clear()
        self._queue.clear()
        self._waiting.clear()
        self._active.clear()
        if zygote is not None:
            zygote.forget()

    def doctor(self) -> dict[str, Any]:
        """What this engine is made of and how far it isolates."""
        from .doctor import examine

        return examine(self)


@cache
def _parts() -> tuple[type[Conversation], ContextVar[bool], type[Limits]]:
    from .conversation import Conversation, inside_a_run
    from .limits import Limits

    return Conversation, inside_a_run, Limits


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for pool in list(_pools):
        pool.close()


def _forget_all() -> None:
    for pool in list(_pools):
        pool._forget()


os.register_at_fork(after_in_child=_forget_all)
