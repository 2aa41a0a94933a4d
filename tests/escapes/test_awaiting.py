"""What a promise became is the engine's to say: no method of the guest's is asked when the host awaits one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import GuestError
from tests.escapes.attack import attack, failure, outcome

LIES = {
    "then_replaced": "Promise.prototype.then = function (resolve) { touched++; resolve('lie') };",
    "then_that_throws": "Promise.prototype.then = function () { touched++; throw 'lie' };",
    "then_deleted": "delete Promise.prototype.then;",
    "then_as_accessor": (
        "Object.defineProperty(Promise.prototype, 'then', { get() { touched++; return (f) => f('lie') } });"
    ),
    "constructor_as_accessor": (
        "Object.defineProperty(Promise.prototype, 'constructor', { get() { touched++; throw 'lie' } });"
    ),
    "species": (
        "Object.defineProperty(Promise, Symbol.species, { get() { touched++; throw 'lie' }, configurable: true });"
    ),
    "its_own_then": "mark = (promise) => Object.assign(promise, { then(f) { touched++; f('lie') } });",
    "its_own_accessors": """mark = (promise) => Object.defineProperties(promise, {
      then: { get() { touched++; throw 'lie' }, configurable: true },
      constructor: { get() { touched++; throw 'lie' }, configurable: true } });""",
    "no_prototype": "mark = (promise) => Object.setPrototypeOf(promise, null);",
    "a_subclass": "mark = (promise) => Object.setPrototypeOf(promise, Liar.prototype);",
}
START = """
let touched = 0, mark = (promise) => promise;
class Liar extends Promise { then(f) { touched++; f('lie') } }
const resolved = Promise.resolve({ real: 1 }), rejected = Promise.reject(new RangeError('real'));
"""


@pytest.mark.parametrize("lie", LIES)
def test_the_promise_that_an_export_is(lie: str) -> None:
    start = START + LIES[lie]
    assert outcome(f"{start}export default mark(resolved)") == {"real": 1}
    thrown = failure(f"{start}export default mark(rejected)")
    assert thrown == ("error", "RangeError", "real")


@pytest.mark.parametrize("lie", LIES)
def test_the_promise_that_an_exported_function_gives(lie: str) -> None:
    start = START + LIES[lie]
    assert outcome(f"{start}export default () => mark(resolved)") == {"real": 1}
    assert outcome(f"{start}export default async () => ({{ real: 1 }})") == {"real": 1}
    thrown = failure(f"{start}export default async () => {{ await null; null.x }}")
    assert thrown[:2] == ("error", "TypeError")


# Without its prototype a promise crosses as an object without properties: nothing is awaited.
@pytest.mark.parametrize("lie", sorted(LIES.keys() - {"no_prototype"}))
def test_promises_that_are_lent_and_promises_of_lent_functions(lie: str) -> None:
    seen: list[Any] = []

    async def take(promises: Any, functions: Any, done: Any) -> None:
        for awaited in (*promises, *(function() for function in functions)):
            try:
                seen.append(await awaited)
            except GuestError as error:
                seen.append(error.message)
        await done()

    source = f"""{START}{LIES[lie]}
let done;
export default new Promise((resolve) => {{ done = () => {{ resolve(touched) }} }});
take(
  [mark(resolved), mark(rejected)],
  [() => mark(resolved), () => mark(rejected), async () => 2, async () => {{ throw new Error('three') }}],
  () => done(),
);
"""
    assert outcome(source, globals={"take": take}) == 0
    assert seen == [{"real": 1}, "real", {"real": 1}, "real", 2, "three"]


def test_a_thenable_that_is_not_a_promise_is_followed() -> None:
    thenable = "{ then(resolve) { resolve({ then(again) { again(7) } }) } }"
    assert outcome(f"export default {thenable}") == 7
    assert outcome(f"export default () => ({thenable})") == 7
    proxied = "new Proxy(Promise.resolve(1), { get: (target, key) => key === 'then' ? (f) => f(8) : target[key] })"
    assert outcome(f"export default {proxied}") == 8


def test_a_rejection_that_the_host_awaited_is_not_logged_as_uncaught() -> None:
    async def take(promise: Any, function: Any) -> None:
        for awaited in (promise, function()):
            with pytest.raises(GuestError):
                await awaited
        await asyncio.sleep(0)

    source = """
const later = (async () => { await null; throw new Error('told') })();
await take(later, () => Promise.reject(new Error('told too')));
export default Promise.reject(new Error('the end'));
"""
    result = attack(source, globals={"take": take})
    assert result.error is not None
    assert (result.error.message, result.logs) == ("the end", [])


def test_an_exported_function_that_throws_at_once() -> None:
    assert failure("export default () => { throw new RangeError('now') }") == (
        "error",
        "RangeError",
        "now",
    )
