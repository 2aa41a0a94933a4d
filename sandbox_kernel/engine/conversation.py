"""One run's conversation with its worker: what it says, what is answered, how it ends.

Lives on one event loop; only `attach`, `terminate`, `abandon` and `fail` may come from another
thread. Every frame is hostile: a worker that says anything unexpected is killed.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from ..backend import Lent, Listener, Outcome
from ..contract import CodeExecutionError
from ..errors import ProtocolError
from ..loops import on_loop
from ..sizes import spell_size
from ..values import undefined
from ..wire import messages
from ..wire.control import Record
from ..wire.frame import Buffer, Frame, OversizedFrame, pack
from ..wire.order import Order
from ..wire.values import encode
from . import ending
from .calls import Calls
from .complaints import Complaints
from .guests import Guests
from .hearing import Hearing, OverBudget
from .incoming import exports_of, failure_of
from .line import READY, Line
from .places import Nest, current_nest
from .settings import Settings
from .sinks import Sinks
from .state import MAY_SAY, Lifecycle, State
from .worker import Worker, address_space


class Conversation:
    """`on_end` is called once, when it has ended, on whatever thread that happens."""

    def __init__(
        self,
        order: Order,
        lent: Lent,
        listener: Listener,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        nest: Nest,
        on_end: Callable[[Conversation], None],
    ) -> None:
        self.loop = loop
        limit = order.memory_limit or settings.default_memory_limit_bytes
        self._order = order if order.memory_limit else order._replace(memory_limit=limit)
        self._lent = lent
        self._listener = listener
        self._settings = settings
        self._isolation = messages.FILTERED if settings.require_isolation else messages.PROCESS_ONLY
        self._on_end = on_end
        self._context = contextvars.copy_context()
        self._context.run(current_nest.set, nest)
        self._life = Lifecycle()
        self._unexpected = {messages.FINISHED if order.stays_open else messages.OPENED}
        self._line: Line | None = None
        self._complaints = complaints = Complaints(loop)
        self._calls = Calls(loop, self._context, lent.bridges, self, complaints)
        self._guests = Guests(loop, self._call_guest)
        sink = lent.report
        self._sinks = None if sink is None else Sinks(loop, self._context, sink, complaints)
        self._hearing = Hearing(
            *(lent, listener, settings, self._calls, self._guests, self._sinks, complaints),
            ordered_sets=order.lenient,
            hands_over=order.stays_open,
        )

    @property
    def ended(self) -> bool:
        return self._life.ended

    @property
    def stopping(self) -> bool:
        return self._life.stopping

    # -- beginning

    def attach(self, worker: Worker) -> bool:
        """Sends the order; False if the worker is dead, so that another may be tried."""
        self._line = line = Line(self.loop, worker, self, self._settings)
        if not self._life.move(State.ATTACHED):
            self._line = None
            return False
        ready = line.read_ready(READY[self._isolation])
        if ready is False or not self._send_order(worker, line):
            self._life.move(State.QUEUED)
            self._line = None
            return False
        if ready:
            self._life.move(State.RUNNING)
        self._listener.on_start()
        on_loop(self.loop, self._listen, line)
        if self._life.stopping:
            worker.kill()
        return True

    def _send_order(self, worker: Worker, line: Line) -> bool:
        order, message_bytes = self._order, self._settings.message_bytes
        worker.limit_address_space(address_space(order.memory_limit, message_bytes))
        try:
            line.post(pack(messages.RUN, 0, 0, order.pack(), order.attachments), now=True)
        except OSError:
            return False
        return True

    def _listen(self, line: Line) -> None:
        if not self.ended:
            line.listen(self._context.copy(), self._calls)
            self._calls.await_lent()

    # -- hearing

    def hear(self, frame: Frame) -> Iterator[None] | None:
        """A long message is decoded in steps, which are returned."""
        state = self._life.state
        if state is State.FINISHING:
            return None
        if frame.kind not in MAY_SAY[state]:
            raise ProtocolError(f"it sent a message of kind {frame.kind} while {state.value}")
        if frame.kind == messages.FAILED:
            self._failed(frame)
        elif frame.kind == messages.READY:
            self._ready(frame)
        elif frame.kind in self._unexpected:
            raise ProtocolError("it opened a module to be run, or ran one to be opened")
        else:
            return self._hearing.hear(frame, self)
        return None

    def _ready(self, frame: Frame) -> None:
        if frame.b != messages.VERSION or frame.a not in messages.ISOLATION_NAMES:
            raise ProtocolError("the worker has another version")
        if frame.a < self._isolation:
            raise ProtocolError("the worker is not isolated as required")
        self._life.move(State.RUNNING)

    def opened(self, value: Any) -> None:
        self._unexpected.add(messages.OPENED)
        exports = exports_of(value)
        self._listener.on_open(
            {
                name: None if number is None else self._guests.guest_function(number, name)
                for name, number in exports.items()
            }
        )

    # -- answering

    def _call_guest(self, number: int, ident: int, args: Sequence[Any]) -> None:
        text, attachments = encode(list(args), "args", self._lent.bridges)
        frame = pack(messages.CALL_GUEST, number, ident, text.encode(), attachments)
        self.post(frame, now=True)
        self._calls.await_lent()

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        line = self._line
        if self.ended or line is None:
            return
        try:
            line.post(frame, now=now)
        except OSError:
            pass  # it is dying; the reader will see why

    def post_answer(self, call: int, json: str) -> None:
        line = self._line
        if not self.ended and line is not None:
            line.post_answer(call, json)

    # -- ending

    def terminate(self, reason: str | None) -> None:
        """The reader drains what was said before the kill, then ends the run."""
        if not self._life.stop(reason):
            return
        blocked = self._calls.blocked
        self._calls.stop()
        line = self._line
        if line is not None:
            line.kill()
        if line is None or line.is_working or blocked or not self.loop.is_running():
            # Nobody reads now. A guest that waits for a synchronous bridge has said all it could.
            self._end(ending.terminated(reason))

    def handle(self) -> Any:
        return self._listener.handle()

    def is_stuck(self) -> bool:
        line = self._line
        return line is not None and line.is_stuck()

    def memory_used_bytes(self) -> int | None:
        line = self._line
        return None if line is None or self.ended else line.memory_used_bytes()

    def finished(self, frame: Frame, value: Any) -> None:
        self._life.move(State.FINISHING)
        used, limit = self._peak(frame), self._order.memory_limit
        if used is not None and used > limit:
            self._end(ending.out_of_memory(limit, used))
        else:
            self._end_after_sinks(Outcome("success", value, None, used))

    def _failed(self, frame: Frame) -> None:
        self._life.move(State.FINISHING)
        used, limit = self._peak(frame), self._order.memory_limit
        self._end_after_sinks(ending.failed(*failure_of(frame.text), used, limit))

    def _peak(self, frame: Frame) -> int | None:
        """The worker's own figure or what we see from outside, whichever is larger."""
        heap, measured = frame.a * 1024, self.memory_used_bytes()
        return heap if measured is None else max(heap, measured)

    def finish(self) -> None:
        """The worker is told nothing: whatever it still does is of no use to anybody."""
        with suppress(RuntimeError):  # the loop is closed, and the run with it
            on_loop(self.loop, self._finish)

    def _finish(self) -> None:
        if self._life.state is not State.RUNNING or self._life.stopping:
            return
        used = self.memory_used_bytes()
        self._life.move(State.FINISHING)
        if self._line is not None:
            self._line.kill()
        self._guests.refuse("closed")
        self._end_after_sinks(Outcome("success", undefined, None, used))

    def _end_after_sinks(self, outcome: Outcome) -> None:
        self._guests.refuse(ending.reason_of(outcome))
        self._guests.close()  # a sink that calls the guest back would wait for ever
        if self._sinks is None or not self._sinks.in_flight or outcome.status == "memory":
            self._end(outcome)
        else:
            self._sinks.when_finished(partial(self._end, outcome))

    def broken(self, error: Exception) -> None:
        if isinstance(error, OverBudget):
            self._stop_at(str(error))
            return
        if isinstance(error, OversizedFrame):
            self._stop_at(f"one message of more than {spell_size(self._settings.message_bytes)}")
            return
        if isinstance(error, ProtocolError):
            self._end(ending.crashed(f"the worker broke the protocol: {error}"))
            return
        self._complaints.tell("a message of a worker could not be handled", error)
        kind = type(error).__name__
        self._end(ending.crashed(f"the host could not handle a message: {kind}"))

    def overflowed(self) -> None:
        self._stop_at(
            f"more than {spell_size(self._settings.output_bytes)} that the guest left unread"
        )

    def _stop_at(self, cap: str) -> None:
        self._end(ending.terminated(f"safety cap: {cap}"))

    def gone(self, record: Record | None, cut_short: bool) -> None:
        if self._life.state is State.FINISHING and not self._life.stopping:
            return  # it has said all that it had to say
        if self._life.stopping:
            self._end(ending.terminated(self._life.reason))
            return
        limit, seconds = self._order.memory_limit, self._settings.cpu_seconds
        self._end(ending.died(record, cut_short=cut_short, memory_limit=limit, cpu_seconds=seconds))

    def abandon(self, message: str) -> None:
        self._end(ending.terminated(message))

    def fail(self, error: CodeExecutionError) -> None:
        self._end(Outcome("error", error=error))

    def _end(self, outcome: Outcome) -> None:
        finishing = self._life.state is State.FINISHING
        if not self._life.move(State.ENDED):
            return
        self._guests.refuse(ending.reason_of(outcome))
        if self._line is not None:
            self._line.kill()
        finished_here = finishing and asyncio._get_running_loop() is self.loop
        if finished_here:  # whoever waits has the result before the rest is cleared away
            self._calls.close_once_begun()
        elif self.loop.is_closed() or not self.loop.is_running():
            self._release_all()
        else:
            on_loop(self.loop, self._release_all)
        try:
            self._lent.bridges.close()
            self._complaints.close()
            self._on_end(self)
            self._listener.settled(self._completed(outcome))
        finally:
            if finished_here:
                self._release_line()

    def _completed(self, outcome: Outcome) -> Outcome:
        placed = ending.placed(outcome, self._hearing.place)
        errors = self._calls.errors
        return replace(placed, bridge_errors=tuple(errors)) if errors else placed

    def _release_all(self) -> None:
        """Whatever waits for the worker does so no longer."""
        if not self.loop.is_closed():
            self._calls.close()
        self._release_line()

    def _release_line(self) -> None:
        if self._sinks is not None and not self.loop.is_closed():
            self._sinks.cancel()
        self._guests.close()
        line, self._line = self._line, None
        if line is not None:
            line.hang_up()
            line.close()
