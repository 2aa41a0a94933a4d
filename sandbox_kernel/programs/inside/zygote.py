"""The zygote of programs: an interpreter with the standard library loaded, which forks supervisors.

It stays single-threaded and never sees a program's text. Its parent, the guardian, does nothing but
wait: when the host is gone, it ends the zygote, and with it every program.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import threading
from importlib import import_module
from typing import Any, NoReturn

from ...isolation import namespaces, prctl, rlimits
from ...isolation.beneath import Directory
from ...isolation.libc import libc
from ...isolation.steps import take
from ...isolation.system import checked
from .. import protocol
from ..protocol import LANDLOCK, NAMESPACES, Kind, Launch, Packages
from . import binary as binaries
from . import descriptors, python, root
from .confine import Confinement, lock_zygote
from .descriptors import PROC
from .paths import PACKAGES, PACKAGES_NAME
from .preload import preload
from .supervisor import Supervisor

_STACK_BYTES = 1 << 20  # of threads, whose stacks count as memory
# Each makes every program a little more expensive to fork and to end: what most import, and no more.
_COMMON = """
argparse array ast asyncio base64 bisect bz2 calendar cmath collections concurrent.futures.thread
contextlib copy csv ctypes dataclasses datetime decimal enum fractions functools glob gzip hashlib
heapq inspect io ipaddress itertools json linecache logging lzma math mimetypes numbers operator
pathlib pickle pprint queue random re secrets select shlex shutil signal site socket sqlite3
statistics string struct subprocess tempfile textwrap threading time timeit traceback typing
unicodedata urllib.parse uuid warnings weakref zipfile zlib zoneinfo
""".split()
_ALL_BUT_USERS = (
    namespaces.MOUNTS
    | namespaces.PROCESSES
    | namespaces.NETWORK
    | namespaces.MESSAGES
    | namespaces.HOST_NAME
    | namespaces.GROUPS_OF_PROCESSES
)


def main(host: socket.socket, boot: dict[str, Any]) -> None:
    """`boot` has the level and, where there is no root of one's own, a folder for programs."""
    os.environ.clear()
    descriptors.settle()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    try:
        zygote = _born(host, boot)
    except Exception as error:
        protocol.send(host, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    try:
        protocol.send(host, {"ready": True, "forks": zygote.confinement.forks})
        zygote.serve()
    except OSError:
        pass  # the host is gone
    os._exit(0)


def _born(host: socket.socket, boot: dict[str, Any]) -> Zygote:
    """In the guardian's child."""
    level, folder, kind = boot["level"], boot["folder"], Kind.of(boot["kind"])
    if level == NAMESPACES:
        if os.getuid():
            namespaces.own_users(root.INNER_USER, PROC)
        kept = namespaces.NETWORK if kind.grants.net else 0
        namespaces.unshare(_ALL_BUT_USERS & ~kept)
    guardian = os.getpid()
    watched = os.pidfd_open(os.getppid())
    child = os.fork()
    if child:
        _guard(host, watched, child, folder)
    os.close(watched)
    take([prctl.signal_at_parents_death(signal.SIGKILL)])
    if level != NAMESPACES:
        take([prctl.has_parent(guardian)])
    rlimits.be_first_to_go()
    if kind.binary is None:
        _load()
    has_proc, bootstrap = True, ""
    if level == NAMESPACES:
        has_proc = root.build(kind)
        namespaces.name_host("sandbox")
    if kind.binary is not None:
        bootstrap = root.bootstrap_of(kind.binary)
        if level != NAMESPACES:
            bootstrap = binaries.write_bootstrap(kind.binary, folder)
    packages = PACKAGES if level == NAMESPACES else f"{folder}/{PACKAGES_NAME}"
    if kind.packages is not None and level != NAMESPACES:
        _link(kind.packages, packages)
    if level == LANDLOCK:
        lock_zygote(folder, kind)
    if kind.packages is not None:
        _preload(kind.packages, packages, level, folder)
    confinement = Confinement(
        level,
        has_proc=has_proc,
        kind=kind,
        bootstrap=bootstrap,
        packages=packages if kind.packages is not None else "",
    )
    zygote = Zygote(host, confinement, folder)
    gc.collect()
    gc.freeze()
    return zygote


def _guard(control: socket.socket, host: int, zygote: int, folder: str | None) -> NoReturn:
    """Until the host hangs up or is gone, or the zygote is."""
    poll = select.poll()
    child = os.pidfd_open(zygote)
    poll.register(control, 0)  # its end, not what it says
    poll.register(host, select.POLLIN)
    poll.register(child, select.POLLIN)
    poll.poll()
    signal.pidfd_send_signal(child, signal.SIGKILL)
    os.waitpid(zygote, 0)
    if folder is not None:
        with Directory.at(folder, is_ours=True) as home:
            home.empty()
        os.rmdir(folder)
    os._exit(0)


def _link(packages: Packages, farm: str) -> None:
    """Where there is no root of its own: a folder of links, and nothing beside what is lent."""
    os.mkdir(farm, 0o755)
    for entry, source in packages.entries:
        os.makedirs(os.path.dirname(f"{farm}/{entry}"), 0o755, exist_ok=True)
        os.symlink(source, f"{farm}/{entry}")


def _preload(packages: Packages, path: str, level: str, folder: str) -> None:
    if level == NAMESPACES:
        with root.scratch() as scratch:
            preload(packages.modules, path, scratch)
        return
    scratch = f"{folder}/preload"
    os.mkdir(scratch, 0o700)
    preload(packages.modules, path, scratch)


def _load() -> None:
    """What programs import most is loaded once, for all of them."""
    for name in _COMMON:
        try:
            import_module(name)
        except ImportError:
            continue  # this interpreter was built without it
    import mimetypes
    import site

    mimetypes.init([])  # tables of the system's are there, but may not be read
    for announce in (site.setquit, site.setcopyright, site.sethelper):
        announce()  # exit(), quit(), help(), which an interpreter without site lacks
    threading.stack_size(_STACK_BYTES)
    python.settle()


class Zygote:
    """Forks a supervisor for every launch; exits when the host is gone."""

    def __init__(self, host: socket.socket, confinement: Confinement, folder: str | None) -> None:
        self.confinement = confinement
        self._host = host
        self._folder = folder or ""
        self._here = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=PROC)
        self._has_root = confinement.level == NAMESPACES

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors report for themselves
        while True:
            message, passed = protocol.receive(self._host)
            if message is None:
                return
            try:
                self._fork(Launch.of(message), passed)
            finally:
                for descriptor in passed:
                    os.close(descriptor)

    def _fork(self, launch: Launch, passed: list[int]) -> None:
        """Without what Python does after a fork, such as seeding `random`: that writes to 200 pages.

        A supervisor is as single-threaded as this process, and uses nothing of it; guests have it.
        """
        if self._has_root:
            namespaces.unshare(namespaces.PROCESSES)
        if checked(libc.fork(), "fork") == 0:
            self._supervise(launch, passed)
        if self._has_root:
            namespaces.enter(self._here, namespaces.PROCESSES)

    def _supervise(self, launch: Launch, passed: list[int]) -> NoReturn:
        control = socket.socket(fileno=passed[0])
        try:
            self._host.detach()
            descriptors.forget_control()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            Supervisor(self.confinement, launch, control, self._folder).live(passed[1:])
        except BaseException as error:
            protocol.send(control, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
