"""CVE after CVE of vm2: an exception of the host reaches the guest as an object of the host.

Here it is a new Error of the realm with a name and a message, and nothing else crosses.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.escapes.attack import attack, outcome


class Secretive(Exception):
    def __init__(self) -> None:
        super().__init__("public message")
        self.secret = "s3cr3t"
        self.__cause__ = ValueError("s3cr3t cause")
        self.__notes__ = ["s3cr3t note"]


def raise_secretive() -> None:
    secret = "s3cr3t in a frame"
    raise Secretive from ValueError(secret)


def raise_os_error() -> None:
    os.stat("/nowhere/s3cr3t/path")


def raise_recursion() -> None:
    raise_recursion()


class Nameless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("s3cr3t")


def raise_nameless() -> None:
    raise Nameless


def raise_group() -> None:
    raise ExceptionGroup("several", [ValueError("s3cr3t")])


def raise_huge() -> None:
    raise ValueError("x" * 5_000_000)


def raise_surrogates() -> None:
    raise ValueError("\ud800 \x00 \u2028")


RAISING: dict[str, tuple[Any, str, str]] = {
    "secretive": (raise_secretive, "Secretive", "public message"),
    "os_error": (raise_os_error, "FileNotFoundError", os.strerror(2)),
    "recursion": (raise_recursion, "RecursionError", "maximum recursion depth exceeded"),
    "nameless": (raise_nameless, "Nameless", ""),
    "group": (raise_group, "ExceptionGroup", "several (1 sub-exception)"),
    "huge": (raise_huge, "ValueError", "x" * 5_000_000),
    "surrogates": (raise_surrogates, "ValueError", "\ud800 \x00 \u2028"),
}

LOOK = """
let seen;
try { CALL; seen = 'nothing' } catch (error) {
  const own = Object.getOwnPropertyNames(error).sort();
  seen = [error.name, error.message, own, error instanceof Error,
    Object.getPrototypeOf(error) === Error.prototype, error.constructor === Error,
    String(error.stack).includes('.py'), 'cause' in error];
}
export default seen;
"""


@pytest.mark.parametrize("how", ["raising()", "await later()"])
@pytest.mark.parametrize("kind", RAISING)
def test_an_exception_crosses_as_name_and_message(kind: str, how: str) -> None:
    raising, name, message = RAISING[kind]

    async def later() -> None:
        raising()

    seen = outcome(LOOK.replace("CALL", how), globals={"raising": raising, "later": later})
    assert seen[0] == name
    assert seen[1].startswith(message) if kind == "recursion" else seen[1] == message
    assert seen[2] == ["message", "name"]
    assert seen[3:] == [True, True, True, False, False]


@pytest.mark.parametrize("kind", RAISING)
def test_an_exception_that_ends_the_run_crosses_as_name_and_message(kind: str) -> None:
    raising, name, _ = RAISING[kind]
    result = attack("raising()", globals={"raising": raising})
    assert result.status == "error"
    assert result.error is not None
    assert result.error.name == name
    assert "s3cr3t" not in repr(result)
    assert ".py" not in (result.error.stack or "")
