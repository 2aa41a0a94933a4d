"""Turns source and options into what is sent (an `Order`) and what is lent (`Lent`).

Values are encoded here, so that one that cannot cross raises before anything runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .backend import Lent
from .bridges import Bridges
from .errors import OptionError, SerializationError
from .loans import Loan, is_capability
from .options import CodeExecutionOptions, Execute
from .wire.frame import Buffer
from .wire.order import Order, Shim
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
    shims, made, loans = _borrowed(options) if options.lend else ((), {}, ())
    try:
        given = options.imports or options.globals or options.execute.args or loans
        values, attachments = _encode_lent(options, loans, bridges) if given else ("", [])
    except BaseException:
        Lent(bridges, loans=loans).close()
        raise
    order = Order(
        source=source,
        filename=options.filename,
        language=options.language,
        modules=dict(options.modules),
        imports=dict(zip(options.imports, map(list, options.imports.values()), strict=True)) | made,
        globals=list(options.globals),
        builtins=_builtins(options),
        fn=options.execute.fn,
        memory_limit=options.memory_limit_bytes or 0,
        lenient=lenient,
        demand_export=demand_export,
        values=values,
        seed=os.urandom(8),
        stays_open=stays_open,
        shims=shims,
        attachments=tuple(attachments),
    )
    gate = None if options.policy is None else options.policy.gate()
    return order, Lent(bridges, options.report, gate, loans=loans)


def _builtins(options: CodeExecutionOptions) -> tuple[str, ...]:
    names = ("report", "console") if options.report is not None else ("console",)
    if not options.globals:
        return names
    return tuple(name for name in names if name not in options.globals)


def _of_this_run(named: Mapping[str, Any]) -> dict[str, Any]:
    """What is limited counts anew for each run."""
    return {name: _counted(name, value) for name, value in named.items()}


def _counted(name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    iter(value)  # raises if it is limited and more than a mapping of functions
    return value.loan(name).host if is_capability(value) else value


def _borrowed(
    options: CodeExecutionOptions,
) -> tuple[tuple[Shim, ...], dict[str, list[str]], tuple[Loan, ...]]:
    """A loan of each capability, the script that makes its modules, and the names these export.

    A free identifier is that of the caller's own global, else of the first that lends one.
    """
    shims: list[Shim] = []
    made: dict[str, list[str]] = {}
    loans: list[Loan] = []
    taken = {*options.globals, "console", "report"}
    try:
        for name, capability in options.lend.items():
            loan = capability.loan(name)
            loans.append(loan)
            modules = {name + end: end for end in loan.exports}
            for specifier, end in modules.items():
                if specifier in options.imports or specifier in made:
                    raise OptionError(
                        f"the module {specifier!r} is lent twice; lend one under another name:"
                        " lend={'NAME': capability}",
                        "lend",
                    )
                made[specifier] = list(loan.exports[end])
            shims.append(Shim(loan.script, modules, tuple(n for n in loan.free if n not in taken)))
            taken.update(loan.free)
    except BaseException:
        for loan in loans:
            loan.close()
        raise
    return tuple(shims), made, tuple(loans)


def _encode_lent(
    options: CodeExecutionOptions, loans: Sequence[Loan], bridges: Bridges
) -> tuple[str, list[Buffer]]:
    """Encodes imports, globals and arguments as one value, so that objects they share stay shared."""
    imports = _of_this_run(options.imports).values()
    lent = [
        [list(_of_this_run(exports).values()) for exports in imports],
        list(_of_this_run(options.globals).values()),
        list(options.execute.args),
        [dict(loan.host) for loan in loans],
    ]
    names = _Names(options)
    bridges.name_of = names.call
    try:
        text, attachments = encode(lent, "", bridges)
    except SerializationError as error:
        bridges.close()
        raise SerializationError(error.reason, names.option(error.path)) from error.__cause__
    if options.policy is not None:
        bridges.note_names(_top_names(options))
    return text, list(attachments)


def _top_names(options: CodeExecutionOptions) -> Iterator[tuple[str, object]]:
    for specifier, exports in options.imports.items():
        for name, value in exports.items():
            yield f"{specifier}.{name}", value
    yield from options.globals.items()


_LENT_PATH = re.compile(r"\[(\d+)\](?:\[(\d+)\])?(?:\[(\d+)\])?")


class _Names:
    """Turns a path into the lent lists into the caller's words."""

    def __init__(self, options: CodeExecutionOptions) -> None:
        self._globals = list(options.globals)
        self._imports = [(key, list(exports)) for key, exports in options.imports.items()]
        self._lent = list(options.lend)

    def option(self, path: str) -> str:
        """Where it stands in the options, such as `imports['fs'].readFile`."""
        found = _LENT_PATH.match(path)
        if found is None or found[2] is None:
            return path
        if found[1] == "2":
            return f"execute.{self.call(path)}"
        if found[1] == "3":
            return f"lend[{self._lent[int(found[2])]!r}]{path[found.end(2) + 1 :]}"
        if found[1] == "1":
            return f"globals.{self.call(path)}"
        specifier, exports = self._imports[int(found[2])]
        return f"imports[{specifier!r}].{exports[int(found[3])]}{path[found.end(3) + 1 :]}"

    def call(self, path: str) -> str:
        """The name of a function, for rules and records: `fs.readFile`, or `db.find` of a global."""
        found = _LENT_PATH.match(path)
        assert found is not None  # it lies in one of the four lists
        first, rest = int(found[2]), path[found.end(2) + 1 :]
        if found[1] == "2":
            return f"args[{first}]{rest}"
        if found[1] == "3":
            return f"{self._lent[first]}{rest}"
        if found[1] == "1":
            return f"{self._globals[first]}{rest}"
        specifier, exports = self._imports[first]
        return f"{specifier}.{exports[int(found[3])]}{path[found.end(3) + 1 :]}"
