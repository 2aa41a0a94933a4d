"""Calls of one program to the tools that it was lent. What it says about them is hostile input."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any, NoReturn, Protocol

from ..brief import brief_name
from ..calls import ASKED, FAILED, OK, REFUSED, Call, CallLog, Gate, Refused
from ..errors import ProtocolError
from ..jsonable import to_jsonable
from ..wire.frame import pack
from ..wire.weight import weight_of_text
from .protocol import ANSWER, FAILURE, MESSAGE_BYTES, MOST_CALLS

_HEAVIEST = 64 * 2**20  # bytes of host memory that the arguments of all calls under way may take
_AT_ONCE = (
    16  # calls whose tool works; each may give a large result, which is held until it is read
)
_LONGEST_MESSAGE = 10_000


class Toolbox(Protocol):
    """What is lent: `tools.Toolbox`, or anything that answers like it."""

    async def dispatch_from_code(self, name: str, args: Any = None) -> Any:
        """What the tool gives; raises if it fails, is not there, or runs code itself."""


class Calls:
    """All on the program's loop. `answer` sends a frame; the program may be slow to read it."""

    def __init__(
        self,
        toolbox: Toolbox,
        gate: Gate | None,
        loop: asyncio.AbstractEventLoop,
        answer: Callable[[bytes], None],
        on_asking: Callable[[bool], None],
    ) -> None:
        """`on_asking` is told when a person is asked, and when all questions are answered."""
        self.log = CallLog()
        self._toolbox = toolbox
        self._gate = gate
        self._on_asking = on_asking
        self._asked = 0  # calls that a person has not decided about yet
        self._loop = loop
        self._answer = answer
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._weight = 0
        self._at_once = asyncio.Semaphore(_AT_ONCE)

    def heard(self, number: int, text: bytes) -> None:
        """Raises ProtocolError for what no program of ours says."""
        if number in self._tasks or len(self._tasks) >= MOST_CALLS:
            raise ProtocolError("too many calls at once, or two with the same number")
        weight = weight_of_text(text)
        if self._weight + weight > _HEAVIEST:
            raise ProtocolError("the arguments of the calls are too large, or have too many parts")
        name, args = _decoded(text)
        self._weight += weight
        task = self._loop.create_task(self._call(number, name, args, len(text)))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._done(number, weight))

    def _done(self, number: int, weight: int) -> None:
        del self._tasks[number]
        self._weight -= weight

    async def _call(self, number: int, name: str, args: Any, size: int) -> None:
        kind, text = await self.outcome(name, args, size)
        self._answer(b"".join(bytes(part) for part in pack(kind, number, text=text)))

    async def outcome(self, name: str, args: Any, size: int) -> tuple[int, bytes]:
        """ANSWER or FAILURE, and what was given or why it failed, as JSON; it is recorded."""
        began = perf_counter()
        shown = brief_name(name)
        record = self.log.begin(shown, args, size) or Call(shown, args, bytes=size)
        try:
            if self._gate is not None:
                await self._check_allowed(self._gate, name, args, record)
            async with self._at_once:
                value = await self._toolbox.dispatch_from_code(name, args)
            kind, text = ANSWER, _spelled(value)
            record.outcome = OK
        except Refused as error:
            kind, text = FAILURE, _failure(str(error))
            record.outcome = REFUSED
        except Exception as error:
            kind, text = FAILURE, _failure(f"{name}: {str(error) or type(error).__name__}")
            record.outcome = FAILED
        record.args = None
        record.duration_ms = (perf_counter() - began) * 1000
        record.bytes += len(text)
        return kind, text

    async def _check_allowed(self, gate: Gate, name: str, args: Any, record: Call) -> None:
        """Raises if it is not. Nobody is asked about what cannot be called."""
        described = getattr(self._toolbox, "call_from_code", Call)
        asked: Call = described(name, args)
        decision = gate.decide(asked)
        if decision is None or not decision.allowed:
            self.log.keep(record)
        if decision is None:
            record.decision = ASKED
            self._count_asked(1)
            try:
                decision = await gate.ask(asked)
            finally:
                self._count_asked(-1)
        record.decision = decision.how
        if not decision.allowed:
            raise Refused(decision.message)

    def _count_asked(self, more: int) -> None:
        before, self._asked = self._asked, self._asked + more
        if not before or not self._asked:
            self._on_asking(self._asked > 0)

    def close(self) -> None:
        """The program has ended: nobody waits for what is under way."""
        if self._gate is not None:
            self._gate.close()
        for task in list(self._tasks.values()):
            task.cancel()


def _failure(message: str) -> bytes:
    return json.dumps(message[:_LONGEST_MESSAGE]).encode()


def _decoded(text: bytes) -> tuple[str, Any]:
    try:
        message = json.loads(text, parse_constant=_refuse)
        name, args = message["name"], message["args"]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise ProtocolError("a call is malformed") from None
    if not isinstance(name, str):
        raise ProtocolError("a call names no tool")
    return name, args  # which the tool checks


def _spelled(value: Any) -> bytes:
    text = json.dumps(to_jsonable(value)).encode()
    if len(text) > MESSAGE_BYTES // 2:
        raise ValueError(f"the result has {len(text):,} bytes, which is too much for a program")
    return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
