"""The private parts of ipykernel that the kernel uses, pinned: a new version may move them.

Each test says what we use the part for, so that whoever reads the failure knows what to look at.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from ipykernel import _version
from ipykernel.comm import Comm
from ipykernel.kernelbase import Kernel
from traitlets import Float

METHODS = [
    pytest.param(
        Kernel._publish_status,
        ("busy", "shell"),
        {"parent": {}},
        "SandboxKernel.shell_main says busy and idle around a request that it answers meanwhile",
        id="_publish_status",
    ),
    pytest.param(
        Kernel._topic,
        ("stream",),
        {},
        "SandboxKernel._publish labels what it sends on IOPub",
        id="_topic",
    ),
    pytest.param(
        Kernel.shell_main,
        (None, []),
        {},
        "SandboxKernel.shell_main overrides it, to answer help requests while a cell runs",
        id="shell_main",
    ),
    pytest.param(
        Kernel.dispatch_shell,
        ([],),
        {"concurrent": True},
        "SandboxKernel.shell_main answers a request while ipykernel waits for the running cell",
        id="dispatch_shell",
    ),
    pytest.param(
        Kernel.get_parent,
        ("shell",),
        {},
        "SandboxKernel.shell_main keeps the parent of the running cell",
        id="get_parent",
    ),
    pytest.param(
        Kernel.set_parent,
        ([], {}),
        {"channel": "shell"},
        "SandboxKernel.shell_main gives the running cell its parent back",
        id="set_parent",
    ),
    pytest.param(
        Comm._reply_subshell_for,
        ({}, None),
        {},
        "RunWidget replaces it, so that the Terminate button is heard while its cell runs",
        id="_reply_subshell_for",
    ),
]


@pytest.mark.parametrize(("method", "positional", "named", "purpose"), METHODS)
def test_a_method_takes_the_arguments_that_we_give_it(
    method: Callable[..., Any], positional: tuple[Any, ...], named: dict[str, Any], purpose: str
) -> None:
    signature = inspect.signature(method)
    try:
        signature.bind(None, *positional, **named)
    except TypeError as problem:
        pytest.fail(f"{method.__qualname__}{signature}: {problem}. Used because {purpose}")


def test_what_shell_main_and_dispatch_shell_return_is_awaited() -> None:
    assert inspect.iscoroutinefunction(Kernel.shell_main)
    assert inspect.iscoroutinefunction(Kernel.dispatch_shell)


def test_the_parent_idents_are_kept_by_channel() -> None:
    assert "_parent_ident" in Kernel.__annotations__, (
        "SandboxKernel.shell_main keeps the running cell's ident, _parent_ident['shell']"
    )


def test_the_pause_before_a_reply_is_a_setting() -> None:
    assert isinstance(Kernel.__dict__["_execute_sleep"], Float), (
        "SandboxKernel sets _execute_sleep to 0: its output is handed over before the reply"
    )


def test_the_version_of_the_protocol_is_told() -> None:
    assert _version.kernel_protocol_version.startswith("5."), (
        "SandboxKernel.kernel_info tells it; a new major version wants a look at the messages"
    )
