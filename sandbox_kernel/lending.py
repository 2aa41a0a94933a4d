"""Turns source and options into what is sent (an `Order`) and what is lent (`Lent`).

Values are encoded here, so that one that cannot cross raises before anything runs.
"""

from __future__ import annotations

import os
import re

from .backend import Lent
from .bridges import Bridges
from .contract import CodeExecutionOptions, Execute
from .errors import OptionError, SerializationError
from .wire.frame import Buffer
from .wire.order import Order
from .wire.values import encode


def lend(
    source: str,
    options: CodeExecutionOptions,
    *,
    lenient: bool = False,
    demand_export: bool = True,
    stays_open: bool = False,
) -> tuple[Order, Lent]:
    """The order and what it is lent. Raises SerializationError for a value that cannot cross."""
    if stays_open and options.execute != Execute():
        raise OptionError("open_code takes no 'execute'; call the module's exports", "execute")
    bridges = Bridges(naive_is_utc=options.naive == "utc")
    values, attachments = _encode_lent(options, bridges)
    builtins = ("report", "console") if options.report is not None else ("console",)
    order = Order(
        source=source,
        filename=options.filename,
        language=options.language,
        modules=dict(options.modules),
        imports={key: list(names) for key, names in options.imports.items()},
        globals=list(options.globals),
        builtins=tuple(name for name in builtins if name not in options.globals),
        fn=options.execute.fn,
        memory_limit=options.memory_limit_bytes or 0,
        lenient=lenient,
        demand_export=demand_export,
        values=values,
        seed=os.urandom(8),
        stays_open=stays_open,
        attachments=tuple(attachments),
    )
    return order, Lent(bridges, options.report)


def _encode_lent(options: CodeExecutionOptions, bridges: Bridges) -> tuple[str, list[Buffer]]:
    """Encodes imports, globals and arguments as one value, so that objects they share stay shared."""
    if not (options.imports or options.globals or options.execute.args):
        return "", []
    lent = [
        [list(exports.values()) for exports in options.imports.values()],
        list(options.globals.values()),
        list(options.execute.args),
    ]
    try:
        text, attachments = encode(lent, "", bridges)
    except SerializationError as error:
        bridges.close()
        path = _named(error.path, options)
        raise SerializationError(error.reason, path) from error.__cause__
    return text, list(attachments)


_LENT_PATH = re.compile(r"\[(\d+)\](?:\[(\d+)\])?(?:\[(\d+)\])?")


def _named(path: str, options: CodeExecutionOptions) -> str:
    """Turns a path into the lent lists into the caller's, such as `imports['fs'].readFile`."""
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
