"""Every property of every intrinsic is replaced, by a function that tells when it is used.

Reports, logs, bridge calls and their answers must go through untouched, and use none of them. Some
properties are replaced at a time: if any of them alone would be used, then it is, or another one
before it, and either is told. Then each is tried by itself.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sandbox_kernel import BigInt, JSMap, undefined
from tests.escapes.attack import attack, outcome

# Walks the intrinsics, then poisons properties, exercises every way out, and restores.
# It keeps its own references: what trips the wire is ours, not its own.
HARNESS = """
const { ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf, apply } = Reflect;
const define = (target, key, descriptor) => {
  try { return defineProperty(target, key, descriptor); } catch { return false; } // such as a length
};
const own = (target, key, value) =>
  define(target, key, bare({ value, writable: true, enumerable: true, configurable: true }));
const { setPrototypeOf } = Object;
const bare = (fields) => { setPrototypeOf(fields, null); return fields; };

const intrinsics = [], names = [], known = new Set([console, report, sync, later]);
(function walk(object, path) {
  if ((typeof object !== 'object' && typeof object !== 'function') || object === null) return;
  if (known.has(object)) return;
  known.add(object);
  intrinsics.push(object);
  names.push(path);
  for (const key of ownKeys(object)) {
    const { value, get, set } = getOwnPropertyDescriptor(object, key);
    const name = `${path}.${String(key)}`;
    walk(value, name); walk(get, name + '[get]'); walk(set, name + '[set]');
  }
  walk(getPrototypeOf(object), path + '.__proto__');
})(globalThis, 'globalThis');
for (const [name, value] of [
  ['ArrayIterator', [][Symbol.iterator]()], ['MapIterator', new Map().entries()],
  ['SetIterator', new Set().values()], ['StringIterator', ''[Symbol.iterator]()],
  ['RegExpStringIterator', 'a'.matchAll(/a/g)], ['Generator', (function* () {})()],
  ['AsyncFunction', async () => {}], ['AsyncGenerator', (async function* () {})()],
]) {
  for (let at = value; at; at = getPrototypeOf(at)) {
    if (!known.has(at)) { known.add(at); intrinsics.push(at); names.push(name); }
  }
}

const bytes = new Uint8Array([1, 2, 3]);
const shared = { deep: [1, 'two', null, true] };
const named = new RangeError('no');
Object.defineProperty(named, 'name', { value: 'RangeError' });
const rich = [
  1.5, -0, undefined, 7n, new Date(0), new Map([['k', { v: 1 }]]), new Set([1, 2]), bytes,
  named, shared, shared, new Float64Array([0.5]),
];
const plain = { a: [1, 2, { b: 'c' }], d: null };
const instance = new (class Point { x = 1; })();
let touched = null;
const troubles = [];
const toldAlready = new Set();
let attempts = 0;

function exercise(what) {
  const add = (trouble) => { own(troubles, troubles.length, what + ': ' + trouble); };
  touched = null;
  try {
    report(plain); report(rich);
    console.log('a', plain, rich, instance, exercise); console.table(plain);
    console.count('x'); console.group('g'); console.groupEnd();
    const back = sync(rich, plain);
    if (back !== 'as sent') add('a call answered ' + back);
    const given = sync('give');
    if (given.length !== 3 || given[0].a !== 1 || given[1][0] !== 9 || given[2] !== 5n) add('garbled');
    try { sync('raise'); add('no error came'); } catch (error) {
      if (error.name !== 'ValueError' || error.message !== 'told') add('another error came');
    }
    later(rich);
  } catch (error) { add('it threw ' + error); }
  if (touched !== null) add('it used ' + touched);
  attempts++;
}

// A poison has object, key, name, its descriptor `now`, and what it `was` if it was there.
function poisoned(poisons, from, to) {
  const before = troubles.length;
  for (let i = from; i < to; i++) {
    const { object, key, now } = poisons[i];
    poisons[i].done = define(object, key, now);
  }
  exercise(to - from === 1 ? poisons[from].name : 'several');
  for (let i = to - 1; i >= from; i--) {
    const { object, key, was, done } = poisons[i];
    if (done) was ? define(object, key, was) : delete object[key];
  }
  if (troubles.length === before || to - from === 1) return;
  troubles.length = before;
  for (let i = from; i < to; i++) poisoned(poisons, i, i + 1);
}

