"""Seed 001: CodeRunner, code execution as a tool, and its declarative sibling."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.contract.parts import part


def web_search(query: str) -> list[str]:
    """Search the web."""
    return [f"About {query}"]


def broken(reason: str) -> None:
    """Always fails."""
    raise ValueError(reason)


async def run(code: str, dispatch: Any = None, **fields: Any) -> Any:
    tools = part("tools")
    async with tools.LocalRunner() as runner:
        return await runner.run(tools.CodeRequest(code, **fields), dispatch or _nothing)


def _nothing(name: str, args: dict[str, Any]) -> Any:
    raise LookupError(name)


# ---------------------------------------------------------------------------- CodeRunner


async def test_run_takes_a_request_and_a_dispatch_function() -> None:
    """Run(ctx context.Context, req CodeRequest, dispatch DispatchFunc) (CodeResult, error)"""
    result = await run("print('log'); set_result({'n': 42})")
    assert (result.output, result.logs, result.exit_code) == ({"n": 42}, "log\n", 0)
    assert not result.error


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_the_dispatch_function_bridges_code_back_to_the_tools(kind: str) -> None:
    """The `dispatch` function bridges code back to the agent's tool registry."""
    calls = []

    def dispatch(name: str, args: dict[str, Any]) -> Any:
        calls.append((name, args))
        return ["result"]

    async def later(name: str, args: dict[str, Any]) -> Any:
        return dispatch(name, args)

    code = "set_result(call_tool('web_search', {'query': '...'}))"
    result = await run(code, dispatch if kind == "sync" else later)
    assert calls == [("web_search", {"query": "..."})]
    assert result.output == ["result"]


async def test_a_request_may_be_a_mapping() -> None:
    """CodeRequest"""
    async with part("tools").LocalRunner() as runner:
        result = await runner.run({"code": "set_result(1)", "runtime": "python"}, _nothing)
    assert result.output == 1


async def test_code_that_fails_has_an_error_and_its_logs() -> None:
    """CodeResult"""
    result = await run("print('before'); 1 / 0")
    assert result.exit_code == 1
    assert "before" in result.logs
    assert "ZeroDivisionError" in (result.error or result.logs)


async def test_input_files_reach_the_code_and_declared_files_come_back() -> None:
    """File handling"""
    tools = part("tools")
    code = "open('out.csv', 'wb').write(open('in.bin', 'rb').read() * 2); set_result(1, files=['out.csv'])"
    result = await run(code, files=[tools.CodeFile("in.bin", b"\xff\x00")])
    (file,) = result.files
    assert (file.name, file.data, file.mime) == ("out.csv", b"\xff\x00\xff\x00", "text/csv")


# ---------------------------------------------------------------------------- the tool


def box() -> Any:
    tools = part("tools")
    return tools.with_code_execution(tools.Toolbox([web_search, broken]), tools.LocalRunner())


async def call(toolbox: Any, name: str, **args: Any) -> Any:
    (result,) = await part("tools").run_tool_calls(
        toolbox, [{"id": "1", "name": name, "args": args}]
    )
    return result


def test_with_code_execution_adds_one_tool() -> None:
    """oasis.WithCodeExecution(runner)"""
    schemas = {schema["name"]: schema for schema in box().schemas()}
    assert set(schemas) == {"web_search", "broken", "execute_code"}
    assert set(schemas["execute_code"]["parameters"]["properties"]) == {"code", "runtime"}
    assert schemas["execute_code"]["parameters"]["required"] == ["code"]


async def test_the_model_gets_structured_output_and_attachments() -> None:
    """Agent-->>LLM: structured output + attachments"""
    code = "open('a.txt', 'w').write('x'); set_result(call_tool('web_search', {'query': 'q'}), files=['a.txt'])"
    result = await call(box(), "execute_code", code=code)
    assert json.loads(result.content) == ["About q"]
    assert [(each.name, each.data) for each in result.attachments] == [("a.txt", b"x")]
    assert not result.is_error


