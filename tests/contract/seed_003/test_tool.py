"""Seed 003: the tool `code_execution`, its result format and its backends."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.parts import part


def tool(backend: str = "QuickJSBackend", **options: Any) -> Any:
    tools = part("tools")
    return tools.code_execution_tool(getattr(tools, backend)(**options))


async def call(made: Any, code: str, language: str = "javascript") -> Any:
    return await made.call({"language": language, "code": code})


# ---------------------------------------------------------------------------- the contract


def test_the_contract_fixes_name_and_schema() -> None:
    """`codeExecutionTool` fixes the code_execution name, its { language, code } schema, and how the result is formatted"""
    (schema,) = part("tools").Toolbox([tool()]).schemas()
    assert schema["name"] == "code_execution"
    assert set(schema["parameters"]["properties"]) == {"language", "code"}
    assert sorted(schema["parameters"]["required"]) == ["code", "language"]


@pytest.mark.parametrize(
    "args", [{"language": "javascript"}, {"code": "1"}, {}, {"language": "js", "code": 7}]
)
async def test_missing_arguments_come_straight_back(args: dict[str, Any]) -> None:
    """validated against the Zod schema before anything runs (a missing code comes straight back as a retryable error)"""
    result = await tool().call(args)
    assert result.is_error
    missing = {"language", "code"} - set(args)
    assert all(name in result.content for name in missing or {"code"})


TABLE = [
    ("console.log(6 * 7)", "42\n[exit 0: ok]"),
    ("const x = 1 + 1", "[exit 0: ok]"),
]


@pytest.mark.parametrize(("code", "content"), TABLE)
async def test_the_string_that_the_model_gets_back(code: str, content: str) -> None:
    """Code the model ran | String the model gets back"""
    result = await call(tool(), code)
    assert (result.content, result.is_error) == (content, False)


async def test_code_that_throws_is_a_soft_outcome() -> None:
    """The code fails (throws, or exits non-zero): a normal result carrying the [stderr] … [exit N: error]text."""
    result = await call(tool(), 'throw new Error("nope")')
    first, *_, last = result.content.split("\n")
    assert (first, last) == ("[stderr]", "[exit 1: error]")
    assert "nope" in result.content
    assert not result.is_error


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (("42\n", "", 0), "42\n[exit 0: ok]"),
        (("", "", 0), "[exit 0: ok]"),
        (("", "bad\n", 1), "[stderr]\nbad\n[exit 1: error]"),
        (("out\n", "err\n", 3), "out\n[stderr]\nerr\n[exit 3: error]"),
        (("two\n\n", "", 0), "two\n\n[exit 0: ok]"),
    ],
)
def test_the_format_always_ends_in_a_verdict(result: tuple[str, str, int], text: str) -> None:
    """always ending in a verdict (6765 then [exit 0: ok]), so a run is never a contentless result"""
    assert part("tools").format_code_execution_result(*result) == text


async def test_a_snippet_is_a_script_and_not_a_repl() -> None:
    """a bare final expression (6 * 7) is computed and thrown away; the model has to print what it wants back"""
    assert (await call(tool(), "6 * 7")).content == "[exit 0: ok]"


async def test_a_language_that_the_backend_cannot_run_is_an_error_of_the_tool() -> None:
    """The backend can't run it (unsupported language, deno missing): the loop turns the thrown error into a tool result flagged isError, with the message as content"""
    result = await call(tool(), "print(1)", language="cobol")
    assert result.is_error
    assert "javascript" in result.content.lower()


@pytest.mark.parametrize("language", ["JavaScript", "js", "TS", "typescript"])
async def test_languages_match_without_case(language: str) -> None:
    """["javascript", "js", "typescript", "ts"].includes(lang)"""
    assert (await call(tool(), "console.log(1)", language)).content == "1\n[exit 0: ok]"


# ---------------------------------------------------------------------------- backends


