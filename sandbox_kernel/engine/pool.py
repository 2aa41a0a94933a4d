"""WorkerPool: which worker a run gets, how many run at once, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

from .. import lifetimes
from ..backend import CANCELLED, ActiveCode, Lent, Listener
from ..contract import CodeExecutionError
from ..errors import EngineClosedError, IsolationError
from ..wire.control import Record
from ..wire.order import Order
from .conversation import Conversation
from .places import Nest, Places, current_nest
from .settings import Settings
from .spawn import Spawned
from .taker import Taker
from .waits import Waits
from .worker import Worker
from .zygote import ZygoteProcess, filters_system_calls
from .zygotes import Zygotes, is_crash

_MAX_ZYGOTE_FAILURES = 3
PATIENCE = 10.0  # seconds that a run waits for its worker


class Processes(NamedTuple):
    """Process numbers of an engine's own; `workers` are those that execute runs.

    `other_zygotes` are one that starts, and earlier ones whose workers still live.
    """

    zygote: int | None
    spares: tuple[int, ...]
    workers: tuple[int, ...]
    other_zygotes: tuple[int, ...]


class WorkerPool:
    """The processes of one engine. All of it may be called from any thread."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._lock = threading.RLock()
        self._zygotes = Zygotes(self._listen_to)
        self._zygote_failures = 0
        self._spares: deque[Worker] = deque()
        self._live: dict[Taker, None] = {}  # executing and queued, oldest first
        self._places: Places[Taker] = Places()
        self._waits = Waits(self._waited_enough)
        self._waiting: deque[Taker] = deque()  # that have a place, but no worker yet
        self._given: dict[Taker, Worker] = {}  # forked for a taker, on their way to its loop
        self._taken: dict[Taker, int] = {}  # process numbers of workers in use
        self._since: dict[Taker, float] = {}  # when a worker was first asked for
        self._closed = False
        lifetimes.opened(self)

    # -- settings and diagnostics

    @property
    def settings(self) -> Settings:
        return self._settings

    def configure(self, settings: Settings) -> None:
        """For runs from now on. A zygote is born with its processor cap: idle ones are replaced."""
        with self._lock:
            before, self._settings = self._settings, settings
            if before.cpu_seconds == settings.cpu_seconds or self._places.executing:
                return
            zygotes, spares = self._let_go()
        _close_processes(zygotes, spares)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def executing(self) -> int:
        return len(self._places.executing)

    @property
    def queued(self) -> int:
        return self._places.queued

    def processes(self) -> Processes:
        with self._lock:
            zygote = self._zygotes.current
            return Processes(
                zygote.pid if zygote else None,
                tuple(worker.pid for worker in self._spares),
                tuple(self._taken.values()),
                self._zygotes.pids_of_others(),
            )

    # -- the backend's interface

    def start(
        self, order: Order, lent: Lent, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveCode:
        """The run's conversation is held on `loop`."""
        settings = self._settings
        if settings.require_isolation and not filters_system_calls():
            raise IsolationError("no system-call filter here, and the engine requires one")
        parent = current_nest.get()
        nest = Nest() if parent is None else parent.inner()
        self.expect_run()
        conversation = Conversation(order, lent, listener, loop, settings, nest, self.release)
        self.hand_out(conversation, parent)
        return conversation

    def hand_out(self, taker: Taker, parent: Nest | None = None) -> None:
        """Gives it a worker, now or when there is room; `release` it in the end."""
        settings = self._settings
        with self._lock:
            if self._closed or self._live:
                self._refuse_if_closed()
                self._drop_orphans()
            executes = self._places.enter(
                taker, settings.concurrency, parent, most=settings.max_queued
            )
            self._live[taker] = None
            if not executes:
                self._waits.begin(taker, settings.queue_seconds)
                return
        self._assign(taker)

    def runs(self) -> list[Any]:
        """The handles of all that execute or wait, oldest first."""
        with self._lock:
            handles = [taker.handle() for taker in self._live]
        return [handle for handle in handles if handle is not None]

    def terminate_all(self, reason: str | None) -> None:
        with self._lock:
            takers = list(self._live)
        for taker in takers:
            taker.terminate(reason)

    def warm_up(self) -> None:
        """Starts the zygote and its spares, as many as are wanted, now rather than at a run."""
        wanted = self._settings.spares
        if self._spares and len(self._spares) >= wanted:
            return
        zygote = self._zygotes.current
        if zygote is not None and len(self._spares) + zygote.requested >= wanted:
            return
        with self._lock:
            self._refuse_if_closed()
            self._refill()

    def expect_run(self) -> bool:
        """Wakes the spare that will get the next run, while that is being prepared.

        Only if the pool is at rest, with all its spares; whether it is.
        """
        with self._lock:
            spares = self._spares
            if not spares or len(spares) < self._settings.spares or self._places.executing:
                return False
            if not spares[0].awake:
                spares[0].wake()
            return True

    def adopt(self, spawned: Spawned) -> None:
        """Uses a zygote that was started before the pool was there."""
        with self._lock:
            if self._zygotes.adopt(spawned):
                return
        self._listen_to(spawned).close()

    def close(self) -> None:
        """Ends every run and every process; leaves no zombie and no descriptor. Idempotent."""
        with self._lock:
            self._closed = True
            takers = list(self._live)
            self._waiting.clear()
            zygotes, spares = self._let_go()
        for taker in takers:
            taker.abandon("the engine was closed")
        _close_processes(zygotes, spares)
        lifetimes.closed(self)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise EngineClosedError("the engine is closed; make another one")

    def _let_go(self, *, of_earlier: bool = True) -> tuple[list[ZygoteProcess], list[Worker]]:
        """What is to be closed outside the lock."""
        spares = list(self._spares)
        self._spares.clear()
        return self._zygotes.let_go(of_earlier=of_earlier), spares

    # -- handing out workers

    def _assign(self, taker: Taker) -> None:
        """A spare if there is one, the next forked worker otherwise."""
        while True:
            with self._lock:
                self._since[taker] = monotonic()
                if not self._spares:
                    self._waiting.append(taker)
                    problem = self._refill()
                    break
                worker = self._spares.popleft()
            if self._attach(taker, worker):
                self._refill_if_low()
                return
            if taker not in self._places.executing:
                return
        zygote = self._zygotes.current
        if problem is not None and (zygote is None or not zygote.requested):
            taker.fail(_no_worker(problem.strerror or str(problem)))

    def _attach(self, taker: Taker, worker: Worker) -> bool:
        """False if the worker was dead, or the taker had ended."""
        with self._lock:
            self._taken[taker] = worker.pid
        if taker.attach(worker):
            return True
        with self._lock:
            self._taken.pop(taker, None)
        worker.close()
        return False

    def _refill_if_low(self) -> None:
        """One spare may be missing until its run ends or a while has passed.

        Most runs are short, and a fork would take memory and a processor from them.
        """
        if len(self._spares) < max(1, self._settings.spares - 1):
            with self._lock:
                self._refill()

    def _refill(self) -> OSError | None:
        """Asks for as many workers as are missing; what the system refused. The lock is held."""
        if self._closed:
            return None
        try:
            settings = self._settings
            zygote = self._zygotes.ready(settings.cpu_seconds)
            there = zygote.requested + sum(map(zygote.owns, self._spares))
            for _ in range(settings.spares + len(self._waiting) - there):
                zygote.request_worker()
        except OSError as problem:  # such as no descriptor left
            return problem
        self._renew()
        return None

    def _listen_to(self, spawned: Spawned) -> ZygoteProcess:
        return ZygoteProcess(
            spawned,
            on_worker=self._worker_forked,
            on_lost=self._zygote_lost,
            on_exit=self._worker_exited,
            on_quiet=self._zygote_quiet,
        )

    def _worker_forked(self, zygote: ZygoteProcess, worker: Worker) -> None:
        """On the zygote's thread."""
        with self._lock:
            self._zygote_failures = 0
            if self._closed:
                worker.close()
                return
            takes_over = self._zygotes.promote(zygote)
            taker = self._waiting.popleft() if self._waiting else None
            if taker is None:
                self._keep_spare(worker)
            else:
                self._given[taker] = worker
            if takes_over:
                self._refill()  # what the earlier one has yet to fork may come too late
        if taker is not None:
            self._on_loop(taker, self._attach_forked, taker)

    def _keep_spare(self, worker: Worker) -> None:
        """In place of an earlier zygote's. Or not, if there are enough, or it is such a one itself."""
        current = self._zygotes.current
        if current is None or not current.owns(worker):
            worker.close()
            return
        earlier = next((each for each in self._spares if not current.owns(each)), None)
        if earlier is not None:
            self._spares.remove(earlier)
            earlier.close()
        if len(self._spares) < self._settings.spares:
            self._spares.append(worker)
        else:
            worker.close()

    def _attach_forked(self, taker: Taker) -> None:
        with self._lock:
            worker = self._given.pop(taker, None)
        if worker is None or self._attach(taker, worker):
            return
        if taker in self._places.executing:
            self._assign(taker)

    def _on_loop(self, taker: Taker, function: Callable[..., Any], *args: Any) -> None:
        try:
            taker.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            taker.abandon(CANCELLED)

    def _zygote_lost(self, zygote: ZygoteProcess, reason: str) -> None:
        """On the zygote's thread: its workers are dead; who waits for one gets another zygote."""
        with self._lock:
            dead: list[Worker] = []
            given_up: list[Taker] = []
            if self._zygotes.lost(zygote):
                self._zygote_failures += 1
                dead, self._spares = list(self._spares), deque()
                if self._zygote_failures >= _MAX_ZYGOTE_FAILURES:
                    given_up, self._waiting = list(self._waiting), deque()
                elif self._waiting:
                    self._refill()
        _close_processes([zygote], dead)
        for taker in given_up:
            self._on_loop(taker, taker.fail, _no_worker(reason))

    def _worker_exited(self, zygote: ZygoteProcess, record: Record) -> None:
        """On the zygote's thread."""
        with self._lock:
            if is_crash(record):
                self._zygotes.crashed(zygote)
                self._renew()
            if zygote is self._zygotes.current:
                self._refill()

    def _zygote_quiet(self) -> None:
        """Now and then, on the zygote's thread."""
        with self._lock:
            if self._zygotes.current is not None:
                self._refill()
            self._drop_orphans()
        self._check_patience()

    def _renew(self) -> None:
        """Starts another zygote in the background if it is time for one. The lock is held."""
        if not self._closed:
            with suppress(OSError):  # such as no descriptor left: the one there is does for now
                self._zygotes.renew_if_due(self._settings.cpu_seconds, self._settings.spares)

    def _check_patience(self) -> None:
        """What is stopped or stuck would never answer."""
        with self._lock:
            late = monotonic() - PATIENCE
            overdue = [taker for taker, since in self._since.items() if since < late]
            waiting = [taker for taker in overdue if taker in self._waiting]
            stuck = [taker for taker in overdue if taker.is_stuck()]
            for taker in waiting:
                self._waiting.remove(taker)
            zygotes, spares = self._let_go(of_earlier=False) if waiting else ([], [])
            if waiting:
                self._refill()
        for taker in (*waiting, *stuck):
            self._on_loop(taker, taker.fail, _no_worker(f"none answered within {PATIENCE:g} s"))
        _close_processes(zygotes, spares)

    # -- bookkeeping

    def release(self, taker: Taker) -> None:
        """It has ended: its place goes to the one that has waited longest."""
        with self._lock:
            if taker in self._waiting:
                self._waiting.remove(taker)
            if taker in self._given:
                self._given.pop(taker).close()
            self._taken.pop(taker, None)
            self._since.pop(taker, None)
            self._live.pop(taker, None)
            self._waits.end(taker)
            following = self._places.leave(taker, self._settings.concurrency)
            if following is None or self._closed:
                return
            self._waits.end(following)
        self._on_loop(following, self._assign, following)

    def _waited_enough(self, taker: Taker, seconds: float) -> None:
        """On the clock's thread."""
        with self._lock:
            still_waits = self._waits.end(taker)
        if still_waits:
            taker.abandon(f"it waited {seconds:g} s in the queue (Engine.queue_seconds)")

    def _drop_orphans(self) -> None:
        """Runs whose event loop was closed under them will never end by themselves."""
        for taker in [each for each in self._live if each.loop.is_closed()]:
            taker.abandon(CANCELLED)

    def forget(self) -> None:
        """In a fork of the host: processes and sockets belong to the parent."""
        self._lock = threading.RLock()
        for worker in (*self._spares, *self._given.values()):
            worker.forget()
        self._spares.clear()
        self._given.clear()
        self._taken.clear()
        self._since.clear()
        self._waiting.clear()
        self._live.clear()
        self._waits.clear()
        self._places.clear()
        self._zygotes.forget()


def _no_worker(reason: str) -> CodeExecutionError:
    return CodeExecutionError("EngineError", f"no worker could be started: {reason}")


def _close_processes(zygotes: list[ZygoteProcess], spares: list[Worker]) -> None:
    for worker in spares:
        worker.close()
    for zygote in zygotes:
        zygote.close()
