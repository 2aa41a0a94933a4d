"""What both ends of a channel must agree on: orders are marshalled, and frames have a version."""

from __future__ import annotations

import platform
import sys
from typing import Any

from .. import __version__
from ..wire import messages

PROTOCOL = 1  # of our messages on a channel


def fingerprint() -> list[Any]:
    return [__version__, messages.VERSION, PROTOCOL, *sys.version_info[:2]]


def described(mark: Any) -> str:
    """`sandbox-kernel 0.1.0 on Python 3.11`, of whatever the other side has sent."""
    try:
        version, wire, protocol, major, minor = mark
        return f"sandbox-kernel {version!s:.20} (wire {wire:d}.{protocol:d}) on Python {major:d}.{minor:d}"
    except (TypeError, ValueError):
        return "something else than sandbox-kernel"


def here() -> str:
    return f"{described(fingerprint())}, {platform.node()}"
