"""Seed 001's runner and tool: bad requests, closing, bounds, and calls that code makes."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

import pytest

from sandbox_kernel import OptionError, Programs, run_code
from sandbox_kernel.agents import run_agent
from sandbox_kernel.errors import EngineClosedError
from sandbox_kernel.permissions import InMemoryPermissionStore, permission_gate
from sandbox_kernel.tools import (
    CodeFile,
    CodeRequest,
    LocalRunner,
    PythonBackend,
    RecursionRefusedError,
    Toolbox,
    code_execution_tool,
    plan_execution_tool,
    recursion,
    run_tool_calls,
    runs_code,
    with_code_execution,
)


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def send(to: str) -> str:
    """Sends something."""
    return f"sent to {to}"


def nothing(name: str, args: Any) -> Any:
    raise LookupError(name)


async def run(code: str, dispatch: Any = nothing, request: Any = None, **options: Any) -> Any:
    async with LocalRunner(**options) as runner:
        return await runner.run(request or CodeRequest(code), dispatch)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CodeRequest(7), "code must be text, not 7"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: CodeRequest("1", timeout=0), "timeout is a number of seconds, at most 300"),
        (lambda: CodeRequest("1", timeout=301), "timeout is a number of seconds, at most 300"),
        (lambda: CodeRequest("1", timeout=float("nan")), "timeout is a number of seconds"),
        (lambda: CodeRequest("1", files="a"), "files is a list of files"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: CodeRequest("1", files=[CodeFile("a", b""), CodeFile("a", b"")]), "two files are"),
        (lambda: CodeRequest.of({"runtime": "python"}), "a request has no code"),
        (lambda: CodeRequest.of({"code": "1", "callback_url": "x"}), "has no field 'callback_url'"),
        (lambda: CodeRequest.of({"code": "1", "runtme": "x"}), "did you mean runtime?"),
        (lambda: CodeRequest.of("print(1)"), "a CodeRequest or a mapping"),
        (lambda: CodeFile("a", "text"), "is str, not bytes"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: CodeFile.of({"name": "a", "data": "%"}), "is not base64"),
        (lambda: CodeFile.of({"data": ""}), "has a name and data"),
        (lambda: LocalRunner(timeout=-1), "timeout is a number of seconds"),
        (lambda: LocalRunner(timeout_ms=1), "write timeout, in seconds"),
        (lambda: LocalRunner(tools=[add]), "code calls what `dispatch` answers"),
        (lambda: LocalRunner(nonsense=1), "unknown option 'nonsense'"),
        (lambda: LocalRunner(max_output=-1), "max_output is a whole number of bytes, not -1"),
        (lambda: LocalRunner(max_file_size=1.5), "max_file_size is a whole number of bytes"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: with_code_execution([add], LocalRunner()), "takes a Toolbox"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: with_code_execution(Toolbox([add]), object()), "a runner has a method run"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_what_cannot_be_run_is_refused_with_what_to_write(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_a_mapping_has_the_fields_of_execute() -> None:
    given = {"code": "1", "language": "node", "timeout_ms": 2500, "session_id": None}
    files = [{"name": "a.csv", "content": "x"}, {"name": "b", "data": "AP8="}]
    request = CodeRequest.of({**given, "files": files})
    assert (request.runtime, request.timeout) == ("node", 2.5)
    assert [(each.name, each.data, each.mime) for each in request.files] == [
        ("a.csv", b"x", "text/csv"),
        ("b", b"\x00\xff", "application/octet-stream"),
    ]


@pytest.mark.parametrize("name", ["../up", "a/b", "", "..", "\0"])
def test_a_file_that_leads_out_of_the_directory_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="files"):
        asyncio.run(run("1", request=CodeRequest("1", files=[CodeFile(name, b"")])))


def test_logs_are_cut_and_the_output_is_not() -> None:
    found = asyncio.run(run("print('ü' * 1000); set_result('y' * 5000)", max_output=101))
    assert found.logs == "ü" * 50
    assert (found.truncated, found.output) == (True, "y" * 5000)


def test_files_over_the_limit_come_back_by_name_and_size() -> None:
    code = "open('a', 'w').write('x' * 100); set_result(1, files=['a', '../b', 'missing'])"
    found = asyncio.run(run(code, max_file_size=10))
    assert [(each.name, each.size, each.data, each.truncated) for each in found.files] == [
        ("a", 100, None, True)
    ]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("raise ValueError('why')", "ValueError: why"),
        ("import time; time.sleep(60)", "time limit of 200 ms"),
    ],
)
def test_an_error_says_in_a_line_why_the_code_failed(code: str, error: str) -> None:
    assert asyncio.run(run(code, timeout=0.2 if "sleep" in code else 30)).error == error


def test_files_stay_in_a_session_and_nowhere_else() -> None:
    async def main() -> list[Any]:
        async with LocalRunner() as runner:
            found = []
            for session in ("a", "a", "b"):
                request = CodeRequest(
                    "import os; set_result(os.path.exists('f')); open('f', 'w').close()",
                    session_id=f"runner-{session}",
                )
                found.append((await runner.run(request, nothing)).output)
            return found

    assert asyncio.run(main()) == [False, True, False]


def test_closing_ends_what_runs_and_refuses_what_comes() -> None:
    async def main() -> Any:
        runner = LocalRunner()
        task = asyncio.create_task(
            runner.run(CodeRequest("import time\nwhile True: time.sleep(1)"), nothing)
        )
        while not Programs.instance().executing:
            await asyncio.sleep(0.01)
        await runner.close()
        found = await task
        with pytest.raises(EngineClosedError):
            await runner.run(CodeRequest("1"), nothing)
        return found

    found = asyncio.run(main())
    assert (found.killed, found.error) == (True, "the runner was closed")


# ---------------------------------------------------------------------------- no code within code


CALL_ALL = """
found = []
for name in {names}:
    try:
        call_tool(name, {{'code': '1', 'language': 'python', 'steps': []}})
        found.append('called ' + name)
    except RuntimeError as error:
        if 'runs code' not in str(error): found.append(str(error))
