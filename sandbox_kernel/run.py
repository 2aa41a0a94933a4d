"""`run_code`, `evaluate`, `open_code`, `run_many`, `run_program`, and `run_cell` for notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Never

from .engine.settings import Settings
from .engine.spawn import Spawned, spawn_zygote
from .errors import OptionError

if TYPE_CHECKING:
    from .backend import Backend, Lent
    from .calls import Rulebook
    from .contract import CodeExecutionLog
    from .engine.pool import WorkerPool
    from .execution import CodeExecution
    from .loans import Capability
    from .many import ManyExecution
    from .opened import OpenCode
    from .options import CodeExecutionOptions, Execute, Language, Naive
    from .programs.contract import ProgramOptions
    from .programs.handle import ProgramBackend, ProgramExecution
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
    policy: Rulebook | None = None,
    lend: Sequence[Capability] | Mapping[str, Capability] | None = None,
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
        policy: A `permissions.Policy`: which lent functions may be called, and who is asked.
        lend: Capabilities, such as `[files("data"), timers()]`: modules ready to use.
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
        policy=policy,
        lend=lend,
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
    policy: Rulebook | None = None,
    lend: Sequence[Capability] | Mapping[str, Capability] | None = None,
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
        policy=policy,
        lend=lend,
        **unknown,
    )
    return _start(source, options, named, engine, demand_export=False)


def open_code(
    source: str,
    options: CodeExecutionOptions | Mapping[str, Any] | None = None,
    *,
    imports: Mapping[str, Mapping[str, Any]] | None = None,
    modules: Mapping[str, str] | None = None,
    globals: Mapping[str, Any] | None = None,
    language: Language | None = None,
    memory_limit_bytes: int | None = None,
    filename: str | None = None,
    report: Callable[[Any], Any] | None = None,
    naive: Naive | None = None,
    policy: Rulebook | None = None,
    lend: Sequence[Capability] | Mapping[str, Capability] | None = None,
    engine: Backend | None = None,
    **unknown: Never,
) -> OpenCode:
    """Keeps a module open in one sandbox, so that its exports can be called many times.

    `async with open_code(source) as module: await module.price(row)`. It is bounded like a run, and
    closed at the end of the block. The arguments are those of `run_code`, without `execute`.
    """
    named = _given(
        imports=imports,
        modules=modules,
        globals=globals,
        language=language,
        memory_limit_bytes=memory_limit_bytes,
        filename=filename,
        report=report,
        naive=naive,
        policy=policy,
        lend=lend,
        **unknown,
    )
    run = _start(source, options, named, engine, stays_open=True)
    from .opened import OpenCode  # by now the zygote has started

    return OpenCode(run)


def run_many(
    source: str,
    inputs: Iterable[Any],
    *,
    engine: Backend | None = None,
    ordered: bool = True,
    batch: int | None = None,
    isolate: Literal["item", "batch"] = "item",
    **options: Any,
) -> ManyExecution[Any]:
    """Calls the selected export once for each input: `for result in run_many(source, inputs)`.

    What is returned can be iterated once, by `for` or `async for`, and then starts its work. An input's
    failure is its own result. Leaving the loop ends everything.

    Args:
        source: The text of the module, as in `run_code`.
        inputs: Any iterable; inputs are taken from it as there is room for them.
        engine: Where to run; the default engine if not given.
        ordered: Results in the order of inputs, or pairs `(index, result)` as they come.
        batch: Inputs per batch; chosen by the time that they take if not given.
        isolate: `"item"`: a sandbox for each input; `"batch"`: they share one with their batch.
        options: Those of `run_code`; `execute` without `args`.
    """
    if engine is not None:
        _check_engine(engine, "run_many", "Engine")
    parts = _parts(starts_zygote=engine is None)
    backend = engine or parts.pool_for_a_run()
    from .many.begin import begin  # by now the zygote has started

    checked = parts.options_of(None, **options)
    return begin(
        *(backend, _checked_source(source), checked, inputs),
        ordered=ordered,
        batch=batch,
        isolate=isolate,
    )


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
    stays_open: bool = False,
    on_log: Callable[[CodeExecutionLog], None] | None = None,
) -> CodeExecution:
    if engine is not None:
        _check_engine(engine, "run_code", "Engine")
    parts = _parts(starts_zygote=engine is None)
    backend = engine or parts.pool_for_a_run()
    checked = parts.options_of(options, **named)
    order, lent = parts.lend(
        _checked_source(source),
        checked,
        lenient=lenient,
        demand_export=demand_export,
        stays_open=stays_open,
    )
    return parts.start_code(backend, order, lent, on_log)


def warm_up() -> None:
    """Starts the default engine's processes now rather than at the first run."""
    _parts(starts_zygote=True).warm_pool()


