"""Packages in a zygote: imported once, for all programs of it, when it can reach nothing else."""

from __future__ import annotations

import atexit
import ctypes
import errno
import os
import shutil
import sys
import threading
from contextlib import suppress
from importlib import import_module

from ...isolation import bpf, prctl
from ...isolation.steps import take
from . import python
from .calls import numbers_of

_STACK_BYTES = 1 << 20
_REFUSED = ("socket:41:198", "execve:59:221", "execveat:322:281")
# Threads cannot be forked, and an allocator of its own would take addresses beyond the limit.
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JOBLIB_MULTIPROCESSING": "0",
    "MPLBACKEND": "agg",
}


def preload(modules: tuple[str, ...], path: str, scratch: str) -> None:
    """In the zygote, behind its walls. RuntimeError if threads were started, which do not fork."""
    take([prctl.no_new_privileges(), prctl.filter_system_calls(_no_way_out())])
    _small_stacks()
    sys.path.append(path)
    mask, most, warned = os.umask(0o077), sys.getrecursionlimit(), sys.warnoptions[:]
    os.environ.update(SETTINGS, HOME=scratch, TMPDIR=scratch, MPLCONFIGDIR=scratch)
    for name in modules:
        with suppress(BaseException):  # the program that imports it is told why
            import_module(name)
    os.environ.clear()
    os.umask(mask)
    sys.setrecursionlimit(most)
    sys.warnoptions[:] = warned
    atexit._clear()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # to nowhere; or else each guest would, to its own
    python.take_hooks()
    sys.path_importer_cache.pop(scratch, None)
    shutil.rmtree(scratch, ignore_errors=True)
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise RuntimeError(f"importing these packages started {threads - 1} threads")


def renew() -> None:
    """In a guest: what all of them would have in common."""
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()


def _no_way_out() -> bytes:
    """Imports may compute and read what is lent; nothing is started and nobody spoken to."""
    calls = numbers_of(_REFUSED)
    rules = dict.fromkeys(calls, bpf.always(bpf.errno(errno.EACCES)))
    return bpf.assemble(os.uname().machine, calls, rules, bpf.ALLOW)


def _small_stacks() -> None:
    """Of threads that libraries start, too: stacks count as memory."""
    threading.stack_size(_STACK_BYTES)
    libc = ctypes.CDLL(None)
    attributes = ctypes.create_string_buffer(64)
    if hasattr(libc, "pthread_setattr_default_np"):
        libc.pthread_attr_init(attributes)
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(_STACK_BYTES))
        libc.pthread_setattr_default_np(attributes)
