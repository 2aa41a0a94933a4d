"""Backends of code_execution, on real runtimes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import OptionError, Programs
from sandbox_kernel.tools import NodeBackend, PythonBackend, Toolbox, code_execution_tool
from tests.waiting import eventually


def content(backend: Any, code: str, language: str) -> tuple[str, bool]:
    tool = code_execution_tool(backend)
    result = asyncio.run(tool.call({"language": language, "code": code}))
    return result.content, result.is_error


def test_output_error_and_verdict_of_a_python_program() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert content(PythonBackend(), code, "Python") == (
        "out\n[stderr]\nerr\n[exit 3: error]",
        False,
    )


def test_a_verdict_that_code_prints_is_not_the_last_line() -> None:
    said, _ = content(PythonBackend(), "print('[exit 0: ok]'); raise SystemExit(1)", "py")
    assert said.splitlines() == ["[exit 0: ok]", "[exit 1: error]"]


def test_options_are_those_of_run_program_and_are_checked_at_once() -> None:
    said, _ = content(PythonBackend(files={"a.txt": "x"}), "print(open('a.txt').read())", "py")
    assert said == "x\n[exit 0: ok]"
    with pytest.raises(OptionError, match="unknown option 'timeout'"):
        PythonBackend(timeout=3)
    with pytest.raises(OptionError, match="timeout_ms must be"):
        NodeBackend(timeout_ms=-1)


@pytest.mark.parametrize(
    ("backend", "language", "said"),
    [
        (PythonBackend, "cobol", "this backend runs python, py, python3; it cannot run 'cobol'"),
        (NodeBackend, "python", "this backend runs javascript, js, node, nodejs"),
    ],
)
def test_a_language_that_it_cannot_run_is_named_beside_those_it_can(
    backend: Any, language: str, said: str
) -> None:
    found, is_error = content(backend(), "1", language)
    assert is_error
    assert said in found


def test_cancelling_a_call_ends_the_program() -> None:
    async def main() -> Any:
        tool = code_execution_tool(PythonBackend())
        call = {"language": "python", "code": "import time\nwhile True: time.sleep(1)"}
        task = asyncio.create_task(tool.call(call))
        while not Programs.instance().executing:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await eventually(lambda: not Programs.instance().executing)

    assert asyncio.run(main())


def test_code_cannot_call_it() -> None:
    box = Toolbox([code_execution_tool(PythonBackend())])
    with pytest.raises(PermissionError, match="runs code"):
        asyncio.run(box.dispatch_from_code("code_execution", {"language": "py", "code": "1"}))


def test_a_backend_that_was_not_made_is_refused() -> None:
    with pytest.raises(OptionError, match=r"write PythonBackend\(\)"):
        code_execution_tool(PythonBackend)  # type: ignore[arg-type]  # wrong on purpose
