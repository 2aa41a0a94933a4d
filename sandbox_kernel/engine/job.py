"""One run as the engine sees it: what to send, what was lent, whom to tell; and the seam."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..bridges import Bridges
from ..contract import CodeExecutionError, CodeExecutionLog, CodeExecutionOptions, Status
from ..errors import SerializationError
from ..values import undefined
from ..wire.frame import Buffer
from ..wire.order import Order
from ..wire.values import encode

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    status: Status
    result: Any = undefined
    error: CodeExecutionError | None = None
    memory_used_bytes: int | None = None


class Listener(Protocol):
    """Who holds the handle: told of everything in order, `settled` last and once."""

    def on_report(self, value: Any) -> None: ...
    def on_log(self, log: CodeExecutionLog) -> None: ...
    def settled(self, outcome: Outcome) -> None: ...


class ActiveRun(Protocol):
    """A run under way, wherever it executes."""

    def terminate(self, reason: str | None) -> None: ...
    def memory_used_bytes(self) -> int | None: ...


class Backend(Protocol):
    """Whatever can execute runs: the local `Engine`, or another place that keeps this contract."""

    def start(self, job: Job, listener: Listener, loop: asyncio.AbstractEventLoop) -> ActiveRun:
        """From any thread; whatever the guest says is told on `loop`'s own."""


@dataclass(frozen=True, slots=True)
class Job:
    """Source and options, values encoded already, so that bad ones raise at once."""

    source: str
    options: CodeExecutionOptions
    bridges: Bridges
    values: str
    attachments: list[Buffer]
    interactive: bool = False
    demand_export: bool = True

    @classmethod
    def of(
        cls,
        source: str,
        options: CodeExecutionOptions,
        *,
        interactive: bool = False,
        demand_export: bool = True,
    ) -> Job:
        bridges = Bridges()
        attachments: list[Buffer] = []
        values = _encode_lent(options, bridges, attachments)
        return cls(source, options, bridges, values, attachments, interactive, demand_export)

    def order(self, default_memory_limit: int) -> bytes:
        """The RUN message."""
        options = self.options
        builtins = ("report", "console") if options.report is not None else ("console",)
        return Order(
            source=self.source,
            filename=options.filename,
            language=options.language,
            modules=dict(options.modules),
            imports={key: list(names) for key, names in options.imports.items()},
            globals=list(options.globals),
            builtins=tuple(name for name in builtins if name not in options.globals),
            fn=options.execute.fn,
            memory_limit=options.memory_limit_bytes or default_memory_limit,
            interactive=self.interactive,
            demand_export=self.demand_export,
            values=self.values,
            seed=os.urandom(8),
        ).pack()


def _encode_lent(options: CodeExecutionOptions, bridges: Bridges, attachments: list[Buffer]) -> str:
    """Imports, globals and arguments as one value, so that what they share stays shared."""
    if not (options.imports or options.globals or options.execute.args):
        return ""
    lent = [
        [list(exports.values()) for exports in options.imports.values()],
        list(options.globals.values()),
        list(options.execute.args),
    ]
    try:
        text, found = encode(lent, "", bridges)
    except SerializationError as error:
        bridges.close()
        raise SerializationError(error.reason, _named(error.path, options)) from None
    attachments.extend(found)
    return text


_LENT_PATH = re.compile(r"\[(\d+)\](?:\[(\d+)\])?(?:\[(\d+)\])?")


def _named(path: str, options: CodeExecutionOptions) -> str:
    """A path into the lent lists as the caller would write it: `imports['fs'].readFile`."""
    found = _LENT_PATH.match(path)
    if found is None or found[2] is None:
        return path
    first = int(found[2])
    if found[1] == "2":
        return f"execute.args[{first}]{path[found.end(2) + 1 :]}"
    if found[1] == "1":
        return f"globals.{list(options.globals)[first]}{path[found.end(2) + 1 :]}"
    specifier = list(options.imports)[first]
    name = list(options.imports[specifier])[int(found[3])]
    return f"imports[{specifier!r}].{name}{path[found.end(3) + 1 :]}"
