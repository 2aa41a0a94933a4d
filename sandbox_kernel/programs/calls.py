"""Calls of one program to the tools that it was lent. What it says about them is hostile input."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any, NoReturn, Protocol

from ..brief import brief_text
from ..errors import ProtocolError
from ..jsonable import to_jsonable
from ..wire.frame import pack
from ..wire.weight import weight_of_text
from .protocol import ANSWER, FAILURE, MESSAGE_BYTES, MOST_CALLS

_HEAVIEST = 64 * 2**20  # bytes of host memory that the arguments of all calls under way may take
_AT_ONCE = (
    16  # calls whose tool works; each may give a large result, which is held until it is read
)
_MOST_RECORDS = 1_000
_LONGEST_MESSAGE = 10_000


class Toolbox(Protocol):
    """What is lent: `tools.Toolbox`, or anything that answers like it."""

    async def dispatch_from_code(self, name: str, args: Any = None) -> Any:
        """What the tool gives; raises if it fails, is not there, or runs code itself."""


class Calls:
    """All on the program's loop. `answer` sends a frame; the program may be slow to read it."""

    def __init__(
        self, toolbox: Toolbox, loop: asyncio.AbstractEventLoop, answer: Callable[[bytes], None]
    ) -> None:
        self.records: list[dict[str, Any]] = []
        self._toolbox = toolbox
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
        task = self._loop.create_task(self._call_in_turn(number, name, args, len(text)))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._done(number, weight))

    def _done(self, number: int, weight: int) -> None:
        del self._tasks[number]
        self._weight -= weight

    async def _call_in_turn(self, number: int, name: str, args: Any, size: int) -> None:
        async with self._at_once:
            await self._call(number, name, args, size)

    async def _call(self, number: int, name: str, args: Any, size: int) -> None:
        began = perf_counter()
        try:
            kind, text = ANSWER, _spelled(await self._toolbox.dispatch_from_code(name, args))
        except Exception as error:
            message = f"{name}: {error}" if str(error) else f"{name}: {type(error).__name__}"
            kind, text = FAILURE, json.dumps(message[:_LONGEST_MESSAGE]).encode()
        if len(self.records) < _MOST_RECORDS:
            self.records.append(
                {
                    "name": name,
                    "args": brief_text(json.dumps(args)),
                    "decision": "allow",
                    "durationMs": (perf_counter() - began) * 1000,
                    "bytes": size + len(text),
                    "outcome": "ok" if kind == ANSWER else "error",
                }
            )
        self._answer(b"".join(bytes(part) for part in pack(kind, number, text=text)))

    def close(self) -> None:
        """The program has ended: nobody waits for what is under way."""
        for task in list(self._tasks.values()):
            task.cancel()


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
