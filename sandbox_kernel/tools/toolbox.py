"""`Toolbox`: tools by name, as a model is shown them and as code calls them."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Any

from ..brief import brief_start
from ..calls import FAILED, OK, Call, Refused, mark
from ..errors import OptionError, SandboxError
from ..loans import is_capability
from ..options import is_variable
from ..spelling import suggestion
from .asked import asked_about
from .gating import denials
from .recursion import refuse
from .results import GateFunction, ToolContext
from .tool import FunctionTool, Tool, check_name
from .typescript import declaration, type_of

MOST_PARALLEL = 1000  # calls of one `callToolsParallel`


class UnknownToolError(SandboxError, LookupError):
    """No tool has this name; the message names the nearest."""


class Toolbox:
    """Made from functions, from tools, or from a mapping that gives them other names."""

    def __init__(self, tools: Iterable[Any] | Mapping[str, Any] = ()) -> None:
        if not isinstance(tools, Iterable):
            raise OptionError(
                f"a toolbox is made from a list of functions; write Toolbox([{_called(tools)}])"
            )
        named = tools.items() if isinstance(tools, Mapping) else ((None, each) for each in tools)
        self._tools: dict[str, Tool] = {}
        for name, each in named:
            tool = _tool_of(each, name)
            if tool.name in self._tools:
                renamed = "give one another name with Toolbox({'name': function})"
                instead = "leave one out" if isinstance(each, Tool) else renamed
                raise OptionError(f"two tools are called {tool.name!r}; {instead}")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise UnknownToolError(
                f"there is no tool {brief_start(name)}; {suggestion(_start(name), self._tools)}"
            )
        return tool

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(list(self._tools)[:20])})"

    # -- what a model is shown

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each."""
        return [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}
            for t in self
        ]

    def openai(self) -> list[dict[str, Any]]:
        return [{"type": "function", "function": schema} for schema in self.schemas()]

    def anthropic(self) -> list[dict[str, Any]]:
        return [
            {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)}
            for t in self
        ]

    def declarations(self, module: str | None = None) -> str:
        """TypeScript: a function each, in `declare module` if a name is given."""
        shown = [tool for tool in self if not tool.runs_code]
        if module is None:
            return "\n".join(_declared(tool, "declare") for tool in shown)
        inner = "\n".join(_declared(tool, "export") for tool in shown)
        return f"declare module {json.dumps(module)} {{\n{textwrap.indent(inner, '  ')}\n}}"

    # -- calling

    async def dispatch(
        self, name: str, args: Mapping[str, Any] | None = None, context: ToolContext | None = None
    ) -> Any:
        """What the tool gives. Raises for an unknown name, for arguments that do not fit, or what the
        tool raises."""
        tool = self[name]
        given: Any = {} if args is None else args
        tool.check(given)
        return await tool.value(given, context or ToolContext())

    async def dispatch_from_code(
        self, name: str, args: Mapping[str, Any] | None = None, gate: GateFunction | None = None
    ) -> Any:
        """The same for code, which cannot call what runs code; `gate` is that of the turn, if any."""
        tool, given = self.checked_for_code(name, args)
        if gate is not None:
            (denial,) = await denials([asked_about(tool, given)], gate)
            if denial is not None:
                raise Refused(denial)
        return await tool.value(given, ToolContext(gate=gate))

    def call_from_code(self, name: str, args: Mapping[str, Any] | None = None) -> Call:
        """What a gate is asked about a call of code's; raises if such a call would only fail."""
        return asked_about(*self.checked_for_code(name, args))

    def checked_for_code(self, name: str, args: Mapping[str, Any] | None) -> tuple[Tool, Any]:
        """The tool and its arguments, if code may call it with them."""
        tool = self[name]
        if tool.runs_code:
            refuse(name)
        given: Any = {} if args is None else args
        tool.check(given)
        return tool, given

    def exports(self) -> dict[str, Callable[..., Any]]:
        """To be lent as a module: `callTool`, `callToolsParallel`, and each tool by its name."""

        async def callTool(name: str, args: Mapping[str, Any] | None = None) -> Any:
            return await self.dispatch_from_code(name, args)

        async def gated(gate: GateFunction, name: str, args: Any = None) -> Any:
            return await self.dispatch_from_code(name, args, gate)

        async def callToolsParallel(calls: list[Any]) -> list[Any]:
            return await self.dispatch_parallel(calls)

        async def all_gated(gate: GateFunction, calls: list[Any]) -> list[Any]:
            return await self.dispatch_parallel(calls, gate)

        mark(callTool, gated=gated)
        mark(callToolsParallel, gated=all_gated)
        named = {tool.name: _bound(self, tool.name) for tool in self if _is_importable(tool)}
        return {**named, "callTool": callTool, "callToolsParallel": callToolsParallel}

    async def dispatch_parallel(self, calls: Any, gate: GateFunction | None = None) -> list[Any]:
        """Results in the order of the calls, each `[name, args]`; the first failure is raised.

        The gate is asked once, about all that can be called.
        """
        begun = [_Begun(self, *pair) for pair in _pairs(calls)]
        asked = [each.call for each in begun if each.call is not None]
        why = iter(await denials(asked, gate))
        async with asyncio.TaskGroup() as group:
            for each in begun:
                if each.call is not None and (denial := next(why)) is not None:
                    each.error = Refused(denial)
                elif each.error is None:
                    group.create_task(each.run(gate))
        for each in begun:
            if each.error is not None:
                raise each.error
        return [each.value for each in begun]


