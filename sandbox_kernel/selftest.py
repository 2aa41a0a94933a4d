"""A self-test that tries to break out, through `run_code` and from inside a locked-down worker.

`python -m sandbox_kernel doctor` and `%doctor` run it, to check the sandbox on this machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Engine
    from .programs import Programs


@dataclass(frozen=True, slots=True)
class Check:
    """One attempt: what was tried, whether the sandbox held, and what happened."""

    name: str
    holds: bool
    detail: str


def report_lines(checks: Sequence[Check]) -> list[str]:
    """One line for each attempt, and a summary."""
    lines = [f"{'holds' if each.holds else 'FAILS'}  {each.name}: {each.detail}" for each in checks]
    broken = sum(not check.holds for check in checks)
    return [*lines, f"{len(checks)} attempts to break out, {broken} succeeded"]


# What the guest tries, and the result it must get. Each runs in a sandbox of its own.
_ATTEMPTS: dict[str, tuple[str, Any]] = {
    "no globals of a host": (
        "export default ['process', 'require', 'fetch', 'Deno', 'eval', 'WebAssembly', 'Atomics',"
        " 'SharedArrayBuffer', 'setTimeout'].filter((name) => name in globalThis)",
        [],
    ),
    "no text becomes code": (
        "const tried = []; for (const F of [Function, (async () => {}).constructor])"
        " try { tried.push(F('return this')()) } catch { tried.push('refused') } export default tried",
        ["refused", "refused"],
    ),
    "no imports except those lent": (
        "export default await import('fs').catch((error) => error.name)",
        "LinkError",
    ),
    "no host object in an exception": (
        "let e; try { bridge() } catch (error) { e = error }"
        " export default [e.name, e.constructor === Error, /[.]py|Traceback/.test(e.stack)]",
        ["ValueError", True, False],
    ),
    "poisoned prototypes corrupt nothing": (
        "Array.prototype.map = Object.prototype.toJSON = JSON.stringify = () => 'forged';"
        " export default { a: [1, 2] }",
        {"a": [1, 2]},
    ),
}


def run_selftest(engine: Engine | None = None) -> list[Check]:
    """Tries everything; takes a second or two and leaves nothing behind."""
    checks = [_guest(name, engine) for name in _ATTEMPTS]
    checks += [_endless(engine), _memory(engine)]
    return checks + _from_inside()


# What a program tries; it prints what it got hold of, and must get hold of nothing.
_ATTEMPTS_OF_PROGRAMS = {
    "a program reads no file of the host": "print(open('/etc/hostname').read())",
    "a program lists no folder of the host": "import os; print(os.listdir('/home'))",
    "a program writes nothing outside its directory": "open('/var/tmp/selftest', 'w'); print('written')",
    "a program reaches no network": (
        "import socket; socket.create_connection(('127.0.0.1', 1), 5); print('connected')"
    ),
    "a program starts no other": "import subprocess; print(subprocess.run(['/bin/true']))",
    "a program signals nobody": "import os; os.kill({host}, 0); print('signalled')",
    "a program sees no variable of the host": (
        "import os; print(*(set(os.environ) - {'HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'}))"
    ),
}


def run_selftest_of_programs(programs: Programs) -> list[Check]:
    """The same for `run_program`, where programs can be isolated."""
    checks = [_program(name, programs) for name in _ATTEMPTS_OF_PROGRAMS]
    return [*checks, _endless_program(programs)]


def _program(name: str, programs: Programs) -> Check:
    from .run import run_program

    code = _ATTEMPTS_OF_PROGRAMS[name].replace("{host}", str(os.getpid()))
    result = run_program(code, engine=programs).wait(60)
    last = result.stderr.strip().rpartition("\n")[2]
    return Check(name, not result.stdout.strip(), result.stdout.strip() or last or "nothing")


def _endless_program(programs: Programs) -> Check:
    from .run import run_program

    result = run_program("while True: pass", engine=programs, timeout_ms=300).wait(60)
    return Check("a program ends with its time", result.killed, str(result.reason))


def _guest(name: str, engine: Engine | None) -> Check:
    from .run import run_code

    source, expected = _ATTEMPTS[name]
    result = run_code(
        source, language="javascript", engine=engine, globals={"bridge": _raise}
    ).wait(60)
    got = result.result if result.status == "success" else result.error
    return Check(name, result.status == "success" and got == expected, f"{got}")


def _raise() -> None:
    raise ValueError("of the host")


def _endless(engine: Engine | None) -> Check:
    from .run import run_code

    run = run_code("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", engine=engine)
    run.terminate("self-test")
    status = run.wait(60).status
    return Check("endless work can be terminated", status == "terminated", status)


def _memory(engine: Engine | None) -> Check:
    from .run import run_code

    source = "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))"
    status = run_code(source, engine=engine, memory_limit_bytes=16 * 2**20).wait(60).status
    return Check("memory is limited", status == "memory", status)


# ------------------------------------------------- arbitrary code in a locked-down process

_INSIDE: dict[str, Callable[[], object]] = {
    "a locked-down process reads no file": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "a locked-down process lists no folder": lambda: os.listdir("/"),
    "a locked-down process opens no socket": lambda: __import__("_socket").socket(),
    "a locked-down process starts no process": os.fork,
    "a locked-down process signals no one": lambda: os.kill(os.getppid(), 0),
    "a locked-down process maps no executable memory": lambda: __import__("mmap").mmap(
        -1, 4096, prot=7
    ),
}


def _from_inside() -> list[Check]:
    if sys.platform != "linux":
        return [Check(name, False, "this system has no system-call filter") for name in _INSIDE]
    return [_inside(name) for name in _INSIDE]


def _inside(name: str) -> Check:
    """Tries it in a fresh interpreter that is locked down like a worker."""
    import subprocess

    code = (
        f"import sys; sys.path[:0] = {_folders()!r};"
        f" from sandbox_kernel.selftest import attempt; attempt({name!r})"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, timeout=60)
    killed = done.returncode == -31  # SIGSYS
    detail = "killed by the filter" if killed else done.stderr.decode("utf-8", "replace")[-200:]
    return Check(name, killed, detail or f"ended with {done.returncode}")


def _folders() -> list[str]:
    from .engine.spawn import worker_paths

    return worker_paths()


def attempt(name: str) -> None:
    """Called by the process that `_inside` starts."""
    import mmap  # noqa: F401  # cannot be loaded after the lockdown
    import socket

    from .worker.lockdown import Lockdown

    ours, _ = socket.socketpair()
    lockdown = Lockdown(ours.fileno(), os.getppid(), 60)
    lockdown.begin()
    lockdown.complete()
    try:
        _INSIDE[name]()
    finally:
        os._exit(0)
