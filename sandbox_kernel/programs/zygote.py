"""The host's hold on a zygote of programs: starts it, asks it for places, ends it."""

from __future__ import annotations

import itertools
import os
import select
import signal
import sys
import tempfile
import threading
import weakref
from contextlib import suppress

from ..errors import EngineError
from ..isolation.beneath import Directory
from . import place as places
from . import protocol
from .place import Place, Signs, open_place
from .protocol import NAMESPACES, Kind, Launch, Limits
from .spawn import spawn
from .users import next_user

_PREFIX = "sandbox-programs-"
_PATIENCE_MILLISECONDS = 20_000
_GRACE_MILLISECONDS = 5_000
_THROUGH = 0o711  # a program's own user has to get to its folder, and to no other


class ZygoteProcess:
    """Places are opened by one thread; the rest may be called from any."""

    def __init__(self, executable: str, level: str, kind: Kind) -> None:
        """Waits until it can fork; EngineError if it cannot."""
        self.level = level
        self._lock = threading.Lock()
        self.places = 0  # that were asked for
        self._signs = Signs()
        self._numbers = itertools.count(1)
        self._workspaces = kind.workspaces
        self._folder = None if level == NAMESPACES else _private_folder()
        try:
            self._spawned = spawn(executable, level, self._folder, kind=kind)
        except BaseException:
            self._remove_folder()
            raise
        self.pid = self._spawned.pid
        _alive.add(self)
        try:
            self.forks = self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self) -> bool:
        control = self._spawned.control
        poll = select.poll()
        poll.register(control, select.POLLIN)
        if not poll.poll(_PATIENCE_MILLISECONDS):
            raise EngineError("the zygote of programs did not start in time")
        message, _ = protocol.receive(control)
        if message is None:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            raise EngineError(
                f"the zygote of programs ended at its start; its interpreter has to be CPython {version}"
            )
        if "failed" in message:
            raise EngineError(str(message["failed"]))
        return bool(message["forks"])

    def open_place(
        self, limits: Limits, session: str | None = None, installed: str | None = None
    ) -> Place:
        """Not yet ready. Raises OSError if the zygote is gone, or descriptors are."""
        name = str(next(self._numbers)) if self._folder is not None else None
        if self._folder is not None and name is not None:
            os.mkdir(os.path.join(self._folder, name), _THROUGH)
        with places.passing:
            launch = Launch(limits, self._user(session), name, session, installed)
            place, ends = open_place(launch, self._signs)
            try:
                protocol.send(self._spawned.control, place.launch.spell(), ends.descriptors)
            except OSError:
                place.close()
                raise
            finally:
                ends.close()
        self.places += 1
        return place

    def _user(self, session: str | None) -> int | None:
        """A session keeps its user, whose the files are."""
        user = next_user()
        if user is None or session is None or self._workspaces is None:
            return user
        owner = os.stat(os.path.join(self._workspaces, session), follow_symlinks=False).st_uid
        return user if owner == os.geteuid() else owner

    def remove(self, place: Place) -> None:
        """The folder of a program whose tree is dead, if it has one."""
        if self._folder is None or place.launch.folder is None:
            return
        with suppress(OSError), Directory.at(self._folder, is_ours=True) as home:
            home.remove_tree(place.launch.folder)

    def close(self) -> None:
        """Ends it and every program of it, and waits until that is so. Idempotent, from any thread."""
        self._spawned.control.close()
        with self._lock:
            pid, self.pid = self.pid, 0
        if pid:
            _wait_or_kill(pid)
        self._remove_folder()

    def _remove_folder(self) -> None:
        """If its guardian did not: it may have been killed."""
        if self._folder is None or not os.path.isdir(self._folder):
            return
        with suppress(OSError):
            os.rmdir(
                self._folder
            )  # if it is empty, this takes no descriptor, of which none may be left
        with suppress(OSError):
            with Directory.at(self._folder, is_ours=True) as home:
                home.empty()
            os.rmdir(self._folder)

    def forget(self) -> None:
        """In a fork of the host: it is the parent's, and so is its folder."""
        self.pid, self._folder = 0, None
        self._spawned.control.close()


def _wait_or_kill(pid: int) -> None:
    with suppress(OSError):
        process = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(process, select.POLLIN)
        if not poll.poll(_GRACE_MILLISECONDS):
            os.kill(pid, signal.SIGKILL)
        os.close(process)
        os.waitpid(pid, 0)


def _private_folder() -> str:
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    os.chmod(folder, _THROUGH)
    return os.path.realpath(folder)


_alive: weakref.WeakSet[ZygoteProcess] = weakref.WeakSet()


def _forget_all() -> None:
    for zygote in list(_alive):
        zygote.forget()


os.register_at_fork(after_in_child=_forget_all)
