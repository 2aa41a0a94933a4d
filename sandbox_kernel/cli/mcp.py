"""`sandbox-kernel mcp`: the sandbox as an MCP server, on stdin and stdout or on HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..capabilities.spelling import capability_of
from ..errors import OptionError
from ..loans import Capability
from ..mcp.extra import need_sdk
from ..notebook.ask.rules import all_of
from ..notebook.options.units import Deadline, read_deadline
from ..service.addresses import Address, address_of
from ..service.guard import checked_key
from ..spelling import suggestion
from . import exits, terminal

if TYPE_CHECKING:
    from ..mcp.server.desk import Desk

_KEY = "SANDBOX_MCP_KEY"
_FLAGS = ("print-config", "ask")
_VALUES = {
    "http": "ADDR, such as 127.0.0.1:9000",
    "deadline": "TIME, such as 1m",
    "lend": "NAME=CAPABILITY, such as timers or fs=files:/data",
    "config": "FILE, with the MCP servers whose tools code may import",
    "policy": 'FILE, with rules such as {"@mcp/mail.*": "ask"}',
}


@dataclass(slots=True)
class Arguments:
    """The words, read."""

    http: Address | None = None
    deadline: Deadline = field(default_factory=lambda: Deadline(600.0, "10m"))
    config: str | None = None
    policy: str | None = None
    lend: dict[str, Capability] = field(default_factory=dict)
    asks: list[str] = field(default_factory=list)  # modules whose calls a person is asked about
    print_config: bool = False
    words: list[str] = field(default_factory=list)  # all but --print-config


def mcp(words: list[str]) -> int:
    parsed = parse(words)
    if parsed.print_config:
        terminal.say(json.dumps(config(parsed), indent=2))
        terminal.note(_WHERE)
        return exits.SUCCESS
    need_sdk()
    if parsed.http is None:
        asyncio.run(_on_stdio(parsed))
    else:
        asyncio.run(_on_http(parsed, parsed.http))
    return exits.SUCCESS


def parse(words: list[str]) -> Arguments:
    parsed = Arguments()
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in (*_FLAGS, *_VALUES):
            known = suggestion(name, [*_FLAGS, *_VALUES], "--")
            raise OptionError(f"mcp does not take {word}; {known}")
        if name == "print-config":
            parsed.print_config = True
            continue
        if name == "ask":
            _ask(parsed)
            continue
        given = value if equals else _next(rest, name)
        _read(parsed, name, given)
        parsed.words += [f"--{name}", _from_anywhere(name, given)]
    return parsed


def config(parsed: Arguments) -> dict[str, Any]:
    """What clients write into their files of servers."""
    if parsed.http is None:
        command = [sys.executable, "-m", "sandbox_kernel", "mcp", *parsed.words]
        entry: dict[str, Any] = {"command": command[0], "args": command[1:]}
    else:
        entry = {"type": "http", "url": _url_of(parsed.http)}
        if not parsed.http.is_local:
            entry["headers"] = {"Authorization": f"Bearer ${{{_KEY}}}"}
    return {"mcpServers": {"sandbox": entry}}


_WHERE = """
Claude Desktop, Claude Code (.mcp.json), Cursor and others read this as it is; VS Code calls
"mcpServers" just "servers" (.vscode/mcp.json). docs/mcp.md says more."""


def _from_anywhere(name: str, value: str) -> str:
    """With paths that mean the same wherever a client starts the server."""
    if name in ("config", "policy"):
        return os.path.abspath(value)
    module, files, folder = value.partition("=files:")
    return f"{module}{files}{os.path.abspath(folder)}" if name == "lend" and files else value


def _next(rest: Iterator[str], name: str) -> str:
    value = next(rest, "")
    if not value or value.startswith("--"):
        raise OptionError(f"--{name} needs a value: --{name} {_VALUES[name]}", name)
    return value


def _read(parsed: Arguments, name: str, value: str) -> None:
    if name == "http":
        parsed.http = address_of(value)
        if parsed.http.path:
            raise OptionError("--http takes HOST:PORT, and no path of a socket", "http")
    elif name == "deadline":
        parsed.deadline = read_deadline(value)
    elif name == "lend":
        module, capability = capability_of(value)
        if module in parsed.lend:
            raise OptionError(f"--lend {module} was given twice", "lend")
        parsed.lend[module] = capability
    else:
        setattr(parsed, name, os.path.abspath(value))


def _ask(parsed: Arguments) -> None:
    """Behind a --lend: about all of that module."""
    if parsed.words[-2:-1] != ["--lend"]:
        raise OptionError("--ask goes after a --lend: --lend fs=files:/data --ask", "ask")
    parsed.asks.append(list(parsed.lend)[-1])
    parsed.words.append("--ask")


async def _on_stdio(parsed: Arguments) -> None:
    from ..mcp.server.transports import serve_stdio

    async with _desk(parsed) as desk:
        await serve_stdio(desk)


async def _on_http(parsed: Arguments, address: Address) -> None:
    from ..mcp.server.transports import serve_http

    def listening(url: str) -> None:
        terminal.note(f"listening on {url}")

    key = _key(address)
    async with _desk(parsed) as desk:
        await serve_http(desk, address, key, listening)


def _url_of(address: Address) -> str:
    need_sdk()
    from ..mcp.server.transports import url_of

    return url_of(address)


def _key(address: Address) -> str:
    try:
        key = checked_key(os.environ.get(_KEY, ""))
    except OptionError as error:
        raise OptionError(f"{_KEY}: {error}") from None
    if not key and not address.is_local:
        raise OptionError(
            f"that address can be reached from other machines, so it needs a key: set {_KEY},"
            " or listen on 127.0.0.1"
        )
    return key


@asynccontextmanager
async def _desk(parsed: Arguments) -> AsyncIterator[Desk]:
    """With what the operator lends; the servers whose tools those are end with it."""
    from ..mcp import McpModules
    from ..mcp.client.config import read_object, read_servers
    from ..mcp.server.desk import Desk
    from ..mcp.server.lent import Lent, rules_for

    servers = {} if parsed.config is None else read_servers(parsed.config)
    given = None if parsed.policy is None else read_object(parsed.policy, "policy")
    async with McpModules(servers) as modules:
        described = [each.describe(name) for name, each in parsed.lend.items()]
        asked = [pattern for name in parsed.asks for pattern in all_of(name)]
        lent = Lent(
            options={"imports": modules.imports, "lend": parsed.lend},
            declarations="\n\n".join([*described, modules.declarations()]).strip(),
            rules=rules_for(given, asks=[*asked, *(["@mcp/*"] if servers else [])]),
            deadline=parsed.deadline.seconds,
        )
        yield Desk(lent)
