"""How long a hostile guest's values keep a notebook's main thread, and an interrupt waiting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.notebook.show.output import mimebundle
from sandbox_kernel.notebook.view.outline import outline
from tests.bounds.hostile_values import HOSTILE
from tests.bounds.test_display_values import RENDERINGS
from tests.clients import Client

_TRIES = 3  # the quickest counts: the rest is the machine's

_SHOWN: dict[str, Callable[[Any], Any]] = {
    **{name: render for name, (render, _) in RENDERINGS.items()},
    "a result as text and JSON": mimebundle,
    "a result's outline in the view": outline,
    "a result's `repr`": lambda value: repr(CodeExecutionResult("success", value)),
}
_ENDLESS = "let x: any = [1]; for (let i = 0; i < 60; i++) x = [x, x];"
_HUGE = "'x'.repeat(1e6)"
CELLS = {
    "values are logged": f"{_ENDLESS} for (;;) console.log(x, x, x)",
    "values are tabulated": f"{_ENDLESS} for (;;) console.table(Array(1000).fill([x, x, x]))",
    "values are reported": f"{_ENDLESS} console.log(1); for (;;) report(x)",
    "long values are decoded": (
        "console.log(1); for (;;) report(Array.from({ length: 3e4 }, (_, i) => [i, [i], { i }]))"
    ),
    "long texts are logged": f"for (;;) console.log({_HUGE})",
    "errors are logged": f"for (;;) console.log(new Error({_HUGE}, {{ cause: {_ENDLESS and '[]'} }}))",
    "the guest computes": "console.log(1); for (;;);",
}


def turns() -> dict[str, float]:
    """Processor seconds of each rendering, of the worst value there is."""
    print("bounds: renderings", file=sys.stderr, flush=True)
    worst = dict.fromkeys(_SHOWN, 0.0)
    for make in HOSTILE.values():
        value = make()
        for name, render in _SHOWN.items():
            worst[name] = max(worst[name], min(_seconds(render, value) for _ in range(_TRIES)))
    return worst


def _seconds(render: Callable[[Any], Any], value: Any) -> float:
    began = time.thread_time()
    render(value)
    return time.thread_time() - began


def interrupts() -> dict[str, float]:
    """Seconds from an interrupt to the end of the cell, in a real kernel, while it does this."""
    client = Client.start("sandbox")
    try:
        return {
            name: max(_interrupted(client, code) for _ in range(_TRIES))
            for name, code in CELLS.items()
        }
    finally:
        client.close()


def _interrupted(client: Client, code: str) -> float:
    print(f"bounds: interrupt of {code[:50]}", file=sys.stderr, flush=True)
    sent = client.send(code)
    client.wait_for(sent, "stream")
    time.sleep(0.5)  # it is in the middle of it
    asked = time.perf_counter()
    client.interrupt()
    client.reply(sent)
    return time.perf_counter() - asked


def main() -> None:
    for name, seconds in {**turns(), **interrupts()}.items():
        print(f"{seconds * 1e3:7.1f} ms  {name}")


if __name__ == "__main__":
    main()
