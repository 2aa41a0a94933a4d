"""`run_code`, and `run_cell` for interactive use.

Loads the rest only when it is first called, after it has sent for the zygote: both take a while,
and on two processors they take it at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .engine import default_backend
from .errors import OptionError

if TYPE_CHECKING:
    from .contract import CodeExecutionLog
    from .engine.job import Backend
    from .execution import CodeExecution


def run_code(
    source: str,
    options: Mapping[str, Any] | None = None,
    *,
    engine: Backend | None = None,
    **named: Any,
) -> CodeExecution:
    """Runs JavaScript or TypeScript as an ES module in a fresh sandbox.

    Options come as a mapping with the contract's names, as keywords, or both: execute, imports,
    modules, globals, language, memory_limit_bytes, filename, report. Wrong ones raise at once.
    """
    backend = _ready(engine)
    options_of, job_of, execution = _parts()
    job = job_of(_checked_source(source), options_of(options, **named))
    return execution(job, backend)


def run_cell(
    source: str,
    options: Mapping[str, Any] | None = None,
    *,
    demand_export: bool = False,
    on_log: Callable[[CodeExecutionLog], None] | None = None,
    engine: Backend | None = None,
    **named: Any,
) -> CodeExecution:
    """`run_code` for interactive use, shared by the kernel and the magic.

    Without a default export the last expression's value is the result, and without either there
    is none, unless `demand_export`. A result that cannot cross is described instead of refused.
    """
    backend = _ready(engine)
    options_of, job_of, execution = _parts()
    checked = options_of(options, **named)
    job = job_of(_checked_source(source), checked, interactive=True, demand_export=demand_export)
    return execution(job, backend, on_log)


@cache
def _parts() -> tuple[Any, Any, type[CodeExecution]]:
    from .contract import CodeExecutionOptions
    from .engine.job import Job
    from .execution import CodeExecution

    return CodeExecutionOptions.of, Job.of, CodeExecution


def _ready(engine: Backend | None) -> Backend:
    if engine is not None:
        return engine
    pool = default_backend()
    pool.warm_up()
    return pool


def _checked_source(source: object) -> str:
    if not isinstance(source, str):
        raise OptionError(f"source must be a string, not {type(source).__name__}", "source")
    return source
