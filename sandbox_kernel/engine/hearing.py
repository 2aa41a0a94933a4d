"""What a worker says while its run goes on, decoded as hostile input and handed to whom it is for.

Every value is charged before it is made: what a run's messages occupy here is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol

from ..backend import Lent, Listener
from ..errors import ProtocolError
from ..sizes import spell_size
from ..values import GuestError
from ..wire import messages
from ..wire.frame import Frame, size_of
from ..wire.slices import Steps
from ..wire.values import (
    LARGE,
    decode,
    decode_in_steps,
    decode_lines,
    decode_lines_in_steps,
    lines_swell,
    swells,
    weight,
    weight_of_lines,
)
from .calls import Calls
from .complaints import Complaints
from .guests import Guests
from .incoming import Place, log_of, place_of
from .settings import Settings
from .sinks import Sinks

_LARGE_DATA = 4 * LARGE  # bytes of attachments from which on a message is decoded in steps
_PLACE_COST = 1_000  # so that nobody sends them without end; they come 20 times a second


class OverBudget(Exception):
    """The guest has reached a safety cap; the message says which."""


def _lacks_room(frame: Frame, value: Any) -> bool:
    """What a guest's promise is rejected with if its engine has no room for an error: `null`."""
    if frame.kind not in (messages.GUEST_THROW, messages.REJECTED):
        return False
    return isinstance(value, GuestError) and (value.name, value.message) == ("Error", "null")


class Run(Protocol):
    """The conversation that a message belongs to."""

    def finished(self, frame: Frame, value: Any) -> None:
        """The worker has sent the run's result."""

    def opened(self, value: Any) -> None:
        """The worker has sent what the module exports, and awaits calls."""

    def ends_if_full(self) -> bool:
        """The guest's heap seems to be full; whether that is so, and the run has ended."""