function poisonAll(poisons) {
  exercise('nothing');
  for (let at = 0; at < poisons.length; at += GROUP) {
    poisoned(poisons, at, at + GROUP < poisons.length ? at + GROUP : poisons.length);
  }
  return poisons.length;
}
"""

GROUP = 16  # properties that are replaced at a time
HOST_SAYS = [{"a": 1}, bytes([9]), BigInt(5)]


class Host:
    """The bridges of the harness, which compare what arrives with what was sent."""

    def __init__(self) -> None:
        self.first: str | None = None
        self.heard = 0
        self.wrong: list[str] = []

    def sync(self, *args: Any) -> Any:
        if args == ("give",):
            return HOST_SAYS
        if args == ("raise",):
            raise ValueError("told")
        return "as sent" if self._same(args) else "garbled"

    async def later(self, *args: Any) -> None:
        self._same((*args, {"a": [1, 2, {"b": "c"}], "d": None}))

    def _same(self, args: tuple[Any, ...]) -> bool:
        seen = repr(args)
        self.heard += 1
        self.first = self.first or seen
        if seen != self.first:
            self.wrong.append(seen)
        return seen == self.first


def poison(body: str) -> tuple[int, list[str]]:
    """How many properties were replaced, and what went wrong in the guest; nothing may in the host."""
    host = Host()
    result = attack(
        f"const GROUP = {GROUP};"
        + HARNESS
        + body
        + "\nexport default { tried, attempts, troubles };",
        globals={"sync": host.sync, "later": host.later},
        report=lambda value: None,
        memory_limit_bytes=512 * 2**20,
    )
    assert result.status == "success", result.error
    attempts, troubles = result.result["attempts"], result.result["troubles"]
    assert host.wrong == []
    assert host.heard == 2 * attempts  # by each of the two bridges
    assert Counter(map(repr, result.reports)) == dict.fromkeys(
        map(repr, result.reports[:2]), attempts
    )
    _, table, _, group = logged = [repr(log.args) for log in result.logs[:4]]
    expected = dict.fromkeys((logged[0], table, group), attempts)
    expected |= {repr((f"x: {n + 1}",)): 1 for n in range(attempts)}
    assert Counter(repr(log.args) for log in result.logs) == expected
    return result.result["tried"], troubles


REPLACED = """
const poisons = [];
for (let i = 0; i < intrinsics.length; i++) {
  for (const key of ownKeys(intrinsics[i])) {
    const was = getOwnPropertyDescriptor(intrinsics[i], key);
    if (!was.configurable && !was.writable) continue;
    const name = names[i] + '.' + String(key);
    const trip = function () { touched = name; HOW };
    const now = was.configurable ? bare(AS) : bare({ value: trip });
    poisons.push(bare({ object: intrinsics[i], key, name, now, was: bare(was), done: false }));
  }
}
const tried = poisonAll(poisons);
"""


# An error's stack is an accessor of its prototype, and reading it is how the stack crosses.
ITS_OWN = "globalThis.Error.prototype.stack: it used globalThis.Error.prototype.stack"


@pytest.mark.parametrize(
    ("how", "shape"),
    [
        ("throw 'poison';", "{ value: trip, writable: true, configurable: true }"),
        ("return undefined;", "{ get: trip, set: trip, configurable: true }"),
    ],
    ids=["throwing", "lying_accessor"],
)
def test_replacing_any_property_of_any_intrinsic_changes_nothing(how: str, shape: str) -> None:
    tried, troubles = poison(REPLACED.replace("HOW", how).replace("AS", shape))
    assert [trouble for trouble in troubles if trouble != ITS_OWN] == []
    assert tried > 1000


ADDED = """
const extra = ['0', '1', '2', '3', '-1', 'length', 'value', 'get', 'set', 'writable', 'enumerable',
  'configurable', 'toJSON', 'then', 'a', 'b', 'kind', 'text', 'attachments', 'report', 'log', 'call',
  'callSync', 'buffers', 'native', 'resolve', 'reject', 'numbers', 'queue', 'parents', 'steps',
  'items', 'path', 'lenient', 'name', 'message', 'stack', 'engine', 'constructor', 'prototype',
  'index', 'groups', 'done', 'next', 'return', 'raw', 'cause', 'transfer', '\\x01', '',
  Symbol.iterator, Symbol.asyncIterator, Symbol.species, Symbol.toPrimitive, Symbol.toStringTag,
  Symbol.hasInstance, Symbol.isConcatSpreadable, Symbol.unscopables];
