"""A program as a user writes it: every part of the API that a type checker should know."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, assert_type

from sandbox_kernel import (
    CodeExecution,
    CodeExecutionError,
    CodeExecutionLog,
    CodeExecutionOptions,
    CodeExecutionResult,
    Engine,
    EngineError,
    OpenCode,
    OptionError,
    RunFailed,
    SandboxError,
    evaluate,
    extract_code,
    modules_from,
    one_way,
    open_code,
    run_code,
    undefined,
)

SOURCE = """
import { price, note } from 'shop';
export async function total(names: string[]): Promise<number> {
  let sum = 0;
  for (const name of names) { report(name); note(name); sum += await price(name); }
  return sum;
}
"""


async def price(name: str) -> float:
    return float(len(name))


@one_way
def note(name: str, *, loudly: bool = False) -> None:
    print(name.upper() if loudly else name)


def with_keywords() -> CodeExecution:
    return run_code(
        SOURCE,
        execute={"fn": "total", "args": [["pear", "plum"]]},
        imports={"shop": {"price": price, "note": note}},
        modules={"./fruit.ts": "export const fruit = 'pear'"},
        globals={"currency": "EUR", "rates": [1.5, 2]},
        language="typescript",
        memory_limit_bytes=32 * 2**20,
        filename="shop.ts",
        report=print,
    )


def with_a_package() -> CodeExecution:
    modules = modules_from("node_modules/lodash-es")
    assert_type(modules, dict[str, str])
    return evaluate("import { sum } from './lodash-es'; sum([1])", modules=modules)


def with_a_mapping(settings: Mapping[str, Any], engine: Engine) -> CodeExecution:
    run = run_code("export default 1", settings, engine=engine)
    assert_type(run, CodeExecution)
    return run


def with_checked_options(engine: Engine) -> CodeExecution:
    options = CodeExecutionOptions.of({"memoryLimitBytes": 2**24}, language="javascript")
    assert_type(options.memory_limit_bytes, int | None)
    return run_code("export default 2", options, filename="two.js", engine=engine)


async def awaited() -> CodeExecutionResult:
    run = with_keywords()
    async for report in run.stream():
        print(report)
    assert_type(run.reports, Sequence[Any])
    assert_type(run.logs, Sequence[CodeExecutionLog])
    assert_type(run.running, bool)
    result = await run
    assert_type(result, CodeExecutionResult)
    return result


async def together() -> float:
    run = with_keywords().terminate_after(2, "2s budget")
    assert_type(run, CodeExecution)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run)
    result = task.result()
    assert_type(result, CodeExecutionResult)
    assert_type(run.started, bool)
    return result.queued_ms + (await asyncio.wait_for(with_keywords(), 5)).duration_ms


async def kept_open(rows: Sequence[Mapping[str, float]]) -> list[Any]:
    opened = open_code(SOURCE, imports={"shop": {"price": price}}, report=print)
    assert_type(opened, OpenCode)
    async with opened.terminate_after(60) as module:
        answers = [await module.total(row) for row in rows]
    return answers if not opened.running else list(opened.reports)


def all_of_them(engine: Engine) -> list[str]:
    names = [run.filename for run in engine.runs() if not run.started]
    engine.terminate_all("closing time")
    return names


def waited() -> float:
    run = with_keywords()
    try:
        result = run.wait(timeout=5)
    except TimeoutError:
        run.terminate("5s budget")
        result = run.wait()
    return described(result)


def described(result: CodeExecutionResult) -> float:
    if result.status == "success":
        print("nothing" if result.result is undefined else result.result)
    if result.error is not None:
        assert_type(result.error, CodeExecutionError)
        print(result.error.name, result.error.message, (result.error.line or 0) + 1)
    for log in result.logs:
        print(log.level.upper(), *log.args)
    assert_type(result.memory_used_bytes, int | None)
    return result.duration_ms


def evaluated(rows: list[dict[str, float]]) -> object:
    run = evaluate(
        extract_code("```js\nrows.length\n```"), globals={"rows": rows}, language="javascript"
    )
    assert_type(run, CodeExecution)
    try:
        return run.wait().unwrap()
    except RunFailed as failed:
        assert_type(failed.result, CodeExecutionResult)
        return failed.result.status


def on_an_engine_of_its_own() -> int:
    with Engine(concurrency=2, default_memory_limit_bytes=2**24) as engine:
        run = with_a_mapping({"language": "javascript"}, engine)
        return len(run.wait(5).reports) + len(with_checked_options(engine).wait(5).reports)


def careful(source: str) -> str | None:
    try:
        return run_code(source).wait().status
    except OptionError as problem:
        assert_type(problem.option, str | None)
    except EngineError as problem:
        print(problem)
    except SandboxError:
        raise
    return None


if __name__ == "__main__":
    print(
        evaluated([{"x": 1.5}]),
        waited(),
        asyncio.run(awaited()).status,
        on_an_engine_of_its_own(),
        careful("1"),
    )
