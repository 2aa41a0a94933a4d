"""Starts Node.js or Deno in place of a guest that is confined already.

`node.cjs` and `deno.mjs` are what runs there first. Node is started before there is a program, and
reads it; Deno is started with it, because only its first module is `import.meta.main`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from .. import protocol
from ..protocol import Binary
from .guest import receive_job

_NODE, _DENO = "node", "deno"
_FIRST = {_NODE: "node.cjs", _DENO: "deno.mjs"}
_CALLS = "calls.js"
_TOOLS = "SANDBOX_TOOLS"  # tells deno.mjs whether tools are lent; it reads and forgets it
_NUMBERS = ("RESULT", "RESULT_BYTES", "CALL", "ANSWER", "MOST_CALLS", "MESSAGE_BYTES")
_OLD_SPACE_SHARE = 0.75  # of the memory, for JavaScript's own objects; V8 then says that it is full
# What a program brings is all that there is: nothing is asked for, fetched, kept or looked for.
_FLAGS_OF_DENO = (
    "--quiet --no-prompt --no-remote --no-npm --no-config --no-lock --no-code-cache --no-check"
).split()


def first_name(binary: Binary) -> str:
    """Of the file that runs first."""
    return _FIRST[binary.runtime]


def bootstrap(binary: Binary) -> bytes:
    """Read where the package still can be."""
    here = Path(__file__)
    numbers = json.dumps({name: getattr(protocol, name) for name in _NUMBERS}).encode()
    parts = [here.with_name(name).read_bytes() for name in (_CALLS, first_name(binary))]
    return b"\n".join([b"'use strict';", b"const PROTOCOL = %s;" % numbers, *parts])


def write_bootstrap(binary: Binary, folder: str) -> str:
    """Where programs have no root of their own; everybody may read it, and only we write there."""
    path = Path(folder, first_name(binary))
    path.write_bytes(bootstrap(binary))
    path.chmod(0o644)
    return str(path)


def start(binary: Binary, bootstrap: str, memory_bytes: int, box: str, scratch: str) -> NoReturn:
    space = f"--max-old-space-size={max(1, int(memory_bytes * _OLD_SPACE_SHARE) >> 20)}"
    environment = {
        "HOME": box,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "USER": "guest",
    }
    if binary.runtime == _NODE:
        environment["OPENSSL_CONF"] = os.devnull  # else it ends if the system's cannot be read
        _execute(binary, [space, bootstrap], environment)
    job, source = receive_job()
    program = os.path.join(box, job["name"])
    with open(program, "wb") as file:
        file.write(source)
    environment |= {"NO_COLOR": "1", **job["env"]}
    environment |= {"DENO_DIR": f"{scratch}/.deno", _TOOLS: "1" * job["tools"]}
    first = [f"--v8-flags={space}", f"--preload={bootstrap}", program]
    grants = _grants_of_deno(box, scratch, job["allow"], [*job["env"], _TOOLS])
    _execute(binary, ["run", *_FLAGS_OF_DENO, *grants, *first, *job["args"]], environment)


def _grants_of_deno(
    box: str, scratch: str, allow: Mapping[str, Any], variables: Sequence[str]
) -> list[str]:
    """Its own layer, which alone holds the list of hosts; ours hold the rest without it."""
    every = allow.get("env") is True
    flags = ["--allow-env" if every else f"--allow-env={_listed(variables)}"]
    for kind in ("read", "write"):
        given = allow.get(kind, [])
        paths = [box, scratch, *_places(box, given)] if given is not True else None
        flags.append(f"--allow-{kind}" if paths is None else f"--allow-{kind}={_listed(paths)}")
    hosts = allow.get("net", [])
    if hosts:
        flags.append("--allow-net" if hosts is True else f"--allow-net={_listed(hosts)}")
    return flags


def _places(box: str, names: Sequence[str]) -> list[str]:
    """Where a program finds them, by both names if one of them is a link."""
    found = [os.path.join(box, name) for name in names]
    return [*found, *(real for path in found if (real := os.path.realpath(path)) != path)]


def _listed(items: Sequence[str]) -> str:
    """As Deno splits it."""
    return ",".join(item.replace(",", ",,") for item in items)


def _execute(binary: Binary, words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    os.execve(binary.path, [binary.path, *words], environment)  # noqa: S606  # there is no shell
