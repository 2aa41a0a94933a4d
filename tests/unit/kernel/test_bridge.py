"""`%%bridge`: Python becomes exports; SOURCES resolve to JSON, files and bridges."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel.errors import OptionError
from sandbox_kernel.kernel.bridge import BridgeFailed, bridge_name, load_bridge
from sandbox_kernel.kernel.notebook_state import NotebookState
from sandbox_kernel.notebook.interrupts import Guard, Interrupted, guarded
from sandbox_kernel.notebook.options.grammar import Source, parse_options
from tests.waiting import eventually, until


@pytest.fixture
def guard() -> Any:
    before = signal.getsignal(signal.SIGINT)
    guard = Guard(lambda: None)
    guard.install()
    yield guard
    signal.signal(signal.SIGINT, before)


async def load(code: str, guard: Guard, name: str = "fs") -> dict[str, Any]:
    return dict((await load_bridge(name, code, 1, guard)).exports)


async def test_public_functions_and_values_are_exported(guard: Guard) -> None:
    exports = await load(
        "import os\nfrom math import pi\nclass Helper: pass\n_private = 1\n"
        "LIMIT = 10\ndef read(path: str) -> str:\n    return path\nasync def slow(): return 1",
        guard,
    )
    assert list(exports) == ["LIMIT", "read", "slow"]


async def test_all_decides_if_it_is_there(guard: Guard) -> None:
    exports = await load("from math import pi\n__all__ = ['pi']\nx = 1", guard)
    assert list(exports) == ["pi"]


async def test_a_bridge_may_await_at_its_top_level(guard: Guard) -> None:
    assert await load("import asyncio\nawait asyncio.sleep(0)\nx = 1", guard) == {"x": 1}


async def test_its_names_are_those_of_a_real_module(guard: Guard) -> None:
    code = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, asdict\n"
        "@dataclass\nclass _P:\n    x: int\ndef make(): return asdict(_P(1))"
    )
    assert (await load(code, guard))["make"]() == {"x": 1}


async def test_a_failing_bridge_shows_pythons_traceback_from_the_cell_on(guard: Guard) -> None:
    with pytest.raises(BridgeFailed) as caught:
        await load("def f():\n    return 1 / 0\nf()", guard)
    lines = caught.value.traceback
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == '  File "<bridge fs>", line 4, in <module>'
    assert "    return 1 / 0" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"


async def test_a_syntax_error_in_a_bridge_is_a_failure_too(guard: Guard) -> None:
    with pytest.raises(BridgeFailed) as caught:
        await load("def f(:", guard)
    assert "SyntaxError" in caught.value.traceback[-1]


async def test_a_bridge_that_exits_does_not_take_the_kernel_along(guard: Guard) -> None:
    with pytest.raises(BridgeFailed):
        await load("raise SystemExit", guard)


@pytest.mark.parametrize("line", ["", "./x", "a b", "https://x"])
def test_a_bridge_is_named_like_a_package(line: str) -> None:
    with pytest.raises(OptionError):
        bridge_name(line)
    assert bridge_name("@scope/pkg") == "@scope/pkg"


def sleep_until_interrupted(guard: Guard) -> None:
    """Code of an author's that blocks, with another thread that breaks into it.

    Again and again: a signal that comes just before the sleep begins does not end it.
    """
    left = threading.Event()

    def break_in() -> None:
        while not left.wait(0.05):
            guard.break_in()

    threading.Thread(target=break_in).start()
    try:
        time.sleep(20)
    finally:
        left.set()


async def test_an_interrupt_reaches_into_a_blocking_bridge(guard: Guard) -> None:
    with pytest.raises(Interrupted):
        guarded(sleep_until_interrupted, guard, lambda: None)(guard)


async def test_an_interrupt_reaches_into_an_async_bridge_that_blocks(guard: Guard) -> None:
    async def bad() -> None:
        await asyncio.sleep(0)
        sleep_until_interrupted(guard)

    with pytest.raises(Interrupted):
        await guarded(bad, guard, lambda: None)()


def test_a_signal_outside_of_bridges_raises_nothing() -> None:
    signals: list[int] = []
    with Guard(lambda: signals.append(1)).installed():
        os.kill(os.getpid(), signal.SIGINT)
        assert until(lambda: signals == [1])


async def test_guarded_functions_return_and_raise_as_before(guard: Guard) -> None:
    async def later(value: int) -> int:
        await asyncio.sleep(0)
        if value < 0:
            raise ValueError(value)
        return value + 1

    assert guarded(lambda a, b: a + b, guard, lambda: None)(1, 2) == 3
    assert await guarded(later, guard, lambda: None)(1) == 2
    assert await guarded(lambda: later(1), guard, lambda: None)() == 2
    with pytest.raises(ValueError, match="-1"):
        await guarded(later, guard, lambda: None)(-1)


async def test_a_guarded_task_can_be_cancelled(guard: Guard) -> None:
    seen: list[str] = []

    async def waits() -> None:
        seen.append("waiting")
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.ensure_future(guarded(waits, guard, lambda: None)())
    assert await eventually(lambda: seen)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["waiting", "cancelled"]


@pytest.fixture
async def state(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NotebookState:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.json").write_text(json.dumps([{"a": 1}]))
    (tmp_path / "m.ts").write_text("export const m = 1")
    state = NotebookState()
    state.bridges["fs"] = await load_bridge("fs", "def read(): return 1\nROOT = '/'", 1, guard)
    state.modules["./kept.ts"] = "export {}"
    return state


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ('"x"', "x"),
        ("'[1, 2]'", [1, 2]),
        ("null", None),
        ("@rows.json", [{"a": 1}]),
        ("fs.ROOT", "/"),
        ("12345678901234567890", 12345678901234567000.0),
    ],
)
def test_a_source_is_json_a_file_or_a_bridge(state: NotebookState, text: str, value: Any) -> None:
    resolved = state.resolve(Source("global", "g", text))
    assert resolved == value
    assert type(resolved) is type(value)


def test_a_bare_name_means_the_bridge_of_that_name(state: NotebookState) -> None:
    exports = state.bridges["fs"].exports
    assert state.resolve(Source("import", "fs", None)) is exports
    assert state.resolve(Source("import", "files", "fs")) is exports
    assert state.resolve(Source("global", "fs", None)) is exports


def test_modules_come_from_strings_files_and_the_notebook(state: NotebookState) -> None:
    assert state.resolve(Source("module", "./a.ts", '"export {}"')) == "export {}"
    assert state.resolve(Source("module", "./a.ts", "@m.ts")) == "export const m = 1"
    assert state.resolve(Source("module", "./kept.ts", None)) == "export {}"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            Source("global", "g", "nope"),
            "nope is not JSON, @file.json or the name of a bridge; known: fs",
        ),
        (Source("global", "g", "f"), "did you mean fs?"),
        (
            Source("global", "g", "fs.reed"),
            "the bridge fs does not export reed; did you mean read?",
        ),
        (Source("global", "g", "@none.json"), "@none.json does not exist"),
        (Source("global", "g", "@m.ts"), "is not JSON"),
        (Source("global", "g", "'x'"), 'write a string like "x"'),
        (Source("import", "i", "[1]"), "i=[1] is neither a bridge nor a JSON object of exports"),
        (Source("import", "fs.read", None), "--import fs.read is neither a bridge nor"),
        (Source("module", "./x.ts", "1"), "--module ./x.ts=1 is not source text"),
        (Source("module", "./x.ts", None), "declare it with %%module ./x.ts"),
    ],
)
def test_a_source_that_means_nothing_says_why(
    state: NotebookState, source: Source, says: str
) -> None:
    with pytest.raises(OptionError) as caught:
        state.resolve(source)
    assert says in str(caught.value)


def test_a_cell_gets_bridges_modules_defaults_and_its_own(state: NotebookState) -> None:
    state.defaults = parse_options("--global a=1 --memory 1MiB", "kernel")
    options = state.effective(parse_options("--global b=2 --import x={}", "kernel"))
    given = state.run_options(options, "a + b")
    assert set(given["imports"]) == {"fs", "x"}
    assert given["globals"] == {"a": 1, "b": 2}
    assert given["modules"] == {"./kept.ts": "export {}"}
    assert given["memory_limit_bytes"] == 2**20
