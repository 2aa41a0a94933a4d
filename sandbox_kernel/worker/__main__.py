"""The zygote: load everything once, then fork a worker for each socket that the host sends.

Order of birth of a worker: fork, adopt the realm (a copy of one that nothing has run in), lock
down, say so, read the job, run, wait for the end. The zygote stays single-threaded and never sees
guest text.
"""

from __future__ import annotations

import array
import os
import resource
import select
import signal
import socket
import sys
from typing import NoReturn

from ..wire import messages
from ..wire.control import EXITED, FAILED, FORKED, Record
from ..wire.frame import pack
from . import prefault
from .channel import Channel
from .lockdown import Lockdown
from .quickjs import Compiler
from .realm import REHEARSAL, Realm
from .typescript import warm

_UNWANTED_MILLISECONDS = 20  # without a job, after which a worker takes the time to prepare
_QUIET_MILLISECONDS = 100  # without a request, after which the zygote takes the time to rehearse
_FORKS_BEFORE_REHEARSAL = 8  # it does not wait for quiet for ever


def main(control_descriptor: int, cpu_seconds: int) -> None:
    control = socket.socket(fileno=control_descriptor)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    try:
        zygote = Zygote(control, cpu_seconds)
    except Exception as error:
        control.sendall(Record(FAILED, 0, 0, 0).pack() + repr(error).encode()[:1000])
        return
    try:
        zygote.serve()
    except OSError:
        pass  # the host is gone
    finally:
        os._exit(0)


class Zygote:
    """Forks on request and reports how its children ended; ends when its host does."""

    def __init__(self, control: socket.socket, cpu_seconds: int) -> None:
        self._control = control
        self._claims: list[prefault.Range] = []
        self._rehearsed = False
        self._forks = 0
        self._realm = Realm(Compiler())
        self._lockdown = Lockdown(cpu_seconds)
        self._channel = Channel()
        self._job = select.poll()
        warm()
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        wake, waker = socket.socketpair()
        wake.setblocking(False)
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        try:
            while True:
                ready = poll.poll(None if self._rehearsed else _QUIET_MILLISECONDS)
                if not self._rehearsed and (not ready or self._forks >= _FORKS_BEFORE_REHEARSAL):
                    self._rehearse()
                for descriptor, _ in ready:
                    if descriptor == wake.fileno():
                        wake.recv(4096)
                    elif not self._fork_as_asked():
                        return
                self._reap()
        finally:
            signal.set_wakeup_fd(-1)  # before its socket goes

    def _rehearse(self) -> None:
        """Does what a worker does, on a job of our own.

        First here, in a realm that nobody will use: what is made only once, such as functions of
        the binding and specialised bytecode, is then shared rather than made in every worker.
        Then in a child, to learn which pages a worker writes to.
        """
        self._rehearsed = True
        self._spent_realm = _run_rehearsal(Realm(Compiler()))  # freed, it would leave holes to fill
        self._claims = prefault.learn(lambda: _run_rehearsal(self._realm))

    def _fork_as_asked(self) -> bool:
        data, ancillary, _, _ = self._control.recvmsg(1, socket.CMSG_SPACE(4))
        if not data:
            return False
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self._fork(array.array("i", payload)[0])
        return True

    def _fork(self, descriptor: int) -> None:
        self._forks += 1
        parent = os.getpid()
        pid = os.fork()
        if not pid:
            self._be_worker(descriptor, parent)
        os.close(descriptor)
        rights = []
        if hasattr(os, "pidfd_open"):
            rights = [os.pidfd_open(pid)]
        ancillary = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", rights))] if rights else []
        )
        self._control.sendmsg([Record(FORKED, pid, 0, 0).pack()], ancillary)
        for right in rights:
            os.close(right)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            born_with = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            peak = max(0, usage.ru_maxrss - born_with)
            self._control.sendall(Record(EXITED, pid, status, peak).pack())

    def _be_worker(self, descriptor: int, parent: int) -> NoReturn:
        signal.set_wakeup_fd(-1)
        try:
            self._job.register(descriptor, select.POLLIN)
            channel = self._channel
            channel.connect(descriptor)
            self._realm.adopt(channel, os.urandom(8))
            level = self._lockdown.apply(descriptor, parent)
            channel.post(messages.READY, level, messages.VERSION)
            channel.flush()
            if not self._job.poll(_UNWANTED_MILLISECONDS):
                self._lockdown.claim(self._claims)  # under load, throughput matters more
            self._realm.run(channel.receive())
            while True:
                channel.receive()
        except MemoryError:
            os._exit(messages.EXIT_MEMORY)
        except BaseException:
            os._exit(messages.EXIT_INTERNAL)
        os._exit(0)


def _run_rehearsal(realm: Realm) -> Realm:
    ours, theirs = socket.socketpair()
    with ours:
        channel = Channel()
        channel.connect(theirs.detach())
        realm.adopt(channel, os.urandom(8))
        ours.sendall(b"".join(pack(messages.RUN, 0, 0, REHEARSAL)))
        realm.run(channel.receive())
    return realm


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
