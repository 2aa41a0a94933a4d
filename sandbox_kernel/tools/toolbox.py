"""`Toolbox`: tools by name, as a model is shown them and as code calls them."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..errors import OptionError
from ..spelling import suggestion
from .results import ToolContext
from .tool import FunctionTool, Tool, check_name
from .typescript import Declaration, declaration, type_of

MOST_PARALLEL = 1000  # calls of one `callToolsParallel`


class UnknownToolError(LookupError):
    """No tool has this name; the message names the nearest."""


class RecursionRefusedError(PermissionError):
    """Code called a tool that runs code."""


class Toolbox:
    """Made from functions, from tools, or from a mapping that gives them other names."""

    def __init__(self, tools: Iterable[Any] | Mapping[str, Any] = ()) -> None:
        named = tools.items() if isinstance(tools, Mapping) else ((None, each) for each in tools)
        self._tools: dict[str, Tool] = {}
        for name, each in named:
            tool = _tool_of(each, name)
            if tool.name in self._tools:
                raise OptionError(
                    f"two tools are called {tool.name!r}; give one another name with"
                    " Toolbox({'name': function})"
                )
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
                f"there is no tool {name!r:.80}; {suggestion(str(name)[:80], self._tools)}"
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
        shown = [_declaration(tool) for tool in self if not tool.runs_code]
        if module is None:
            return "\n".join(f"{each.note}declare {each.line}" for each in shown)
        inner = "\n".join(f"{each.note}export {each.line}" for each in shown)
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

    async def dispatch_from_code(self, name: str, args: Mapping[str, Any] | None = None) -> Any:
        """The same for code, which cannot call what runs code."""
        if self[name].runs_code:
            raise RecursionRefusedError(f"{name} runs code, and cannot be called from inside code")
        return await self.dispatch(name, args)

    def exports(self) -> dict[str, Callable[..., Any]]:
        """To be lent as a module: `callTool`, `callToolsParallel`, and each tool by its name."""

        async def callTool(name: str, args: Mapping[str, Any] | None = None) -> Any:
            return await self.dispatch_from_code(name, args)

        async def callToolsParallel(calls: list[Any]) -> list[Any]:
            return await self.dispatch_parallel(calls)

        named = {tool.name: _bound(self, tool.name) for tool in self if _is_importable(tool)}
        return {**named, "callTool": callTool, "callToolsParallel": callToolsParallel}

    async def dispatch_parallel(self, calls: Any) -> list[Any]:
        """Results in the order of the calls, each `[name, args]`; the first failure is raised."""
        if not isinstance(calls, list | tuple) or len(calls) > MOST_PARALLEL:
            raise TypeError(f"a list of at most {MOST_PARALLEL:,} calls is expected")
        pairs = [_pair(call) for call in calls]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._quietly(name, args)) for name, args in pairs]
        outcomes = [task.result() for task in tasks]
        for outcome in outcomes:
            if isinstance(outcome, _Failed):
                raise outcome.error
        return outcomes

    async def _quietly(self, name: str, args: Any) -> Any:
        try:
            return await self.dispatch_from_code(name, args)
        except Exception as error:
            return _Failed(error)


class _Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error


def _tool_of(each: Any, name: str | None) -> Tool:
    if isinstance(each, Tool):
        if name is not None and name != each.name:
            raise OptionError(f"the tool {each.name!r} cannot be renamed to {check_name(name)!r}")
        return each
    return FunctionTool(each, name)


def _pair(call: Any) -> tuple[str, Any]:
    if isinstance(call, Mapping):
        return str(call.get("name")), call.get("args")
    if isinstance(call, list | tuple) and len(call) in (1, 2):
        return str(call[0]), call[1] if len(call) == 2 else None
    raise TypeError(f"a call is a name and its arguments, not {call!r:.80}")


def _is_importable(tool: Tool) -> bool:
    return tool.name.isidentifier() and not tool.runs_code and tool.name not in ("then", "default")


def _bound(box: Toolbox, name: str) -> Callable[..., Any]:
    async def call(args: Mapping[str, Any] | None = None) -> Any:
        return await box.dispatch_from_code(name, args)

    call.__name__ = name
    return call


def _declaration(tool: Tool) -> Declaration:
    returns = getattr(tool, "returns", {})
    return declaration(tool.name, tool.parameters, type_of(returns), tool.description)
