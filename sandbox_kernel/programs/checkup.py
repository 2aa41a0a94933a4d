"""What programs can be run on this machine, how well isolated, and how to get more."""

from __future__ import annotations

import platform

from ..errors import EngineError
from .binaries import find_binary
from .protocol import LANDLOCK, NAMESPACES
from .runtimes import DENO, NODE, PYTHON
from .settings import Settings

_ADVICE = {
    NAMESPACES: "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1` on Debian,"
    " `sysctl kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu, `sysctl user.max_user_namespaces=10000`"
    " elsewhere; in a container `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`,"
    " or `--cap-add SYS_ADMIN` for root",
    LANDLOCK: "use Linux 5.13 or later with Landlock among its security modules (`lsm=landlock,…`), and a"
    " container runtime that knows it",
}


def runtimes(settings: Settings) -> dict[str, str]:
    """Each runtime's version and place, or why it cannot be used."""
    python = settings.python or f"{platform.python_version()}, the host's own"
    return {PYTHON: python, **{name: _binary(name, settings) for name in (NODE, DENO)}}


def _binary(runtime: str, settings: Settings) -> str:
    try:
        found = find_binary(runtime, settings)
    except EngineError as error:
        return str(error)
    return f"{found.version}, {found.path}" if found else ""


def advice(refused: dict[str, str]) -> dict[str, str]:
    """How to get the levels that are not there."""
    return {level: _ADVICE[level] for level in refused if level in _ADVICE}
