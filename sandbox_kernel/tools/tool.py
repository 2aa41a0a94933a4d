"""`Tool`: a function with a name, a schema and marks, which a model or a guest may call."""

from __future__ import annotations

import asyncio
import enum
import functools
import inspect
import math
import re
import typing
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from ..annotations import Kind, kind_of, made_fields
from ..bridges import mode_of
from ..brief import brief_start
from ..errors import OptionError, SandboxError
from ..schemas import problem_with, sure_check
from ..wire.messages import ASYNC
from . import recursion
from .results import ToolContext, ToolResult
from .threads import Threaded, as_failure
from .typescript import type_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)


class ArgumentsError(SandboxError, ValueError):
    """The arguments of a call do not fit; the message repeats the signature."""


@runtime_checkable
class Tool(Protocol):
    """What a toolbox holds. `runs_code` tools cannot be called from inside code."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    runs_code: bool
    tier: str | None

    def check(self, args: Any) -> None:
        """Raises ArgumentsError unless the arguments fit."""

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        """What the tool gives; raises if it fails."""


class FunctionTool:
    """A Python function as a tool: name, docstring and annotations become its schema.

    A plain function runs on a thread: see `threads`.
    """

    def __init__(
        self, function: Callable[..., Any], name: str | None = None, *, lent_as: str | None = None
    ) -> None:
        """`lent_as` is what rules know the function by elsewhere, such as `mail.send`."""
        self.function = function
        self.lent_as = lent_as
        self.name = check_name(_name_of(function) if name is None else name)
        self.description = inspect.getdoc(function) or ""
        self._kinds, self.returns = _kinds(function, self.name)
        self.parameters: Mapping[str, Any] = _parameters(function, self._kinds)
        self.runs_code = recursion.is_name_of_one(self.name) or recursion.is_one(function)
        self.tier: str | None = getattr(function, "__sandbox_tier__", None)
        self._on_thread = None if mode_of(function) == ASYNC else Threaded(function)
        self._surely_fits = sure_check(self.parameters)

    @property
    def signature(self) -> str:
        return f"{self.name}(args: {type_of(self.parameters)})"

    def check(self, args: Any) -> None:
        if not self._surely_fits(args):
            check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        try:
            made = made_fields(self._kinds, args)
        except Exception as error:  # such as a date that no calendar has
            raise ArgumentsError(
                f"{self.signature} was called with a value it cannot use: {error}"
            ) from None
        if self._on_thread is None:
            return await _failing_like_others(self.function(**made))
        given = await self._on_thread(made)
        return await _failing_like_others(given) if inspect.isawaitable(given) else given

    async def call(self, args: Any, context: ToolContext | None = None) -> ToolResult:
        """What a model is told; an error of the tool is a result, too."""
        return await called(self, args, context)


async def _failing_like_others(given: Awaitable[Any]) -> Any:
    try:
        return await given
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise as_failure(error) from None  # of something that the tool waited for
    except SystemExit as error:  # which would end the loop
        raise as_failure(error) from None


async def called(tool: Tool, args: Any, context: ToolContext | None = None) -> ToolResult:
    try:
        tool.check(args)
        return ToolResult.of(await tool.value(args, context or ToolContext()))
    except Exception as error:
        return ToolResult.failed(error)


def check_args(name: str, parameters: Mapping[str, Any], args: Any) -> None:
    if not isinstance(args, Mapping):
        problem: str | None = f"the arguments are {brief_start(args)}, not an object"
    else:
        problem = problem_with(args, parameters)
    if problem is not None:
        raise ArgumentsError(f"{name}(args: {type_of(parameters)}) was called wrongly: {problem}")


def check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(
            f"{name!r:.80} cannot be the name of a tool: letters, digits, _ and -, at most 64,"
            " and no digit first; give it one with Toolbox({'name': function})"
        )
    return name


def _name_of(function: Callable[..., Any]) -> str:
    plain: Any = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not callable(plain) or isinstance(plain, type):
        raise OptionError(f"a tool is a function, not {function!r:.80}")
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        raise OptionError(f"a tool returns its result, and {plain.__name__} yields; return a list")
    return str(getattr(plain, "__name__", type(plain).__name__))


def _kinds(function: Callable[..., Any], name: str) -> tuple[dict[str, Kind], Mapping[str, Any]]:
    try:
        hints = typing.get_type_hints(_annotated(function), include_extras=True)
    except Exception as error:
        raise OptionError(f"the annotations of {name} cannot be read: {error}") from None
    kinds: dict[str, Kind] = {}
    bare = [each.name for each in _named_parameters(function, name) if each.name not in hints]
    if bare:
        warnings.warn(
            f"the tool {name} takes any JSON as {', '.join(bare)}, because that is not annotated",
            stacklevel=5,  # where the toolbox is made
        )
    for parameter in _named_parameters(function, name):
        where = f"the parameter {parameter.name!r} of {name}"
        kinds[parameter.name] = kind_of(hints.get(parameter.name, Any), where)
    try:
        returns = kind_of(hints.get("return", Any), f"the result of {name}").schema
    except OptionError:
        returns = {}  # it need not be checked, and may be anything that crosses
    return kinds, returns


def _annotated(function: Callable[..., Any]) -> Any:
    plain: Any = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    return plain if inspect.isroutine(plain) else type(plain).__call__


def _named_parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise OptionError(
                f"{name} has the parameter {parameter}, which has no name to be given by;"
                " tools are called with named arguments"
            )
    return [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]


def _parameters(function: Callable[..., Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    every = inspect.signature(function).parameters
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for name, kind in kinds.items():
        schema = _without_definitions(kind.schema, definitions)
        default = every[name].default
        default = default.value if isinstance(default, enum.Enum) else default
        if _is_json(default):
            schema["default"] = default
        properties[name] = schema
    open_ended = any(each.kind is each.VAR_KEYWORD for each in every.values())
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [name for name in kinds if every[name].default is inspect.Parameter.empty],
        "additionalProperties": open_ended,
    }
    return parameters | ({"$defs": definitions} if definitions else {})


def _without_definitions(schema: Any, found: dict[str, Any]) -> Any:
    """Moves them out of all that it nests, since references are looked up from the root."""
    if isinstance(schema, list):
        return [_without_definitions(each, found) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found |= schema.get("$defs", {})
    rest = ((name, each) for name, each in schema.items() if name != "$defs")
    return {name: _without_definitions(each, found) for name, each in rest}


def _is_json(default: Any) -> bool:
    if type(default) is float:
        return math.isfinite(default)
    return default is None or type(default) in (bool, int, str)
