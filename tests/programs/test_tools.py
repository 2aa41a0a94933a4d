"""Tools that a program is lent: calls over its channel, which is hostile input like all it says."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import psutil
import pytest

from sandbox_kernel.programs import Programs
from sandbox_kernel.run import run_program
from sandbox_kernel.tools import Toolbox
from tests.programs.conftest import Run


def add(a: int, b: int = 1) -> int:
    """Adds."""
    return a + b


async def shout(text: str) -> str:
    """Shouts."""
    await asyncio.sleep(0.01)
    return text.upper()


def fail(text: str) -> str:
    """Fails."""
    raise LookupError(f"nothing called {text}")


def test_what_is_not_lent_is_not_there(run: Run) -> None:
    code = "print([name for name in ('call_tool', 'call_tools_parallel', 'set_result') if name in globals()])"
    assert run(code).stdout == "['set_result']\n"
    assert run(code, tools=[]).stdout == "['set_result']\n"
    assert run(code, tools=[add]).stdout == "['call_tool', 'call_tools_parallel', 'set_result']\n"


def test_tools_are_called_by_name_with_their_arguments(run: Run) -> None:
    code = """
print(call_tool('add', {'a': 2, 'b': 3}), call_tool('add', {'a': 1}), call_tool('shout', {'text': 'ä'}))
print(call_tools_parallel([('add', {'a': n}) for n in range(5)] + [{'name': 'shout', 'args': {'text': 'x'}}]))
"""
    result = run(code, tools=Toolbox([add, shout]))
    assert (result.stdout, result.stderr) == ("5 2 Ä\n[1, 2, 3, 4, 5, 'X']\n", "")
    assert [call["name"] for call in result.calls][:3] == ["add", "add", "shout"]
    first = result.calls[0]
    assert first["durationMs"] >= 0
    assert first["bytes"] > 0
    assert (first["decision"], first["outcome"]) == ("allow", "ok")
    assert result.to_json()["calls"][0]["name"] == "add"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("call_tool('fail', {'text': 'x'})", "fail: nothing called x"),
        ("call_tool('ad')", "did you mean add?"),
        ("call_tool('add', {'a': 'x'})", "a"),
        ("call_tool('add', [1])", "add"),
        ("call_tool('add')", "a"),
        ("call_tools_parallel([('add', {'a': 1}), ('fail', {'text': 'y'})])", "nothing called y"),
    ],
)
def test_a_failure_is_a_runtime_error_without_the_hosts_traceback(
    run: Run, call: str, message: str
) -> None:
    code = f"try:\n    {call}\nexcept RuntimeError as error:\n    print(error)"
    result = run(code, tools=[add, fail])
    assert message in result.stdout
    assert "Traceback" not in result.stdout
    assert ".py" not in result.stdout


def test_several_threads_call_at_once(run: Run) -> None:
    code = """