@pytest.mark.parametrize("code", ["print('only a log')", "print('a log'); raise ValueError('bad')"])
async def test_without_output_the_model_gets_error_and_logs(code: str) -> None:
    """returns the result"""
    result = await call(box(), "execute_code", code=code)
    assert "log" in result.content
    assert ("bad" in result.content) is ("bad" in code)


async def test_code_cannot_run_code() -> None:
    """`call_tool('execute_code', ...)` from within code is blocked — code cannot spawn nested code execution."""
    code = """
try:
    call_tool('execute_code', {'code': '1'})
except RuntimeError:
    set_result('blocked')
"""
    assert json.loads((await call(box(), "execute_code", code=code)).content) == "blocked"


# ---------------------------------------------------------------------------- code versus plan


def plan(*functions: Any) -> Any:
    tools = part("tools")
    toolbox = tools.Toolbox(list(functions))
    return tools.Toolbox([*functions, tools.plan_execution_tool(toolbox)])


async def steps(toolbox: Any, *wanted: dict[str, Any]) -> list[dict[str, Any]]:
    result = await call(toolbox, "execute_plan", steps=list(wanted))
    found = json.loads(result.content)
    return found["steps"] if isinstance(found, dict) else found


async def test_a_plan_is_a_list_of_steps() -> None:
    """**Model** | Declarative (list of steps) | Imperative (Python/JS code)"""
    found = await steps(plan(web_search), {"tool": "web_search", "args": {"query": "a"}})
    assert found == [{"step": 1, "tool": "web_search", "status": "ok", "result": ["About a"]}]


async def test_the_steps_of_a_plan_fan_out_in_parallel() -> None:
    """**Control flow** | Parallel fan-out only | Conditionals, loops, data flow"""
    both = threading.Barrier(2, timeout=30)

    def meet(name: str) -> str:
        """Returns once both are there."""
        both.wait()
        return name

    wanted = [{"tool": "meet", "args": {"name": name}} for name in "ab"]
    assert [each["result"] for each in await steps(plan(meet), *wanted)] == ["a", "b"]


async def test_a_step_fails_alone() -> None:
    """**Error handling** | Partial failure per step | try/except or try/catch"""
    found = await steps(
        plan(web_search, broken),
        {"tool": "broken", "args": {"reason": "no"}},
        {"tool": "web_search", "args": {"query": "a"}},
        {"tool": "missing", "args": {}},
    )
    assert [each["status"] for each in found] == ["error", "ok", "error"]
    assert "no" in found[0]["error"]


async def test_code_handles_errors_itself() -> None:
    """try/except or try/catch"""
    code = """
try:
    call_tool('broken', {'reason': 'why'})
except RuntimeError as error:
    set_result('why' in str(error))
"""
    assert json.loads((await call(box(), "execute_code", code=code)).content) is True


async def test_a_plan_never_runs_code_or_itself() -> None:
    """**Best for** | "Run these 5 searches at once" | "Search, then filter, then summarize\""""
    tools = part("tools")
    ran: list[Any] = []

    class Runner:
        async def run(self, request: Any, dispatch: Any) -> Any:
            ran.append(request)
            return tools.CodeResult(output=1)

    def run_program(code: str) -> None:
        """Runs code."""
        ran.append(code)

    inner = tools.with_code_execution(tools.Toolbox([web_search, run_program]), Runner())
    toolbox = tools.Toolbox([tools.plan_execution_tool(inner)])
    found = await steps(
        toolbox,
        {"tool": "execute_code", "args": {"code": "print(1)"}},
        {"tool": "run_program", "args": {"code": "print(1)"}},
        {"tool": "execute_plan", "args": {"steps": [{"tool": "execute_code"}]}},
    )
    assert [each["status"] for each in found] == ["error"] * 3
    assert ran == []
