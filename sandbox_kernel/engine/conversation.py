"""One run's conversation with its worker. Lives on one event loop; only `attach` and `terminate`
may come from another thread. Every frame is hostile: a worker that says anything unexpected is killed.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from ..contract import CodeExecutionError
from ..errors import ProtocolError
from ..loops import on_loop
from ..wire import messages
from ..wire.control import Record
from ..wire.frame import HEAD, Buffer, Frame, FrameReader, pack, size_of
from ..wire.values import decode, decode_lines, encode, weight
from .calls import Calls, complain, pass_on, spawn
from .guests import Guests
from .incoming import failure_of, log_of
from .job import Job, Listener, Outcome
from .limits import Limits, spell_size
from .outbox import Outbox
from .worker import Worker

_SECONDS_PER_TURN = 0.01  # a worker that talks without end leaves the loop to others in between
_EXIT_NOTICE_SECONDS = 2.0
_READY = {  # as a worker of each level says it
    level: b"".join(pack(messages.READY, level, messages.VERSION))
    for level in messages.ISOLATION_NAMES
}


inside_a_run = contextvars.ContextVar("inside_a_run", default=False)


class Conversation:
    """States: queued (no worker), attached, ended. `on_end` is called once, when it ends."""

    def __init__(
        self,
        job: Job,
        listener: Listener,
        loop: asyncio.AbstractEventLoop,
        limits: Limits,
        on_end: Callable[[Conversation], None],
    ) -> None:
        self.loop = loop
        self._job = job
        self._listener = listener
        self._limits = limits
        self._on_end = on_end
        self._context = contextvars.copy_context()
        self._context.run(inside_a_run.set, True)
        self._memory_limit = job.options.memory_limit_bytes or limits.default_memory_bytes
        self._worker: Worker | None = None
        self._reader = FrameReader(limits.message_bytes)
        self._outbox: Outbox | None = None
        self._calls = Calls(loop, self._context, job.bridges, self)
        self._sinks: set[asyncio.Task[Any]] = set()
        self._last: asyncio.Task[Any] | None = None  # waits for sinks
        self._guests = Guests(loop, self._call_guest)
        self._largest_received = 0
        self._output = 0  # what the worker's messages take in the host's memory for good, about
        self._known = False  # it has said how it is isolated
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._terminated = False
        self._finishing = False
        self._ended = False

    # -- beginning

    def attach(self, worker: Worker) -> bool:
        """Sends the job; False if the worker is dead, so that another may be tried."""
        with self._lock:
            if self._ended:
                return False
            self._worker = worker
        if not self._hear_that_it_is_ready(worker):
            return self._detach()
        worker.limit_address_space(self._limits.address_space(self._memory_limit))
        order = self._job.order(self._limits.default_memory_bytes)
        cap = self._limits.output_bytes
        self._outbox = Outbox(self.loop, worker.socket, cap, self._on_overflow)
        try:
            self._outbox.post(pack(messages.RUN, 0, 0, order, self._job.attachments), now=True)
        except OSError:
            return self._detach()
        on_loop(self.loop, self._listen, worker)
        if self._terminated:
            worker.kill()
        return True

    def _detach(self) -> bool:
        """As before `attach`; False, because it failed."""
        self._worker = self._outbox = None
        self._reader = FrameReader(self._limits.message_bytes)
        self._known = False
        return False

    def _hear_that_it_is_ready(self, worker: Worker) -> bool:
        """Spares have said so long ago: heard now, it takes no turn of the loop; False if dead."""
        try:
            said = worker.socket.recv(HEAD.size)
        except BlockingIOError:
            return True  # it will
        except OSError:
            return False
        if said == _READY[self._limits.isolation]:
            self._known = True
        elif said:
            self._reader.room()[: len(said)] = said
            self._take(len(said))
        return bool(said)

    def _listen(self, worker: Worker) -> None:
        if not self._ended:
            self.loop.add_reader(worker.descriptor, self._context.copy().run, self._on_readable)
            self._calls.await_lent()

    # -- receiving

    def _on_readable(self) -> None:
        if self._ended or self._worker is None:
            return
        enough, begun = monotonic() + _SECONDS_PER_TURN, self._calls.begun
        while True:
            try:
                count = self._worker.socket.recv_into(self._reader.room())
            except BlockingIOError:
                if monotonic() < self._calls.linger_until:
                    continue
                return
            except OSError:
                count = 0
            if not count:
                self._on_end_of_stream()
                return
            self._take(count)
            if self._ended or self._worker is None or monotonic() > enough:
                return
            if self._calls.begun != begun:
                return  # the guest has use for first answers while later calls are made

    def _take(self, count: int) -> None:
        try:
            for frame in self._reader.feed(count):
                self._largest_received = max(self._largest_received, size_of(frame))
                size = weight(frame.text, frame.attachments)
                if frame.kind == messages.SAID:
                    size += 128 * bytes(frame.text).count(b"\n")
                if self._output + self._calls.weight + size > self._limits.output_bytes:
                    cap = spell_size(self._limits.output_bytes)
                    self._end_terminated(f"safety cap: more than {cap} of output")
                elif not self._finishing:
                    self._handle(frame, size)
                if self._ended:
                    return
        except ProtocolError as error:
            self._crash(f"the worker broke the protocol: {error}")
        except Exception as error:
            complain(self.loop, "a message of a worker could not be handled", error)
            self._crash(f"the host could not handle a message: {type(error).__name__}")

    def _handle(self, frame: Frame, size: int) -> None:
        kind = frame.kind
        if kind not in (messages.CALL, messages.CALLS):
            self._output += size  # arguments are gone when their call is
        if not self._known or kind == messages.READY:
            self._ready(frame)
        elif kind == messages.SAID:
            self._said(frame)
        elif kind == messages.REPORT:
            self._report(self._decode(frame))
        elif kind == messages.LOG:
            self._log(decode(frame.text, frame.attachments, None, ordered=True))
        elif kind == messages.CALL:
            self._calls.make(frame.a, frame.b, self._decode(frame), size)
            self._check_in_flight()
        elif kind == messages.CALLS:
            self._calls.make_all(self._decode(frame), size)
            self._check_in_flight()
        elif kind in (messages.FINISHED, messages.FAILED):
            self._finished(frame)
        else:
            future = self._guests.waiting_for(kind, frame.a)
            self._guests.settle(kind, future, self._decode(frame))

    def _decode(self, frame: Frame) -> Any:
        return decode(frame.text, frame.attachments, self._guests)

    def _ready(self, frame: Frame) -> None:
        if self._known or frame.kind != messages.READY:
            raise ProtocolError("a worker says once, and first, how it is isolated")
        if frame.b != messages.VERSION or frame.a not in messages.ISOLATION_NAMES:
            raise ProtocolError("a worker of another version")
        if frame.a < self._limits.isolation:
            raise ProtocolError("a worker that is not isolated as required")
        self._known = True

    def _said(self, frame: Frame) -> None:
        for letter, value in decode_lines(frame.text, self._borrower_for):
            if letter == "R":
                self._report(value)
            elif letter == "L":
                self._log(value)
            else:
                raise ProtocolError("a line that is neither report nor log")
            if self._ended:
                return

    def _borrower_for(self, letter: str) -> Guests | None:
        """Logs describe functions and promises; only reports may lend them."""
        return self._guests if letter == "R" else None

    def _log(self, entry: Any) -> None:
        log = log_of(entry)
        try:
            self._listener.on_log(log)
        except Exception as error:
            complain(self.loop, "the log sink raised", error)

    def _report(self, value: Any) -> None:
        sink = self._job.options.report
        if sink is None:
            raise ProtocolError("a report, but none was asked for")
        self._listener.on_report(value)
        try:
            given = sink(value)
        except BaseException as error:
            complain(self.loop, "the report sink raised", error)
            pass_on(self.loop, error)
            return
        if inspect.isawaitable(given):
            task = spawn(self.loop, self._context, given)
            self._sinks.add(task)
            task.add_done_callback(self._sink_done)
            self._check_in_flight()

    def _sink_done(self, task: asyncio.Task[Any]) -> None:
        self._sinks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            complain(self.loop, "the report sink raised", task.exception())

    # -- calls

    def _check_in_flight(self) -> None:
        cap = self._limits.calls_in_flight
        if self._calls.in_flight + len(self._sinks) > cap:
            self._end_terminated(f"safety cap: more than {cap} calls in flight")

    def _call_guest(self, number: int, ident: int, args: Sequence[Any]) -> None:
        text, attachments = encode(list(args), "args", self._job.bridges)
        frame = pack(messages.CALL_GUEST, number, ident, text.encode(), attachments)
        self.post(frame, now=True)
        self._calls.await_lent()

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        if self._ended or self._outbox is None:
            return
        try:
            self._outbox.post(frame, now=now)
        except OSError:
            pass  # it is dying; the reader will see why

    def post_answer(self, call: int, json: str) -> None:
        if not self._ended and self._outbox is not None:
            self._outbox.post_answer(call, json)

    def _on_overflow(self) -> None:
        cap = spell_size(self._limits.output_bytes)
        self._end_terminated(f"safety cap: more than {cap} that the guest did not take")

    # -- ending

    def terminate(self, reason: str | None) -> None:
        """From any thread. The reader drains what was said before the kill, then ends the run."""
        with self._lock:
            if self._ended or self._terminated:
                return
            self._terminated, self._reason = True, reason
            worker, blocked = self._worker, self._calls.blocked
        self._calls.stop()
        if worker is not None:
            worker.kill()
        if worker is None or blocked or not self.loop.is_running():
            # Nobody reads now. A guest that waits for a synchronous bridge has said all it could.
            self._end_terminated(None)

    def memory_used_bytes(self) -> int | None:
        worker = self._worker
        if worker is None or self._outbox is None or self._ended:
            return None
        growth = worker.growth()
        if growth is None:
            return None
        copies = self._limits.copies_of(self._outbox.largest, self._largest_received)
        return max(0, growth - copies) or None

    def _on_end_of_stream(self) -> None:
        assert self._worker is not None
        self.loop.remove_reader(self._worker.descriptor)
        if self._terminated:
            self._end_terminated(None)
            return
        self._worker.when_exited(self._on_exit_from_thread)
        self.loop.call_later(_EXIT_NOTICE_SECONDS, self._on_exit, None)

    def _on_exit_from_thread(self, record: Record) -> None:
        try:
            self.loop.call_soon_threadsafe(self._on_exit, record)
        except RuntimeError:
            self._on_exit(record)

    def _on_exit(self, record: Record | None) -> None:
        """The worker died without a word: the kernel's word has to do."""
        if self._ended:
            return
        status = record.status if record else 0
        number = status & 0x7F
        code = status >> 8
        cap = self._limits.cpu_seconds
        near_limit = record is not None and record.peak_kilobytes * 1024 > self._memory_limit * 0.8
        if number == signal.SIGXCPU:
            self._end_terminated(f"safety cap: more than {cap} s of processor time")
        elif code == messages.EXIT_MEMORY or (number in _ENGINE_DEATHS and near_limit):
            self._end_memory(None)
        elif number:
            self._crash(f"the worker was ended by {signal.Signals(number).name}")
        else:
            self._crash("the worker ended without an answer")

    def _finished(self, frame: Frame) -> None:
        self._finishing = True
        used = self._peak(frame.a * 1024)
        if frame.kind == messages.FAILED:
            self._failed(frame, used)
        elif used is not None and used > self._memory_limit:
            self._end_memory(used)
        else:
            value = decode(
                frame.text, frame.attachments, self._guests, ordered=self._job.interactive
            )
            self._end_after_sinks(Outcome("success", value, None, used))

    def _peak(self, heap: int) -> int | None:
        measured = self.memory_used_bytes()
        return heap if measured is None else max(heap, measured)

    def _failed(self, frame: Frame, used: int | None) -> None:
        status, error, engine = failure_of(frame.text)
        if status == "memory" or engine or (used is not None and used > self._memory_limit):
            self._end_memory(used, error)
        else:
            self._end_after_sinks(Outcome(status, error=error, memory_used_bytes=used))

    def _end_after_sinks(self, outcome: Outcome) -> None:
        if not self._sinks:
            self._end(outcome)
            return

        async def last() -> None:
            await asyncio.gather(*self._sinks, return_exceptions=True)
            self._end(outcome)

        self._last = spawn(self.loop, self._context, last())

    def _end_memory(self, used: int | None, error: CodeExecutionError | None = None) -> None:
        message = f"the heap exceeded its limit of {spell_size(self._memory_limit)}"
        place = error or CodeExecutionError("", "")
        described = replace(place, name="MemoryLimitExceeded", message=message)
        self._end(Outcome("memory", error=described, memory_used_bytes=used))

    def _end_terminated(self, cap: str | None) -> None:
        message = cap or self._reason or "terminated by the caller"
        self._end(Outcome("terminated", error=CodeExecutionError("Terminated", message)))

    def _crash(self, message: str) -> None:
        self._end(Outcome("error", error=CodeExecutionError("SandboxCrash", message)))

    def abandon(self, message: str) -> None:
        """Ended by the engine: its loop is closed, or the engine is, or no worker can be had."""
        self._end(Outcome("terminated", error=CodeExecutionError("Terminated", message)))

    def fail(self, error: CodeExecutionError) -> None:
        """No worker can be had."""
        self._end(Outcome("error", error=error))

    def _end(self, outcome: Outcome) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = True
        if self._worker is not None:
            self._worker.kill()
        finished_here = self._finishing and asyncio._get_running_loop() is self.loop
        if finished_here:  # whoever waits has the result before the rest is cleared away
            self._release_waiting()
        elif self.loop.is_closed() or not self.loop.is_running():
            self._release_all()
        else:
            on_loop(self.loop, self._release_all)
        try:
            self._job.bridges.close()
            self._on_end(self)
            self._listener.settled(outcome)
        finally:
            if finished_here:
                self.loop.call_soon(self._release_worker)

    def _release_all(self) -> None:
        self._release_waiting()
        self._release_worker()

    def _release_waiting(self) -> None:
        """Whatever waits for the worker does so no longer."""
        if not self.loop.is_closed():
            self._calls.close()
            for task in self._sinks:
                task.cancel()
        self._guests.close()
        if self._outbox is not None:
            self._outbox.close()

    def _release_worker(self) -> None:
        if self._worker is not None:
            if not self.loop.is_closed():
                self.loop.remove_reader(self._worker.descriptor)
            self._worker.close()


_ENGINE_DEATHS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL)
