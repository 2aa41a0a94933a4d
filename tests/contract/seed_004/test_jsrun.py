"""Seed 004: jsrun, as a function and as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.contract.parts import part


def command(request: Any) -> subprocess.CompletedProcess[str]:
    text = request if isinstance(request, str) else json.dumps(request)
    arguments = [sys.executable, "-m", "sandbox_kernel", "jsrun"]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, timeout=60)


def jsrun(source: str, given: str = "", **limits: int) -> Any:
    return part("tools").jsrun(source, given, limits)


def refused(source: str, given: str = "", **limits: int) -> Any:
    with pytest.raises(part("tools").JsrunError) as caught:
        jsrun(source, given, **limits)
    return caught.value


# ---------------------------------------------------------------------------- the examples


def test_echo_input() -> None:
    """Echo input"""
    done = command({"source": "emit(read_input())", "input": "hello", "limits": {"output_kb": 4}})
    assert (done.stdout, done.stderr, done.returncode) == ('{"output":"hello"}\n', "", 0)


def test_output_limit_with_truncation_and_error() -> None:
    """stdout contains 1024 bytes of "a"; stderr is {"code":"OUTPUT_LIMIT",...} and the process exits non-zero"""
    done = command(
        {"source": "emit(read_input())", "input": "a" * 1500, "limits": {"output_kb": 1}}
    )
    assert done.stdout == f'{{"output":"{"a" * 1024}"}}\n'
    assert done.stderr == '{"code":"OUTPUT_LIMIT","message":"output exceeded 1 KB"}\n'
    assert done.returncode != 0


def test_a_malicious_loop_is_interrupted() -> None:
    """process is interrupted within ~100ms with stderr {"code":"TIMEOUT",...} and non-zero exit; stdout is empty"""
    done = command({"source": "for(;;) {}", "input": "", "limits": {"wall_ms": 100}})
    assert done.stdout == ""
    assert done.stderr == '{"code":"TIMEOUT","message":"execution exceeded 100 ms"}\n'
    assert done.returncode != 0


def test_an_error_is_one_line_of_json_with_a_stable_code() -> None:
    """stderr (on failure): single-line JSON with a stable error code"""
    done = command({"source": "throw new Error('two\\nlines')", "input": "", "limits": {}})
    found = json.loads(done.stderr)
    assert found["code"] == "EVAL_ERROR"
    assert "two" in found["message"]
    assert done.stderr.count("\n") == 1
    assert done.returncode == 1


@pytest.mark.parametrize(
    "request_", ["", "[]", "{", '{"source": 1, "input": "", "limits": {}}', "{}"]
)
def test_a_bad_request_is_told(request_: str) -> None:
    """stdin (object)"""
    done = command(request_)
    assert json.loads(done.stderr)["code"] == "BAD_REQUEST"
    assert done.returncode == 2


# ---------------------------------------------------------------------------- bindings


def test_emit_appends_to_the_output() -> None:
    """emit(s: string): void— appendssto the output buffer"""
    assert jsrun("emit('a'); emit('b');") == "ab"


def test_read_input_returns_the_input() -> None:
    """read_input(): string— returns the providedinputstring"""
    assert jsrun("emit(typeof read_input() + read_input())", "é\0x") == "stringé\0x"


ABSENT = """require console setTimeout setInterval process fetch report module exports Deno
performance queueMicrotask structuredClone""".split()


@pytest.mark.parametrize("name", ABSENT)
def test_all_other_globals_are_undefined(name: str) -> None:
    """All other globals are intentionally undefined (e.g., typeof require === 'undefined', typeof console === 'undefined', typeof setTimeout === 'undefined')."""
    assert jsrun(f"emit(typeof {name})") == "undefined"


@pytest.mark.parametrize(
    "source", ["Date.now()", "new Date()", "Math.random()", "eval('1')", "Function('1')()"]
)
def test_there_is_no_clock_no_chance_and_no_code_from_text(source: str) -> None:
    """there is no filesystem, network, clock, process, or environment access"""
    assert refused(source).code == "EVAL_ERROR"


def test_imports_are_refused() -> None:
    """run isolated JS with no filesystem, network, timers, or console; only minimal host bindings are exposed"""
    assert refused("import 'fs'").code == "EVAL_ERROR"


def test_promises_are_not_scheduled() -> None:
    """setTimeout, setInterval, Promises scheduling, and microtask queues are unavailable by default"""
    assert jsrun("emit('a'); Promise.resolve().then(() => emit('c')); emit('b');") == "ab"


def test_the_same_input_gives_the_same_output() -> None:
    """It is intended for tiny, deterministic computations"""
    source = "emit(JSON.stringify([...read_input()].sort()))"
    assert {jsrun(source, "banana") for _ in range(3)} == {'["a","a","a","b","n","n"]'}


# ---------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("size", "kilobytes", "passes"), [(1024, 1, True), (1025, 1, False), (0, 1, True)]
)
def test_exactly_the_cap_is_success(size: int, kilobytes: int, passes: bool) -> None:
    """Maximum output size in KiB before truncation."""
    source = f"emit('x'.repeat({size}))"
    if passes:
        assert jsrun(source, output_kb=kilobytes) == "x" * size
    else:
        error = refused(source, output_kb=kilobytes)
        assert (error.code, error.output) == ("OUTPUT_LIMIT", "x" * 1024)


def test_output_is_cut_at_a_character() -> None:
    """output is truncated when exceeding the cap and an OUTPUT_LIMIT error is returned"""
    error = refused("emit('é'.repeat(600))", output_kb=1)
    assert error.output == "é" * 512
    assert refused("emit('x' + 'é'.repeat(600))", output_kb=1).output == "x" + "é" * 511


def test_neither_abort_can_be_caught() -> None:
    """the VM aborts with OUTPUT_LIMITafter returning truncated stdout"""
    source = "try { emit('x'.repeat(2000)) } catch (e) { } emit('after')"
    assert refused(source, output_kb=1).output == "x" * 1024
    endless = "try { emit('x'.repeat(2000)) } finally { for (;;); }"
    assert refused(endless, output_kb=1, wall_ms=86_400_000).code == "OUTPUT_LIMIT"
    assert refused("try { for (;;); } catch (e) { emit('caught') }", wall_ms=100).code == "TIMEOUT"


def test_the_defaults_are_a_second_and_64_kib() -> None:
    """Default 1000 ms. … Default 64 KiB."""
    assert jsrun("emit('x'.repeat(65536))") == "x" * 65536
    assert refused("emit('x'.repeat(65537))").code == "OUTPUT_LIMIT"
    assert str(refused("for (;;);")) == "execution exceeded 1000 ms"
