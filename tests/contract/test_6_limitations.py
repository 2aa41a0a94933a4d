"""Section 6: what the guest has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import undefined

Value = Callable[..., Any]

INTRINSICS = set(
    """
    Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError
    AggregateError SuppressedError Iterator Array parseInt parseFloat isNaN isFinite queueMicrotask
    decodeURI decodeURIComponent encodeURI encodeURIComponent Infinity NaN undefined Number Boolean
    String Math Reflect Symbol DisposableStack AsyncDisposableStack globalThis BigInt Date RegExp
    JSON Proxy Map Set WeakMap WeakSet ArrayBuffer Uint8ClampedArray Int8Array Uint8Array Int16Array
    Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array
    Float64Array DataView Promise WeakRef FinalizationRegistry structuredClone
    """.split()
)
ABSENT = """
    process global window self document require Deno Bun fetch Request Response URL URLSearchParams
    WebSocket WebAssembly crypto setTimeout setInterval setImmediate performance atob btoa
    TextEncoder TextDecoder eval SharedArrayBuffer Atomics InternalError DOMException gc navigator
    std os bjson print scriptArgs __loadScript
    """.split()


def test_6_1_global_this_has_the_intrinsics_and_nothing_else(value: Value) -> None:
    assert set(value("export default Object.getOwnPropertyNames(globalThis)")) == INTRINSICS
    tags = value("export default Object.getOwnPropertySymbols(globalThis).map(String)")
    assert tags == ["Symbol(Symbol.toStringTag)"]
    assert value("export default Object.keys(globalThis)") == []


@pytest.mark.parametrize("name", ABSENT)
def test_6_1_is_absent(value: Value, name: str) -> None:
    assert value(f"export default [typeof {name}, '{name}' in globalThis]") == ["undefined", False]


def test_6_1_what_is_absent_can_be_bridged_in(value: Value) -> None:
    assert (
        value("export default fetch('x')", globals={"fetch": lambda url: f"got {url}"}) == "got x"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "Function('return 1')",
        "new Function('a', 'return a')",
        "(() => {}).constructor('return 1')",
        "(async () => {}).constructor('return 1')",
        "(function* () {}).constructor('yield 1')",
        "(async function* () {}).constructor('yield 1')",
        "Object.getPrototypeOf(Function).constructor('return 1')",
        "Reflect.construct(Function, ['return 1'])",
        "Reflect.construct(Function, ['return 1'], class {})",
        "Function.prototype.constructor.call(null, 'return 1')",
        "Function.apply(null, ['return 1'])",
        "Function.bind(null, 'return 1')()",
        "[].map.constructor('return 1')",
        "class X extends Function {}; new X('return 1')",
        "Promise.resolve.constructor('return 1')",
        "Object.getOwnPropertyDescriptor(Function.prototype, 'constructor').value('1')",
    ],
)
def test_6_2_dynamic_code_throws_by_this_route(value: Value, expression: str) -> None:
    statement, _, last = expression.rpartition("; ")
    source = f"""
    let outcome;
    try {{ {statement}; ({last}); outcome = 'compiled' }} catch (error) {{ outcome = error.name }}
    export default outcome
    """
    assert value(source) == "TypeError"


def test_6_2_without_source_text_a_function_is_empty(value: Value) -> None:
    source = """
    const made = new Function(), called = Function();
    export default [typeof made, made(), called instanceof Function, made.constructor === Function,
      Function.name, Function.length, Object.getPrototypeOf((async () => {}).constructor) === Function,
      (() => {}) instanceof Function, Function.prototype === Object.getPrototypeOf(() => {})]
    """
    assert value(source) == ["function", undefined, True, True, "Function", 1, True, True, True]


def test_6_2_dynamic_import_resolves_what_the_graph_has(value: Value) -> None:
    source = """
    const m = await import('./m.js'), h = await import('host');
    const failed = [];
    for (const s of ['https://x.org/y.js', 'data:text/javascript,1', './other.js', 'fs', '../m.js', '/m.js'])
      await import(s).catch((error) => failed.push(error.name));
    export default [m.v, h.x, failed];
    """
    options = {"modules": {"./m.js": "export const v = 1"}, "imports": {"host": {"x": 2}}}
    assert value(source, **options) == [1, 2, ["LinkError"] * 6]


def test_6_2_a_dynamically_imported_module_that_does_not_parse_rejects(value: Value) -> None:
    source = "export default await import('./bad.js').catch((error) => error.name)"
    assert value(source, modules={"./bad.js": "let x = ;"}) == "SyntaxError"


def test_6_2_import_attributes_open_no_other_door(run: Value) -> None:
    result = run(
        "import x from './d.json' with { type: 'json' }; export default x",
        modules={"./d.json": "1"},
    )
    assert (result.status, result.error.name) == ("link_error", "LinkError")


def test_6_5_the_default_memory_limit_applies(run: Value) -> None:
    assert run("const a = []; for (;;) a.push(new Array(1000).fill(0))").status == "memory"


def test_6_6_microtasks_work(value: Value) -> None:
    source = """
    const order = [];
    queueMicrotask(() => order.push(2));
    Promise.resolve().then(() => order.push(3));
    order.push(1);
    await null; await null;
    export default order
    """
    assert value(source) == [1, 2, 3]


def test_6_7_date_and_random_work(value: Value) -> None:
    now, random, zone = value(
        "export default [Date.now(), Math.random(), new Date().getTimezoneOffset()]"
    )
    assert now > 1.6e12
    assert 0 <= random < 1
    assert zone == 0


def test_6_7_two_runs_have_different_random_numbers(value: Value) -> None:
    source = "export default Array.from({ length: 4 }, Math.random)"
    assert value(source) != value(source)


def test_6_8_each_run_is_fresh(value: Value) -> None:
    value(
        "globalThis.left = 1; Array.prototype.left = 2; Object.freeze(Object.prototype); export default 0"
    )
    left = value("export default [typeof left, [].left, Object.isFrozen(Object.prototype)]")
    assert left == ["undefined", undefined, False]


def test_structured_clone_follows_the_standard(value: Value) -> None:
    source = """
    const given = { d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set(['a']), r: /a/gi, e: new TypeError('t'),
      b: new Uint8Array([1, 2]).subarray(1), n: [1, , 3], big: 1n, u: undefined, boxed: Object('s') };
    given.self = given;
    class Point { x = 1; get y() { return 2 } }
    const made = structuredClone(given);
    const errors = [];
    for (const bad of [() => 1, Symbol(), new WeakMap(), Promise.resolve(), { deep: [class {}] }])
      try { structuredClone(bad) } catch (error) { errors.push(error.name) }
    const buffer = new ArrayBuffer(8), moved = structuredClone(buffer, { transfer: [buffer] });
    export default [
      made !== given && made.self === made, made.d.getTime(), made.m.get(1).x, made.m !== given.m, made.s.has('a'),
      String(made.r), made.e instanceof TypeError && made.e.message, made.b[0], made.b.byteOffset, 1 in made.n,
      made.big === 1n, 'u' in made, typeof made.boxed, structuredClone(new Point()).constructor === Object,
      errors, buffer.byteLength, moved.byteLength, structuredClone(5),
    ]
    """
    assert value(source) == [
        True, 5, 1, True, True, "/a/gi", "t", 2, 1, False, True, True, "object", True,
        ["DataCloneError"] * 5, 0, 8, 5,
    ]  # fmt: skip
