"""vm2's later ways out went through the call sites that V8 hands to Error.prepareStackTrace."""

from __future__ import annotations

import pytest

from tests.escapes.attack import outcome

SET = {
    "assigned": "Error.prepareStackTrace = hook",
    "defined": "Object.defineProperty(Error, 'prepareStackTrace', { value: hook })",
    "as_accessor": "Object.defineProperty(Error, 'prepareStackTrace', { get: () => hook })",
    "on_function_prototype": "Function.prototype.prepareStackTrace = hook",
    "on_object_prototype": "Object.prototype.prepareStackTrace = hook",
    "on_every_error": "for (const E of [TypeError, RangeError, SyntaxError]) E.prepareStackTrace = hook",
    "through_a_subclass": "class Mine extends Error {}; Mine.prepareStackTrace = hook",
}

PROVOKE = """
const seen = [];
const hook = (error, sites) => { seen.push(typeof sites); return sites };
SET;
for (const provoke of [
  () => new Error().stack, () => new TypeError('x').stack, () => null.x, () => raising(),
  () => report(Symbol()), () => console.trace(), () => report({ get a() { throw new Error() } }),
  () => structuredClone(() => 1), () => JSON.parse('{'), () => new (class extends Error {})().stack,
]) {
  let stack;
  try { stack = provoke() } catch (error) { stack = error.stack }
  if (typeof stack !== 'string' && stack !== undefined) seen.push('not text: ' + typeof stack);
}
export default [seen, typeof Error.captureStackTrace, typeof Error.stackTraceLimit];
"""


def raising() -> None:
    raise ValueError("of the host")


@pytest.mark.parametrize("way", SET)
def test_no_call_site_is_handed_out(way: str) -> None:
    seen = outcome(
        PROVOKE.replace("SET", SET[way]),
        globals={"raising": raising},
        report=lambda value: None,
    )
    assert seen == [[], "undefined", "undefined"]
