"""What one hostile guest costs its host at most, at default limits: time, memory, patience.

`python -m benchmarks.bounds` measures and prints; `python -m benchmarks` also writes the tables in
docs/benchmarks.md and SECURITY.md. Each message is measured in a process of its own, so that the
system can be asked for its peak.
"""

from __future__ import annotations

import asyncio
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
from sandbox_kernel.run import run_code
from sandbox_kernel.wire.messages import REPORT, SAID
from sandbox_kernel.wire.weight import weight
from tests.bounds.hostile_messages import SHAPES, Message
from tests.hostile_worker.fake import Impostor, Peer, frame, ready

from .install import ROOT

LIMITS = Settings()
FORMS = {"P": "JSON", "C": "columns", "T": "tables"}
LINES = {
    "reports": b"RP1\n",
    "reports of lists": b"RP[[]]\n",
    "logs": b'LP["log","log",0,0,[1]]\n',
    "logs of tables": b'LT[[0],["a","log","log",0,0,[1]],["a",[2]],["m",[0],[0]]]\n',
}


@dataclass(frozen=True)
class Cost:
    """`turn` and `wall` are seconds of the longest turn of the loop: of processor, and of the clock.

    `kept` and `peak` are bytes of the process, beyond those before; `answered` are the seconds from
    `terminate` to the end of the run, while the message is being decoded.
    """

    turn: float = 0.0
    wall: float = 0.0
    kept: float = 0.0
    peak: float = 0.0
    answered: float = 0.0

    def worse(self, other: Cost) -> Cost:
        return Cost(*(max(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


class Turns:
    """The longest turns of the loop that it is started on: every turn ends with a beat."""

    def __init__(self) -> None:
        self.longest = self.longest_wall = 0.0
        self._loop = asyncio.get_running_loop()
        self._beating = True
        self._last = time.thread_time(), time.perf_counter()
        self._loop.call_soon(self._beat)

    def _beat(self) -> None:
        now = time.thread_time(), time.perf_counter()
        self.longest = max(self.longest, now[0] - self._last[0])
        self.longest_wall = max(self.longest_wall, now[1] - self._last[1])
        if self._beating:
            self._loop.call_soon(self._beat)
        self._last = time.thread_time(), time.perf_counter()

    def stop(self) -> None:
        self._beating = False


def messages() -> dict[str, Callable[[], tuple[int, Message]]]:
    """Kind and content of what a worker repeats until it is stopped, by name."""
    shaped = {name: (lambda name=name: (REPORT, _large(name))) for name in SHAPES}
    said = {name: (lambda line=line: (SAID, _lines(line))) for name, line in LINES.items()}
    return {**shaped, **said}


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
    kept, _ = _memory()
    cost = replace(flooded[0], kept=kept - before, peak=peak - before)
    del flooded
    return cost.worse(Cost(answered=max(_answered(said, delay) for delay in (0.0, 0.05, 0.2))))


async def _flood(said: bytes) -> tuple[Cost, Any]:
    """Until the cap ends it. The result is returned, too: what it keeps is measured."""
    run = run_code("", engine=Impostor(_repeating(said), LIMITS), report=lambda value: None)
    turns = Turns()
    result = await run
    await asyncio.sleep(0.05)
    turns.stop()
    assert result.error is not None
    return Cost(turns.longest, turns.longest_wall), result


def _answered(said: bytes, delay: float) -> float:
    begun = threading.Event()

    def script(peer: Peer) -> None:
        peer.send(ready())
        begun.set()
        _repeating(said)(peer)

    run = run_code("", engine=Impostor(script, LIMITS), report=lambda value: None)
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


def main() -> None:
    if "--one" in sys.argv:
        print(json.dumps(asdict(cost_of(sys.argv[-1]))))
        return
    found = measure(sys.argv[1:])
    for name, cost in sorted(found.items(), key=lambda item: -item[1].turn):
        print(
            f"turn {cost.turn * 1e3:6.1f} wall {cost.wall * 1e3:6.1f} answered {cost.answered * 1e3:6.1f} ms"
            f"  kept {cost.kept / LIMITS.output_bytes:.2f} peak {cost.peak / LIMITS.output_bytes:.2f}  {name}"
        )


if __name__ == "__main__":
    main()