import threading
found = []
def work(n): found.append(sum(call_tool('add', {'a': n, 'b': k}) for k in range(20)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(found))
"""
    result = run(code, tools=[add])
    expected = sorted(sum(n + k for k in range(20)) for n in range(8))
    assert (result.stdout, result.stderr) == (f"{expected}\n", "")


def test_calls_in_parallel_are_under_way_together(run: Run) -> None:
    barrier = threading.Barrier(3, timeout=30)

    def meet(n: int) -> int:
        """Waits for the others."""
        barrier.wait()
        return n

    code = "print(call_tools_parallel([('meet', {'n': n}) for n in range(3)]))"
    assert run(code, tools=[meet]).stdout == "[0, 1, 2]\n"


def test_a_fork_of_the_program_cannot_call(run: Run, level: str) -> None:
    if level != "namespaces":
        pytest.skip("a program cannot fork there")
    code = """
import os
if os.fork() == 0:
    try: call_tool('add', {'a': 1})
    except RuntimeError as error: print(error, flush=True)
    os._exit(0)
os.wait()
print(call_tool('add', {'a': 1}))
"""
    assert run(code, tools=[add]).stdout == (
        "tools can be called by the program's first process only\n2\n"
    )


def test_results_and_arguments_that_do_not_fit_are_errors(run: Run) -> None:
    def large() -> str:
        """Large."""
        return "x" * (5 * 2**20)

    code = """
for call in (lambda: call_tool('large'), lambda: call_tool('add', {'a': 'x' * (5 << 20)}), lambda: call_tool('add', {'a': float('nan')}), lambda: call_tools_parallel([('add', {'a': 1})] * 2000)):
    try: print(call())
    except (RuntimeError, ValueError) as error: print(type(error).__name__, str(error)[:60])
"""
    lines = run(code, tools=[large, add]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["RuntimeError", *["ValueError"] * 3]


async def test_a_program_that_ends_ends_its_calls(programs: Programs) -> None:
    cancelled = asyncio.Event()
    began = asyncio.Event()

    async def forever() -> None:
        """Never ends."""
        began.set()
        try:
            await asyncio.sleep(600)
        finally:
            cancelled.set()

    handle = run_program("call_tool('forever')", tools=[forever], engine=programs)
    await began.wait()
    handle.terminate("enough")
    assert (await handle).reason == "enough"
    await asyncio.wait_for(cancelled.wait(), 30)


def test_the_time_limit_holds_while_a_tool_is_slow(run: Run) -> None:
    async def slow() -> None:
        """Slow."""
        await asyncio.sleep(60)

    result = run("call_tool('slow')", tools=[slow], timeout_ms=300)
    assert (result.killed, result.reason) == (True, "time limit of 300 ms")


FRAMES = """
import json, os, struct
def send(kind, number, text):
    frame = memoryview(struct.pack('<IIIII', 16 + len(text), kind, number, 0, len(text)) + text)
    while frame: frame = frame[os.write(3, frame):]
"""


@pytest.mark.parametrize(
    "text",
    [
        "b'{'",
        "b'[]'",
        'b\'{"name": 1, "args": {}}\'',
        'b\'{"name": "add"}\'',
        'b\'{"name": "add", "args": {"a": NaN}}\'',
        "b'[' * 100000",
        "b'{\"name\": \"add\", \"args\": [' + b'[],' * 1300000 + b'[]]}'",
    ],
    ids=["cut", "list", "name", "args", "nan", "deep", "heavy"],
)
def test_a_malformed_call_ends_the_program(run: Run, text: str) -> None:
    result = run(f"{FRAMES}\nsend(4, 1, {text})\nimport time; time.sleep(30)", tools=[add])
    assert (result.killed, result.reason) == (True, "it sent an invalid message")


def test_calls_without_tools_or_with_the_same_number_end_the_program(run: Run) -> None:
    async def slow() -> None:
        """Slow."""
        await asyncio.sleep(60)

    call = 'json.dumps({"name": "slow", "args": {}}).encode()'
    alone = run(f"{FRAMES}\nsend(4, 1, {call})\nimport time; time.sleep(30)")
    assert alone.reason == "it sent an invalid message"
    code = f"{FRAMES}\nsend(4, 1, {call})\nsend(4, 1, {call})\nimport time; time.sleep(30)"
    assert run(code, tools=[slow]).reason == "it sent an invalid message"
    code = f"{FRAMES}\nfor n in range(2000): send(4, n, {call})\nimport time; time.sleep(30)"
    assert run(code, tools=[slow]).reason == "it sent an invalid message"


def test_answers_that_nobody_reads_leave_the_host_small(run: Run) -> None:
    def large() -> str:
        """Large."""
        return "x" * (2 * 2**20)

    before = psutil.Process().memory_info().rss
    call = 'json.dumps({"name": "large", "args": {}}).encode()'
    code = f"{FRAMES}\nfor n in range(900): send(4, n, {call})\nimport time; time.sleep(30)"
    result = run(code, tools=[large])
    assert result.reason == "it does not read the answers to its calls"
    assert psutil.Process().memory_info().rss - before < 256 * 2**20


def test_arguments_of_calls_that_wait_are_bounded_together(run: Run) -> None:
    async def slow(text: str) -> None:
        """Slow."""
        await asyncio.sleep(60)

    call = 'json.dumps({"name": "slow", "args": {"text": "x" * (3 << 20)}}).encode()'
    code = f"{FRAMES}\ncall = {call}\nfor n in range(100): send(4, n, call)\nimport time; time.sleep(30)"
    assert run(code, tools=[slow]).reason == "it sent an invalid message"


def test_forged_answers_of_a_program_go_nowhere(run: Run) -> None:
    result = run(f"{FRAMES}\nsend(5, 1, b'1')\nimport time; time.sleep(30)", tools=[add])
    assert result.reason == "it sent an invalid message"


def test_code_that_is_called_by_a_program_cannot_run_code(run: Run) -> None:
    ran: list[Any] = []

    def execute_code(code: str) -> str:
        """Runs code."""
        ran.append(code)
        return "ran"

    code = (
        "try: call_tool('execute_code', {'code': '1'})\nexcept RuntimeError as e: print('refused')"
    )
    assert run(code, tools=[execute_code]).stdout == "refused\n"
    assert ran == []
