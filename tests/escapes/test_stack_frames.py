"""A stack names functions: the guest reads its own there, never one of the bootstrap or of the host."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from tests.escapes.attack import attack, outcome

# Each expression is read inside `guest`; the frames that the guest may read of it, from the innermost on.
READ: dict[str, tuple[str, list[str]]] = {
    "its_own_error": ("new Error().stack", ["guest"]),
    "an_error_of_the_engine": ("caught(() => null.x)", ["<anonymous>", "caught", "guest"]),
    "an_error_of_the_engines_functions": (
        "caught(() => JSON.parse('{'))", ["parse", "<anonymous>", "caught", "guest"],
    ),
    "an_engines_function_that_calls_back": (
        "[1].map(function mapped() { return new Error().stack })[0]", ["mapped", "map", "guest"],
    ),
    "an_error_of_a_bridge": ("caught(() => raising())", ["<anonymous>", "caught", "guest"]),
    "an_error_of_a_bridge_called_by_the_engine": (
        "caught(() => [1].forEach(raising))", ["forEach", "<anonymous>", "caught", "guest"],
    ),
    "an_error_of_a_bridge_with_another_name": (
        "caught(() => (Object.defineProperty(raising, 'name', { value: 'a)\\n b' }), raising()))",
        ["a)", "<anonymous>", "caught", "guest"],
    ),
    "an_error_that_a_bridge_returns": ("giving().stack", ["guest"]),
    "a_report_that_is_refused": ("caught(() => report(Symbol()))", ["<anonymous>", "caught", "guest"]),
    "an_argument_that_is_refused": ("caught(() => raising([Symbol()]))", ["<anonymous>", "caught", "guest"]),
    "a_clone_that_is_refused": ("caught(() => structuredClone(() => 1))", ["<anonymous>", "caught", "guest"]),
    "a_clone_of_an_error": ("structuredClone(caught(() => raising(), 1)).stack", ["<anonymous>", "caught", "guest"]),
    "the_compiler_that_is_not_there": ("caught(() => Function('1'))", ["<anonymous>", "caught", "guest"]),
    "a_getter_that_a_report_calls": ("first(report, { get a() { take(); return 1 } })", ["take", "get a", "first", "guest"]),
    "a_getter_that_a_report_calls_late": (
        "last(report, { get a() { take(); return 1 } })", ["take", "get a", "last", "guest"],
    ),
    "a_getter_among_arguments": ("first(giving, { get a() { take(); return 1 } })", ["take", "get a", "first", "guest"]),
    "a_getter_that_a_clone_calls": (
        "first(structuredClone, { get a() { take() } })", ["take", "get a", "first", "guest"],
    ),
    "a_trap_that_a_report_calls": (
        "first(report, new Proxy({}, { ownKeys() { take(); return [] } }))", ["take", "ownKeys", "first", "guest"],
    ),
    "a_trap_that_a_log_calls": (
        "first(console.log, new Proxy({}, { ownKeys() { take(); return [] } }))", ["take", "ownKeys", "first", "guest"],
    ),
    "a_function_that_the_host_calls": ("first(calling, function lent() { take() })", ["take", "lent", "first", "guest"]),
    "an_error_without_a_prototype_of_its_own": (
        "Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get.call(caught(() => raising(), 1))",
        ["<anonymous>", "caught", "guest"],
    ),
    "the_accessor_itself_refused": (
        "caught(() => Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get.call(1))",
        ["call", "<anonymous>", "caught"],
    ),
    "a_clone_refused_deep_inside": (
        "caught(() => structuredClone([[[[[[[[[[() => 1]]]]]]]]]]))", ["<anonymous>", "caught", "guest"],
    ),
    "an_error_of_a_bridge_called_deep_inside": (
        "(function deep(n) { return n ? deep(n - 1) + '' : caught(() => raising()) })(99)",
        ["<anonymous>", "caught", *["deep"] * 8],
    ),
    "an_error_after_one_of_a_bridge": (
        "(function deep(n) { return n ? deep(n - 1) + '' : (caught(() => raising()), new Error().stack) })(99)",
        ["deep"] * 10,
    ),
}  # fmt: skip

GUEST = """
const taken = [];
function take() { taken.push(new Error().stack) }
function first(call, value) { taken.length = 0; call(value); return taken[0] }
function last(call, value) { taken.length = 0; call(value); return taken.at(-1) }
function caught(provoke, whole) { try { provoke() } catch (error) { return whole ? error : error.stack } }
function guest() { return READ }
export default () => guest();
"""


def raising(*args: Any) -> None:
    raise ValueError("of the host")


def calling(function: Any) -> None:
    function()


async def raising_later() -> None:
    await asyncio.sleep(0)
    raise ValueError("of the host")


def read(expression: str) -> str:
    lent = {
        "raising": raising,
        "calling": calling,
        "giving": lambda *args: ValueError("given"),
        "raisingLater": raising_later,
    }
    result = outcome(GUEST.replace("READ", expression), globals=lent, report=lambda value: None)
    assert isinstance(result, str)
    return result


@pytest.mark.parametrize("way", READ)
def test_a_stack_has_the_guests_own_frames(way: str) -> None:
    expression, expected = READ[way]
    stack = read(expression)
    names = [found[1] for found in re.finditer(r"^ *at (.+?)(?: \(.*\))?$", stack, re.MULTILINE)]
    ours = [name for name in names if not name.startswith("<input>")]
    assert ours[: len(expected)] == expected
    assert len(ours) <= 10
    assert "<null>" not in stack
    assert "raising" not in stack


def test_an_error_that_comes_later_has_no_frame_of_ours() -> None:
    source = """
    for (let i = 0; i < 100; i++) {
      try { await raisingLater() } catch (error) { report(error.stack) }
    }
    export default 1"""
    result = attack(source, globals={"raisingLater": raising_later}, report=lambda value: None)
    assert len(result.reports) == 100
    for stack in result.reports:
        assert re.fullmatch(r" *at <anonymous> \(<runCode>:3:\d+\)\n", stack)


def test_an_error_that_comes_later_keeps_nothing_that_the_guest_changes() -> None:
    source = """
    Object.defineProperty(Error.prototype, 'stack', { get() { report('mine'); return 'forged' } });
    Object.defineProperty(Error.prototype, 'message', { set() { report('set') } });
    Object.setPrototypeOf(Error, { get code() { report('code') } });
    await raisingLater();"""
    result = attack(source, globals={"raisingLater": raising_later}, report=lambda value: None)
    assert (result.reports, result.error and result.error.name) == (["mine"], "ValueError")


def test_a_trace_and_a_logged_error_show_the_guests_frames() -> None:
    source = "function guest() { console.trace('here'); try { raising() } catch (error) { console.log(error) } }; guest()"
    logs = attack(source, globals={"raising": raising}).logs
    trace, error = logs[0].args[-1], logs[1].args[0]
    for shown in (str(trace), str(error.stack)):
        assert re.findall(r"at (\S+)", shown) == ["guest", "<anonymous>"]


def test_the_host_is_told_the_guests_position() -> None:
    error = attack(
        "function f() {\n  raising() }\nexport default () => f()", globals={"raising": raising}
    ).error
    assert error is not None
    assert (error.line, error.column) == (2, 3)
    assert error.stack is not None
    assert re.findall(r"at (\S+)", error.stack) == ["f", "default"]


def test_the_accessor_is_like_the_engines_own() -> None:
    seen = outcome("""
const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
const error = new Error('x');
error.stack = 'mine';
export default [
  get.name, set.name, get.length, Reflect.ownKeys(get), 'prototype' in get, /native code/.test(get), enumerable, configurable,
  typeof get.call({}), error.stack, Object.hasOwn(error, 'stack'), Object.hasOwn(new Error(), 'stack'),
];
""")
    assert seen == [
        "get stack", "set stack", 0, ["length", "name"], False, True, False, True,
        "undefined", "mine", True, False,
    ]  # fmt: skip
