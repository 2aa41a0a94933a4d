"""`run_code`, `evaluate`, and `run_cell` for notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Never

from .engine.settings import Settings
from .engine.spawn import Spawned, spawn_zygote
from .errors import OptionError

if TYPE_CHECKING:
    from .backend import Backend, Lent
    from .contract import (
        CodeExecutionLog,
        CodeExecutionOptions,
        Execute,
        Language,
        Naive,
    )
    from .engine.pool import WorkerPool
    from .execution import CodeExecution
    from .wire.order import Order


def run_code(
    source: str,
    options: CodeExecutionOptions | Mapping[str, Any] | None = None,
    *,
    execute: Execute | Mapping[str, Any] | None = None,
    imports: Mapping[str, Mapping[str, Any]] | None = None,
    modules: Mapping[str, str] | None = None,
    globals: Mapping[str, Any] | None = None,
    language: Language | None = None,
    memory_limit_bytes: int | None = None,
    filename: str | None = None,
    report: Callable[[Any], Any] | None = None,
    naive: Naive | None = None,
    engine: Backend | None = None,
    **unknown: Never,
) -> CodeExecution:
    """Runs JavaScript or TypeScript as an ES module in a fresh sandbox.

    Give options as keywords, as a mapping with the contract's names, or both. An invalid option
    raises `OptionError` before anything runs.

    Args:
        source: The text of the module.
        options: A mapping of the options below, or a `CodeExecutionOptions`, which keywords override.
        execute: `{"fn": NAME, "args": [...]}`: the export to return, called if it is a function.
        imports: Bare specifier to exports: functions and values that the module may import.
        modules: Relative specifier to source text, such as `{"./lib.ts": "..."}`.
        globals: Name to value or function: free identifiers of the module.
        language: `"typescript"` (the default) or `"javascript"`.
        memory_limit_bytes: Limit of the heap; the engine's default if not given.
        filename: The module's name in errors and stacks.
        report: Called with every value passed to `report`, a global that exists only if this is given.
        naive: `"utc"` if lent datetimes without a time zone are meant as UTC; else they are refused.
        engine: Where to run; the default engine if not given.
    """
    named = _given(
        execute=execute,
        imports=imports,
        modules=modules,
        globals=globals,
        language=language,
        memory_limit_bytes=memory_limit_bytes,
        filename=filename,
        report=report,
        naive=naive,
        **unknown,
    )
    return _start(source, options, named, engine)


def evaluate(
    source: str,
    options: CodeExecutionOptions | Mapping[str, Any] | None = None,
    *,
    execute: Execute | Mapping[str, Any] | None = None,
    imports: Mapping[str, Mapping[str, Any]] | None = None,
    modules: Mapping[str, str] | None = None,
    globals: Mapping[str, Any] | None = None,
    language: Language | None = None,
    memory_limit_bytes: int | None = None,
    filename: str | None = None,
    report: Callable[[Any], Any] | None = None,
    naive: Naive | None = None,
    engine: Backend | None = None,
    **unknown: Never,
) -> CodeExecution:
    """`run_code` with a notebook's rules, for source whose author was not told to export a result.

    Without a default export the value of the last expression is the result, or `undefined` if the
    source does not end in one. If `execute` names another export, it has to exist. The arguments
    are those of `run_code`.
    """
    named = _given(
        execute=execute,
        imports=imports,
        modules=modules,
        globals=globals,
        language=language,
        memory_limit_bytes=memory_limit_bytes,
        filename=filename,
        report=report,
        naive=naive,
        **unknown,
    )
    return _start(source, options, named, engine, demand_export=False)


def run_cell(
    source: str,
    options: Mapping[str, Any] | None = None,
    *,
    lenient: bool = True,
    demand_export: bool = False,
    on_log: Callable[[CodeExecutionLog], None] | None = None,
    engine: Backend | None = None,
    **named: Any,
) -> CodeExecution:
    """`run_code` for interactive use, shared by the kernel, the magic and the command line.

    Without a default export the value of the last expression is the result, or `undefined` if the
    source does not end in one; with `demand_export` a missing export is an error instead. A result
    that cannot cross is described instead of refused, if `lenient`.
    """
    return _start(
        source, options, named, engine, lenient=lenient, demand_export=demand_export, on_log=on_log
    )


def _given(**named: Any) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}


def _start(
    source: str,
    options: CodeExecutionOptions | Mapping[str, Any] | None,
    named: Mapping[str, Any],
    engine: Backend | None,
    *,
    lenient: bool = False,
    demand_export: bool = True,
    on_log: Callable[[CodeExecutionLog], None] | None = None,
) -> CodeExecution:
    if engine is not None:
        _check_engine(engine)
    parts = _parts(starts_zygote=engine is None)
    backend = engine or parts.pool_for_a_run()
    checked = parts.options_of(options, **named)
    order, lent = parts.lend(
        _checked_source(source), checked, lenient=lenient, demand_export=demand_export
    )
    return parts.start_code(backend, order, lent, on_log)


def warm_up() -> None:
    """Starts the default engine's processes now rather than at the first run."""
    _parts(starts_zygote=True).warm_pool()


class _Parts(NamedTuple):
    options_of: Callable[..., CodeExecutionOptions]
    lend: Callable[..., tuple[Order, Lent]]
    start_code: Callable[..., CodeExecution]
    pool_for_a_run: Callable[[], WorkerPool]
    warm_pool: Callable[[], WorkerPool]


@cache
def _parts(*, starts_zygote: bool) -> _Parts:
    """Imports the rest of the package late, while the zygote starts.

    Starting a zygote takes as long as these imports; on two processors they overlap.
    """
    loaded = "sandbox_kernel.engine.pool" in sys.modules
    spawned = _spawned() if starts_zygote and not loaded else None
    from .contract import CodeExecutionOptions
    from .engine.default import default_pool, pool_for_a_run, warm_default_pool
    from .execution import start_code
    from .lending import lend

    if spawned is not None:
        default_pool().adopt(spawned)
    return _Parts(CodeExecutionOptions.of, lend, start_code, pool_for_a_run, warm_default_pool)


def _spawned() -> Spawned | None:
    try:
        return spawn_zygote(Settings().cpu_seconds)
    except OSError:
        return None  # the pool tries again, and reports the reason if that fails too


def _check_engine(engine: Backend) -> None:
    if isinstance(engine, type):
        name = engine.__name__
        raise OptionError(
            f"engine must be an engine, not the class {name}; write {name}()", "engine"
        )
    if not callable(getattr(engine, "start", None)):
        kind = type(engine).__name__
        raise OptionError(f"engine must be an engine, such as Engine(), not {kind}", "engine")


def _checked_source(source: object) -> str:
    if not isinstance(source, str):
        reads = "; give its text: .read_text()" if hasattr(source, "read_text") else ""
        raise OptionError(f"source must be a string, not {type(source).__name__}{reads}", "source")
    return source
