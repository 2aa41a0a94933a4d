"""What a host that is not root sees: permissions hold for it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path

NOBODY = 65534


def as_nobody(folder: Path, check: Callable[[int], None]) -> None:
    """Calls the check in a fork that is nobody and owns the folder; it gets a descriptor of it.

    Whoever is not root already is left as it is. Fails with the fork's traceback.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            if os.getuid() == 0:
                os.fchown(descriptor, NOBODY, NOBODY)
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            check(descriptor)
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[-60_000:])
        finally:
            os._exit(0)
    os.close(writing)
    os.close(descriptor)
    with os.fdopen(reading) as complaint:
        text = complaint.read()
    os.waitpid(pid, 0)
    assert not text, text
