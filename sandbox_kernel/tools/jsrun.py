"""Seed 004: a bare script with an input, an output, a deadline and a cap, and nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from ..backend import Backend, Lent
from ..bridges import Bridges
from ..contract import CodeExecutionResult
from ..engine.default import pool_for_a_run
from ..errors import OptionError, SandboxError
from ..execution import start_code
from ..spelling import suggestion
from ..wire.order import Order

Code = Literal["EVAL_ERROR", "TIMEOUT", "OUTPUT_LIMIT"]
DEFAULTS = {"wall_ms": 1000, "output_kb": 64}
_MOST = {"wall_ms": 86_400_000, "output_kb": 64 * 1024}
_TIMEOUT, _FULL = "timeout", "output limit"


class JsrunError(SandboxError):
    """`code` is stable; `output` is what fitted, if the output was too large."""

    def __init__(self, code: Code, message: str, output: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.output = output


def jsrun(
    source: str,
    input: str = "",
    limits: Mapping[str, int] | None = None,
    *,
    engine: Backend | None = None,
) -> str:
    """What the script emitted. It blocks for at most `wall_ms` and a moment; raises `JsrunError`."""
    checked = check_limits({} if limits is None else limits)
    for name, text in (("source", source), ("input", input)):
        if not isinstance(text, str):
            raise OptionError(f"{name} must be a string, not {type(text).__name__}")
    script = _Script(source, input, checked["wall_ms"], checked["output_kb"])
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return script.output(engine)
    with ThreadPoolExecutor(1) as thread:  # the caller's loop could not run the script meanwhile
        return thread.submit(script.output, engine).result()


def check_limits(given: object) -> dict[str, int]:
    """With defaults for what is not given."""
    if not isinstance(given, Mapping):
        raise OptionError(f"limits must be an object, not {given!r:.80}")
    for name, value in given.items():
        if name not in DEFAULTS:
            raise OptionError(f"unknown limit {name!r:.80}; {suggestion(str(name)[:80], DEFAULTS)}")
        if type(value) is not int or not 1 <= value <= _MOST[name]:
            raise OptionError(
                f"{name} must be a whole number from 1 to {_MOST[name]}, not {value!r:.80}"
            )
    return {**DEFAULTS, **given}


class _Script:
    def __init__(self, source: str, given: str, wall_ms: int, output_kb: int) -> None:
        self._order = _order(source, given)
        self._wall_ms = wall_ms
        self._output_kb = output_kb
        self._room = output_kb * 1024
        self._emitted: list[str] = []
        self._stop: Callable[[], None] = lambda: None

    def output(self, engine: Backend | None) -> str:
        backend = engine or pool_for_a_run()
        run = start_code(backend, self._order, Lent(Bridges(), self._emit))
        self._stop = lambda: run.terminate(_FULL)
        if self._room < 0:
            self._stop()
        return self._judge(run.terminate_after(self._wall_ms / 1000, _TIMEOUT).wait())

    def _emit(self, text: str) -> None:
        """Keeps what fits, cut at a character; stops the script at the first that does not."""
        if self._room < 0:
            return
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self._room:
            cut = text.encode("utf-8", "surrogatepass")[: self._room]
            text, size = cut.decode("utf-8", "ignore"), self._room + 1
        self._emitted.append(text)
        self._room -= size
        if self._room < 0:
            self._stop()

    def _judge(self, result: CodeExecutionResult) -> str:
        output = "".join(self._emitted)
        if self._room < 0:
            raise JsrunError("OUTPUT_LIMIT", f"output exceeded {self._output_kb} KB", output)
        if result.status == "success":
            return output
        error = result.error
        if result.status == "terminated" and error is not None and error.message == _TIMEOUT:
            raise JsrunError("TIMEOUT", f"execution exceeded {self._wall_ms} ms")
        raise JsrunError("EVAL_ERROR", "" if error is None else f"{error.name}: {error.message}")


def _order(source: str, given: str) -> Order:
    return Order(
        source=source,
        filename="script.js",
        language="javascript",
        modules={},
        imports={},
        globals=[],
        builtins=(),
        fn="default",
        memory_limit=0,
        lenient=False,
        demand_export=False,
        values=given,
        seed=os.urandom(8),
        is_script=True,
    )
