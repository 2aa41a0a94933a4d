"""The supervisor of one program: trusted, it never reads what the program says.

It prepares the place, forks the guest, waits with it for a program, then watches clock, memory and
files, ends the whole tree, and reports how it ended. At level `namespaces` it is the first process
of the program's own namespace: with it everything in there ends.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Container
from contextlib import suppress
from time import monotonic
from typing import NoReturn

from ...isolation import credentials, exits, namespaces, prctl
from ...isolation.beneath import Directory
from ...isolation.identity import KILL
from ...isolation.steps import take
from .. import protocol
from ..protocol import ANSWERED, ASKED, ASKING, ENDED, NAMESPACES, TIME, End, Launch
from . import binary as binaries
from . import guest as guests
from . import root
from .confine import Confinement
from .lending import leave_room
from .paths import BOX, BOX_NAME, SCRATCH, SCRATCH_NAME
from .sampler import Sampler

_DAC_OVERRIDE, _DAC_READ_SEARCH, _SYS_PTRACE = 1, 2, 19
# To end and to measure processes and folders of another user, the program's.
_TO_WATCH = (KILL, _DAC_OVERRIDE, _DAC_READ_SEARCH, _SYS_PTRACE)
_SAMPLE_SECONDS = 0.03
_LONGEST_ERROR = 2000


class Supervisor:
    """Made in the fork for one launch; `live` does not return."""

    def __init__(
        self, confinement: Confinement, launch: Launch, control: socket.socket, home: str
    ) -> None:
        """`home` is the zygote's folder, in which the launch names its own."""
        self._confinement = confinement
        self._launch = launch
        self._control = control
        self._asked: tuple[float, float] | None = None  # when, and what was computed until then
        self._exits: int | None = None  # where the guest's exit is heard of
        self._has_told = False  # how it ended
        self._has_root = confinement.level == NAMESPACES
        self._box, self._scratch = BOX, SCRATCH
        if not self._has_root:
            folder = os.path.join(home, launch.folder or "")
            self._box, self._scratch = f"{folder}/{BOX_NAME}", f"{folder}/{SCRATCH_NAME}"
            if launch.session is not None:
                self._box = f"{confinement.workspaces}/{launch.session}"

    def live(self, streams: list[int]) -> NoReturn:
        """`streams` are the guest's standard streams and its channel.

        The guest is forked first: a page that either of them writes to afterwards is copied once.
        """
        if self._has_root:
            namespaces.unshare(namespaces.MOUNTS)
        says_ready, ready = socket.socketpair()
        is_made, made = os.pipe2(os.O_CLOEXEC)
        guest = os.fork()
        if guest == 0:
            self._control.detach()  # or its end would close a number that is the guest's by then
            os.close(made)
            if not os.read(is_made, 1):
                os._exit(1)  # there will be no place
            guests.live([*streams, ready.detach()], self._confine, self._become)
        for descriptor in (*streams, ready.detach(), is_made):
            os.close(descriptor)
        self._prepare()
        self._give_up()
        take([prctl.not_dumpable()])
        os.write(made, b"!")
        os.close(made)
        self._hear_ready(says_ready)
        self._say_ready(guest)
        self._watch(guest)
        os._exit(0)

    def _confine(self) -> int | None:
        return self._confinement.complete(self._launch, self._box, self._scratch)

    def _become(self) -> NoReturn:
        """In the guest, once it is confined."""
        binary, memory = self._confinement.binary, self._launch.limits.memory_bytes
        if binary is not None:
            bootstrap = self._confinement.bootstrap
            binaries.start(binary, bootstrap, memory, self._box, self._scratch)
        confinement = self._confinement
        guests.run_python(
            self._box,
            self._scratch,
            forks=confinement.forks,
            has_packages=bool(confinement.packages),
        )

    def _prepare(self) -> None:
        owner = self._confinement.owner(self._launch)
        if self._has_root:
            root.add_files(self._launch, owner)
            if self._confinement.owns_proc and not root.own_proc():
                raise RuntimeError("the program cannot have a /proc of its own")
        else:
            take([prctl.signal_at_parents_death(signal.SIGKILL), prctl.adopt_orphans()])
            for folder in (self._box, self._scratch)[self._launch.session is not None :]:
                os.mkdir(folder, 0o700)
                if owner is not None:
                    os.chown(folder, owner, owner)
        if self._launch.session is not None:
            with Directory.at(self._box, is_ours=True) as workspace:
                workspace.give_to(os.geteuid() if owner is None else owner)
        self._lend(owner)
        self._directory = os.open(self._box, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _lend(self, owner: int | None) -> None:
        """What this program alone may use. Its directory may hold what an earlier one left."""
        grants = self._confinement.grants
        if not grants.paths:
            return
        with Directory.at(self._box, is_ours=True) as box:
            for grant in grants.paths:
                if not os.path.isabs(grant.name):
                    leave_room(box, grant, owner, by_link=not self._has_root)
        if self._has_root:
            root.put_grants(grants)

    def _give_up(self) -> None:
        held = self._confinement.capabilities
        take([credentials.only_capabilities([each for each in _TO_WATCH if each in held])])

    def _hear_ready(self, guest: socket.socket) -> None:
        with guest:
            said, passed, _, _ = socket.recv_fds(guest, _LONGEST_ERROR, 1, socket.MSG_CMSG_CLOEXEC)
        if said != b"ready":
            raise RuntimeError(said.decode("utf-8", "replace") or "the guest ended at its birth")
        self._exits = passed[0] if passed else None

    def _say_ready(self, guest: int) -> None:
        self._guest = os.pidfd_open(guest)
        own = os.pidfd_open(os.getpid())
        owner = self._confinement.owner(self._launch)
        protocol.send(
            self._control, {"ready": True, "owner": owner}, [self._directory, own, self._guest]
        )
        os.close(self._directory)
        os.close(own)

    # -- while it runs

    def _watch(self, guest: int) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._guest, select.POLLIN)
        sampler = self._sampler()
        # What a fork does for the first time is slow; now nobody waits.
        sampler.why([guest])
        self._is_alone(guest, sampler)
        why = self._wait_for_go(poll)
        if why is None:
            why = self._wait_for_end(poll, guest, sampler)
        end = self._end_tree(guest, why)
        with suppress(OSError):  # the host is gone
            if not self._has_told:
                self._control.send(end.pack())
            self._read_what_is_left()

    def _read_what_is_left(self) -> None:
        """A socket that is closed with something unread tells the other side of a failure first."""
        self._control.setblocking(False)
        while self._control.recv(64):
            pass

    def _wait_for_go(self, poll: select.poll) -> int | None:
        """Why it is to end before it began, if it is."""
        ready = [descriptor for descriptor, _ in poll.poll()]
        if self._guest in ready:
            return ENDED
        milliseconds = protocol.unpack_go(self._control.recv(64))
        if milliseconds is None:
            return ASKED
        self._deadline = monotonic() + milliseconds / 1000
        return None

    def _sampler(self) -> Sampler:
        folders: tuple[str, ...] = () if self._has_root else (self._box, self._scratch)
        if self._has_root and self._launch.session is not None:
            folders = (self._box,)
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return Sampler(self._launch.limits, self._confinement.base, proc, folders)

    def _wait_for_end(self, poll: select.poll, guest: int, sampler: Sampler) -> int:
        if self._exits is not None:
            poll.register(self._exits, select.POLLIN)
        while True:
            left = self._deadline + self._excused(guest, sampler) - monotonic()
            if left <= 0:
                return TIME
            ready = dict(poll.poll(max(1, min(_SAMPLE_SECONDS, left) * 1000)))
            if self._exits is not None and (event := ready.pop(self._exits, 0)):
                if event != select.POLLIN:  # all who could exit are gone
                    poll.unregister(self._exits)
                elif self._hear_exit(self._exits, guest, sampler):
                    return ENDED
            if ready and not self._is_about_time(ready, guest, sampler):
                return ENDED if self._guest in ready else ASKED
            why = sampler.why(self._tree(guest))
            if why != ENDED:
                return why

    def _hear_exit(self, listener: int, guest: int, sampler: Sampler) -> bool:
        """Whether nothing of the tree can run any more. Then its end is told at once.

        Linux takes a while to give its memory back, and nobody needs to wait for that.
        """
        notice = exits.next_notice(listener)
        if notice is None:
            return False
        if notice.pid == guest and self._is_alone(guest, sampler):
            with suppress(OSError):  # the host is gone
                self._control.send(End(notice.status << 8, ENDED, 0).pack())
            self._has_told = True
        exits.let_go(listener, notice)
        return self._has_told

    def _is_alone(self, guest: int, sampler: Sampler) -> bool:
        return sampler.threads(guest) == 1 and self._tree(guest) == [guest]

    def _is_about_time(self, ready: Container[int], guest: int, sampler: Sampler) -> bool:
        """Whether the host says that a question was asked or answered, and nothing else happened."""
        if self._guest in ready:
            return False
        said = self._control.recv(64)
        if said == ASKING:
            self._asked = monotonic(), sampler.processor_seconds(self._tree(guest))
        elif said == ANSWERED:
            self._deadline += self._excused(guest, sampler)
            self._asked = None
        return said in (ASKING, ANSWERED)

    def _excused(self, guest: int, sampler: Sampler) -> float:
        """Seconds since a question was asked, less what was computed in them."""
        if self._asked is None:
            return 0.0
        since, before = self._asked
        computed = max(0.0, sampler.processor_seconds(self._tree(guest)) - before)
        return max(0.0, monotonic() - since - computed)

    def _tree(self, guest: int) -> list[int]:
        """Without forks the tree is the guest; with them, all others in this namespace."""
        if not self._confinement.forks:
            return [guest]
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]

    def _end_tree(self, guest: int, why: int) -> End:
        """Returns when nothing of it lives."""
        if why != ENDED:
            signal.pidfd_send_signal(self._guest, signal.SIGKILL)
        _, status, usage = os.wait4(guest, 0)
        cpu = usage.ru_utime + usage.ru_stime
        if self._confinement.forks:
            cpu += _end_everything_else()
        return End(status, why, int(cpu * 1000))


def _end_everything_else() -> float:
    """As the first process of a namespace, whose children all orphans are; their processor time."""
    cpu = 0.0
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return cpu
        cpu += usage.ru_utime + usage.ru_stime
