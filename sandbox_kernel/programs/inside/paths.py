"""What of the machine a program may see: its interpreter's own files and a little beside them."""

from __future__ import annotations

import os

STDLIB = os.path.dirname(os.__file__)
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
DATA = ("/usr/share/zoneinfo", "/etc/localtime", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
OF_THE_MACHINE = ("/proc/meminfo", "/proc/stat", "/proc/cpuinfo", "/sys/devices/system/cpu/online")
OF_OTHERS = ("site-packages", "dist-packages")  # folders in the standard library's

BOX, SCRATCH, SHARED_MEMORY = "/box", "/tmp", "/dev/shm"  # where a program has a root of its own  # noqa: S108
PACKAGES, INSTALLED = "/packages", "/installed"
BOX_NAME, SCRATCH_NAME = "box", "tmp"  # in the folder of a run
PACKAGES_NAME = "packages"  # in that of the zygote


def stdlib_entries() -> list[str]:
    """Everything in the standard library's folder but packages that were installed there."""
    return [f"{STDLIB}/{name}" for name in os.listdir(STDLIB) if name not in OF_OTHERS]


def system_libraries() -> list[str]:
    """What packages may load; not folders of other interpreters."""
    folders = [folder for folder in LIBRARIES if os.path.isdir(folder)]
    real = {os.path.realpath(folder) for folder in folders}
    return [
        f"{folder}/{name}"
        for folder in sorted(real)
        for name in os.listdir(folder)
        if not name.startswith("python")
    ]


def mapped_libraries() -> list[str]:
    """The files that this process has in its memory; programs inherit them."""
    with open("/proc/self/maps") as file:
        return sorted({line.split()[-1] for line in file if "/" in line})


def foreign_pythons() -> list[str]:
    """Other interpreters' folders in the system's libraries, which hold packages."""
    found = []
    for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib"):
        if not os.path.isdir(folder) or os.path.islink(folder):
            continue
        found += [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith("python")]
    own = os.path.realpath(STDLIB)
    return [path for path in found if os.path.isdir(path) and os.path.realpath(path) != own]


def is_open_to_all(path: str) -> bool:
    """Whether a user without any rights but everybody's can read it."""
    while path != "/":
        mode = os.stat(path).st_mode
        if not mode & (1 if os.path.isdir(path) else 4):
            return False
        path = os.path.dirname(path)
    return True
