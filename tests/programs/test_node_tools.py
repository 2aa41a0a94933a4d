"""Tools that a Node program is lent: `callTool` and `callToolsParallel`, over its channel."""

from __future__ import annotations

import asyncio
import shutil
import threading
from typing import Any

import pytest

from sandbox_kernel.programs import ProgramResult
from sandbox_kernel.tools import Toolbox
from tests.programs.conftest import Run
from tests.programs.test_tools import add, fail, shout

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")


@pytest.fixture
def node(run: Run) -> Run:
    def settled(code: str, **options: Any) -> ProgramResult:
        return run(code, language="node", **options)

    return settled


def test_what_is_not_lent_is_not_there(node: Run) -> None:
    code = "console.log(['callTool', 'callToolsParallel', 'setResult'].filter((n) => n in globalThis).join())"
    assert node(code).stdout == "setResult\n"
    assert node(code, tools=[]).stdout == "setResult\n"
    assert node(code, tools=[add]).stdout == "callTool,callToolsParallel,setResult\n"


def test_tools_are_called_by_name_with_their_arguments(node: Run) -> None:
    code = """
console.log(await callTool('add', {a: 2, b: 3}), await callTool('add', {a: 1}), await callTool('shout', {text: 'ä'}));
console.log(await callToolsParallel([...[0, 1, 2].map((a) => ['add', {a}]), {name: 'shout', args: {text: 'x'}}]));
"""
    result = node(code, tools=Toolbox([add, shout]))
    assert (result.stdout, result.stderr) == ("5 2 Ä\n[ 1, 2, 3, 'X' ]\n", "")
    assert [call["name"] for call in result.calls][:3] == ["add", "add", "shout"]


def test_a_module_with_imports_calls_tools_too(node: Run) -> None:
    code = "import fs from 'node:fs';\nsetResult(await callTool('add', {a: 41}));"
    assert node(code, tools=[add]).result == 42


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("callTool('fail', {text: 'x'})", "fail: nothing called x"),
        ("callTool('ad')", "did you mean add?"),
        ("callTool('add', {a: 'x'})", "a"),
        ("callTool('add', [1])", "add"),
        ("callToolsParallel([['add', {a: 1}], ['fail', {text: 'y'}]])", "nothing called y"),
        ("callTool(7)", "a tool's name is text, not number"),
        ("callTool('add', () => 1)", "the arguments of add must be JSON"),
        ("callTool('add', {a: 'x'.repeat(5 << 20)})", "which is too much"),
        ("callToolsParallel(Array(2000).fill('add'))", "2000 calls at once"),
        ("callTool('large')", "too much for a program"),
    ],
)
def test_a_failure_is_an_error_without_anything_of_the_hosts(
    node: Run, call: str, message: str
) -> None:
    def large() -> str:
        """Large."""
        return "x" * (5 * 2**20)

    code = f"""
try {{
  await {call};
}} catch (error) {{
  console.log(error instanceof Error, error.message);
  console.error(error.stack);
}}"""
    result = node(code, tools=[add, fail, large])
    assert result.stdout.startswith("true ")
    assert message in result.stdout
    for leaked in ("Traceback", ".py", "node.cjs"):
        assert leaked not in result.stdout + result.stderr
    assert "program.js:3" in result.stderr


def test_an_uncaught_failure_ends_the_program_with_its_line(node: Run) -> None:
    result = node("const a = 1;\nawait callTool('fail', {text: 'x'});", tools=[fail])
    assert result.exit_code == 1
    assert "Error: fail: nothing called x" in result.stderr
    assert "program.js:2" in result.stderr


def test_of_several_failures_the_first_call_counts(node: Run) -> None:
    first_may_end = threading.Event()

    def slow() -> None:
        """Fails late."""
        first_may_end.wait(30)
        raise ValueError("slow")

    def quick() -> None:
        """Fails first."""
        first_may_end.set()
        raise ValueError("quick")

    code = "await callToolsParallel(['slow', 'quick']).catch((e) => console.log(e.message))"
    assert node(code, tools=[slow, quick]).stdout == "slow: slow\n"


def test_calls_in_parallel_are_under_way_together(node: Run) -> None:
    barrier = threading.Barrier(3, timeout=30)

    def meet(n: int) -> int:
        """Waits for the others."""
        barrier.wait()
        return n

    code = "console.log(await callToolsParallel([0, 1, 2].map((n) => ['meet', {n}])))"
    assert node(code, tools=[meet]).stdout == "[ 0, 1, 2 ]\n"


def test_the_order_of_results_is_that_of_the_calls(node: Run) -> None:
    async def late(n: int) -> int:
        """Later ones first."""
        await asyncio.sleep((5 - n) / 100)
        return n

    code = (
        "console.log((await callToolsParallel([0, 1, 2, 3, 4].map((n) => ['late', {n}]))).join())"
    )
    assert node(code, tools=[late]).stdout == "0,1,2,3,4\n"


def test_a_tool_that_runs_code_is_refused(node: Run) -> None:
    def execute_code(code: str) -> str:
        """Runs code."""
        raise AssertionError("it was called")

    execute_code.__sandbox_runs_code__ = True  # type: ignore[attr-defined]  # a mark
    code = "await callTool('execute_code', {code: '1'}).catch((e) => console.log(e.message))"
    result = node(code, tools=[execute_code])
    assert "execute_code" in result.stdout
    assert "it was called" not in result.stdout


def test_more_calls_than_may_be_under_way_are_refused_not_fatal(node: Run) -> None:
    code = """
const all = await Promise.allSettled(Array.from({length: 1200}, (_, a) => callTool('add', {a})));
console.log(all.filter((each) => each.status === 'fulfilled').length, all[1199].reason.message);
"""
    assert node(code, tools=[add]).stdout == "1000 at most 1000 calls can be under way at once\n"


def test_a_program_ends_though_it_called_tools_and_not_while_it_awaits_one(node: Run) -> None:
    code = "callTool('add', {a: 1}).then((n) => console.log(n)); console.log('first')"
    result = node(code, tools=[add])
    assert (result.stdout, result.exit_code) == ("first\n2\n", 0)


def test_exiting_does_not_wait_for_an_answer(node: Run) -> None:
    async def forever() -> None:
        """Never ends."""
        await asyncio.sleep(600)

    code = """
callTool('forever'); await callTool('add', {a: 1}); setResult('x'.repeat(3 << 20)); process.exit(3);
"""
    result = node(code, tools=[forever, add])
    assert (result.exit_code, len(result.result)) == (3, 3 * 2**20)


def test_large_answers_arrive_whole(node: Run) -> None:
    def large(n: int) -> str:
        """Large."""
        return "ä" * n

    code = "console.log((await callToolsParallel(Array(8).fill(['large', {n: 400000}]))).map((t) => t.length).join())"
    assert node(code, tools=[large]).stdout == ",".join(["400000"] * 8) + "\n"


@pytest.mark.parametrize(
    "bytes_", ["Buffer.alloc(20, 255)", "Buffer.from([16,0,0,0,5,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0])"]
)
def test_a_program_that_writes_its_own_messages_is_ended(node: Run, bytes_: str) -> None:
    code = f"require('fs').writeSync(3, {bytes_}); setInterval(() => {{}}, 1000)"
    result = node(code, tools=[add])
    assert (result.killed, result.reason) == (True, "it sent an invalid message")
