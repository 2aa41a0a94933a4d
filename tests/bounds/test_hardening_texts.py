"""What a guest throws, names and nests reaches the host at a bounded length."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import CodeExecutionResult
from sandbox_kernel.worker.failure import Failure, cut
from sandbox_kernel.worker.positions import Position

Run = Callable[..., CodeExecutionResult]
NAME, TEXT, PLACE = 200, 65_536, 4_096
WORST = {
    "ascii": "x",
    "escaped": "\x01",
    "wide": "\u20ac",
    "astral": "\U0001f600",
    "lone": "\udc00",
}


def units(text: str) -> int:
    """The length that JavaScript has for it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("kind", WORST)
def test_an_error_is_cut_and_says_how_much_is_missing(run: Run, kind: str) -> None:
    letter, size = WORST[kind], units(WORST[kind])
    text = json.dumps(letter) + ".repeat(1e6)"
    thrown = f"Object.assign(new Error({text}), {{ name: {text}, stack: {text} }})"
    error = run(f"throw {thrown}").error
    assert error is not None
    assert NAME - 34 < units(error.name) <= NAME
    assert TEXT - 34 < units(error.message) <= TEXT
    kept = error.message.count(letter) * size
    assert error.message.endswith(f"… ({size * 10**6 - kept} more characters)")


def test_an_error_within_the_bounds_is_whole(run: Run) -> None:
    error = run(
        f"throw Object.assign(new Error('m'.repeat({TEXT})), {{ name: 'n'.repeat({NAME}) }})"
    ).error
    assert error is not None
    assert (error.name, error.message) == ("n" * NAME, "m" * TEXT)


def test_an_error_in_the_guest_itself_stays_whole(run: Run) -> None:
    cloned = "structuredClone(new Error('m'.repeat(1e6))).message.length"
    caught = "(() => { try { throw new Error('m'.repeat(1e6)) } catch (e) { return e.message.length } })()"
    assert run(f"export default [{cloned}, {caught}]").result == [10**6, 10**6]


def test_a_stack_of_endless_names_is_cut(run: Run) -> None:
    source = "const f = { ['f'.repeat(1500)](n) { if (n) f['f'.repeat(1500)](n - 1); else throw new Error('x') } };\n"
    error = run("Error.stackTraceLimit = 60;\n" + source + "f['f'.repeat(1500)](100)").error
    assert error is not None
    assert error.stack is not None
    assert units(error.stack) <= TEXT


def test_names_of_modules_are_cut(run: Run) -> None:
    error = run("x(", filename="f" * 100_000 + ".js").error
    assert error is not None
    assert error.filename is None or units(error.filename) <= PLACE
    error = run(f"import 'm{'x' * 100_000}'").error
    assert error is not None
    assert units(error.specifier or "") <= PLACE


@pytest.mark.parametrize("letter", WORST.values(), ids=WORST)
def test_a_failure_takes_less_than_a_mebibyte(letter: str) -> None:
    text = letter * 200_000
    failure = Failure("error", text, text, stack=text, specifier=text, place=Position(text, 1, 1))
    assert len(json.dumps(failure.fields)) < 2**20
    assert units(failure.fields["filename"]) <= PLACE


@pytest.mark.parametrize("size", [99, 100, 101, 10_000])
@pytest.mark.parametrize("prefix", ["", "a"])
def test_a_cut_does_not_divide_a_character(prefix: str, size: int) -> None:
    text = prefix + "\U0001f600" * size
    shown = cut(text, 200)
    assert units(shown) <= 200
    assert all(letter in prefix + "\U0001f600… 0123456789(more characters)" for letter in shown)


@pytest.mark.parametrize("value", ["1", "10n"])
def test_groups_are_indented_a_hundred_deep_at_most(run: Run, value: str) -> None:
    """`10n` takes the other encoding."""
    source = f"""
for (let i = 0; i < 99; i++) console.group();
console.log({value}); console.group(); console.log({value});
for (let i = 0; i < 1e5; i++) console.group();
console.log({value});
for (let i = 0; i < 1e5; i++) console.groupEnd();
console.log({value}); console.groupEnd(); console.log({value});
"""
    logs: Any = run(source).logs
    assert [log.depth for log in logs] == [99, 100, 100, 100, 99]
