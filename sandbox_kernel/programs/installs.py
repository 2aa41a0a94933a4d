"""`install=True`: folders of what programs install, and their calls of `install_package`.

A program asks by name and sees its folder read-only. Nothing in it is ever imported or executed
outside of a program.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from ..sessions.private import PrivateFolder
from .installers import checked_name, install
from .turn import Turn

NAME = "install_package"
_MOST = 100  # packages that one program may ask for
_SECONDS_BETWEEN_SWEEPS = 10.0
_THROUGH, _READABLE = 0o711, 0o755  # a program's own user gets to its folder, and to no other


class Installs:
    """The folders of one pool: one for each session, and one for each program without."""

    def __init__(self) -> None:
        self._private = PrivateFolder()
        self.root = os.path.join(os.path.realpath(self._private.path), "installed")
        os.mkdir(self.root)
        for folder in (self._private.path, self.root):
            os.chmod(folder, _THROUGH)
        self._lock = threading.Lock()
        self._marks: dict[str, Callable[[], str]] = {}  # of folders; what their sessions have now
        self._swept = monotonic()

    def open(self, runtime: str, turn: Turn | None) -> Installing:
        """What the session installed is there; a workspace that was deleted has a folder no more."""
        mark = turn.mark() if turn is not None else ""
        if turn is not None and mark:
            self._sweep_now_and_then()
            self._marks[mark] = turn.mark
        folder = os.path.join(self.root, mark or secrets.token_hex(16))
        for each in (folder, os.path.join(folder, "node_modules")):
            os.makedirs(each, exist_ok=True)
            os.chmod(each, _READABLE)
        return Installing(runtime, folder, lasts=bool(mark))

    def _sweep_now_and_then(self) -> None:
        """When the next one comes is early enough: until then nobody takes more of the disk."""
        now = monotonic()
        with self._lock:
            if now - self._swept < _SECONDS_BETWEEN_SWEEPS:
                return
            self._swept = now
        threading.Thread(target=self._sweep, name="sandbox-installs").start()

    def _sweep(self) -> None:
        """Removes the folders of workspaces that are gone."""
        for mark, mark_now in list(self._marks.items()):
            if mark_now() != mark:
                self._marks.pop(mark, None)
                shutil.rmtree(os.path.join(self.root, mark), ignore_errors=True)

    def close(self) -> None:
        self._private.remove()


class Installing:
    """Of one program: answers `install_package`, and passes other calls on to the toolbox."""

    def __init__(self, runtime: str, folder: str, *, lasts: bool) -> None:
        self.folder = folder
        self.toolbox: Any = None  # what else is lent
        self._runtime = runtime
        self._lasts = lasts
        self._one_at_a_time = asyncio.Lock()
        self._count = 0

    @property
    def name(self) -> str:
        return os.path.basename(self.folder)

    def call_from_code(self, name: str, args: Any = None) -> Any:
        """How it is described to who decides."""
        from ..calls import Call

        if name == NAME or self.toolbox is None:
            return Call(name, args)
        return getattr(self.toolbox, "call_from_code", Call)(name, args)

    async def dispatch_from_code(self, name: str, args: Any = None) -> Any:
        if name != NAME:
            if self.toolbox is None:
                raise LookupError("no tools were lent to this program")
            return await self.toolbox.dispatch_from_code(name, args)
        given = args.get("name") if isinstance(args, Mapping) else None
        words = checked_name(self._runtime, given)
        self._count += 1
        if self._count > _MOST:
            raise ValueError(f"a program may install {_MOST} packages")
        async with self._one_at_a_time:
            stop = threading.Event()
            try:
                await asyncio.to_thread(install, self._runtime, words, self.folder, stop)
            finally:
                stop.set()
        return None

    def end(self) -> None:
        """The program has ended."""
        if not self._lasts:
            remove = threading.Thread(
                target=shutil.rmtree, args=(self.folder,), kwargs={"ignore_errors": True}
            )
            remove.start()
