"""Which level of isolation this machine offers, found out by trying the whole of it.

Parts may work while the whole does not: some systems let everybody make namespaces and give no
rights in them, some containers allow one call and refuse the next.
"""

from __future__ import annotations

import select
import sys
from typing import NamedTuple

from ..errors import EngineError, IsolationError
from .place import Place
from .protocol import LANDLOCK, NAMESPACES, PROCESS, Kind, Limits
from .settings import STRONGEST, Settings
from .spawn import own_interpreter
from .zygote import ZygoteProcess

_PLAIN = Kind()
LEVELS = (NAMESPACES, LANDLOCK)
_PATIENCE_MILLISECONDS = 10_000


class Tried(NamedTuple):
    """A zygote of the best level there is, its first place, and why better ones are not there."""

    zygote: ZygoteProcess
    place: Place
    refused: dict[str, str]


def try_levels(
    settings: Settings,
    limits: Limits,
    kind: Kind = _PLAIN,
    session: str | None = None,
    installed: str | None = None,
) -> Tried:
    """The first level at which a place gets ready; IsolationError if there is none."""
    if sys.platform != "linux":
        raise IsolationError("programs can be isolated on Linux only")
    wanted = LEVELS if settings.isolation == STRONGEST else (settings.isolation,)
    if not settings.require_isolation:
        wanted = (*wanted, PROCESS)
    refused: dict[str, str] = {}
    for level in wanted:
        try:
            return Tried(*_try(settings, limits, level, kind, session, installed), refused)
        except (EngineError, OSError) as error:
            refused[level] = str(error)
    reasons = "; ".join(f"{level}: {why}" for level, why in refused.items())
    raise IsolationError(f"this machine cannot isolate programs ({reasons})")


def start_zygote(settings: Settings, level: str, kind: Kind) -> ZygoteProcess:
    return ZygoteProcess(settings.python or own_interpreter(), level, kind)


def _try(
    settings: Settings,
    limits: Limits,
    level: str,
    kind: Kind,
    session: str | None,
    installed: str | None,
) -> tuple[ZygoteProcess, Place]:
    zygote = start_zygote(settings, level, kind)
    try:
        place = zygote.open_place(limits, session, installed)
        _wait_until_ready(place)
    except BaseException:
        zygote.close()
        raise
    return zygote, place


def _wait_until_ready(place: Place) -> None:
    poll = select.poll()
    poll.register(place.control, select.POLLIN)
    if not poll.poll(_PATIENCE_MILLISECONDS):
        place.close()
        raise EngineError("no place was ready in time")
    try:
        place.read_ready()
    except EngineError:
        place.close()
        raise
