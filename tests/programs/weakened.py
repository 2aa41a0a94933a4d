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
from sandbox_kernel.programs.inside import (
    binary,
    confine,
    descriptors,
    root,
    sampler,
    supervisor,
    zygote,
)

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


def _share_processes() -> None:
    """With the whole machine. So whoever would end all that it sees must not see, or end, anything."""
    kill, unshare = os.kill, namespaces.unshare

    def kill_one(pid: int, number: int) -> None:
        if pid <= 0:
            raise ValueError("this would end every process of the machine")
        kill(pid, number)

    os.kill = kill_one
    supervisor._end_everything_else = lambda: 0.0
    supervisor.Supervisor._tree = lambda self, guest: [guest]  # type: ignore[method-assign]  # taken away on purpose
    namespaces.unshare = lambda kinds: unshare(kinds & ~namespaces.PROCESSES)
    namespaces.enter = lambda descriptor, kind: None


def _share_mounts() -> None:
    """With other programs of the zygote. Its own mounts stay its own, or they would be the machine's."""
    unshare = namespaces.unshare
    namespaces.unshare = lambda kinds: None if kinds == namespaces.MOUNTS else unshare(kinds)


def _share_users() -> None:
    """With other programs of the zygote, which keeps its own, since it takes one to have the rest."""
    own_users = [namespaces.own_users]
    namespaces.own_users = lambda inner, proc: own_users.pop()(inner, proc) if own_users else None


def _keep_descriptors() -> None:
    """All but those that the guest has under other numbers by then."""

    def take(streams: list[int]) -> None:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)

    descriptors.take = take


def _stay_root() -> None:
    confine.Confinement._become = _no_steps  # type: ignore[method-assign]  # taken away on purpose
    confine.Confinement.owner = lambda self, launch: None  # type: ignore[method-assign]  # taken away on purpose


def _unbounded_files() -> None:
    original = root.add_files
    more = partial(protocol.Limits._replace, directory_bytes=1 << 30, directory_files=100_000)
    root.add_files = lambda launch, user: original(
        launch._replace(limits=more(launch.limits)), user
    )


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
    "processes": _share_processes,
    "mounts": _share_mounts,
    "users": _share_users,
    "all_users": _set(namespaces, "own_users", lambda inner, proc: None),
    "files": _unbounded_files,
    "permissions": _set(binary, "_grants_of_deno", lambda *_: ["--allow-all"]),
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
