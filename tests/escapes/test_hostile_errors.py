"""The error that ends a run is the guest's own object: its fields may lie, throw, or be enormous."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.attack import attack, failure, outcome

THROWN: dict[str, tuple[str, tuple[str, str]]] = {
    "getters_that_throw": (
        "{ get name() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 } }",
        ("Error", "[Object]"),
    ),
    "names_that_are_objects": ("{ name: {}, message: [], stack: 1 }", ("Error", '{"name":{},"message":[],"stack":1}')),
    "a_null_prototype": ("Object.create(null)", ("Error", "{}")),
    "a_function": ("function f() {}", ("f", "[Function]")),
    "a_proxy_that_throws": (
        "new Proxy({}, new Proxy({}, { get() { throw 'trap' } }))", ("Error", "[object]"),
    ),
    "a_revoked_proxy": (
        "(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()", ("Error", "[object]"),
    ),
    "a_circle": ("(() => { const o = {}; o.o = o; return o })()", ("Error", "[Object]")),
    "to_string_that_throws": ("{ toString() { throw 1 } }", ("Error", "{}")),
    "an_engine_error_by_name": ("Object.assign(new Error('out of memory'), { name: 'InternalError' })",
                                ("InternalError", "out of memory")),
    "a_crash_by_name": ("Object.assign(new Error('x'), { name: 'SandboxCrash' })", ("SandboxCrash", "x")),
    "escapes_and_nul": ("new Error('\\x1b[2J\\0<script>')", ("Error", "\x1b[2J\0<script>")),
    "lone_surrogates": ("new Error('\\ud800')", ("Error", "\ud800")),
    "a_huge_message": ("new Error('x'.repeat(3e6))", ("Error", "x" * 65_504 + "… (2934496 more characters)")),
    "a_huge_name": ("Object.assign(new Error('m'), { name: 'n'.repeat(3e6) })", ("n" * 168 + "… (2999832 more characters)", "m")),
}  # fmt: skip


@pytest.mark.parametrize("kind", THROWN)
def test_a_hostile_error_ends_the_run_as_an_error(kind: str) -> None:
    thrown, expected = THROWN[kind]
    assert failure(f"throw ({thrown})") == ("error", *expected)
    assert failure(f"export default async () => {{ throw ({thrown}) }}") == ("error", *expected)


@pytest.mark.parametrize("kind", THROWN)
def test_a_hostile_error_of_a_guest_function_is_a_guest_error(kind: str) -> None:
    """A guest function that the host calls throws it: the host gets a GuestError."""
    thrown, expected = THROWN[kind]
    caught: list[Any] = []

    async def call(function: Any) -> None:
        try:
            await function()
        except Exception as error:
            caught.append(
                (type(error).__name__, getattr(error, "name", 0), getattr(error, "message", 0))
            )

    outcome(f"await call(() => {{ throw ({thrown}) }}); export default 1", globals={"call": call})
    assert caught == [("GuestError", *expected)]


# A stack as the guest sets it, and the frames that are left of it.
STACKS: dict[str, tuple[str, list[str]]] = {
    "forged_frames": (
        "'    at evil (/etc/passwd:1:1)\\n    at <host>:1:1\\n    at file.py:3:3'", [],
    ),
    "forged_frames_among_its_own": (
        "'    at a (<runCode>:1:2)\\n    at b (/etc/passwd:1:1)\\n    at <runCode>:3:4'",
        ["at a (<runCode>:1:2)", "at <runCode>:3:4"],
    ),
    "a_hundred_thousand_lines": ("'    at <runCode>:1:1\\n'.repeat(1e5)", ["at <runCode>:1:1"] * 200),
    "one_endless_line": ("'    at ' + 'a'.repeat(1e6) + ':1:1'", []),
    "backtracking": ("('    at ' + '('.repeat(1000) + ':1:'.repeat(300) + '\\n').repeat(100)", []),
    "numbers_too_large": (
        "'    at <runCode>:99999999999999999999:99999999999999999999'",
        ["at <runCode>:99999999999999999999:99999999999999999999"],
    ),
    "numbers_of_other_scripts": ("'    at <runCode>:\\u0661:\\u0662'", ["at <runCode>:1:2"]),
    "a_line_of_zero": ("'    at <runCode>:0:1'", ["at <runCode>:0:1"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", STACKS)
def test_a_forged_stack_names_only_the_guests_own_files(kind: str) -> None:
    stack, frames = STACKS[kind]
    result = attack(f"const e = new Error('m'); e.stack = {stack}; throw e")
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("Error", "m")
    assert result.error.filename == ("<runCode>" if frames else None)
    assert [line.strip() for line in (result.error.stack or "").splitlines()] == frames
