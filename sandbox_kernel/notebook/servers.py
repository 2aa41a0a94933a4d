"""`%mcp` and `%types`, the same in the kernel and in the magic: MCP servers whose tools cells import.

They live on a loop of their own, since cells come and go on others, and end with the notebook.
"""

from __future__ import annotations

import asyncio
import atexit
import shlex
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..clean import clean, clean_line
from ..errors import McpServerError, OptionError, SandboxError
from ..loops import LoopThread, borrow
from ..options import is_variable
from ..spelling import suggestion
from .ask.rules import all_of

if TYPE_CHECKING:
    from ..mcp import McpModules

_USAGE = "%mcp NAME COMMAND ARGS…, or %mcp NAME URL"
_NONE = f"no MCP servers; {_USAGE} starts one"
_CLOSE_SECONDS = 10.0


class NotebookServers:
    """The servers of one notebook, by their names."""

    def __init__(self) -> None:
        self._modules: dict[str, McpModules] = {}
        self._asked: set[str] = set()
        self._thread: LoopThread | None = None

    @property
    def imports(self) -> dict[str, dict[str, Callable[..., Any]]]:
        """What every cell may import."""
        found: dict[str, dict[str, Callable[..., Any]]] = {}
        for modules in self._modules.values():
            found |= modules.imports
        return found

    @property
    def asked(self) -> list[str]:
        """Patterns of what a person is asked about: all of servers that were started with --ask."""
        names = [f"@mcp/{name}" for name in self._modules if name in self._asked]
        return [pattern for name in names for pattern in all_of(name)]

    def answer_mcp(self, line: str) -> str:
        """Starts a server, or lists them. Blocks until it has answered."""
        parsed = parse_mcp(line)
        if parsed is None:
            return "\n".join(map(self._summary, self._modules)) or _NONE
        name, spec, asks = parsed
        modules = self._opened(name, spec)
        self._close(name)
        self._modules[name] = modules
        self._asked = self._asked | {name} if asks else self._asked - {name}
        return self._summary(name)

    def answer_types(self, line: str) -> str:
        """The TypeScript of one server, or of all."""
        name = line.strip().removeprefix("@mcp/")
        if name and name not in self._modules:
            known = suggestion(name, self._modules) if self._modules else _NONE
            raise OptionError(f"there is no MCP server {name!r:.80}; {known}", "types")
        shown = [self._modules[name]] if name else self._modules.values()
        return clean("\n\n".join(each.declarations() for each in shown)) or _NONE

    def close(self) -> None:
        """Ends all of them, and their processes."""
        for name in list(self._modules):
            self._close(name)

    def _opened(self, name: str, spec: dict[str, Any]) -> McpModules:
        from ..mcp import McpModules  # most notebooks need none

        modules = McpModules({name: spec})
        try:
            self._do(modules.open(), None)
        except McpServerError:
            raise
        except SandboxError as error:
            raise OptionError(str(error), "mcp") from None
        return modules

    def _close(self, name: str) -> None:
        modules = self._modules.pop(name, None)
        if modules is not None:
            with suppress(TimeoutError):
                self._do(modules.close(), _CLOSE_SECONDS)

    def _do(self, work: Coroutine[Any, Any, Any], seconds: float | None) -> Any:
        if self._thread is None:
            self._thread = borrow()
            atexit.register(self.close)
        doing = asyncio.run_coroutine_threadsafe(work, self._thread.loop)
        try:
            return doing.result(seconds)
        except BaseException:  # such as KeyboardInterrupt
            doing.cancel()
            raise

    def _summary(self, name: str) -> str:
        exports = [*filter(is_variable, self._modules[name].imports[f"@mcp/{name}"])]
        asks = ", asks before each call" if name in self._asked else ""
        listed = ", ".join(exports[:8]) + (f" and {len(exports) - 8} more" if exports[8:] else "")
        return clean_line(f"@mcp/{name}: {listed or 'no tools'}{asks}")


def parse_mcp(line: str) -> tuple[str, dict[str, Any], bool] | None:
    """A name, what to connect to and whether to ask about calls; None for an empty line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise OptionError(f"%mcp {line} cannot be read: {error}", "mcp") from None
    if not words:
        return None
    asks = words[0] == "--ask"
    words = words[1:] if asks else words
    if len(words) < 2 or words[0].startswith("-"):
        raise OptionError(f"%mcp needs a name and a command or a URL: {_USAGE}", "mcp")
    name, first, *rest = words
    if not first.startswith(("http://", "https://")):
        return name, {"command": first, "args": rest}, asks
    if rest:
        raise OptionError(f"%mcp {name} takes one URL, and nothing after it", "mcp")
    return name, {"url": first}, asks
