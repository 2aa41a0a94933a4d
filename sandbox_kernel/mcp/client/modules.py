"""`McpModules`: servers whose tools code may import as `@mcp/<server>`."""

from __future__ import annotations

import asyncio
import json
import math
import textwrap
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from ...errors import McpServerError, OptionError
from ...options import is_variable
from ..extra import need_sdk
from .config import ServerSpec, specs_of
from .connection import Connection
from .names import exported
from .tool import McpTool

if TYPE_CHECKING:
    import mcp_types as types

CALL_SECONDS = 60.0


class McpModules:
    """`async with McpModules({"time": {"command": "mcp-server-time"}}) as mcp:` connects to each.

    `mcp.imports` is for `run_code`; a call that a server does not answer within `timeout` seconds
    fails. At the end of the block the servers that were started are ended.
    """

    def __init__(self, servers: Mapping[str, Any], *, timeout: float = CALL_SECONDS) -> None:
        self._specs = specs_of(servers)
        self._timeout = _seconds(timeout)
        self._servers: dict[str, Server] = {}
        self._is_open = False

    async def __aenter__(self) -> Self:
        return await self.open()

    async def open(self) -> Self:
        """Connects to all, for those who cannot use a block; they call `close` at the end. Idempotent."""
        need_sdk()
        if self._is_open:
            return self
        servers = [Server(spec, self._timeout) for spec in self._specs]
        opening = asyncio.gather(*(each.open() for each in servers), return_exceptions=True)
        try:
            problem = next((each for each in await opening if each is not None), None)
            if problem is not None:
                raise problem
        except BaseException:  # such as a cancellation: some may be open by then
            await asyncio.gather(*(each.close() for each in servers))
            raise
        self._servers = {each.spec.name: each for each in servers}
        self._is_open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Idempotent."""
        self._is_open = False
        await asyncio.gather(*(each.close() for each in self._servers.values()))

    @property
    def imports(self) -> dict[str, dict[str, Callable[..., Any]]]:
        """Specifier to exports, for `run_code(…, imports=mcp.imports)`."""
        return {each.spec.specifier: dict(each.exports) for each in self._servers.values()}

    def tools(self) -> list[McpTool]:
        """For a `Toolbox`, and so for programs and models."""
        return [tool for server in self._servers.values() for tool in server.tools]

    def declarations(self) -> str:
        """TypeScript of all that code may import, for models and people."""
        return "\n\n".join(each.declarations() for each in self._servers.values())

    def __repr__(self) -> str:
        counts = [f"{name}: {len(each.tools)} tools" for name, each in self._servers.items()]
        return f"McpModules({', '.join(counts)})"


class Server:
    """One of them: its connection, its tools, and what of them is exported."""

    def __init__(self, spec: ServerSpec, timeout: float) -> None:
        self.spec = spec
        self._connection = Connection(spec, timeout)
        self.tools: list[McpTool] = []
        self._exported: dict[str, McpTool] = {}
        self.exports: dict[str, Callable[..., Any]] = {}

    async def open(self) -> None:
        """Raises McpServerError, and then nothing of it is left."""
        listed = await self._connection.open()
        try:
            self._take(listed)
        except McpServerError as error:
            await self.close()
            raise McpServerError(f"the MCP server {self.spec.name} failed: {error}") from None

    async def close(self) -> None:
        await self._connection.close()

    def declarations(self) -> str:
        """A tool whose name no variable can have is declared under its alias."""
        lines = [tool.declared(name) for name, tool in self._exported.items() if is_variable(name)]
        inner = "\n".join(f"{each.note}export {each.line}" for each in lines)
        return (
            f"declare module {json.dumps(self.spec.specifier)} {{\n"
            f"{textwrap.indent(inner, '  ')}\n}}"
        )

    def _take(self, listed: list[types.Tool]) -> None:
        names = exported([tool.name for tool in listed])
        self.tools = [McpTool(self._connection, tool) for tool in listed]
        by_name = {tool.name: tool for tool in self.tools}
        self._exported = {export: by_name[name] for export, name in names.items()}
        self.exports = {export: tool.function for export, tool in self._exported.items()}


def _seconds(timeout: object) -> float:
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout
    if 0 < number < math.inf:
        return float(number)
    raise OptionError(f"timeout is a number of seconds above 0, not {timeout!r:.80}", "timeout")
