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
from .peer import End, Lost, Peer
from .places import Nest, current_nest
from .settings import Settings
from .sinks import Sinks
from .state import MAY_SAY, Lifecycle, State
from .worker import address_space

_UNHEARD = frozenset((messages.READY, messages.AT))  # whose words reach nobody but us


class _AtTheLatest:
    """A callback for a later turn of the loop. A loop that is closed before drops it: then it is called, too."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()

    __del__ = __call__


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
        on_lost: Callable[[Conversation], bool] | None = None,
    ) -> None:
        """`on_lost`: its worker elsewhere is gone, and it has said nothing; whether it gets another."""
        self.loop = loop
        self._order = order
        self._memory_limit = order.memory_limit or settings.default_memory_limit_bytes
        self._lent = lent
        self._listener = listener
        self._settings = settings
        self._isolation = messages.FILTERED if settings.require_isolation else messages.PROCESS_ONLY
        self._on_end = on_end
        self._on_lost = on_lost
        self._started = False
        self._silent = True  # nothing that it said has reached anybody
        self._context = contextvars.copy_context()
        self._context.run(current_nest.set, nest)
        self._life = Lifecycle()
        self._unexpected = {messages.FINISHED if order.stays_open else messages.OPENED}
        self._line: Line | None = None
        self._complaints = complaints = Complaints(loop)
        self._calls = Calls(
            *(loop, self._context, lent.bridges, self, complaints, lent.calls, lent.gate),
            on_asking=listener.on_asking,
            most_in_errors=settings.output_bytes // 4,
        )
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

    def attach(self, worker: Peer) -> bool:
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
        if not self._started:
            self._started = True
            self._listener.on_start()
        on_loop(self.loop, self._listen, line)
        if self._life.stopping:
            worker.kill()
        return True

    def _send_order(self, worker: Peer, line: Line) -> bool:
        order, limit = self._order, self._memory_limit
        before = worker.limit_address_space(address_space(limit, self._settings.message_bytes))
        run = pack(messages.RUN, 0, 0, order.pack(limit), order.attachments)
        try:
            line.post([*before, *run], now=True)
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
        self._silent = self._silent and frame.kind in _UNHEARD
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

    def processor_seconds(self) -> float | None:
        line = self._line
        return None if line is None or self.ended else line.processor_seconds()

    def finished(self, frame: Frame, value: Any) -> None:
        self._life.move(State.FINISHING)
        used, limit = self._peak(frame), self._memory_limit
        if used is not None and used > limit:
            self._end_after_sinks(ending.out_of_memory(limit, used))
        else:
            self._end_after_sinks(Outcome("success", value, None, used))

    def _failed(self, frame: Frame) -> None:
        self._life.move(State.FINISHING)
        used, limit = self._peak(frame), self._memory_limit
        self._end_after_sinks(ending.failed(*failure_of(frame.text), used, limit))

    def _peak(self, frame: Frame) -> int | None:
        """The worker's own figure or what we see from outside, whichever is larger."""
        heap, measured = frame.a * 1024, self.memory_used_bytes()
        return heap if measured is None else max(heap, measured)

    def ends_if_full(self) -> bool:
        used, limit = self.memory_used_bytes(), self._memory_limit
        if used is None or used <= limit:
            return False
        self._end_here(ending.out_of_memory(limit, used))
        return True

    def finish(self) -> None:
        """The worker is told nothing: whatever it still does is of no use to anybody."""
        with suppress(RuntimeError):  # the loop is closed, and the run with it
            on_loop(self.loop, self._finish)

    def _finish(self) -> None:
        if self._life.state is not State.RUNNING or self._life.stopping:
            return
        self._guests.refuse("closed")
        self._end_here(Outcome("success", undefined, None, self.memory_used_bytes()))

    def _end_here(self, outcome: Outcome) -> None:
        """Without another word of the worker's."""
        self._life.move(State.FINISHING)
        if self._line is not None:
            self._line.kill()
        self._end_after_sinks(outcome)

    def _end_after_sinks(self, outcome: Outcome) -> None:
        self._guests.refuse(ending.reason_of(outcome))
        self._guests.close()  # a sink that calls the guest back would wait for ever
        end = partial(self._end, outcome)
        if self._sinks is not None and self._sinks.in_flight and outcome.status != "memory":
            self._sinks.when_finished(end)
        elif self._calls.yet_to_enter:
            self.loop.call_soon(end)  # behind them: what is lent is still theirs when they begin
        else:
            end()

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

    def gone(self, end: End, cut_short: bool) -> None:
        if self._life.state is State.FINISHING and not self._life.stopping:
            return  # it has said all that it had to say
        if self._life.stopping:
            self._end(ending.terminated(self._life.reason))
            return
        if isinstance(end, Lost):
            if not (end.again and self._begins_again()):
                self._end(end.outcome)
            return
        limit, seconds = self._memory_limit, self._settings.cpu_seconds
        self._end(ending.died(end, cut_short=cut_short, memory_limit=limit, cpu_seconds=seconds))

    def _begins_again(self) -> bool:
        """With another worker; only if no bridge was called, and none is awaited."""
        if self._on_lost is None or not self._silent or self._calls.begun:
            return False
        if not self._life.move(State.QUEUED):
            return False
        line, self._line = self._line, None
        if line is not None:
            line.hang_up()
            line.close()
        if self._life.stopping:
            self._end(ending.terminated(self._life.reason))
            return True
        return self._on_lost(self)

    def abandon(self, message: str) -> None:
        self._end(ending.terminated(message))

    def fail(self, error: CodeExecutionError) -> None:
        self._end(Outcome("error", error=error))

    def _end(self, outcome: Outcome) -> None:
        finishing = self._life.state is State.FINISHING
        if not self._life.move(State.ENDED):
            return
        if not finishing:
            self._guests.refuse(ending.reason_of(outcome))
        if self._line is not None:
            self._line.kill()
        finished_here = finishing and asyncio._get_running_loop() is self.loop
        if finished_here:
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
            if finished_here:  # behind those who wait for the result
                self.loop.call_soon(_AtTheLatest(self._release_line))

    def _completed(self, outcome: Outcome) -> Outcome:
        if outcome.error is not None:
            outcome = ending.placed(outcome, self._hearing.place)
        errors = self._calls.held.errors
        return replace(outcome, bridge_errors=tuple(errors)) if errors else outcome

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