def run_program(
    code: str,
    language: str = "python",
    *,
    stdin: str | bytes | None = None,
    args: Sequence[str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    timeout_ms: float | None = None,
    memory_limit_bytes: int | None = None,
    output_bytes: int | None = None,
    max_file_bytes: int | None = None,
    packages: Sequence[str] | None = None,
    install: bool | None = None,
    tools: Any = None,
    policy: Rulebook | None = None,
    allow: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    session: str | None = None,
    workspaces: Any = None,
    engine: ProgramBackend | None = None,
    **unknown: Never,
) -> ProgramExecution:
    """Runs a program in a fresh, isolated process, with an empty directory of its own.

    An invalid option raises `OptionError` before anything runs. The handle that is returned can be
    awaited, waited for, streamed and terminated like that of `run_code`.

    Args:
        code: The program's text.
        language: `"python"`, `"node"`, `"deno"`, `"javascript"` or `"typescript"`, or another name of it.
        stdin: What the program reads from its standard input.
        args: Its arguments, `sys.argv[1:]`.
        files: Plain file name to content: what lies in its directory when it begins.
        timeout_ms: Time limit; 30,000 if not given, `math.inf` for none.
        memory_limit_bytes: 256 MiB if not given.
        output_bytes: How much of stdout, and of stderr, is kept; 512 KiB if not given.
        max_file_bytes: The largest file that comes back with its data; 10 MiB if not given.
        tools: A `Toolbox`, or functions that make one, for `call_tool` in the program.
        policy: A `permissions.Policy`: which tools may be called, and who is asked.
        packages: Names of installed packages to lend with what they require: `["pandas"]`.
        allow: What it may use of your machine: `{"read": [...], "write": [...], "env": [...], "net": [...]}`.
        install: Whether it has `install_package(name)`, with which the host installs wheels for it.
        env: Names and values that its environment has beside `HOME`, `PATH` and the like.
        session: The id of a workspace to run in, whose files stay; the next program there waits.
        workspaces: Where that is kept, a `Workspaces`; those of `engine` if not given.
        engine: Where to run, a `Programs`; the default one if not given.
    """
    given = {
        "stdin": stdin,
        "args": args,
        "files": files,
        "timeout_ms": timeout_ms,
        "memory_limit_bytes": memory_limit_bytes,
        "output_bytes": output_bytes,
        "max_file_bytes": max_file_bytes,
        "packages": packages,
        "install": install,
        "tools": _toolbox_of(tools),
        "policy": policy,
        "allow": allow,
        "env": env,
        "session": session,
        "workspaces": workspaces,
    }
    if engine is not None:
        _check_engine(engine, "run_program", "Programs")
    parts = _program_parts()
    options = parts.options_of(code, language, given, unknown)
    return parts.start_program(engine or parts.default_pool(), options)


def _toolbox_of(tools: Any) -> Any:
    """Functions become a Toolbox, which stands above this module: loaded like a plug-in."""
    if not isinstance(tools, Mapping | list | tuple):
        return tools
    return import_module(".tools", __package__).Toolbox(tools) if tools else None


class _ProgramParts(NamedTuple):
    options_of: Callable[..., ProgramOptions]
    start_program: Callable[..., ProgramExecution]
    default_pool: Callable[[], ProgramBackend]


@cache
def _program_parts() -> _ProgramParts:
    """Imported late, because most who import this module run no programs."""
    from .programs.contract import ProgramOptions
    from .programs.default import default_pool
    from .programs.handle import start_program

    return _ProgramParts(ProgramOptions.of, start_program, default_pool)


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
    from .engine.default import default_pool, pool_for_a_run, warm_default_pool
    from .execution import start_code
    from .lending import lend
    from .options import CodeExecutionOptions

    if spawned is not None:
        default_pool().adopt(spawned)
    return _Parts(CodeExecutionOptions.of, lend, start_code, pool_for_a_run, warm_default_pool)


def _spawned() -> Spawned | None:
    try:
        return spawn_zygote(Settings().cpu_seconds)
    except OSError:
        return None  # the pool tries again, and reports the reason if that fails too


_RUNS_OF = {"run_many": "run_code"}  # what serves the one serves the other


def _check_engine(engine: object, caller: str, kind: str) -> None:
    if isinstance(engine, type):
        given, instead = f"the class {engine.__name__}", f"{engine.__name__}()"
    elif not callable(getattr(engine, "start", None)):
        given, instead = type(engine).__name__, f"{kind}()"
    elif getattr(engine, "serves", caller) not in (caller, _RUNS_OF.get(caller)):
        given, instead = f"{type(engine).__name__}, which is for {engine.serves}", f"{kind}()"  # type: ignore[attr-defined]  # it has it
    else:
        return
    raise OptionError(f"engine of {caller} cannot be {given}; write {instead}", "engine")


def _checked_source(source: object) -> str:
    if not isinstance(source, str):
        reads = "; give its text: .read_text()" if hasattr(source, "read_text") else ""
        raise OptionError(f"source must be a string, not {type(source).__name__}{reads}", "source")
    return source
