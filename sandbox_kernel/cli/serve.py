"""`sandbox-kernel serve`."""

from __future__ import annotations

from ..service.command import run_service
from . import exits


def serve(words: list[str]) -> int:
    run_service(words)
    return exits.SUCCESS
