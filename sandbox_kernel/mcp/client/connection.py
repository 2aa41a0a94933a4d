"""One connection to one server. A task of its own enters and leaves it, as the SDK demands.

Everything that the server says is hostile: it is bounded here, and read elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, Any

from ...budget import capped
from ...clean import clean
from ...errors import McpServerError
from ...tools.tool import ArgumentsError
from .config import ServerSpec
from .leftovers import Mark

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client

CONNECT_SECONDS = 30.0
MOST_TOOLS = 1_000
_MOST_PAGES = 100
_SAID = 2_000  # characters of what a server wrote to stderr, in an error
# The SDK's; without a handler each line of garbage is a traceback.
for _name in ("mcp.client", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Connection:
    """Lives on the loop where it was opened; calls may come from any."""

    def __init__(self, spec: ServerSpec, seconds: float) -> None:
        self.spec = spec
        self._seconds = seconds  # for one call
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._owner: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None
        self._problem: str | None = None
        self._mark = Mark()

    async def open(self) -> list[types.Tool]:
        """What it offers. Raises McpServerError, and then nothing of it is left."""
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        ready: asyncio.Future[list[types.Tool]] = self._loop.create_future()
        self._owner = self._loop.create_task(self._own(ready))
        try:
            done, _ = await asyncio.wait({ready}, timeout=CONNECT_SECONDS)
            if not done:
                self._problem = f"it did not answer within {CONNECT_SECONDS:g} s"
                raise McpServerError(f"the MCP server {self.spec.name} failed: {self._problem}")
            return ready.result()
        except BaseException:
            ready.cancel()
            await self.close()
            raise

    async def close(self) -> None:
        """Ends the server's processes, too. May be called twice."""
        if self._owner is None or self._closing is None:
            return
        self._closing.set()
        if self._client is None:
            self._owner.cancel()
        await asyncio.wait({self._owner})

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """From any loop. Raises McpServerError if the server does not answer as it should."""
        assert self._loop is not None
        calling = self._call(name, arguments)
        if asyncio.get_running_loop() is self._loop:
            return await calling
        if self._loop.is_closed():
            calling.close()
            raise self._failed("its connection was closed")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(calling, self._loop))

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        import mcp_types as types
        from mcp import MCPError
        from pydantic import ValidationError
        from pydantic_core import PydanticSerializationError

        if self._client is None:
            raise self._failed(self._problem or "its connection was closed")
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=name, arguments=dict(arguments))
        )
        try:
            request.model_dump_json()  # what cannot be spelled would end the SDK's connection
        except PydanticSerializationError as error:
            raise ArgumentsError(f"{name}: its arguments cannot be sent: {error}") from None
        try:
            # Not `call_tool`, which checks the answer with regular expressions of the server's.
            return await self._client.session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=self._seconds
            )
        except MCPError as error:
            raise self._failed(capped(clean(str(error)), _SAID)) from None
        except ValidationError:
            raise self._failed("its answer is not one of the protocol's") from None

    def _failed(self, why: str) -> McpServerError:
        return McpServerError(f"the MCP server {self.spec.name} failed: {why}")

    async def _own(self, ready: asyncio.Future[list[types.Tool]]) -> None:
        assert self._closing is not None
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            try:
                async with _client(self.spec, said, self._mark) as client:
                    tools = await _listed(client, self.spec.name)
                    self._client = client
                    if not ready.done():
                        ready.set_result(tools)
                    await self._closing.wait()
                    self._client = None
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                self._problem = _reason(error)
                if not ready.done():
                    ready.set_exception(self._failed(self._problem + _tail(said)))
            finally:
                self._client = None
                if self.spec.url is None:
                    self._mark.end_all()


@asynccontextmanager
async def _client(spec: ServerSpec, said: IO[str], mark: Mark) -> AsyncIterator[Client]:
    """A kernel's own stderr has no descriptor, so the server is given a file."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    if spec.url is None:
        environment = {**spec.env, **mark.environment}
        command = StdioServerParameters(
            command=spec.command or "", args=list(spec.args), env=environment, cwd=spec.cwd
        )
        async with Client(stdio_client(command, errlog=said), cache=None) as client:  # type: ignore[arg-type]  # any file
            yield client
        return
    async with create_mcp_http_client(headers=dict(spec.headers)) as http:
        transport = streamable_http_client(spec.url, http_client=http)
        async with Client(transport, cache=None) as client:
            yield client


async def _listed(client: Client, name: str) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) > MOST_TOOLS:
            break
    if len(tools) > MOST_TOOLS or cursor is not None:
        raise McpServerError(f"it lists more than {MOST_TOOLS:,} tools")
    return tools


def _reason(error: BaseException) -> str:
    """The first error in what the SDK's groups of tasks raise."""
    from pydantic import ValidationError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = capped(clean(str(error)), _SAID)
    if isinstance(error, McpServerError):
        return text
    if isinstance(error, ValidationError):
        return _mismatch(error.errors()[0])
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _mismatch(first: Any) -> str:
    place = ".".join(map(str, first["loc"]))
    return capped(clean(f"its answer is not one of the protocol's: {place}: {first['msg']}"), _SAID)


def _tail(said: IO[str]) -> str:
    """The end of what a server wrote before it failed."""
    size = said.seek(0, 2)
    said.seek(max(0, size - 4 * _SAID))
    text = clean(said.read(4 * _SAID)).strip()[-_SAID:]
    return f"; it wrote:\n{text}" if text else ""
