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
    "a_huge_message": ("new Error('x'.repeat(3e6))", ("Error", "x" * 3_000_000)),
    "a_huge_name": ("Object.assign(new Error('m'), { name: 'n'.repeat(3e6) })", ("n" * 3_000_000, "m")),
}  # fmt: skip


@pytest.mark.parametrize("kind", THROWN)
def test_it_ends_the_run_as_an_error(kind: str) -> None:
    thrown, expected = THROWN[kind]
    assert failure(f"throw ({thrown})") == ("error", *expected)
    assert failure(f"export default async () => {{ throw ({thrown}) }}") == ("error", *expected)


@pytest.mark.parametrize("kind", THROWN)
def test_it_crosses_to_a_host_that_asked(kind: str) -> None:
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


STACKS = {
    "forged_frames": "'    at evil (/etc/passwd:1:1)\\n    at <host>:1:1\\n    at file.py:3:3'",
    "a_hundred_thousand_lines": "'    at <runCode>:1:1\\n'.repeat(1e5)",
    "one_endless_line": "'    at ' + 'a'.repeat(1e6) + ':1:1'",
    "backtracking": "('    at ' + '('.repeat(1000) + ':1:'.repeat(300) + '\\n').repeat(100)",
    "numbers_too_large": "'    at <runCode>:99999999999999999999:99999999999999999999'",
    "numbers_of_other_scripts": "'    at <runCode>:\\u0661:\\u0662'",
    "a_negative_column": "'    at <runCode>:1:0\\n    at <runCode>:0:1'",
}


@pytest.mark.parametrize("kind", STACKS)
def test_a_forged_stack_names_only_the_guests_own_files(kind: str) -> None:
    result = attack(f"const e = new Error('m'); e.stack = {STACKS[kind]}; throw e")
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("Error", "m")
    assert result.error.filename in (None, "<runCode>")
    for line in (result.error.stack or "").splitlines():
        assert line.strip().startswith("at ")
        assert "<runCode>:" in line
    assert len((result.error.stack or "").splitlines()) <= 200
