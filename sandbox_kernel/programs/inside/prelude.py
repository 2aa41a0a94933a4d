"""What a Python program finds beside the language, and errors that say what is refused."""

from __future__ import annotations

import _posixsubprocess
import errno
import json
import os
import subprocess
from collections.abc import Callable
from typing import Any, NoReturn

from ..protocol import RESULT, RESULT_BYTES
from .sending import send
from .tools import Tools

_REFUSED = "this program runs in a sandbox, which cannot start other programs"
_NO_FORK = "this program runs in a sandbox, which cannot fork here; threads work"
_STARTERS = ("execv", "execve", "posix_spawn", "posix_spawnp", "system")
_FORKS = ("fork", "forkpty")


def functions(*, tools: bool, install: bool = False) -> dict[str, Callable[..., Any]]:
    """By name; they are globals of the program. What is not lent is not there."""
    found: dict[str, Callable[..., Any]] = {"set_result": set_result}
    if not (tools or install):
        return found
    calls = Tools()
    if tools:
        found |= calls.functions()
    if install:
        found["install_package"] = calls.install_package
    return found


def set_result(data: Any, files: Any = None) -> None:
    """Sets the program's structured result, and names files of its directory that belong to it.

    The data must be JSON. Called again, the last call counts.
    """
    if isinstance(files, str | bytes | os.PathLike):
        raise TypeError(f"files must be a list of paths, not {type(files).__name__}")
    names = [os.fspath(each) for each in files or ()]
    text = json.dumps({"data": data, "files": names}, allow_nan=False).encode()
    if len(text) > RESULT_BYTES:
        raise ValueError(f"the result has {len(text):,} bytes; at most {RESULT_BYTES:,} cross")
    send(RESULT, text)


def refuse_processes(*, may_fork: bool) -> None:
    """The filter does it anyhow; this says why."""
    for name in _STARTERS:
        setattr(os, name, _refusal(name, errno.EACCES, _REFUSED))
    subprocess.Popen._execute_child = _refuse_child  # type: ignore[attr-defined]  # not in typeshed
    # What multiprocessing starts interpreters with.
    _posixsubprocess.fork_exec = _refusal("fork_exec", errno.EACCES, _REFUSED)
    if not may_fork:
        for name in _FORKS:
            setattr(os, name, _refusal(name, errno.EPERM, _NO_FORK))


def _refusal(name: str, code: int, message: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(code, message)

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def _refuse_child(process: Any, args: Any, *_: Any, **__: Any) -> NoReturn:
    program = args if isinstance(args, str | bytes | os.PathLike) else next(iter(args), "")
    raise PermissionError(errno.EACCES, _REFUSED, program)