class ForCode:
    """A toolbox as code of one turn reaches it: each call passes the gate of that turn."""

    def __init__(self, toolbox: Toolbox, gate: GateFunction | None) -> None:
        self._toolbox = toolbox
        self._gate = gate

    async def dispatch_from_code(self, name: str, args: Any = None) -> Any:
        return await self._toolbox.dispatch_from_code(name, args, self._gate)

    def call_from_code(self, name: str, args: Any = None) -> Call:
        return self._toolbox.call_from_code(name, args)


class _Begun:
    """One of several calls: what is known of it until all have ended."""

    def __init__(self, box: Toolbox, name: str, args: Any) -> None:
        self.value: Any = None
        self.error: Exception | None = None
        self.call: Call | None = None
        try:
            self._tool, self._args = box.checked_for_code(name, args)
            self.call = asked_about(self._tool, self._args)
        except Exception as error:
            self.error = error

    async def run(self, gate: GateFunction | None) -> None:
        assert self.call is not None
        began = perf_counter()
        try:
            self.value = await self._tool.value(self._args, ToolContext(gate=gate))
            self.call.outcome = OK
        except Exception as error:
            self.error, self.call.outcome = error, FAILED
        self.call.duration_ms = (perf_counter() - began) * 1000


def _called(function: object) -> str:
    return str(getattr(function, "__name__", "function"))


def _tool_of(each: Any, name: str | None) -> Tool:
    if isinstance(each, Tool):
        if name is not None and name != each.name:
            raise OptionError(f"the tool {each.name!r} cannot be renamed to {check_name(name)!r}")
        return each
    if is_capability(each):
        raise OptionError("a capability is lent to code, with lend=; a tool is a function")
    return FunctionTool(each, name)


def _pairs(calls: Any) -> list[tuple[Any, Any]]:
    if not isinstance(calls, list | tuple) or len(calls) > MOST_PARALLEL:
        raise TypeError(f"a list of at most {MOST_PARALLEL:,} calls is expected")
    return [_pair(call) for call in calls]


def _pair(call: Any) -> tuple[Any, Any]:
    if isinstance(call, Mapping):
        return call.get("name"), call.get("args")
    if isinstance(call, list | tuple) and len(call) in (1, 2):
        return call[0], call[1] if len(call) == 2 else None
    raise TypeError(f"a call is a name and its arguments, not {brief_start(call)}")


def _start(name: object) -> str:
    return name[:80] if isinstance(name, str) else ""


def _is_importable(tool: Tool) -> bool:
    return tool.name.isidentifier() and not tool.runs_code and tool.name not in ("then", "default")


def _bound(box: Toolbox, name: str) -> Callable[..., Any]:
    async def call(args: Mapping[str, Any] | None = None) -> Any:
        return await box.dispatch_from_code(name, args)

    async def gated(gate: GateFunction, args: Mapping[str, Any] | None = None) -> Any:
        return await box.dispatch_from_code(name, args, gate)

    call.__name__ = name
    mark(call, gated=gated)
    return call


def _declared(tool: Tool, word: str) -> str:
    """What no function can be called in TypeScript is a comment that says how code calls it."""
    returns = getattr(tool, "returns", {})
    made = declaration(tool.name, tool.parameters, type_of(returns), tool.description)
    if is_variable(tool.name):
        return f"{made.note}{word} {made.line}"
    return f"{made.note}// callTool({json.dumps(tool.name)}, {made.line.partition('(')[2]}"