const prototypes = [Object, Array, Function, String, Number, Boolean, Symbol, BigInt, Date, RegExp,
  Map, Set, Promise, Error, RangeError, ArrayBuffer, Uint8Array, getPrototypeOf(Uint8Array)]
  .map((type) => type.prototype);
const poisons = [];
for (const target of prototypes) {
  for (const key of extra) {
    if (getOwnPropertyDescriptor(target, key)) continue;
    const name = String(key) + ' on a prototype';
    const trip = () => { touched = name; };
    const now = bare({ get: trip, set: trip, configurable: true });
    poisons.push(bare({ object: target, key, name, now, was: undefined, done: false }));
  }
}
const tried = poisonAll(poisons);
"""


def test_properties_added_to_any_prototype_change_nothing() -> None:
    """Named like ours, like indices, like what the language looks up by itself."""
    tried, troubles = poison(ADDED)
    assert troubles == ["stack on a prototype: it used stack on a prototype"]  # as ITS_OWN
    assert tried > 500


EVERYTHING = """
for (let i = 0; i < intrinsics.length; i++) {
  const keys = ownKeys(intrinsics[i]);
  for (let k = 0; k < keys.length; k++) {
    try { HOW } catch {}
  }
}
report('still here');
"""


@pytest.mark.parametrize(
    "how",
    [
        "delete intrinsics[i][keys[k]];",
        "define(intrinsics[i], keys[k], bare({ value: () => { throw 'poison' } }));",
        "define(intrinsics[i], keys[k], bare({ get() { throw 'poison' }, set() {} }));",
        "define(intrinsics[i], keys[k], bare({ value: 7 }));",
        "Object.freeze(intrinsics[i]);",
    ],
    ids=["deleted", "throwing", "throwing_accessors", "numbers", "frozen"],
)
def test_a_realm_without_intrinsics_still_gets_a_result_out(how: str) -> None:
    """Nothing of the language is left, and still a report, a log, a call and a result get out."""
    source = "const GROUP = 1;" + HARNESS + EVERYTHING.replace("HOW", how)
    calls: list[Any] = []
    result = attack(
        source
        + """
console.log('log', 1);
const answer = sync('sent', bytes);
export default ['end', answer, bytes];
""",
        globals={"sync": lambda *args: calls.append(args) or "heard", "later": print},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert result.result == ["end", "heard", b"\1\2\3"]
    assert result.reports == ["still here"]
    assert [log.args for log in result.logs] == [("log", 1)]
    assert calls == [("sent", b"\1\2\3")]


def test_an_error_in_a_realm_without_intrinsics_is_described() -> None:
    """An error that ends the run is described as far as the guest has left it describable."""
    source = (
        "const GROUP = 1;" + HARNESS + EVERYTHING.replace("HOW", "delete intrinsics[i][keys[k]];")
    )
    result = attack(source + "null.x;", globals={"sync": print, "later": print}, report=print)
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.name, result.error.line) == ("Error", None)
    assert result.error.message == "cannot read property 'x' of null"
    assert result.reports == ["still here"]


def test_nothing_depends_on_structured_clone() -> None:
    """Poisoned, it may fail; replaced, it is the guest's; nothing else depends on it."""
    assert outcome("structuredClone = () => 1; export default structuredClone({})") == 1
    assert outcome("delete globalThis.structuredClone; export default [undefined]") == [undefined]


def test_what_comes_in_is_not_built_with_the_guests_setters() -> None:
    seen = outcome(
        """
let caught = 0;
for (const target of [Object.prototype, Array.prototype]) {
  for (const key of ['0', '1', 'a', 'k']) {
    Object.defineProperty(target, key, { set(v) { caught++; }, configurable: true });
  }
}
const given = sync();
for (const target of [Object.prototype, Array.prototype]) {
  for (const key of ['0', '1', 'a', 'k']) delete target[key];
}
export default [caught, given];
""",
        globals={"sync": lambda: [{"a": 1}, JSMap([("k", bytes([7]))]), bytes([8]), {"k": {1}}]},
    )
    assert seen == [0, [{"a": 1}, JSMap([("k", bytes([7]))]), bytes([8]), {"k": {1}}]]
