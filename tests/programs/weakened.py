"""A zygote that lacks one layer, and only that: so that a test can see what the layer is for.

It is started in place of `inside.zygote`, and is told which layer by a message of its own.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from sandbox_kernel.isolation import landlock, namespaces, prctl, rlimits
from sandbox_kernel.isolation.steps import Step
from sandbox_kernel.programs import Programs, protocol, spawn
from sandbox_kernel.programs import zygote as hosts_side
from sandbox_kernel.programs.inside import confine, descriptors, root, sampler, zygote

_NAMESPACES = {
    "net": namespaces.NETWORK,
    "ipc": namespaces.MESSAGES,
    "uts": namespaces.HOST_NAME,
    "cgroup": namespaces.GROUPS_OF_PROCESSES,
}


def main(host: socket.socket, boot: dict[str, Any]) -> None:
    """In the process that is to be a zygote."""
    message, _ = protocol.receive(host)
    assert message is not None
    layer, *rest = message["without"].split(" ")
    _REMOVE[layer](*rest)
    zygote.main(host, boot)


def _nothing(*_: Any, **__: Any) -> Step:
    return Step("nothing", lambda: None, ())


def _no_steps(*_: Any, **__: Any) -> list[Step]:
    return []


def _without_limit(number: str) -> None:
    original = rlimits.at_most

    def at_most(resource: int, most: int) -> Step:
        return _nothing() if resource == int(number) else original(resource, most)

    rlimits.at_most = at_most


def _without_namespace(kind: str) -> None:
    original = namespaces.unshare
    namespaces.unshare = lambda kinds: original(kinds & ~_NAMESPACES[kind])
    if kind == "uts":
        namespaces.name_host = lambda name: None  # it would be the name of this machine


def _keep_descriptors() -> None:
    """All but those that the guest has under other numbers by then."""

    def take(streams: list[int]) -> None:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)

    descriptors.take = take


def _stay_root() -> None:
    confine.Confinement._become = _no_steps  # type: ignore[method-assign]
    confine.Confinement.owner = lambda self, launch: None  # type: ignore[method-assign]


def _unbounded_files() -> None:
    original = root.add_files
    more = partial(protocol.Limits._replace, directory_bytes=1 << 30, directory_files=100_000)
    root.add_files = lambda limits, user, session=None: original(more(limits), user, session)


def _set(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


_REMOVE: dict[str, Callable[..., None]] = {
    "nothing": lambda: None,
    "landlock": _set(landlock, "restrict", _nothing),
    "filter": _set(prctl, "filter_system_calls", _nothing),
    "limit": _without_limit,
    "cpu": _set(rlimits, "processor_seconds", _nothing),
    "sampler": _set(sampler.Sampler, "why", lambda self, pids: protocol.ENDED),
    "user": _stay_root,
    "capabilities": _set(confine.Confinement, "_without_capabilities", _no_steps),
    "privileges": _set(prctl, "no_new_privileges", _nothing),
    "death": _set(prctl, "signal_at_parents_death", _nothing),
    "descriptors": _keep_descriptors,
    "namespace": _without_namespace,
    "files": _unbounded_files,
}


@contextmanager
def programs_without(
    layer: str, level: str, patch: pytest.MonkeyPatch, **traits: Any
) -> Iterator[Programs]:
    """In the host: programs whose zygotes lack the layer."""

    def weakened(
        executable: str, its_level: str, folder: str | None, kind: protocol.Kind
    ) -> spawn.Spawned:
        spawned = spawn.spawn(executable, its_level, folder, "tests.programs.weakened", kind)
        protocol.send(spawned.control, {"without": layer})
        return spawned

    patch.setattr(hosts_side, "spawn", weakened)
    with Programs(isolation=level, spares=0, **traits) as made:
        yield made
