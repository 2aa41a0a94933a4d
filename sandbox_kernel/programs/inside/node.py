"""Starts Node.js in place of a guest that is confined already; `node.cjs` is what runs there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from ..protocol import NodeBinary

NAME = "node.cjs"
_OLD_SPACE_SHARE = 0.75  # of the memory, for JavaScript's own objects; V8 then says that it is full


def bootstrap() -> bytes:
    """Read where the package still can be."""
    return Path(__file__).with_name(NAME).read_bytes()


def write_bootstrap(folder: str) -> str:
    """Where programs have no root of their own; everybody may read it, and only we write there."""
    path = Path(folder, NAME)
    path.write_bytes(bootstrap())
    path.chmod(0o644)
    return str(path)


def start(
    binary: NodeBinary, bootstrap: str, memory_bytes: int, box: str, scratch: str
) -> NoReturn:
    space = max(1, int(memory_bytes * _OLD_SPACE_SHARE) >> 20)
    flags = [f"--max-old-space-size={space}"]
    environment = {
        "HOME": box,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "USER": "guest",
        "OPENSSL_CONF": os.devnull,  # Node ends itself if the system's is there and cannot be read
    }
    os.execve(binary.path, [binary.path, *flags, bootstrap], environment)  # noqa: S606
