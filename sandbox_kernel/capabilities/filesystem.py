"""`files()`: a folder of the host's as Node's `fs`, beneath its root and within bounds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import OptionError
from ..isolation.beneath import Directory
from ..loans import Loan
from ..spelling import suggestion
from .checks import whole
from .disk import Disk
from .folder import Folder, Limits
from .nodecalls import NodeCalls
from .overlay import Overlay
from .scripts import described, script

Mode = Literal["read", "overlay", "write"]
MODES: tuple[Mode, ...] = get_args(Mode)

_PROMISES = (
    *("readFile", "writeFile", "appendFile", "readdir", "stat", "mkdir"),
    *("rm", "rename", "copyFile", "exists", "access", "unlink"),
)
_EXPORTS = (
    *_PROMISES,
    *(f"{name}Sync" for name in _PROMISES),
    "promises",
    "default",
)


def files(
    root: str | os.PathLike[str],
    mode: Mode = "read",
    *,
    max_file_bytes: int = 16 * 2**20,
    max_total_bytes: int = 64 * 2**20,
    max_files: int = 1000,
) -> Files:
    """Lends a folder as `fs` and `fs/promises`. Nothing outside of it can be reached.

    Args:
        root: The folder.
        mode: `"read"`; `"overlay"`: writes stay in memory and end with the run; `"write"`.
        max_file_bytes: The largest file that can be read or written.
        max_total_bytes: How much a run may write in all, and in mode overlay keep.
        max_files: How many files and folders a run may make.
    """
    if mode not in MODES:
        instead = suggestion(str(mode), MODES, quote="'")
        raise OptionError(
            f"mode of files must be 'read', 'overlay' or 'write', not {mode!r}; {instead}", "mode"
        )
    path = os.path.abspath(_checked_root(root))
    limits = Limits(
        whole("max_file_bytes", max_file_bytes),
        whole("max_total_bytes", max_total_bytes),
        whole("max_files", max_files),
    )
    return Files(path, mode, limits)


def _checked_root(root: object) -> str:
    if not isinstance(root, str | os.PathLike) or isinstance(root, bytes):
        raise OptionError(f"root of files must be the path of a folder, not {root!r:.80}", "root")
    path = os.fspath(root)
    if not isinstance(path, str) or not path or "\0" in path:
        raise OptionError(f"root of files must be the path of a folder, not {root!r:.80}", "root")
    if not os.path.isdir(path):
        there = "is a file, not a folder" if os.path.exists(path) else "does not exist"
        raise OptionError(f"root of files {path!r} {there}", "root")
    return path


def loan_of(folder: Folder, calls: NodeCalls, name: str) -> Loan:
    """A folder as the module `name`."""
    exports = {"": _EXPORTS, "/promises": (*_PROMISES, "default")}
    return Loan(script("files"), calls.functions(name), exports, close=folder.close)


@dataclass(frozen=True, slots=True)
class Files:
    """What `files()` returns. The folder is opened anew for each run."""

    root: str
    mode: Mode
    limits: Limits
    name = "fs"

    def loan(self, name: str) -> Loan:
        try:
            directory = Directory.at(self.root)
        except OSError as error:
            raise OptionError(f"root of files {self.root!r}: {error.strerror}", "lend") from None
        folder: Folder = (
            Overlay(directory, self.limits)
            if self.mode == "overlay"
            else Disk(directory, self.limits, writable=self.mode == "write")
        )
        return loan_of(folder, NodeCalls(folder), name)

    def describe(self, name: str | None = None) -> str:
        return described("files", self.name, name)
