"""What a guest gives up before it reads its program, in order.

Prepared in the zygote as far as possible; `complete` is called in the guest, whose standard streams
and channel are its first four descriptors by then.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from resource import (
    RLIMIT_AS,
    RLIMIT_CORE,
    RLIMIT_DATA,
    RLIMIT_FSIZE,
    RLIMIT_MEMLOCK,
    RLIMIT_NOFILE,
    RLIMIT_NPROC,
    getpagesize,
)

from ...isolation import credentials, exits, landlock, namespaces, prctl, rlimits
from ...isolation.identity import SETPCAP, SETUID, Identity
from ...isolation.libc import libc
from ...isolation.steps import Step, take
from ..protocol import NAMESPACES, PROCESS, Binary, Grants, Kind, Launch
from .calls import filter_program, for_process
from .descriptors import PROC
from .paths import (
    DATA,
    DEVICES,
    INSTALLED,
    LIBRARIES,
    OF_THE_MACHINE,
    SHARED_MEMORY,
    STDLIB,
    is_open_to_all,
    mapped_libraries,
    stdlib_entries,
    system_libraries,
)
from .root import FOR_NAMES, INNER_USER, within

_MANY = 4096
# Where Node and Deno measure themselves; beside these are files that tell of the whole machine.
_MEASURES = ("stat", "statm", "status", "maps", "cgroup", "limits")
_PLAIN = Kind()
# V8 takes so many bytes at once for code, for each of its isolates; the sampler sees what is used.
_CODE_RANGE, _WORKERS = 512 << 20, 2
_UNCOUNTED_ADDRESSES = 1 << 30  # mapped but not used: libraries, arenas, stacks of threads


def lock_zygote(folder: str, kind: Kind) -> None:
    """Where there is no root of its own: what no program may see, its zygote does not see either.

    Few rules are left for each guest then, whose own are narrower in other places. The standard
    library is allowed entry by entry, because packages may be installed beside them.
    """
    looks = [*stdlib_entries(), *mapped_libraries(), *DATA, *OF_THE_MACHINE, "/proc"]
    rules = [(path, landlock.LOOK) for path in looks]
    rules += [(path, landlock.READ | landlock.WRITE) for path in DEVICES]
    rules += _rules_of(kind.binary)
    if kind.packages is not None:
        looks = [source for _, source in kind.packages.entries] + system_libraries()
        rules += [(path, landlock.LOOK) for path in looks]
    rules += _rules_of_grants(kind.grants, is_inside=False)
    if kind.installs is not None:
        rules += [(path, landlock.LOOK) for path in (kind.installs, *system_libraries())]
    used = [folder, *([kind.workspaces] if kind.workspaces else [])]
    rules += [(path, landlock.USE) for path in used]
    made = landlock.ruleset(rules, tcp=kind.grants.net)
    take([prctl.no_new_privileges(), landlock.restrict(made)])
    os.close(made)


class Base:
    """What a fork of this process has in its memory from birth."""

    def __init__(self) -> None:
        with open("/proc/self/statm") as file:
            pages = [int(word) for word in file.read().split()]
        self.mapped, self.resident, _, _, _, self.data, _ = (n * getpagesize() for n in pages)


class Confinement:
    """Of all guests of one zygote."""

    def __init__(
        self,
        level: str,
        *,
        has_proc: bool,
        kind: Kind = _PLAIN,
        bootstrap: str = "",
        packages: str = "",
    ) -> None:
        """`has_proc`: programs can have a /proc of their own. `bootstrap` is where Node's is."""
        self.level = level
        self.owns_proc = level == NAMESPACES and has_proc
        self.forks = self.owns_proc and kind.binary is None
        self.workspaces = kind.workspaces
        self.grants = kind.grants
        self.binary = binary = kind.binary
        if binary is not None and level == NAMESPACES:
            self.binary = within(binary)
        self.bootstrap = bootstrap
        self._has_root = level == NAMESPACES
        self._is_root = os.getuid() == 0
        # In a user namespace of its own a guest has every capability, to begin with.
        owns_users = self._has_root and not self._is_root
        self.capabilities = Identity.of("self").capabilities  # of the zygote and its supervisors
        self._may_bound = owns_users or SETPCAP in self.capabilities
        # Linux counts processes of a user in each user namespace for itself, from 5.14 on.
        self._counts_alone = owns_users and _linux() >= (5, 14)
        # Else those of others count too; then the sampler sees to it that there are not too many.
        self._others = _tasks_of(os.getuid()) + _MANY
        needed = [STDLIB if binary is None else binary.path]
        # The zygote's own rules say which of them; so each guest takes one for all of a folder.
        sources = [source for _, source in kind.packages.entries] if kind.packages else []
        needed += [*sources, *([kind.installs] if kind.installs else [])]
        self._installs = kind.installs
        self.packages = packages
        self._of_packages = sorted({os.path.dirname(source) for source in sources})
        self._of_packages = [packages, *([] if self._has_root else self._of_packages)] * bool(
            sources
        )
        opened = all(map(is_open_to_all, needed)) if self._is_root and not self._has_root else True
        self._hidden = not opened
        if binary is not None and self._hidden:
            raise PermissionError(f"{binary.path} cannot be reached by users other than root")
        version = 0 if level == PROCESS else landlock.abi()
        self._has_landlock = version > 0
        self._program = filter_program(
            private_files=self._has_root,
            forks=self.forks,
            sees_truncation=self._has_root or version >= landlock.SEES_TRUNCATION,
            executes=binary is not None,
            network=kind.grants.net,
            lent_files=any(grant.writes for grant in kind.grants.paths),
        )
        self.base = Base()
        if binary is not None:
            self.base.data, self.base.resident = binary.data_bytes, binary.resident_bytes
            if binary.data_bytes > _CODE_RANGE:
                self.base.data += _WORKERS * _CODE_RANGE

    def owner(self, launch: Launch) -> int | None:
        """Whose the program's directory has to be; None for the zygote's own user."""
        return None if self._hidden else launch.user

    def complete(self, launch: Launch, folder: str, scratch: str) -> int | None:
        """From here on this process is as confined as its level says. Raises if it is not.

        The descriptor at which its exit is heard of, where Linux can do that.
        """
        supervisor = os.getppid()
        if self._has_root and not self._is_root:
            namespaces.own_users(INNER_USER, PROC)
        take(self._limits(launch))
        if launch.user is not None:
            take(self._become(launch.user))
        os.chdir(folder)
        take(self._without_capabilities())
        take([prctl.signal_at_parents_death(signal.SIGKILL), prctl.has_parent(supervisor)])
        take([prctl.no_new_privileges(), prctl.dumpable()])
        _reset_signals()
        self._restrict_files(folder, scratch, launch.installed)
        program = for_process(self._program, os.getpid())
        os.close(PROC)
        # Node and Deno exit with threads that still run, so for them it would be of no use.
        listener = exits.hold() if self.binary is None else None
        take([prctl.filter_system_calls(program)])
        return listener

    def _limits(self, launch: Launch) -> list[Step]:
        limits = launch.limits
        alone = launch.user is not None or self._counts_alone
        most = {
            RLIMIT_CORE: 1,  # 0 would still let Linux pass a core to a program of the host's
            RLIMIT_MEMLOCK: 0,
            RLIMIT_NOFILE: limits.open_files,
            RLIMIT_FSIZE: limits.directory_bytes,
            RLIMIT_NPROC: limits.processes + (0 if alone else self._others),
            RLIMIT_DATA: limits.memory_bytes + self.base.data,
            # Memory shared with other processes counts here only.
            RLIMIT_AS: limits.memory_bytes + self.base.mapped + _UNCOUNTED_ADDRESSES,
        }
        if self.binary is not None:
            del most[RLIMIT_AS]  # it maps gigabytes that it never uses; its filter refuses the rest
        steps = [rlimits.at_most(which, value) for which, value in most.items()]
        return [*steps, rlimits.processor_seconds(limits.cpu_seconds)]

    def _become(self, user: int) -> list[Step]:
        """Where others may not reach the interpreter's files, only Landlock guards files."""
        ids = (user, user, user)
        steps = [
            credentials.no_groups(),
            Step("becoming the run's group", os.setresgid, ids),
            prctl.keep_capabilities(),
            Step("becoming the run's user", os.setresuid, ids),
        ]
        if self._hidden:
            steps += [
                credentials.only_capabilities((SETUID, SETPCAP)),
                Step("reading files as root", libc.setfsuid, (0,), user),
            ]
        return steps

    def _without_capabilities(self) -> list[Step]:
        steps = [prctl.no_ambient_capabilities(), credentials.only_capabilities()]
        if not self._may_bound:
            return steps
        return [credentials.only_capabilities((SETPCAP,)), *credentials.no_bounding_set(), *steps]

    def _restrict_files(self, folder: str, scratch: str, installed: str | None) -> None:
        if not self._has_landlock:
            return
        looks = [*LIBRARIES, *DATA, *OF_THE_MACHINE, *self._of_packages]
        if installed is not None:
            looks.append(INSTALLED if self._has_root else f"{self._installs}/{installed}")
        if self.binary is None:
            looks.append(STDLIB)
        if self._has_root:
            looks.append("/proc")
        elif self.binary is not None:
            looks += [f"/proc/{os.getpid()}/{name}" for name in _MEASURES]
        rules = [(path, landlock.LOOK) for path in looks]
        rules += [
            *_rules_of(self.binary),
            *([(self.bootstrap, landlock.LOOK)] * bool(self.binary)),
        ]
        rules += [(path, landlock.READ | landlock.WRITE) for path in DEVICES]
        rules += [(folder, landlock.USE), (scratch, landlock.USE)]
        if self._has_root:
            rules.append((SHARED_MEMORY, landlock.USE))
        rules += _rules_of_grants(self.grants, is_inside=self._has_root, folder=folder)
        made = landlock.ruleset(rules, tcp=self.grants.net)
        take([landlock.restrict(made)])
        os.close(made)


def _rules_of_grants(grants: Grants, *, is_inside: bool, folder: str = "") -> list[landlock.Rule]:
    """`is_inside`: under the names that they have in a root of one's own."""
    rules = [(path, landlock.LOOK) for path in FOR_NAMES] if grants.net else []
    for grant in grants.paths:
        path = os.path.join(folder, grant.name) if is_inside else grant.source
        rules.append((path, landlock.USE if grant.writes else landlock.LOOK))
    return rules


def _rules_of(binary: Binary | None) -> list[landlock.Rule]:
    """Linux starts it through its loader, which maps the other files."""
    if binary is None:
        return []
    started = [binary.path, *([binary.loader] if binary.loader else [])]
    rules = [(path, landlock.LOOK | landlock.EXECUTE) for path in started]
    return [*rules, *((path, landlock.LOOK) for path in binary.files)]


def _linux() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])


def _tasks_of(user: int) -> int:
    """Threads of all processes of a user that can be seen."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found = os.stat(f"/proc/{name}/task")
            count += found.st_nlink - 2 if found.st_uid == user else 0
    return count


def _reset_signals() -> None:
    """As an interpreter has them that was just started."""
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