class Hearing:
    """Lives on the run's loop, and keeps no reference to the run, so that nothing of it lingers."""

    def __init__(
        self,
        lent: Lent,
        listener: Listener,
        settings: Settings,
        calls: Calls,
        guests: Guests,
        sinks: Sinks | None,
        complaints: Complaints,
        *,
        ordered_sets: bool,
        hands_over: bool,
    ) -> None:
        """`ordered_sets`: whether Sets in the result keep their order, for display.

        `hands_over`: whether answers to calls of the host are the caller's once it has them; in a
        module that stays open they would otherwise add up for ever.
        """
        self._lent = lent
        self._listener = listener
        self._settings = settings
        self._calls = calls
        self._guests = guests
        self._sinks = sinks
        self._complaints = complaints
        self._ordered_sets = ordered_sets
        self._hands_over = hands_over
        self.place: Place | None = None  # where the guest was computing when it last said so
        self._output = 0  # host memory that the worker's messages occupy for good, about

    def hear(self, frame: Frame, run: Run) -> Iterator[None] | None:
        """A long message is decoded in steps, which are returned."""
        if frame.kind == messages.SAID:
            return self._said(frame)
        if frame.kind == messages.CALLS:
            return self._called_many(frame)
        if frame.kind == messages.AT:
            self._charge(_PLACE_COST)
            self.place = place_of(frame)
            return None
        if frame.kind == messages.SITE:
            self._charge(_PLACE_COST)
            self._calls.located(frame.a, frame.b)
            return None
        if len(frame.text) > LARGE or size_of(frame) > _LARGE_DATA or swells(frame.text):
            return self._value_in_steps(frame, run)
        self._hear_value(frame, run)
        return None

    def _hear_value(self, frame: Frame, run: Run) -> None:
        before = self._output
        self._charge(weight(frame.text, frame.attachments))
        borrower, ordered = self._reading(frame.kind)
        value = decode(frame.text, frame.attachments, borrower, self._charge, ordered=ordered)
        self._hand_on(frame, value, self._output - before, run)

    def _value_in_steps(self, frame: Frame, run: Run) -> Iterator[None]:
        before = self._output
        value = yield from self._decoded(frame)
        self._hand_on(frame, value, self._output - before, run)

    def _decoded(self, frame: Frame) -> Steps:
        self._charge(weight(b"", frame.attachments))
        borrower, ordered = self._reading(frame.kind)
        return decode_in_steps(
            frame.text, frame.attachments, borrower, self._charge, ordered=ordered
        )

    def _hand_on(self, frame: Frame, value: Any, size: int, run: Run) -> None:
        if frame.kind == messages.FINISHED:
            run.finished(frame, value)
        elif frame.kind == messages.OPENED:
            run.opened(value)
        elif not (_lacks_room(frame, value) and run.ends_if_full()):
            self._HANDLERS[frame.kind](self, frame, value, size)

    def _reading(self, kind: int) -> tuple[Guests | None, bool]:
        """Who lends functions and promises that are in a value, and whether Sets keep order."""
        if kind == messages.LOG:
            return None, True
        return self._guests, kind == messages.FINISHED and self._ordered_sets

    def _charge(self, size: int) -> None:
        """Before anything of that size is made."""
        cap = self._settings.output_bytes
        if self._output + self._calls.held.weight + size > cap:
            raise OverBudget(f"more than {spell_size(cap)} of output")
        self._output += size

    # -- reports and logs

    def _said(self, frame: Frame) -> Iterator[None]:
        """Line by line: what one of them makes the host do, such as showing it, may take a while."""
        text = frame.text
        lines: Iterator[tuple[str, Any] | None]
        if len(text) > LARGE or lines_swell(text):
            lines = decode_lines_in_steps(text, self._borrower_for, self._charge)
        else:
            self._charge(weight_of_lines(text))
            lines = decode_lines(text, self._borrower_for, self._charge)
        for said in lines:
            if said is not None:
                self._say(*said)
            yield

    def _say(self, letter: str, value: Any) -> None:
        if letter == "R":
            self._report(value)
        elif letter == "L":
            self._log(value)
        else:
            raise ProtocolError("a line is neither report nor log")

    def _borrower_for(self, letter: str) -> Guests | None:
        """Logs describe functions and promises; only reports may lend them."""
        return self._guests if letter == "R" else None

    def _said_report(self, _frame: Frame, value: Any, _size: int) -> None:
        self._report(value)

    def _said_log(self, _frame: Frame, value: Any, _size: int) -> None:
        self._log(value)

    def _log(self, entry: Any) -> None:
        log = log_of(entry)
        try:
            self._listener.on_log(log)
        except Exception as error:
            self._complaints.tell("the log sink raised", error)

    def _report(self, value: Any) -> None:
        if self._sinks is None:
            raise ProtocolError("it reported, but was given no report function")
        self._listener.on_report(value)
        if self._sinks.give(value):
            self._check_in_flight()

    # -- calls and answers

    def _called(self, frame: Frame, args: Any, size: int) -> None:
        self._output -= size  # arguments are gone when their call is
        self._calls.make(frame.a, frame.b, args, size, size_of(frame))
        self._check_in_flight()

    def _called_many(self, frame: Frame) -> Iterator[None]:
        """Call by call: what each of them does here may take a while."""
        before = self._output
        calls = yield from self._decoded(frame)
        size = self._output - before
        self._output -= size
        yield from self._calls.make_all(calls, size, size_of(frame))
        self._check_in_flight()

    def _check_in_flight(self) -> None:
        cap = self._settings.calls_in_flight
        sinks = self._sinks.in_flight if self._sinks is not None else 0
        if self._calls.in_flight + sinks > cap:
            raise OverBudget(f"more than {cap} calls in flight")

    def _answered(self, frame: Frame, value: Any, size: int) -> None:
        future = self._guests.answer(frame.kind, frame.a, value)
        if self._hands_over and not self._guests.owes_more():
            # After those who await it, who were called back first.
            future.add_done_callback(lambda _: self._refund(size))

    def _refund(self, size: int) -> None:
        self._output -= size

    def _released(self, _frame: Frame, numbers: Any, size: int) -> None:
        self._output -= size
        if type(numbers) is not list or len(numbers) > messages.MAX_RELEASED:
            raise ProtocolError(f"RELEASED is not a list of at most {messages.MAX_RELEASED}")
        if not set(map(type, numbers)) <= {int}:
            raise ProtocolError("RELEASED has something other than numbers")
        for number in numbers:
            self._lent.bridges.release(number)

    _HANDLERS: ClassVar[dict[int, Callable[[Hearing, Frame, Any, int], None]]] = {
        messages.REPORT: _said_report,
        messages.LOG: _said_log,
        messages.CALL: _called,
        messages.GUEST_RETURN: _answered,
        messages.GUEST_THROW: _answered,
        messages.RESOLVED: _answered,
        messages.REJECTED: _answered,
        messages.RELEASED: _released,
    }