class Backend:
    """A backend of the caller's own."""

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome
        self.requests: list[Any] = []
        self.cancelled = False

    async def exec(self, request: Any, context: Any) -> Any:
        self.requests.append((request.language, request.code))
        if self.outcome == "wait":
            await context.signal.wait()
            self.cancelled = True
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def test_anything_with_exec_is_a_backend() -> None:
    """one exec({ language, code }, ctx) method returning { stdout, stderr, exitCode } — drops in behind the same codeExecutionTool"""
    backend = Backend({"stdout": "mine\n", "stderr": "", "exit_code": 0})
    result = await call(part("tools").code_execution_tool(backend), "code", "anything")
    assert result.content == "mine\n[exit 0: ok]"
    assert backend.requests == [("anything", "code")]


async def test_a_backend_that_raises_is_an_error_with_its_message() -> None:
    """Errors always come back as a string the model can retry from — the run never crashes"""
    backend = Backend(RuntimeError("runs JavaScript/TypeScript only"))
    result = await call(part("tools").code_execution_tool(backend), "code")
    assert (result.is_error, "runs JavaScript/TypeScript only" in result.content) == (True, True)


async def test_cancelling_sets_the_signal() -> None:
    """The backend also receives a ToolContext carrying an abort signal, so a cancelled run kills the child process."""
    backend = Backend("wait")
    task = asyncio.create_task(call(part("tools").code_execution_tool(backend), "code"))
    while not backend.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert backend.cancelled


@pytest.mark.parametrize(
    ("backend", "language", "code"),
    [
        ("PythonBackend", "python", "print(6 * 7)"),
        ("NodeBackend", "javascript", "console.log(6 * 7)"),
    ],
)
async def test_the_same_tool_over_other_runtimes(backend: str, language: str, code: str) -> None:
    """The model, the loop, and the result format never change — only where the code runs."""
    assert (await call(tool(backend), code, language)).content == "42\n[exit 0: ok]"


# ---------------------------------------------------------------------------- Deno


async def test_the_deno_backend_is_deny_by_default(
    host: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Deno backend is deny-by-default — the snippet gets no file, network, or env access"""
    made = tool("DenoBackend")
    monkeypatch.setenv("OF_THE_HOST", "secret")
    for attempt in (
        "Deno.readTextFileSync('/etc/passwd')",
        f"Deno.readTextFileSync({host['victim']!r})",
        f"await fetch('http://127.0.0.1:{host['port']}')",
        "new Deno.Command('id').outputSync()",
        "Deno.env.get('OF_THE_HOST')",
        "Deno.env.get('HOME')",
        "Deno.env.toObject()",
    ):
        result = await call(made, f"console.log({attempt})", "typescript")
        assert result.content.startswith("[stderr]\n")  # nothing was read, so nothing is printed
        assert result.content.endswith("\n[exit 1: error]")


async def test_the_deno_backend_rejects_other_languages() -> None:
    """the Deno backend rejects other languages"""
    result = await call(tool("DenoBackend"), "print(1)", "python")
    assert result.is_error


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that others than its owner may read, too: a program of root has a user of its own."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


async def test_one_hole_can_be_opened(folder: Path) -> None:
    """A path-scoped grant; pass `read: true` to allow all reads, or grant `net`/`write`/`env`."""
    (folder / "data.txt").write_text("100\n53\n")
    code = f"""
const text = Deno.readTextFileSync({str(folder / "data.txt")!r});
console.log(text.trim().split("\\n").map(Number).reduce((a, b) => a + b));
"""
    granted = tool("DenoBackend", allow={"read": [str(folder)]})
    assert (await call(granted, code, "ts")).content == "153\n[exit 0: ok]"
    assert "[exit 1: error]" in (await call(tool("DenoBackend"), code, "ts")).content


def test_there_is_no_run_grant() -> None:
    """There is deliberately no run grant — spawning a subprocess is the escape hatch out of the sandbox, and this backend keeps it shut."""
    with pytest.raises(part("").OptionError):
        tool("DenoBackend", allow={"run": True})


async def test_a_missing_deno_is_an_error_that_says_how_to_get_it() -> None:
    """need the deno binary on PATH (deno.com)"""
    engine = part("").Programs(deno="/nowhere/deno")
    try:
        result = await call(tool("DenoBackend", engine=engine), "console.log(1)", "ts")
    finally:
        engine.close()
    assert result.is_error
    assert "deno" in result.content.lower()
