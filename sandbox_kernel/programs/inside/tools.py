"""`call_tool` and `call_tools_parallel`: calls of the host's tools, over the program's channel.

Several threads may call at once. Whoever waits while nobody reads, reads for all of them.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...wire.frame import FrameReader
from ..protocol import ANSWER, CALL, MESSAGE_BYTES, MOST_CALLS
from .descriptors import CHANNEL
from .sending import send


class Tools:
    """Of one program; not of processes that it forks, which would take each other's answers."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._reader = FrameReader(MESSAGE_BYTES)
        self._answers: dict[int, tuple[bool, Any]] = {}
        self._changed = threading.Condition()
        self._is_read = False
        self._process = os.getpid()

    def functions(self) -> dict[str, Callable[..., Any]]:
        return {"call_tool": self.call_tool, "call_tools_parallel": self.call_tools_parallel}

    def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> Any:
        """Calls a tool of the host, and waits for what it gives. RuntimeError if it fails."""
        return _value(self._wait(self._call(name, args)))

    def call_tools_parallel(self, calls: Iterable[Any]) -> list[Any]:
        """Calls several at once, each `(name, args)`; their results in the same order."""
        pairs = [_pair(call) for call in calls]
        if len(pairs) > MOST_CALLS:
            raise ValueError(f"{len(pairs):,} calls at once; at most {MOST_CALLS:,} can be made")
        numbers = [self._call(name, args) for name, args in pairs]
        answers = [self._wait(number) for number in numbers]
        return [_value(answer) for answer in answers]

    def install_package(self, name: str) -> None:
        """Has the host install a package of Python for this program, or for its session.

        `NAME`, `NAME[extra]` or `NAME==VERSION`. RuntimeError if it cannot be installed.
        """
        self.call_tool("install_package", {"name": name})
        importlib.invalidate_caches()

    def _call(self, name: str, args: Any) -> int:
        if os.getpid() != self._process:
            raise RuntimeError("tools can be called by the program's first process only")
        if not isinstance(name, str):
            raise TypeError(f"a tool's name is text, not {type(name).__name__}")
        number = next(self._numbers)
        text = json.dumps({"name": name, "args": args}, allow_nan=False).encode()
        if len(text) > MESSAGE_BYTES // 2:
            raise ValueError(f"the arguments of {name} have {len(text):,} bytes, which is too much")
        send(CALL, text, number)
        return number

    def _wait(self, number: int) -> tuple[bool, Any]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: number in self._answers or not self._is_read)
                if number in self._answers:
                    return self._answers.pop(number)
                self._is_read = True
            try:
                answers = self._read()
            finally:
                with self._changed:
                    self._is_read = False
                    self._changed.notify_all()
            with self._changed:
                self._answers.update(answers)
                self._changed.notify_all()

    def _read(self) -> dict[int, tuple[bool, Any]]:
        count = os.readv(CHANNEL, [self._reader.room()])
        if not count:
            raise RuntimeError("the host does not answer any more")
        frames = self._reader.feed(count)
        return {f.a: (f.kind == ANSWER, json.loads(bytes(f.text))) for f in frames}


def _pair(call: Any) -> tuple[str, Any]:
    if isinstance(call, str):
        return call, None
    if isinstance(call, Mapping):
        return call["name"], call.get("args")
    name, *rest = call
    return name, rest[0] if rest else None


def _value(answer: tuple[bool, Any]) -> Any:
    succeeded, value = answer
    if not succeeded:
        raise RuntimeError(value)
    return value
