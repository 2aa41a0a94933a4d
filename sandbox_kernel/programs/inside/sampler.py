"""What a program's processes use together: memory, threads, and files where no tmpfs bounds them.

Limits of the operating system hold for one process; this looks at the whole tree, now and then.
"""

from __future__ import annotations

import os
import stat
from resource import getpagesize
from time import monotonic

from ...isolation.beneath import Directory, Quota
from ..protocol import DISK, ENDED, MEMORY, OPEN_FILES, THREADS, Limits
from .confine import Base

_SLACK = 32 * 2**20  # so that a single process meets its own limit first, as a MemoryError
_SCAN_SHARE = 20  # a scan of files is followed by a pause of so many times its own duration
_LEAST_PAUSE = 0.03


class Sampler:
    """`why()` says which limit the tree is over, if any."""

    def __init__(self, limits: Limits, base: Base, proc: int, folders: tuple[str, ...]) -> None:
        """`folders` are those to be measured; none where a tmpfs has a size."""
        self._limits = limits
        self._base = base
        self._proc = proc
        quota = Quota(limits.directory_bytes, limits.directory_files)
        self._folders = [Directory.at(folder, quota=quota, is_ours=True) for folder in folders]
        self._next_scan = 0.0

    def why(self, pids: list[int]) -> int:
        if self._memory_is_over(pids):
            return MEMORY
        if sum(self.threads(pid) for pid in pids) > self._limits.processes:
            return THREADS
        if len(pids) > 1 and sum(map(self._open_files, pids)) > self._limits.open_files_of_all:
            return OPEN_FILES
        if self._folders and self._files_are_over(pids):
            return DISK
        return ENDED

    def processor_seconds(self, pids: list[int]) -> float:
        """Of these, and of those that they have waited for."""
        return sum(map(self._ticks, pids)) / os.sysconf("SC_CLK_TCK")

    def _ticks(self, pid: int) -> int:
        """The name of a process, which may be anything, stands before the last parenthesis."""
        fields = self._read(f"{pid}/stat").rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) if len(fields) > 15 else 0

    # -- memory and threads

    def _memory_is_over(self, pids: list[int]) -> bool:
        most = self._limits.memory_bytes + self._base.resident + _SLACK
        if sum(map(self._resident, pids)) <= most:
            return False
        # Forks share pages, which count for each of them: look again, at their shares.
        return len(pids) == 1 or sum(map(self._share, pids)) > most

    def _resident(self, pid: int) -> int:
        words = self._read(f"{pid}/statm").split()
        return int(words[1]) * getpagesize() if words else 0

    def _share(self, pid: int) -> int:
        """All of it where the system does not tell; nothing of a process that has ended meanwhile."""
        for line in self._read(f"{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
        return self._resident(pid)

    def threads(self, pid: int) -> int:
        """The number of folders in a folder is its count of links, but for two."""
        try:
            return os.stat(f"{pid}/task", dir_fd=self._proc).st_nlink - 2
        except OSError:
            return 0

    def _open_files(self, pid: int) -> int:
        """The size of the folder, from Linux 6.2 on; before, nothing."""
        try:
            return os.stat(f"{pid}/fd", dir_fd=self._proc).st_size
        except OSError:
            return 0

    def _read(self, name: str) -> bytes:
        try:
            file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
        except OSError:
            return b""
        try:
            return os.read(file, 1 << 14)
        except OSError:
            return b""
        finally:
            os.close(file)

    # -- files

    def _files_are_over(self, pids: list[int]) -> bool:
        began = monotonic()
        if began < self._next_scan:
            return False
        size = sum(map(self._unlinked, pids))
        files = 0
        for folder in self._folders:
            usage = folder.usage()
            size, files = size + usage.bytes, files + usage.files
        took = monotonic() - began
        self._next_scan = began + max(_LEAST_PAUSE, took * _SCAN_SHARE)
        return size > self._limits.directory_bytes or files > self._limits.directory_files

    def _unlinked(self, pid: int) -> int:
        """Files that have no name any more, but are open."""
        size = 0
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            return 0
        for name in names:
            try:
                found = os.stat(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                size += found.st_blocks * 512
        return size
