"""A peer: a process that is sent work and replies with how many seconds it took."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from . import install

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    """`kind` is the interpreter that runs it: `own`, `pip` (the cache's Python) or `npm` (Node)."""

    name: str
    file: str
    kind: str
    package: str
    what: str
    typescript: bool = False

    @property
    def has_process_per_run(self) -> bool:
        return "process per run" in self.what

    def command(self) -> list[str]:
        path = str(HERE / "peers" / self.file)
        if self.kind == "npm":
            return ["node", "--no-node-snapshot", str(HERE / "driver.mjs"), path]
        python = sys.executable if self.kind == "own" else str(install.PYTHON)
        return [python, str(HERE / "driver.py"), path]


OURS = Peer(
    "sandbox-kernel", "ours.py", "own", "sandbox-kernel", "a locked-down process per run", True
)
PEERS = (
    OURS,
    Peer("quickjs-ng", "quickjs_ng.py", "pip", "quickjs-ng", "our engine, bare, in process"),
    Peer("quickjs-rs", "quickjs_rs.py", "pip", "quickjs-rs", "QuickJS in WebAssembly, in process",
         True),
    Peer("jsrun", "jsrun.py", "pip", "jsrun", "V8 isolate, in process"),
    Peer("mini-racer", "mini_racer.py", "pip", "mini-racer", "V8 isolate, in process"),
    Peer("Deno", "deno.py", "pip", "deno", "V8, a process per run, JSON over pipes", True),
    Peer("monty", "monty.py", "pip", "pydantic-monty", "its own Python, a process per run"),
    Peer("quickjs-emscripten", "quickjs_emscripten.mjs", "npm", "quickjs-emscripten",
         "QuickJS as WebAssembly, in Node's process"),
    Peer("isolated-vm", "isolated_vm.mjs", "npm", "isolated-vm", "V8 isolate, in Node's process"),
)  # fmt: skip


class Missing(Exception):
    """The peer does not support this."""


class Failed(Exception):
    """The peer supports this, but failed."""


class Driver:
    """The process of one peer; restarted after it had to be killed."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    def ask(
        self, work: str, source: dict[str, Any], count: float, seconds: float = 60
    ) -> dict[str, Any]:
        """Its answer. Raises `Missing`, or `Failed` if it raised, timed out or died."""
        if source["language"] == "typescript" and not self.peer.typescript:
            raise Missing
        process = self._running()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"work": work, "source": source, "count": count}) + "\n")
            process.stdin.flush()
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise Failed(f"nothing after {seconds:.0f} s") from None
        if line is None:
            self.close()
            raise Failed("its process died")
        return _checked(json.loads(line))

    def cold(self, source: dict[str, Any]) -> float:
        """Seconds from before the import to the first result, in a new process."""
        if source["language"] == "typescript" and not self.peer.typescript:
            raise Missing
        done = subprocess.run(
            [*self.peer.command(), json.dumps(source)],
            capture_output=True, text=True, timeout=60, check=False,
            cwd=_home(self.peer), env=install.environment(),
        )  # fmt: skip
        if not done.stdout.strip():
            raise Failed((done.stderr.strip().splitlines() or ["it printed nothing"])[-1])
        return float(_checked(json.loads(done.stdout.splitlines()[-1]))["seconds"][0])

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._lines = queue.Queue()
            self._process = subprocess.Popen(
                self.peer.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                cwd=_home(self.peer), env=install.environment(),
            )  # fmt: skip
            assert self._process.stdout is not None
            arguments = (self._process.stdout, self._lines)
            threading.Thread(target=_listen, args=arguments, daemon=True).start()
        return self._process

    def close(self) -> None:
        """Kills the process group, because a peer may have started other processes."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def _home(peer: Peer) -> Path:
    return install.NODE if peer.kind == "npm" else install.ROOT


def _listen(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    with stream:
        for line in stream:
            if line.startswith("{"):
                lines.put(line)
    lines.put(None)


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if "missing" in answer:
        raise Missing
    if "error" in answer:
        raise Failed(answer["error"])
    return answer
