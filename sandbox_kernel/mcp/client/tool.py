"""One tool of a server: what is said about it, and the function that calls it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...calls import mark, spelled
from ...clean import clean_line
from ...errors import McpServerError
from ...jsonpieces import json_within
from ...schemas import problem_with
from ...tools.recursion import is_name_of_one
from ...tools.results import ToolContext
from ...tools.tool import check_args
from ...tools.typescript import Declaration, comment, declaration, type_of
from .connection import Connection
from .values import value_of

if TYPE_CHECKING:
    import mcp_types as types

_MOST_BYTES = 8 * 2**20  # of the arguments of a call
_LONGEST_LINE = 4_000  # characters of a declaration; a schema may be endless


class McpTool:
    """Fits into a `Toolbox`. What the server says about it is hostile text, and bounded."""

    tier: str | None = None

    def __init__(self, connection: Connection, tool: types.Tool) -> None:
        self._connection = connection
        self.name = tool.name
        self.runs_code = is_name_of_one(tool.name)
        self.description = comment(clean_line(_first_line(tool.description or "")))
        self.parameters: Mapping[str, Any] = tool.input_schema
        self.returns: Mapping[str, Any] | None = tool.output_schema
        self.pin = _fingerprint(connection, tool)
        self.function = self._lent()

    @property
    def full_name(self) -> str:
        """What rules and questions call it."""
        return f"{self._connection.spec.specifier}.{self.name}"

    def check(self, args: Any) -> None:
        check_args(self.name, self.parameters, args)

    async def value(self, args: Mapping[str, Any], context: ToolContext | None = None) -> Any:
        result = await self._connection.call(self.name, args)
        if self.returns is not None and not result.is_error:
            problem = problem_with(result.structured_content, self.returns)
            if problem is not None:
                name = self._connection.spec.name
                raise McpServerError(
                    f"the MCP server {name} failed: its tool {self.name!r:.80} does not answer as"
                    f" it says: {clean_line(problem)[:200]}"
                )
        return value_of(result)

    def declared(self, export: str) -> Declaration:
        """Its TypeScript, under the name that code imports."""
        returns = "unknown" if self.returns is None else type_of(_unwrapped(self.returns))
        made = declaration(export, self.parameters, returns, self.description)
        if len(made.line) <= _LONGEST_LINE:
            return made
        line = f"function {export}(args: Record<string, unknown>): Promise<unknown>;"
        return Declaration(made.note, line)

    def _lent(self) -> Callable[..., Any]:
        """The function takes one object of arguments, which is checked here.

        A person's answer that holds for good is about this very definition of the tool: with a
        changed description or schema, or another server behind the name, it has another name.
        """

        async def call(args: Any = None) -> Any:
            text = json_within({} if args is None else args, _MOST_BYTES)
            if text is None:
                raise ValueError(
                    f"the arguments of {self.name} have more than {_MOST_BYTES:,} bytes"
                )
            given = json.loads(text)
            self.check(given)
            return await self.value(given)

        call.__name__ = call.__qualname__ = self.name  # as Python's own errors about it spell it
        call.__doc__ = "".join(self.declared(self.name))
        mark(call, rule=lambda *_, **__: f"{self.full_name}#{self.pin}", will=self._will)
        return call

    def _will(self, *args: Any, **named: Any) -> str:
        given = spelled(list(args) if args else named)
        about = f" ({self.description})" if self.description else ""
        return f"call {self.name} of the MCP server {self._connection.spec.name}{about}: {given}"


def _fingerprint(connection: Connection, tool: types.Tool) -> str:
    """Of what the tool is said to be, and of where it is."""
    said = [tool.name, tool.description, tool.input_schema, tool.output_schema]
    spelt = json.dumps([str(connection.spec), *said], sort_keys=True)
    return hashlib.sha256(spelt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _unwrapped(schema: Mapping[str, Any]) -> Any:
    """Of `{result: x}` alone the type of x, since that is what code gets."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and list(properties) == ["result"]:
        inner = properties["result"]
        return {**inner, "$defs": schema.get("$defs", {})} if isinstance(inner, Mapping) else inner
    return schema
