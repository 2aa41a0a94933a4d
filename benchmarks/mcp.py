"""Measures a tool call from inside a run beside the SDK's own: `python -m benchmarks.mcp`.

Both use one connection over stdio to the same small server, one call after the other, in turns. The
aim is at most 1.3 times the SDK's own call.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

from sandbox_kernel import run_code
from sandbox_kernel.mcp import McpModules

_CALLS = 100
_ROUNDS = 9
_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo")
@server.tool()
def echo(text: str) -> str:
    return text
server.run()
"""
_SOURCE = f"""
import {{ echo }} from '@mcp/echo';
const start = Date.now();
for (let n = 0; n < {_CALLS}; n++) await echo({{ text: 'call ' + n }});
export default Date.now() - start;
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "echo.py"
        path.write_text(_SERVER)
        spec = StdioServerParameters(command=sys.executable, args=[str(path)])
        servers = {"echo": {"command": spec.command, "args": spec.args}}
        async with Client(spec) as client, McpModules(servers) as modules:
            pairs = [(await _own(client), await _nested(modules)) for _ in range(_ROUNDS)]
    own, nested = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    ratio = statistics.median(inside / outside for outside, inside in pairs)
    print(f"the SDK's own call {own:.2f} ms, from inside a run {nested:.2f} ms ({ratio:.2f})")


async def _own(client: Client) -> float:
    start = time.perf_counter()
    for n in range(_CALLS):
        await client.call_tool("echo", {"text": f"call {n}"})
    return (time.perf_counter() - start) / _CALLS


async def _nested(modules: McpModules) -> float:
    result = await run_code(_SOURCE, imports=modules.imports)
    return float(result.unwrap()) / 1000 / _CALLS


if __name__ == "__main__":
    asyncio.run(main())
