"""Async functions and thenables have handed out host objects as `this`; here there are none to hand out."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_kernel import run_code, undefined
from tests.escapes.attack import attack, outcome


async def later(value: Any = None) -> Any:
    await asyncio.sleep(0)
    return value


def test_this_in_every_kind_of_callback() -> None:
    seen = outcome(
        """
const seen = [];
const look = function () { 'use strict'; seen.push(this === globalThis ? 'global' : typeof this); return 1 };
const sloppy = { then: function (resolve) { seen.push(this === sloppy); resolve('t') } };
sync(look); // a guest function lent to the host, and called by it
await later();
await sloppy;
await Promise.resolve(sloppy);
await later(1).then(look);
queueMicrotask(look);
await null;
export default seen;
""",
        globals={"sync": lambda f: f(), "later": later},
    )
    assert seen == ["undefined", True, True, "undefined", "global"]


def test_a_then_on_object_prototype_sees_only_copies() -> None:
    """Promises of ours resolve with plain objects, which then have the guest's `then`."""
    seen = outcome(
        """
const taken = [];
Object.prototype.then = function (resolve) {
  const self = this;
  delete Object.prototype.then;
  taken.push(Object.keys(self));
  resolve('replaced');
};
const value = await later({ a: 1 });
export default [taken, value];
""",
        globals={"later": later},
    )
    assert seen == [[["a"]], "replaced"]


def test_a_promise_constructor_replaced_before_each_kind_of_promise() -> None:
    seen = outcome(
        """
const Original = Promise;
let constructed = 0;
globalThis.Promise = class extends Original { constructor(f) { super(f); constructed++ } };
Original.prototype.then = function () { throw 'poison' };
Original.resolve = Original.reject = () => { throw 'poison' };
const value = await later({ a: 1 });
export default [value, constructed];
""",
        globals={"later": later},
    )
    assert seen == [{"a": 1}, 0]


def test_a_result_whose_then_never_ends() -> None:
    """Each answers with the next: the run goes on until it is terminated."""

    async def main() -> Any:
        source = "let n = 0; const t = { then(r) { if (++n === 1e4) report(n); r(t) } }; export default t"
        run = run_code(source, report=lambda value: None)
        await anext(run.stream())
        run.terminate("enough")
        return await run

    result = asyncio.run(main())
    assert (result.status, result.error.message) == ("terminated", "enough")


def test_a_then_that_calls_back_twice_and_throws() -> None:
    source = (
        "export default { then(resolve, reject) { resolve(1); resolve(2); reject(3); throw 4 } }"
    )
    assert outcome(source) == 1


def test_a_getter_named_then_that_throws() -> None:
    result = attack("export default { get then() { throw new RangeError('no') } }")
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("RangeError", "no")


def test_a_lent_function_gets_no_host_this() -> None:
    seen = outcome(
        "export default bridge.call({ secret: 1 }, 2)", globals={"bridge": lambda *args: list(args)}
    )
    assert seen == [2]
    assert outcome("export default await bridge()", globals={"bridge": later}) is None
    assert outcome("export default await bridge(undefined)", globals={"bridge": later}) is undefined


def test_a_then_that_calls_back_while_answers_settle_disturbs_none_of_them() -> None:
    """Answers come many at a time; the guest's accessor runs in the middle of them, and throws too."""
    seen = outcome(
        """
const nested = [];
let reads = 0;
Object.defineProperty(Object.prototype, 'then', { configurable: true, get() {
  reads++;
  if (reads % 7 === 0) { nested.push(later(reads)); reads % 2 ? 0 : report(reads); }
  if (reads % 5 === 0) throw new Error('no');
} });
Array.prototype.push = Array.prototype[Symbol.iterator] = undefined;
const { push } = { push: (list, item) => { list[list.length] = item } };
nested.push = (item) => push(nested, item);
const calls = [];
for (let i = 0; i < 3000; i++) calls[i] = later({ i });
let right = 0, refused = 0;
for (let i = 0; i < 3000; i++) {
  try { const got = await calls[i]; right += got.i === i } catch (error) { refused += error.message === 'no' }
}
let inner = 0;
for (let i = 0; i < nested.length; i++) inner += typeof (await nested[i]) === 'number';
delete Object.prototype.then;
export default [right + refused, refused > 500, inner === nested.length, nested.length > 400];
""",
        globals={"later": later},
        report=lambda value: None,
    )
    assert seen == [3000, True, True, True]
