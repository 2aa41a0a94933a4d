"""Claims the pages that every run will write to before it does.

After a fork the first write to each page is a fault, and a run causes hundreds; under a hypervisor
they cost more than the run. So the zygote rehearses in one child, learns which pages the child got
its own copies of, and every worker without an order claims those in a few system calls. Where the
operating system does not support this, workers are only slower.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator

from ..isolation.libc import ffi, libc

_PAGE = 4096
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56
_MADV_POPULATE_WRITE = 23
_GAP = 1  # pages; joining ranges this close is cheaper than another system call
_MOST_PAGES = 1024

Range = tuple[int, int]


def learn(rehearse: Callable[[], object]) -> list[Range]:
    """The ranges that a forked child wrote to while it rehearsed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            rehearse()
            for start, length in _own_pages():
                os.write(writing, struct.pack("<QQ", start, length))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    ranges = list(struct.iter_unpack("<QQ", data))
    return ranges if sum(length for _, length in ranges) <= _MOST_PAGES * _PAGE else []


def claim(ranges: list[Range]) -> None:
    """Gives this process its own copies of the pages; called in a worker without an order."""
    for start, length in ranges:
        libc.madvise(ffi.cast("void *", start), length, _MADV_POPULATE_WRITE)


def _own_pages() -> Iterator[Range]:
    """The ranges of pages that this process does not share with another."""
    start = end = 0
    for page in _exclusive_pages():
        if end and page <= end + _GAP * _PAGE:
            end = page + _PAGE
            continue
        if end:
            yield start, end - start
        start, end = page, page + _PAGE
    if end:
        yield start, end - start


def _exclusive_pages() -> Iterator[int]:
    with open("/proc/self/maps") as maps, open("/proc/self/pagemap", "rb") as pagemap:
        for line in maps.readlines():
            addresses, permissions, *rest = line.split()
            if not permissions.startswith("rw") or "p" not in permissions or "[stack]" in rest:
                continue
            low, high = (int(address, 16) for address in addresses.split("-"))
            pagemap.seek(low // _PAGE * 8)
            words = pagemap.read((high - low) // _PAGE * 8)
            for index, (word,) in enumerate(struct.iter_unpack("<Q", words)):
                if word & _PRESENT and word & _EXCLUSIVE:
                    yield low + index * _PAGE
