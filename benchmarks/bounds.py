"""What one hostile guest costs its host at most, at default limits: time, memory, patience.

`python -m benchmarks.bounds` measures and prints; `python -m benchmarks` also writes the tables in
docs/benchmarks.md and SECURITY.md. Each message is measured in a process of its own, so that the
system can be asked for its peak.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from sandbox_kernel.engine.settings import Settings
from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.run import run_code
from sandbox_kernel.wire.messages import CALLS, MAX_CALLS, REPORT, SAID
from sandbox_kernel.wire.weight import weight
from tests.bounds.hostile_messages import SHAPES, Message
from tests.bounds.hostile_values import HOSTILE
from tests.hostile_worker.fake import Impostor, Peer, frame, ready

from . import showing
from .install import ROOT

LIMITS = Settings()
FORMS = {
    "P": "values as JSON",
    "T": "values as tables: Maps, Sets, cycles, functions, promises",
    "C": "values as columns: rows, Dates, Sets, bigints",
}
_SAID, _CALLS = "reports and logs, a line each", "asynchronous calls that never end"
LINES = {
    "reports": b"RP1\n",
    "reports of lists": b"RP[[]]\n",
    "logs": b'LP["log","log",0,0,[1]]\n',
    "logs of tables": b'LT[[0],["a","log","log",0,0,[1]],["a",[2]],["m",[0],[0]]]\n',
}


@dataclass(frozen=True)
class Cost:
    """`turn` and `wall` are seconds of the longest turn of the loop: of processor, and of the clock.

    `ours` is the longest without Python's collections of garbage. Those visit what the guest made the
    host keep; the objects that the process had before are frozen, since they are not the guest's.

    `kept` and `peak` are bytes of the process, beyond those before; `answered` are the seconds from
    `terminate` to the end of the run, while the message is being decoded.
    """

    turn: float = 0.0
    wall: float = 0.0
    kept: float = 0.0
    peak: float = 0.0
    answered: float = 0.0
    ours: float = 0.0

    def worse(self, other: Cost) -> Cost:
        return Cost(*(max(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


class Turns:
    """The longest turns of the loop that it is started on: every turn ends with a beat."""

    def __init__(self) -> None:
        self.longest = self.longest_wall = self.longest_ours = 0.0
        self._collecting = self._collected = 0.0
        gc.callbacks.append(self._on_collection)
        self._loop = asyncio.get_running_loop()
        self._beating = True
        self._last = time.thread_time(), time.perf_counter()
        self._loop.call_soon(self._beat)

    def _beat(self) -> None:
        now = time.thread_time(), time.perf_counter()
        turn = now[0] - self._last[0]
        self.longest = max(self.longest, turn)
        self.longest_ours = max(self.longest_ours, turn - self._collected)
        self._collected = 0.0
        self.longest_wall = max(self.longest_wall, now[1] - self._last[1])
        if self._beating:
            self._loop.call_soon(self._beat)
        self._last = time.thread_time(), time.perf_counter()

    def _on_collection(self, phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._collected += time.thread_time() - self._collecting

    def stop(self) -> None:
        self._beating = False
        gc.callbacks.remove(self._on_collection)


def messages() -> dict[str, Callable[[], tuple[int, Message]]]:
    """Kind and content of what a worker repeats until it is stopped, by name."""
    shaped = {name: (lambda name=name: (REPORT, _large(name))) for name in SHAPES}
    said = {name: (lambda line=line: (SAID, _lines(line))) for name, line in LINES.items()}
    calls = json.dumps([[at + 1, 0, []] for at in range(MAX_CALLS)], separators=(",", ":"))
    return {**shaped, **said, _CALLS: lambda: (CALLS, Message(f"P{calls}".encode()))}


def _large(name: str) -> Message:
    """Takes a third of the cap, or nearly as much as a message may have."""
    text, attachments = SHAPES[name](1000)
    size = len(text) + sum(map(len, attachments)) + 4 * len(attachments)
    parts = min(
        LIMITS.message_bytes * 0.8 / size, LIMITS.output_bytes / 3 / weight(text, attachments)
    )
    return SHAPES[name](max(1000, int(1000 * parts)))


def _lines(line: bytes) -> Message:
    return Message(line * (LIMITS.output_bytes // 3 // (len(line) + 300)))


def cost_of(name: str) -> Cost:
    """In this process, which should not have measured anything before."""
    kind, message = messages()[name]()
    said = frame(kind, message.text, 0, 0, *message.attachments)
    gc.collect()
    before, _ = _memory()
    flooded = asyncio.run(_flood(said))
    _, peak = _memory()
    gc.collect()
    _give_back()
    kept, _ = _memory()
    cost = replace(flooded[0], kept=kept - before, peak=peak - before)
    del flooded
    return cost.worse(Cost(answered=max(_answered(said, delay) for delay in (0.0, 0.05, 0.2))))


async def _forever() -> None:
    """Keeps as little as such a function can: the rest is the engine's."""
    await asyncio.get_running_loop().create_future()


def _run(script: Callable[[Peer], None]) -> CodeExecution:
    lent = {"forever": _forever}
    return run_code("", engine=Impostor(script, LIMITS), report=lambda value: None, globals=lent)


