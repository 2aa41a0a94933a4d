"""Numbers of bytes as people write them."""

from __future__ import annotations


def spell_size(size: int) -> str:
    """16777216 is `16 MiB`; 1000000 is `1000000 bytes`."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return _bytes(size)


def about_size(size: int) -> str:
    """1300000 is `1.2 MiB`; for lists that people read."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return _bytes(size)


def _bytes(size: int) -> str:
    return f"{size} byte{'' if size == 1 else 's'}"
