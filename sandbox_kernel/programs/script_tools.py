"""`setResult`, `callTool` and `callToolsParallel` of JavaScript programs on the engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from ..calls import Gate
from ..jsonpieces import json_within
from ..values import GuestError, undefined
from .calls import Calls, Toolbox
from .protocol import ANSWER, MESSAGE_BYTES, MOST_CALLS, RESULT_BYTES


class ScriptTools:
    """What a program is lent, and what it said by it. All on the program's loop."""

    def __init__(
        self,
        toolbox: Toolbox | None,
        gate: Gate | None,
        loop: asyncio.AbstractEventLoop,
        on_asking: Callable[[bool], None],
    ) -> None:
        self.said: bytes | None = None  # by its last `setResult`
        self._calls = (
            None if toolbox is None else Calls(*(toolbox, gate, loop, _nobody_listens, on_asking))
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        return [] if self._calls is None else self._calls.log.to_json()

    def close(self) -> None:
        """The program has ended."""
        if self._calls is not None:
            self._calls.close()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By name; what is not lent is not there."""
        if self._calls is None:
            return {"setResult": self._set_result}
        return {
            "setResult": self._set_result,
            "callTool": self._call_tool,
            "callToolsParallel": self._call_tools_parallel,
        }

    def _set_result(self, data: Any = None, files: Any = None) -> None:
        names = [] if files is None or files is undefined else files
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise GuestError("TypeError", "setResult: files must be an array of paths")
        text = json_within({"data": data, "files": names}, RESULT_BYTES)
        if text is None:
            raise GuestError("RangeError", f"setResult: at most {RESULT_BYTES} bytes come back")
        self.said = text.encode()

    async def _call_tool(self, name: Any, args: Any = None) -> Any:
        return await self._call(name, args)

    async def _call_tools_parallel(self, calls: Any) -> list[Any]:
        pairs = [_pair(call) for call in calls]
        if len(pairs) > MOST_CALLS:
            many = f"{len(pairs)} calls at once; at most {MOST_CALLS} can be made"
            raise GuestError("RangeError", many)
        begun = (self._call(name, args) for name, args in pairs)
        ended = await asyncio.gather(*begun, return_exceptions=True)
        for each in ended:
            if isinstance(each, BaseException):
                raise each
        return ended

    async def _call(self, name: Any, args: Any) -> Any:
        assert self._calls is not None
        if not isinstance(name, str):
            raise GuestError("TypeError", "a tool's name is text")
        given = json_within(None if args is undefined else args, MESSAGE_BYTES)
        if given is None:
            raise GuestError("RangeError", f"a call has at most {MESSAGE_BYTES} bytes of arguments")
        kind, text = await self._calls.outcome(name, json.loads(given), len(given))
        value = json.loads(text)
        if kind != ANSWER:
            raise GuestError("Error", value)
        return value


def _pair(call: Any) -> tuple[Any, Any]:
    if isinstance(call, Mapping):
        return call.get("name"), call.get("args")
    if isinstance(call, list):
        return (*call, None, None)[0], (*call, None, None)[1]
    return call, None


def _nobody_listens(_: bytes) -> None:
    """Their answers are returned, not sent."""
