"""A guest: takes its streams, is confined, waits for its program, and runs it."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable
from typing import Any, NoReturn

from ...wire.frame import FrameReader
from . import descriptors
from .descriptors import CHANNEL, READY
from .preload import SETTINGS, renew
from .python import PythonProgram

_EXIT_UNABLE = 125
_IDLE_MILLISECONDS = 10  # without a program, after which it rehearses for one
_LONGEST_JOB = (1 << 32) - 1


def live(
    streams: list[int], confine: Callable[[], int | None], become: Callable[[], NoReturn]
) -> NoReturn:
    """In the fork of a supervisor. The last of its streams says whether it is confined.

    What `confine` returns goes to the supervisor, which hears of the guest's exit there.
    """
    descriptors.take(streams)
    try:
        os.setsid()
        listener = confine()
    except BaseException as error:
        os.write(READY, f"{type(error).__name__}: {error}".encode())
        os._exit(_EXIT_UNABLE)
    with socket.socket(fileno=READY) as ready:
        socket.send_fds(ready, [b"ready"], [] if listener is None else [listener])
    if listener is not None:
        os.close(listener)
    try:
        become()
    except BaseException as error:  # ours, since a program's own ends in its exit code
        os.write(2, f"the program could not be started: {error!r}\n".encode())
        os._exit(_EXIT_UNABLE)


def run_python(box: str, scratch: str, *, forks: bool, has_packages: bool = False) -> NoReturn:
    settings = {**SETTINGS, "MPLCONFIGDIR": scratch} if has_packages else {}
    program = PythonProgram(box, scratch, forks=forks, settings=settings)
    program.prepare()
    renew()
    if not _is_readable(CHANNEL, _IDLE_MILLISECONDS):
        program.rehearse()
    program.run(*receive_job())


def _is_readable(descriptor: int, milliseconds: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))


def receive_job() -> tuple[dict[str, Any], bytes]:
    """The program, once the host has sent it."""
    reader = FrameReader(_LONGEST_JOB)
    while count := os.readv(CHANNEL, [reader.room()]):
        for frame in reader.feed(count):
            return json.loads(bytes(frame.text)), bytes(frame.attachments[0])
    os._exit(0)  # the host has no program for it