try:
    call_tools_parallel([(name, {{}}) for name in {names}])
    found.append('called in parallel')
except RuntimeError:
    pass
set_result(found)
"""
NESTED = code_execution_tool(PythonBackend())
INNER = Toolbox([NESTED, add])


@functools.wraps(run_code)
def wrapped(source: str) -> Any:
    return run_code(source)


PARTS_THAT_RUN_CODE: dict[str, Any] = {
    "run_code": run_code,
    "partial": functools.partial(run_code, language="javascript"),
    "decorated": wrapped,
    "method": NESTED.call,
    "dispatch": INNER.dispatch,
    "runner": LocalRunner().run,
    "agent": run_agent,
}


@pytest.mark.parametrize("function", PARTS_THAT_RUN_CODE.values(), ids=PARTS_THAT_RUN_CODE)
def test_a_part_of_ours_that_runs_code_is_known_whatever_it_is_called(function: Any) -> None:
    assert recursion.is_one(function)


def test_code_reaches_no_tool_that_runs_code_by_any_alias() -> None:
    def run_it(code: str) -> str:
        """Runs code under another name."""
        raise AssertionError("it ran")

    spelled = {"executeCode": run_it, "EXECUTE-CODE": run_it, "Run_Program": run_it}
    box = Toolbox({**spelled, "calc": runs_code(run_it)})
    whole = with_code_execution(Toolbox([*box, NESTED, plan_execution_tool(box)]), LocalRunner())
    code = CALL_ALL.format(names=[tool.name for tool in whole])
    (result,) = asyncio.run(
        run_tool_calls(whole, [{"id": "1", "name": "execute_code", "args": {"code": code}}])
    )
    assert json.loads(result.content) == []


@pytest.mark.parametrize("name", ["execute_code", "executeCode", "run-code", "JSRUN"])
def test_a_runner_refuses_the_names_whatever_dispatch_would_do(name: str) -> None:
    called: list[str] = []

    def dispatch(name: str, args: Any) -> Any:
        called.append(name)

    code = f"""
try: call_tool({name!r}, {{}})
except RuntimeError: set_result('refused')
"""
    assert asyncio.run(run(code, dispatch)).output == "refused"
    assert called == []


def test_the_dispatch_of_a_toolbox_is_the_one_for_code() -> None:
    box = Toolbox([NESTED, add])
    code = """
try: call_tool('code_execution', {'language': 'python', 'code': 'print(1)'})
except RuntimeError as error: set_result([str(error), call_tool('add', {'a': 1, 'b': 2})])
"""
    said, three = asyncio.run(run(code, box.dispatch)).output
    assert ("runs code" in said, three) == (True, 3)


def test_a_run_cannot_call_what_runs_code_either() -> None:
    box = Toolbox([NESTED, add])
    source = """
import { callTool, callToolsParallel, add } from 'tools';
const found = [];
const args = { language: 'python', code: '1' };
for (const call of [() => callTool('code_execution', args), () => callToolsParallel([['code_execution', args]])])
  try { await call(); } catch (error) { found.push(error.message); }
export default [...found, await add({ a: 1, b: 2 })];
"""
    first, second, three = run_code(source, imports={"tools": box.exports()}).wait().unwrap()
    assert ("runs code" in first, "runs code" in second, three) == (True, True, 3)
    with pytest.raises(RecursionRefusedError):
        asyncio.run(box.dispatch_from_code("code_execution", {}))


# ---------------------------------------------------------------------------- the gate of the turn


class Person:
    """Says yes to some names."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed
        self.batches: list[list[str]] = []

    def ask(self, batch: Any) -> list[Any]:
        from sandbox_kernel.permissions import ApprovalChoice

        names = [item.tool_call.function.name for item in batch]
        self.batches.append(names)
        yes, no = ApprovalChoice.ALLOW_ONCE, ApprovalChoice.DENY_ONCE
        return [yes if name in self.allowed else no for name in names]


def test_what_code_calls_passes_the_gate_of_its_turn() -> None:
    """Else a model would reach past the gate by writing code."""
    person = Person("execute_code", "add")
    box = with_code_execution(Toolbox([add, send]), LocalRunner())
    code = """
found = [call_tool('add', {'a': 1, 'b': 2})]
try: found.append(call_tool('send', {'to': 'all'}))
except RuntimeError as error: found.append(str(error))
set_result(found)
"""
    gate = permission_gate(InMemoryPermissionStore(), person)
    call = {"id": "1", "name": "execute_code", "args": {"code": code}}
    (result,) = asyncio.run(run_tool_calls(box, [call], gate))
    three, said = json.loads(result.content)
    assert (three, "a person said no" in said) == (3, True)
    assert person.batches == [["execute_code"], ["add"], ["send"]]


def test_tools_that_a_backend_lends_pass_the_gate_of_the_turn() -> None:
    person = Person("code_execution")
    box = Toolbox([code_execution_tool(PythonBackend(tools=[send]))])
    args = {"language": "python", "code": "call_tool('send', {'to': 'all'})"}
    gate = permission_gate(InMemoryPermissionStore(), person)
    calls = [{"id": "1", "name": "code_execution", "args": args}]
    (result,) = asyncio.run(run_tool_calls(box, calls, gate))
    assert "a person said no" in result.content
    assert result.content.endswith("\n[exit 1: error]")
    assert person.batches == [["code_execution"], ["send"]]
