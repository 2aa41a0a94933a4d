"""Section 7: TypeScript; section 8: module semantics; section 10: the patterns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sandbox_kernel import run_code

Value = Callable[..., Any]


def test_7_typescript_is_the_default_language(value: Value) -> None:
    source = """
    import type { Unused } from 'nowhere';
    enum Color { Red = 1, Green }
    namespace Geometry { export const unit: number = 10 }
    interface Named { name: string }
    type Pair<T> = [T, T];
    const pair = [Color.Green, Geometry.unit] satisfies Pair<number>;
    export default function f<T extends Named>(this: void, x = { name: 'n' } as T): unknown[] {
      return [...pair, x!.name];
    }
    """
    assert value(source) == [2, 10, "n"]


def test_7_type_errors_are_ignored(value: Value) -> None:
    assert value("const n: number = 'text'; export default n") == "text"


def test_7_javascript_is_not_transformed(run: Value) -> None:
    result = run("const n: number = 1", language="javascript")
    assert (result.status, result.error.name) == ("link_error", "SyntaxError")


def test_7_positions_are_those_of_the_source(run: Value) -> None:
    source = "interface A<T> {\n  x: T;\n}\nconst f = <T,>(x: T): T => { throw new Error('here') };\nf<number>(1)"
    error = run(source).error
    assert error.line == 4
    assert source.splitlines()[3][error.column - 1 :] == "Error('here') };"


def test_7_modules_are_typescript_too(value: Value) -> None:
    modules = {"./m.ts": "export enum E { A = 'a' }\nexport type T = E"}
    assert (
        value("import { E, type T } from './m.ts'; export default E.A as T", modules=modules) == "a"
    )


def test_8_top_level_await_import_and_export_work(value: Value) -> None:
    assert value("export const x = await Promise.resolve(1); export default x + 1") == 2


def test_8_module_code_is_strict_and_this_is_undefined(value: Value) -> None:
    source = "let e; try { undeclared = 1 } catch (x) { e = x.name } export default [this === undefined, e]"
    assert value(source) == [True, "ReferenceError"]


def test_8_the_namespace_of_an_import_is_frozen(value: Value) -> None:
    source = """
    import * as ns from 'm';
    const outcome = [];
    for (const attempt of [() => { ns.x = 2 }, () => { ns.y = 2 }, () => { delete ns.x }])
      try { attempt(); outcome.push('done') } catch (error) { outcome.push(error.name) }
    export default [ns.x, outcome, Object.isExtensible(ns)]
    """
    assert value(source, imports={"m": {"x": 1}}) == [1, ["TypeError"] * 3, False]


def test_8_import_meta_has_only_a_synthetic_url(value: Value) -> None:
    source = "import m from './m.js'; export default [import.meta.url, Object.keys(import.meta), Object.getPrototypeOf(import.meta), m]"
    assert value(
        source, filename="cell.ts", modules={"./m.js": "export default import.meta.url"}
    ) == [
        "sandbox:cell.ts",
        ["url"],
        None,
        "sandbox:./m.js",
    ]


def test_8_without_a_filename_the_label_is_the_contracts(run: Value) -> None:
    assert run("export default import.meta.url").result == "sandbox:<runCode>"
    assert run("throw new Error('x')").error.filename == "<runCode>"


def test_10_1_single_value_computation(value: Value) -> None:
    source = "const n = input.reduce((a, b) => a + b, 0);\nexport default n;"
    assert value(source, globals={"input": [1, 2, 3]}) == 6


def test_10_2_flagging_multiple_items(run: Value) -> None:
    flagged: set[Any] = set()
    rows = [{"id": 1, "flagged": True}, {"id": 2, "flagged": False}, {"id": 3, "flagged": True}]
    source = """
    import { report } from 'supervisor';
    for (const row of rows) {
      if (row.flagged) report(row.id);
    }
    """
    run(source, globals={"rows": rows}, imports={"supervisor": {"report": flagged.add}})
    assert flagged == {1, 3}


async def test_10_3_model_authored_code_with_a_deadline() -> None:
    run = run_code("for (;;);", memory_limit_bytes=64 * 2**20, globals={"input": "text"})
    deadline = asyncio.get_running_loop().call_later(0.2, run.terminate, "2s budget")
    result = await run
    deadline.cancel()
    assert result.status == "terminated"
    assert result.error is not None
    assert result.error.message == "2s budget"


async def test_10_4_a_tool_is_a_thin_wrapper_around_a_run() -> None:
    async def tool(code: str) -> dict[str, Any]:
        run = run_code(code, imports={"thread": {"readFile": lambda path: f"<{path}>"}})
        deadline = asyncio.get_running_loop().call_later(5, run.terminate, "5s budget")
        result = await run
        deadline.cancel()
        if result.status == "success":
            return {"status": "success", "result": result.result}
        return {"status": "error", "error": result.error.message if result.error else "run failed"}

    good = "import { readFile } from 'thread'; export default readFile('/a')"
    assert await tool(good) == {"status": "success", "result": "</a>"}
    assert await tool("throw new Error('no')") == {"status": "error", "error": "no"}


async def test_many_runs_at_once_have_their_own_results() -> None:
    async def one(n: int) -> Any:
        return (await run_code("export default n * 2", globals={"n": n})).result

    assert await asyncio.gather(*map(one, range(50))) == [2 * n for n in range(50)]
