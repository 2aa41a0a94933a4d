"""How long a hostile guest's values keep a notebook's main thread, and an interrupt waiting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sandbox_kernel.contract import CodeExecutionError, CodeExecutionResult
from sandbox_kernel.explain.scene import Scene
from sandbox_kernel.notebook.show.outline import outline
from sandbox_kernel.notebook.show.output import show
from sandbox_kernel.notebook.show.result import result_bundle
from sandbox_kernel.notebook.show.traceback import traceback_of
from tests.bounds.hostile_values import HOSTILE, MEGA
from tests.bounds.test_display_values import RENDERINGS, logged
from tests.bounds.test_display_view import shown as view_of
from tests.clients import Client

_TRIES = 3
_HALF_A_SECOND = 0.5  # after which a cell is in the middle of what it does

_RENDERINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **{f"text: {name}": ("shown", render) for name, (render, _) in RENDERINGS.items()},
    "a result as text and page": ("shown", result_bundle),
    "an outline": ("shown", outline),
    "a table": ("tabulated", lambda value: logged([value] * 1000, method="table")),
    "a view and its end": ("reported", lambda value: view_of([value] * 300)),
    "a repr": ("shown", lambda value: repr(CodeExecutionResult("success", value))),
}
_ENDLESS = "let x: any = [1]; for (let i = 0; i < 60; i++) x = [x, x];"
_HUGE = "'x'.repeat(1e6)"
CELLS = {
    "decoded": "console.log(1); for (;;) report(Array.from({ length: 3e4 }, (_, i) => [i, [i]]))",
    "shown": f"{_ENDLESS} for (;;) console.log(x, new Error({_HUGE}))",
    "tabulated": f"{_ENDLESS} for (;;) console.table(Array(1000).fill([x, x, x]))",
    "reported": f"{_ENDLESS} console.log(1); for (;;) report(x)",
}


def turns() -> dict[str, float]:
    """Processor seconds of the longest rendering of each kind, over every hostile value."""
    print("bounds: renderings", file=sys.stderr, flush=True)
    worst = {"shown": 0.0, "tabulated": 0.0, "reported": 0.0, "hinted at": _traceback_seconds()}
    for make in HOSTILE.values():
        value = make()
        for name, (kind, render) in _RENDERINGS.items():
            if name != "text: a traceback":
                kind = "tabulated" if "table" in name else kind
                worst[kind] = max(worst[kind], _seconds(render, value))
    return worst


def _traceback_seconds() -> float:
    """Of errors that are long in every part."""
    worst = 0.0
    for name in ("bigints", "wide cells", "text that is all escapes", "newlines"):
        text = (show(HOSTILE[name]()) * 10)[:MEGA]
        scene = Scene("cell", text)
        for message in (text, f"x is not defined{text}", f"cannot read property 'a' of {text}"):
            stack = f"at {text} (cell:1:1)\n" * 20
            error = CodeExecutionError(text[:5000], message, stack, text, text, 1, 1)
            result = CodeExecutionResult("link_error", error=error)
            worst = max(worst, _seconds(partial(traceback_of, scene=scene), result))
    return worst


def _seconds(render: Callable[[Any], Any], value: Any) -> float:
    """The quickest of a few times counts: the rest is the machine's."""
    taken = []
    for _ in range(_TRIES):
        began = time.thread_time()
        render(value)
        taken.append(time.thread_time() - began)
    return min(taken)


def interrupts() -> dict[str, float]:
    """The most seconds from an interrupt to the end of the cell, in a real kernel, by what it does."""
    client = Client.start("sandbox")
    try:
        return {
            name: max(_interrupted(client, name, code) for _ in range(_TRIES))
            for name, code in CELLS.items()
        }
    finally:
        client.close()


def _interrupted(client: Client, name: str, code: str) -> float:
    print(f"bounds: an interrupt while values are {name}", file=sys.stderr, flush=True)
    client.value("1")  # a cell right behind a failed one may be aborted, by Jupyter's rule
    sent = client.send(code)
    client.wait_for(sent, "stream")
    time.sleep(_HALF_A_SECOND)
    asked = time.perf_counter()
    client.interrupt()
    client.reply(sent)
    return time.perf_counter() - asked


def main() -> None:
    for kind, found in (("turn", turns()), ("interrupt", interrupts())):
        for name, seconds in found.items():
            print(f"{seconds * 1e3:7.1f} ms  {kind}: {name}")


if __name__ == "__main__":
    main()
