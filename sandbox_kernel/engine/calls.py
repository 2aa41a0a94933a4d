"""The bridge calls of one run: made, awaited, answered, and given up when it ends."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from time import monotonic
from types import CoroutineType
from typing import Any, Protocol

from ..bridges import Bridge, Bridges, in_answer_of
from ..calls import ASKED, FAILED, OK, REFUSED, Call, CallLog, Decision, Gate, Refused
from ..errors import ProtocolError, RunEndedError
from ..wire import messages
from ..wire.frame import Buffer, pack
from ..wire.values import encode, encode_error
from .complaints import Complaints
from .held import Arguments, Held

# After a synchronous answer the guest often calls again at once. Polling for a moment is cheaper
# than sleeping and being woken, if there is another processor for the guest; it goes on for as long
# as the guest is that quick.
_LINGER_SECONDS = 400e-6 if (os.cpu_count() or 1) > 1 else 0.0
_NEVER_LENDS = frozenset((type(None), bool, int, float, str, bytes))
_NEVER_AWAITABLE = frozenset((type(None), bool, int, float, str, bytes, list, tuple, dict))
_SITE_SECONDS = 0.1  # that a question waits for the line that asks it
_ONE_OF_CALLS = [int, int, list]
_AT_ONCE = 500  # calls that are cancelled in one turn of the loop
_TOO_LATE = "the run ended before it was allowed"


_Pending = tuple[asyncio.Task[Any], Awaitable[Any], Arguments]


class Guest(Protocol):
    """Where answers go."""

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        """Sends a frame; `now` if the guest waits for it."""

    def post_answer(self, call: int, json: str) -> None:
        """The value of an asynchronous call."""


class _Nobody:
    """The guest of a run that has ended."""

    def post(self, frame: list[Buffer], *, now: bool = False) -> None:
        pass

    def post_answer(self, call: int, json: str) -> None:
        pass


class Calls:
    """Lives on the run's loop. `blocked` says that a synchronous bridge is running there."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: contextvars.Context,
        bridges: Bridges,
        guest: Guest,
        complaints: Complaints,
        log: CallLog,
        gate: Gate | None = None,
        *,
        on_asking: Callable[[bool], None],
        most_in_errors: int,
    ) -> None:
        """`most_in_errors` is what the arguments that exceptions hold may take."""
        self.held = Held(most_in_errors)
        self._loop = loop
        self._context = context
        self._bridges = bridges
        self._guest: Guest = guest
        self._complaints = complaints
        self._log = log
        self._gate = gate
        self._on_asking = on_asking
        self._sites: dict[int, asyncio.Future[int]] = {}  # lines that the worker was asked for
        self._asked = 0  # calls that a person has not decided about yet
        # By the order they began in: the task, what it awaits, the arguments.
        self._tasks: dict[int, _Pending] = {}
        self.begun = 0  # how many of those there were
        self._entered = 0  # the last of them that has taken its first step
        self._answered_at = 0.0
        self._stopped = self._closed = False
        self.blocked = False
        self.linger_until = 0.0

    @property
    def in_flight(self) -> int:
        return len(self._tasks)

    @property
    def yet_to_enter(self) -> bool:
        """Whether one that was made in this turn of the loop takes its first step in the next."""
        return self._entered < self.begun

    def make_all(self, calls: Any, weight: int, size: int) -> Iterator[None]:
        """The calls of one CALLS message, each in a step; `weight` and `size` are those of all."""
        if not isinstance(calls, list) or len(calls) > messages.MAX_CALLS:
            raise ProtocolError(f"CALLS is not a list of at most {messages.MAX_CALLS} calls")
        given = Arguments(weight)
        for call in calls:
            if type(call) is not list or list(map(type, call)) != _ONE_OF_CALLS:
                raise ProtocolError("one of CALLS is not two numbers and a list of arguments")
            number, bridge, args = call
            lent = self._bridges.function(bridge)
            if lent.mode == messages.SYNC:
                raise ProtocolError("one of CALLS is synchronous")
            self._make(number, lent, args, given, size // len(calls))
            yield

    def make(self, call: int, bridge: int, args: Any, weight: int, size: int) -> None:
        """`weight` is what the arguments take here, `size` the bytes they had on the way."""
        self._make(call, self._bridges.function(bridge), args, Arguments(weight), size)

    def _make(self, call: int, lent: Bridge, args: Any, given: Arguments, size: int) -> None:
        if type(args) is not list or not 0 <= call < 1 << 32:
            raise ProtocolError("CALL has no number or no list of arguments")
        if self._stopped:
            return
        record = self._log.begin(lent.name, args, size)
        if self._gate is None:
            self._call(call, lent, args, given, record)
        else:
            self._call_if_allowed(self._gate, call, lent, args, given, record)

    def _call(
        self, call: int, lent: Bridge, args: list[Any], given: Arguments, record: Call | None
    ) -> None:
        began, mode = monotonic(), lent.mode
        asked_soon = mode == messages.SYNC and began - self._answered_at < _LINGER_SECONDS
        self.blocked = mode != messages.ASYNC
        try:
            value = lent.function(*args)
        except BaseException as error:
            self.blocked = False
            self._raised(call, error, given, wanted=mode != messages.ONE_WAY)
            _ended(record, FAILED, began)
            return
        self.blocked = False
        kind = type(value)
        if kind is CoroutineType or (kind not in _NEVER_AWAITABLE and inspect.isawaitable(value)):
            wanted, late = mode != messages.ONE_WAY, lent.marks.late is True
            if mode == messages.SYNC and not late:
                self._guest.post(pack(messages.PROMISE, call), now=True)
            self._await(call, value, given, lent, record, wanted=wanted, now=late)
            return
        if mode != messages.ONE_WAY:
            self._return(call, value, lent, record, given, now=True)
            self._answered_at = monotonic()
            self.linger_until = self._answered_at + _LINGER_SECONDS if asked_soon else 0.0
        _ended(record, OK, began)

    # -- the gate

    def _call_if_allowed(
        self,
        gate: Gate,
        call: int,
        lent: Bridge,
        args: list[Any],
        given: Arguments,
        record: Call | None,
    ) -> None:
        if lent.marks.gated is not None:
            self._carry(gate, call, lent, args, given, record)
            return
        asked = Call(lent.name) if record is None else record
        asked.args, asked.also = args, lent.also
        try:
            lent.marks.put_on(asked)
            decision = gate.decide(asked)
            if decision is None:
                asked.what = lent.marks.what(args)
        except Exception as error:  # of arguments that the marks cannot read: nobody is asked
            asked.args = None
            self._raised(call, error, given, wanted=lent.mode != messages.ONE_WAY)
            _ended(record, FAILED, monotonic())
            return
        if decision is None:
            self._log.keep(asked)
            permitted = self._permitted(gate, call, lent, args, asked)
            wanted, now = lent.mode != messages.ONE_WAY, lent.mode == messages.SYNC
            self._await(call, permitted, given, lent, asked, wanted=wanted, now=now)
            return
        asked.decision = decision.how
        if decision.allowed:
            asked.args = None
            self._call(call, lent, args, given, record)
            return
        self._log.keep(asked)
        asked.args, asked.outcome = None, REFUSED
        if lent.mode != messages.ONE_WAY:
            self._throw(call, PermissionError(decision.message))

    async def _permitted(
        self, gate: Gate, call: int, lent: Bridge, args: list[Any], asked: Call
    ) -> Any:
        """What the call gives once it was allowed. A guest that waits has a plain value then, too."""
        asked.decision = ASKED
        self._count_asked(1)
        try:
            asked.line = await self._line_of(call)
            decision = await gate.ask(asked)
        finally:
            self._count_asked(-1)
            asked.args = None
        asked.decision = decision.how
        if not decision.allowed:
            raise Refused(decision.message)
        if self._stopped:
            raise RunEndedError(_TOO_LATE)
        self.blocked = lent.mode != messages.ASYNC
        try:
            value = lent.function(*args)
        finally:
            self.blocked = False
        if inspect.isawaitable(value):
            if lent.mode == messages.SYNC and not lent.marks.late:
                self._guest.post(pack(messages.PROMISE, call), now=True)
            return await value
        return value

    def _carry(
        self,
        gate: Gate,
        call: int,
        lent: Bridge,
        args: list[Any],
        given: Arguments,
        record: Call | None,
    ) -> None:
        """The gate decides about the calls that this one carries, not about the one itself."""
        assert lent.marks.gated is not None
        wanted = lent.mode != messages.ONE_WAY
        try:
            carried = lent.marks.gated(partial(self._decide_on, gate, call, record), *args)
        except Exception as error:  # of arguments that it does not take
            self._raised(call, error, given, wanted=wanted)
            _ended(record, FAILED, monotonic())
            return
        self._await(call, carried, given, lent, record, wanted=wanted)

    async def _decide_on(
        self, gate: Gate, call: int, record: Call | None, calls: Sequence[Call]
    ) -> list[Decision]:
        """Each is asked about and kept for itself; a single one is kept as the call that carried it."""
        kept = calls if len(calls) != 1 or record is None else [record]
        if kept is calls:
            for each in calls:
                self._log.add(each)
        known = [gate.decide(each) for each in calls]
        decisions = [each for each in known if each is not None]
        if len(decisions) < len(calls):
            for each, decision in zip(kept, known, strict=True):
                each.decision = ASKED if decision is None else decision.how
            decisions = await self._asked_about(gate, call, calls)
        if self._stopped:
            raise RunEndedError(_TOO_LATE)
        for each, decision in zip(kept, decisions, strict=True):
            each.decision = decision.how
            if not decision.allowed:
                each.outcome = REFUSED
                self._log.keep(each)
                if record is not None:
                    record.decision = decision.how
        return decisions

    async def _asked_about(self, gate: Gate, call: int, calls: Sequence[Call]) -> list[Decision]:
        """A person is asked about them as one list."""
        self._count_asked(1)
        try:
            line = await self._line_of(call)
            for each in calls:
                each.line = line
            return list(await asyncio.gather(*map(gate.ask, calls)))
        finally:
            self._count_asked(-1)

    async def _line_of(self, call: int) -> int | None:
        """Where the guest made the call; None if it does not say so soon, being busy."""
        site = self._sites[call] = self._loop.create_future()
        self._guest.post(pack(messages.WHERE, call), now=True)
        try:
            return await asyncio.wait_for(site, _SITE_SECONDS) or None
        except TimeoutError:
            return None
        finally:
            self._sites.pop(call, None)

    def located(self, call: int, line: int) -> None:
        """The answer to WHERE, which may come too late."""
        site = self._sites.get(call)
        if site is not None and not site.done():
            site.set_result(line)

    def _count_asked(self, more: int) -> None:
        before, self._asked = self._asked, self._asked + more
        if not before or not self._asked:
            self._on_asking(self._asked > 0)

    def await_lent(self) -> None:
        """Starts awaiting what was lent since the last time."""
        for number, awaitable in self._bridges.take_awaitables():
            self._await(number, awaitable, Arguments(0), None, None, wanted=True)

    def _await(
        self,
        call: int,
        awaitable: Awaitable[Any],
        given: Arguments,
        lent: Bridge | None,
        record: Call | None,
        *,
        wanted: bool,
        now: bool = False,
    ) -> None:
        """`now` if the guest does nothing until it has the answer."""
        self.begun = number = self.begun + 1
        answer = self._answer(number, call, awaitable, given, lent, record, wanted, now)
        task = self._loop.create_task(answer, context=self._context)
        if not task.done():  # some loops begin tasks at once
            self._tasks[number] = task, awaitable, given
            self.held.hold(given)

    async def _answer(
        self,
        number: int,
        call: int,
        awaitable: Awaitable[Any],
        given: Arguments,
        lent: Bridge | None,
        record: Call | None,
        wanted: bool,
        now: bool,
    ) -> None:
        self._entered = number
        began = monotonic()
        outcome = FAILED
        try:
            value = await awaitable
        except Refused as error:
            outcome = REFUSED
            if wanted:
                self._throw(call, PermissionError(str(error)))
        except RunEndedError as error:  # it waited for the guest; nobody made a mistake
            if not self._closed:
                self._raised(call, error, given, wanted=wanted)
        except BaseException as error:
            if self._closed:
                raise
            self._raised(call, error, given, wanted=wanted)
        else:
            outcome = OK
            if wanted:
                self._return(call, value, lent, record, given, now=now)
        finally:  # not in a callback, which would be another turn of the loop for each
            if record is not None and not self._closed:
                _ended(record, outcome, began)
            if number in self._tasks:
                self.held.let_go(self._tasks.pop(number)[2])

    def _return(
        self,
        call: int,
        value: Any,
        lent: Bridge | None,
        record: Call | None,
        given: Arguments,
        *,
        now: bool = False,
    ) -> None:
        if type(value) not in _NEVER_LENDS:
            self._bridges.name_of = in_answer_of("promise" if lent is None else lent.name)
        try:
            text, attachments = encode(value, "return value", self._bridges)
            if record is not None:
                record.bytes += len(text) + sum(map(len, attachments))
            if not now and text[0] == "P":
                self._guest.post_answer(call, text[1:])
                return
            frame = pack(messages.RETURN, call, 0, text.encode(), attachments)
        except Exception as error:  # not only SerializationError: it ran methods of the value
            self.held.keep(error, given)
            self._throw(call, error)
            return
        self._guest.post(frame, now=now)
        self.await_lent()

    def _raised(self, call: int, error: BaseException, given: Arguments, *, wanted: bool) -> None:
        """Told to the guest if it waits; KeyboardInterrupt and SystemExit are raised again on the loop."""
        self.held.keep(error, given)
        if wanted:
            self._throw(call, error)
        else:
            self._complaints.tell("a one-way bridge raised", error)
        pass_on(self._loop, error)

    def _throw(self, call: int, error: BaseException) -> None:
        text = encode_error(error).encode()
        self._guest.post(pack(messages.THROW, call, 0, text), now=True)

    def stop(self) -> None:
        """From any thread: no more bridges are called."""
        self._stopped = True

    def close(self) -> None:
        """Cancels what is still awaited: nobody waits for the answers."""
        self._stopped = self._closed = True
        self._guest = _Nobody()
        self._cancel()

    def close_once_begun(self) -> None:
        """The same, but every call that the guest made before its end has at least begun."""
        self._stopped = self._closed = True
        self._guest = _Nobody()
        if self._tasks or self._gate is not None:
            self._loop.call_soon(self._cancel)

    def _cancel(self) -> None:
        if self._gate is not None:
            self._gate.close()
        self._cancel_some(list(self._tasks.values()))

    def _cancel_some(self, calls: list[_Pending]) -> None:
        """Some in each turn of the loop: there may be very many, and each ends in a turn."""
        for task, _, _ in calls[-_AT_ONCE:]:
            task.cancel()
        for _, awaitable, _ in calls[-_AT_ONCE:]:
            _close_if_never_begun(awaitable)
        del calls[-_AT_ONCE:]
        if calls:
            self._loop.call_soon(self._cancel_some, calls)


def _ended(record: Call | None, outcome: str, began: float) -> None:
    if record is not None:
        record.outcome = outcome
        record.duration_ms = (monotonic() - began) * 1000


def spawn(
    loop: asyncio.AbstractEventLoop, context: contextvars.Context, awaitable: Awaitable[Any]
) -> asyncio.Task[Any]:
    coroutine = awaitable if inspect.iscoroutine(awaitable) else _awaited(awaitable)
    return loop.create_task(coroutine, context=context)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _close_if_never_begun(awaitable: Awaitable[Any]) -> None:
    """A coroutine that is cancelled before it starts would be reported as never awaited."""
    if (
        inspect.iscoroutine(awaitable)
        and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED
    ):
        awaitable.close()


def pass_on(loop: asyncio.AbstractEventLoop, error: BaseException) -> None:
    """On the next turn of the loop, after what has already been received was handled."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        loop.call_soon(_raise, error)


def _raise(error: BaseException) -> None:
    raise error
