"""Seed 001: code that calls tools, from Python."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.contract.parts import run


def web_search(query: str) -> list[dict[str, str]]:
    """Search the web."""
    return [{"title": f"About {query}"}]


def file_read(path: str) -> str:
    """Read a file."""
    if path != "config.yaml":
        raise FileNotFoundError(path)
    return "key: value"


TOOLS = [web_search, file_read]


def test_call_tool_calls_a_single_tool_and_returns_the_parsed_result() -> None:
    """Call a single agent tool. Blocks until the result is returned. … Returns the parsed JSON result."""
    code = """
results = call_tool('web_search', {'query': 'Go concurrency patterns'})
content = call_tool('file_read', {'path': 'config.yaml'})
print(results[0]["title"], "|", content)
"""
    assert run(code, tools=TOOLS).stdout == "About Go concurrency patterns | key: value\n"


def test_a_failing_tool_raises_a_runtime_error() -> None:
    """Raises `RuntimeError` on tool failure."""
    code = """
try:
    call_tool('file_read', {'path': 'missing'})
except RuntimeError as error:
    print("RuntimeError", "missing" in str(error))
"""
    assert run(code, tools=TOOLS).stdout == "RuntimeError True\n"


def test_call_tools_parallel_returns_results_in_the_same_order() -> None:
    """Call multiple tools in parallel. Returns a list of results in the same order."""
    both = threading.Barrier(2, timeout=30)

    def meet(name: str) -> str:
        """Returns once both calls are there."""
        both.wait()
        return name

    code = """
results = call_tools_parallel([
    ('meet', {'name': 'Python async'}),
    ('meet', {'name': 'Go goroutines'}),
])
print(results)
"""
    assert run(code, tools=[meet]).stdout == "['Python async', 'Go goroutines']\n"


def test_code_has_conditionals_loops_and_data_flow_between_steps() -> None:
    """enabling complex logic that plain tool calling can't express — conditionals, loops, data transformation, and multi-step workflows with data flow between steps"""
    code = """
found = []
for topic in ("a", "b"):
    for each in call_tool("web_search", {"query": topic}):
        if each["title"].endswith(" b"):
            found += call_tool("web_search", {"query": each["title"].upper()})
set_result([each["title"] for each in found])
"""
    assert run(code, tools=TOOLS).result == ["About ABOUT B"]


@pytest.mark.parametrize("name", ["execute_code", "code_execution", "execute_plan", "run_program"])
def test_recursion_is_prevented(name: str) -> None:
    """`call_tool('execute_code', ...)` from within code is blocked — code cannot spawn nested code execution."""
    calls: list[Any] = []

    def nested(code: str) -> str:
        """Runs code."""
        calls.append(code)
        return "ran"

    nested.__name__ = name
    code = f"""
try:
    call_tool({name!r}, {{"code": "print(1)"}})
except RuntimeError as error:
    print("blocked")
"""
    assert run(code, tools={name: nested}).stdout == "blocked\n"
    assert calls == []


def test_an_unknown_tool_is_a_runtime_error_that_names_the_nearest() -> None:
    """Call a single agent tool."""
    code = """
try:
    call_tool("web_serch", {"query": "x"})
except RuntimeError as error:
    print("web_search" in str(error))
"""
    assert run(code, tools=TOOLS).stdout == "True\n"
