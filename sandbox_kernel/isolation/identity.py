"""Who a process is on Linux, and which rights it has beyond that, as /proc tells."""

from __future__ import annotations

from typing import NamedTuple

KILL, SETGID, SETUID, SETPCAP = 5, 6, 7, 8  # from linux/capability.h
HIGHEST = 64  # capabilities that there can be
NOBODY = 65534  # the number of both the user and the group
_TO_HOST_NOBODY = (SETUID, SETGID, KILL)  # to become nobody, and to kill a process that has


class Identity(NamedTuple):
    """What /proc says of a process."""

    is_root: bool
    capabilities: frozenset[int]  # that it has, and would still have after starting a program
    knows_nobody: bool  # its user namespace has such a user and group
    may_set_groups: bool

    @classmethod
    def of(cls, pid: int | str) -> Identity:
        """Without any right where the system does not say."""
        try:
            return cls._read(pid)
        except (OSError, KeyError, ValueError):
            return cls(False, frozenset(), False, False)

    @classmethod
    def _read(cls, pid: int | str) -> Identity:
        fields = dict(line.split(":", 1) for line in _read(pid, "status").splitlines())
        held = int(fields["CapEff"], 16) & int(fields["CapBnd"], 16)
        return cls(
            "0" in fields["Uid"].split(),
            frozenset(number for number in range(HIGHEST) if held >> number & 1),
            all(_has_nobody(_read(pid, name)) for name in ("uid_map", "gid_map")),
            _read(pid, "setgroups").strip() == "allow",
        )

    @property
    def can_host_nobody(self) -> bool:
        """Whether it is root, can have children that are nobody, and has power over those."""
        may = self.knows_nobody and self.may_set_groups
        return self.is_root and may and self.capabilities.issuperset(_TO_HOST_NOBODY)


def _read(pid: int | str, name: str) -> str:
    with open(f"/proc/{pid}/{name}") as file:
        return file.read()


def _has_nobody(id_map: str) -> bool:
    spans = (map(int, line.split()) for line in id_map.splitlines())
    return any(first <= NOBODY < first + count for first, _, count in spans)