async def _flood(said: bytes) -> tuple[Cost, Any]:
    """Until the cap ends it. The result is returned, too: what it keeps is measured."""
    run = _run(_repeating(said))
    turns = Turns()
    result = await run
    await asyncio.sleep(0.05)
    turns.stop()
    assert result.error is not None
    return Cost(turns.longest, turns.longest_wall, ours=turns.longest_ours), result


def _answered(said: bytes, delay: float) -> float:
    begun = threading.Event()

    def script(peer: Peer) -> None:
        peer.send(ready())
        begun.set()
        _repeating(said)(peer)

    run = _run(script)
    begun.wait()
    time.sleep(delay)
    asked = time.perf_counter()
    run.terminate()
    run.wait()
    return time.perf_counter() - asked


def _repeating(said: bytes) -> Callable[[Peer], None]:
    def script(peer: Peer) -> None:
        peer.send(ready())
        while True:
            peer.socket.sendall(said)

    return script


def _give_back() -> None:
    """What was freed, to the system, where the C library can be asked to: it is not kept for a guest."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _memory() -> tuple[int, int]:
    """Resident bytes now, and at the peak."""
    with open("/proc/self/status", encoding="ascii") as status:
        text = status.read()
    found = dict(re.findall(r"(VmRSS|VmHWM):\s*(\d+)", text))
    return int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024


def measure(names: Iterable[str] = ()) -> dict[str, Cost]:
    """The cost of each message, by name."""
    found = {}
    for name in names or messages():
        print(f"bounds: {name}", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "benchmarks.bounds", "--one", name]
        done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, env=os.environ)
        found[name] = Cost(**json.loads(done.stdout))
    return found


def measure_all(part: int = 1, parts: int = 1) -> dict[str, Any]:
    """What the page and SECURITY.md say, as plain data: all of it, or one of so many parts."""
    names = list(messages())[part - 1 :: parts]
    found: dict[str, Any] = {
        "messages": {name: asdict(cost) for name, cost in measure(names).items()}
    }
    if part == parts:
        found |= {"turns": showing.turns(), "interrupts": showing.interrupts()}
    return found


def merged(last: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Figures of several parts; of messages that there still are."""
    known = messages()
    costs = {**last.get("messages", {}), **found["messages"]}
    kept = {name: cost for name, cost in costs.items() if name in known}
    return {"turns": {}, "interrupts": {}, **last, **found, "messages": kept}


def _worst_by_form(costs: dict[str, Cost]) -> dict[str, Cost]:
    worst = dict.fromkeys((*FORMS.values(), _SAID, _CALLS), Cost())
    for name, cost in costs.items():
        form = _SAID if name in LINES else _CALLS if name == _CALLS else _form(name)
        worst[form] = worst[form].worse(cost)
    return worst


def _form(name: str) -> str:
    return FORMS[chr(SHAPES[name](1).text[0])]


def table(found: dict[str, Any]) -> str:
    """The most of each figure, by what the guest does."""
    lines = [
        "| the guest sends, until it is stopped | longest turn: processor | without collections |"
        " clock | kept | peak | `terminate` answered |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    costs = {name: Cost(**cost) for name, cost in found["messages"].items()}
    for form, cost in _worst_by_form(costs).items():
        lines.append(
            f"| {form} | {_ms(cost.turn)} | {_ms(cost.ours)} | {_ms(cost.wall)} |"
            f" {_times(cost.kept)} |"
            f" {_times(cost.peak)} | {_ms(cost.answered)} |"
        )
    lines += ["", "| a notebook's main thread | longest turn: processor | interrupt answered |"]
    lines += ["|---|---:|---:|"]
    for name in dict.fromkeys((*found["turns"], *found["interrupts"])):
        turn, answer = found["turns"].get(name), found["interrupts"].get(name)
        lines.append(f"| while a value is {name} | {_ms(turn)} | {_ms(answer)} |")
    return "\n".join(lines)


def promise(found: dict[str, Any]) -> str:
    """One sentence with the worst of all figures, for SECURITY.md."""
    costs = [Cost(**cost) for cost in found["messages"].values()]
    worst = Cost()
    for cost in costs:
        worst = worst.worse(cost)
    turn = max([worst.turn, *found["turns"].values()])
    ours = max([worst.ours, *found["turns"].values()])
    answered = max([worst.answered, *found["interrupts"].values()])
    return (
        f"The worst of {len(costs)} kinds of hostile message and {len(HOSTILE)} hostile values, last measured:"
        f" a turn of {_ms(turn)} ({_ms(ours)} of it without Python's collections of garbage),"
        f" {_times(worst.kept)} kept, {_times(worst.peak)} at the peak, and"
        f" {_ms(answered)} until an interrupt or `terminate` was answered."
    )


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.0f} ms"


def _times(size: float) -> str:
    return f"{size / LIMITS.output_bytes:.2f}×"


def main() -> None:
    if "--one" in sys.argv:
        gc.collect()
        gc.freeze()
        print(json.dumps(asdict(cost_of(sys.argv[-1]))))
        return
    for name, cost in sorted(measure(sys.argv[1:]).items(), key=lambda item: -item[1].turn):
        print(
            f"{_ms(cost.turn):>8} turn {_ms(cost.ours):>8} ours {_ms(cost.wall):>8} wall {_ms(cost.answered):>7} answered"
            f"  {_times(cost.kept)} kept {_times(cost.peak)} peak  {name}"
        )


if __name__ == "__main__":
    main()
