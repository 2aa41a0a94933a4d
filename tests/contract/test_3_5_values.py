"""Section 3.5: values across the boundary, both ways."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandbox_kernel import (
    ArrayBuffer,
    BigInt,
    GuestError,
    GuestFunction,
    JSMap,
    JSSet,
    OptionError,
    RunEndedError,
    SerializationError,
    run_code,
    undefined,
)

Value = Callable[..., Any]


@pytest.mark.parametrize(
    ("given", "javascript"),
    [
        (None, "given === null"),
        (undefined, "given === undefined"),
        (True, "given === true"),
        (0, "Object.is(given, 0)"),
        (-0.0, "Object.is(given, -0)"),
        (1.5, "given === 1.5"),
        (2**53 - 1, "given === 9007199254740991"),
        (2**53, "given === 9007199254740992n"),
        (-(2**70), "given === -(2n ** 70n)"),
        (BigInt(7), "given === 7n"),
        (math.nan, "Number.isNaN(given)"),
        (math.inf, "given === Infinity"),
        (-math.inf, "given === -Infinity"),
        (1e300, "given === 1e300"),
        (2.0**60, "given === 2 ** 60"),
        ("text", "given === 'text'"),
        ("\ud800 \U0001f600 \0", "given === '\\ud800 😀 \\0'"),
        ([1, [2]], "Array.isArray(given) && given[1][0] === 2"),
        ((1, 2), "Array.isArray(given) && given.length === 2"),
        ({"a": {"b": 1}}, "Object.getPrototypeOf(given) === Object.prototype && given.a.b === 1"),
        ({"__proto__": 1}, "Object.keys(given)[0] === '__proto__' && given.b === undefined"),
        ({1: "x", None: "y"}, "given instanceof Map && given.get(1) === 'x' && given.get(null) === 'y'"),
        (JSMap([("k", 1)]), "given instanceof Map && given.get('k') === 1"),
        ({1, "a"}, "given instanceof Set && given.size === 2 && given.has('a')"),
        (frozenset(), "given instanceof Set && given.size === 0"),
        (datetime(2020, 1, 2, tzinfo=UTC), "given instanceof Date && given.toISOString() === '2020-01-02T00:00:00.000Z'"),
        (b"\x01\xff", "given instanceof Uint8Array && given.length === 2 && given[1] === 255"),
        (bytearray(b"x"), "given instanceof Uint8Array && given[0] === 120"),
        (b"", "given instanceof Uint8Array && given.length === 0"),
        (ArrayBuffer(b"ab"), "given instanceof ArrayBuffer && given.byteLength === 2"),
        (array("d", [1.5, 2.5]), "given instanceof Float64Array && given[1] === 2.5"),
        (array("q", [-(2**62)]), "given instanceof BigInt64Array && given[0] === -(2n ** 62n)"),
        (np.arange(3, dtype=np.int32), "given instanceof Int32Array && given[2] === 2"),
        (np.arange(6, dtype=np.float32)[::2], "given instanceof Float32Array && given[1] === 2"),
        (np.array([0.5], np.float16), "given instanceof Float16Array && given[0] === 0.5"),
        (np.float64(1.25), "given === 1.25"),
        (np.int64(2**60), "given === 2n ** 60n"),
        (np.bool_(True), "given === true"),
        (ValueError("bad"), "given instanceof Error && given.name === 'ValueError' && given.message === 'bad'"),
        (TypeError("bad"), "given instanceof TypeError"),
        (GuestError("CustomError", "m"), "given instanceof Error && given.name === 'CustomError'"),
    ],
    ids=lambda item: repr(item)[:40] if not isinstance(item, str | set) else None,
)  # fmt: skip
def test_3_5_a_python_value_arrives_as_its_javascript_kind(
    value: Value, given: Any, javascript: str
) -> None:
    assert value(f"export default {javascript}", globals={"given": given}) is True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("null", None),
        ("undefined", undefined),
        ("true", True),
        ("3", 3),
        ("3.5", 3.5),
        ("2 ** 60", float(2**60)),
        ("1e21", 1e21),
        ("-1e300", -1e300),
        ("7n", BigInt(7)),
        ("-(2n ** 80n)", BigInt(-(2**80))),
        ("'\\ud800x'", "\ud800x"),
        ("'\\0'", "\0"),
        ("[1, 'a', null]", [1, "a", None]),
        ("[1, , 3]", [1, undefined, 3]),
        ("({ a: undefined })", {"a": undefined}),
        ("Object.create(null, { x: { value: 1, enumerable: true } })", {"x": 1}),
        ("new Map([['a', 1], [1, 'b']])", JSMap([("a", 1), (1, "b")])),
        ("new Set([1, 'x'])", {1, "x"}),
        ("new Set([1, true])", JSSet([1, True])),
        ("new Date(0)", datetime(1970, 1, 1, tzinfo=UTC)),
        ("new Uint8Array([1, 2])", b"\x01\x02"),
        ("new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", b"\x02\x03"),
        ("new Uint8Array([1, 2]).buffer", ArrayBuffer(b"\x01\x02")),
        ("new Float64Array([0.5])", array("d", [0.5])),
        ("new Int16Array([-1])", array("h", [-1])),
        ("new BigUint64Array([2n ** 63n])", array("Q", [2**63])),
        ("new Float16Array([0.5])", array("f", [0.5])),
        ("new Uint8ClampedArray([300])", array("B", [255])),
        ("({ __proto__: null, ['__proto__']: 1 })", {"__proto__": 1}),
        ('JSON.parse(\'{"__proto__": {"polluted": 1}}\')', {"__proto__": {"polluted": 1}}),
        ("(function () { return arguments })(1, 2)", {"0": 1, "1": 2}),
    ],
)
def test_3_5_a_javascript_value_arrives_as_its_python_kind(
    value: Value, source: str, expected: Any
) -> None:
    found = value(f"export default {source}")
    assert found == expected
    assert type(found) is type(expected)


def test_3_5_nan_and_negative_zero_come_back(value: Value) -> None:
    nan, zero = value("export default [NaN, -0]")
    assert math.isnan(nan)
    assert math.copysign(1, zero) == -1


def test_3_5_errors_come_back_with_name_message_and_stack(value: Value) -> None:
    error = value(
        "class MyError extends TypeError { name = 'MyError' }\nexport default new MyError('m')"
    )
    assert isinstance(error, GuestError)
    assert (error.name, error.message) == ("MyError", "m")
    assert error.stack is not None
    assert "<runCode>:2:20" in error.stack


def test_3_5_cycles_and_shared_references_survive_inwards(value: Value) -> None:
    shared = [1]
    given: dict[str, Any] = {"a": shared, "b": shared}
    given["self"] = given
    source = "export default [given.a === given.b, given.self === given]"
    assert value(source, globals={"given": given}) == [True, True]


def test_3_5_references_shared_between_globals_imports_and_arguments_stay_shared(
    value: Value,
) -> None:
    shared: list[int] = []
    source = "import { x } from 'm'; export default (y) => [x === g, g === y]"
    options = {
        "globals": {"g": shared},
        "imports": {"m": {"x": shared}},
        "execute": {"args": [shared]},
    }
    assert value(source, **options) == [True, True]


def test_3_5_cycles_and_shared_references_survive_outwards(value: Value) -> None:
    found = value(
        "const a = {}, s = [1]; a.self = a; a.x = s; a.y = s; a.m = new Map([[a, a]]); export default a"
    )
    assert found["self"] is found
    assert found["x"] is found["y"]
    assert found["m"][found] is found


def test_3_5_depth_is_no_limit(value: Value) -> None:
    depth = 20000
    found = value(f"let a = 0; for (let i = 0; i < {depth}; i++) a = [a]; export default a")
    for _ in range(depth):
        (found,) = found
    assert found == 0
    nested: Any = 0
    for _ in range(depth):
        nested = [nested]
    source = "let n = 0; for (let a = given; Array.isArray(a); a = a[0]) n++; export default n"
    assert value(source, globals={"given": nested}) == depth


def test_3_5_values_are_copies(value: Value) -> None:
    rows = [{"n": 1}]
    value("rows[0].n = 2; rows.push(3); export default 0", globals={"rows": rows})
    assert rows == [{"n": 1}]


def test_3_5_a_buffer_is_a_copy(value: Value) -> None:
    data = bytearray(b"ab")
    value("data[0] = 9; export default 0", globals={"data": data})
    assert data == bytearray(b"ab")


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("new (class Foo {})", "result"),
        ("({ a: [1, { b: new (class Foo {}) }] })", "result.a[1].b"),
        ("Symbol('x')", "result"),
        ("({ 'k v': new WeakMap() })", 'result["k v"]'),
        ("new Map([[1, new WeakSet()]])", "result<value 0>"),
        ("[new WeakRef({})]", "result[0]"),
        ("/re/", "result"),
        ("[Promise.resolve(1)]", "result[0]"),
        ("new DataView(new ArrayBuffer(1))", "result"),
        ("Object(1)", "result"),
    ],
)
def test_3_5_what_cannot_cross_is_a_serialization_error_with_its_path(
    run: Value, source: str, path: str
) -> None:
    result = run(f"export default {source}")
    assert result.status == "error"
    assert result.error.name == "SerializationError"
    assert result.error.message.startswith(f"{path}: ")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_3_5_arguments_arrive_as_they_are_however_they_are_mixed(asynchronous: bool) -> None:
    received: list[Any] = []

    def take(*args: Any) -> None:
        received.append(args)

    async def take_later(*args: Any) -> None:
        received.append(args)

    source = """
        Number.prototype.toString = String.prototype.toString = Boolean.prototype.toString = () => 'poisoned';
        await take(new Uint8Array([1]));
        await take();
        await take(1, -2.5, 1e21, 2 ** 53, 'a"\\\\\\ud800', true, false, null);
        await take(-0, NaN, Infinity);
        await take(1, undefined);
        await take(1, 2n);
        await take(...Array.from({ length: 40 }, (_, i) => i));
        await take('x', { y: [1] });
    """
    bridge = take_later if asynchronous else take
    result = run_code(source, language="javascript", globals={"take": bridge}).wait()

    assert result.status == "link_error"  # only because it exports nothing
    binary, nothing, scalars, odd, *rest = received
    assert [bytes(item) for item in binary] == [b"\x01"]
    assert nothing == ()
    assert scalars == (1, -2.5, 1e21, 2.0**53, 'a"\\\ud800', True, False, None)
    assert [type(item) for item in scalars[:5]] == [int, float, float, float, str]
    assert list(map(repr, odd)) == ["-0.0", "nan", "inf"]
    assert rest == [
        (1, undefined),
        (1, BigInt(2)),
        tuple(range(40)),
        ("x", {"y": [1]}),
    ]


def test_3_5_a_refused_argument_is_thrown_where_it_was_passed(value: Value) -> None:
    calls: list[Any] = []
    source = """
    try { f({ deep: [class {}, Symbol()] }) } catch (error) { report([error.name, error.message]) }
    export default 'went on'
    """
    reports: list[Any] = []
    assert value(source, globals={"f": calls.append}, report=reports.append) == "went on"
    assert calls == []
    assert reports == [
        ["SerializationError", "args[0].deep[1]: a symbol cannot cross out of the sandbox"]
    ]


def test_3_5_a_bridge_that_returns_garbage_throws_in_the_guest(value: Value) -> None:
    source = (
        "try { f() } catch (error) { report(error.name + ': ' + error.message) } export default 1"
    )
    reports: list[Any] = []
    value(source, globals={"f": lambda: {"x": object()}}, report=reports.append)
    assert reports == [
        "SerializationError: return value.x: a value of type object cannot cross into the sandbox;"
        " pass plain data such as a dict"
    ]


async def test_3_5_a_guest_function_can_be_called_while_the_run_lives() -> None:
    kept: list[GuestFunction] = []

    async def apply(function: GuestFunction, *args: Any) -> Any:
        kept.append(function)
        return await function(*args)

    source = "export default await apply(async function sum(a, b) { return a + b }, 2, 3)"
    assert (await run_code(source, globals={"apply": apply})).result == 5
    assert kept[0].name == "sum"
    with pytest.raises(RunEndedError):
        kept[0](1)


async def test_3_5_a_guest_function_that_throws_raises_in_the_bridge() -> None:
    async def attempt(function: GuestFunction) -> str:
        try:
            await function()
        except GuestError as error:
            return f"{error.name}/{error.message}"
        return "nothing"

    source = "export default await attempt(() => { throw new RangeError('from the guest') })"
    assert (
        await run_code(source, globals={"attempt": attempt})
    ).result == "RangeError/from the guest"


async def test_3_5_a_guest_promise_is_awaitable_by_the_host() -> None:
    async def use(promise: Any) -> Any:
        return await promise

    source = "export default await use(new Promise((ok) => queueMicrotask(() => ok('settled'))))"
    assert (await run_code(source, globals={"use": use})).result == "settled"


def test_3_5_records_made_by_pandas_cross(value: Value) -> None:
    frame = pd.DataFrame(
        {"id": [1, 2], "when": pd.to_datetime(["2020-01-01", "2020-01-02"], utc=True)}
    )
    source = "export default rows.map((row) => [row.id, row.when.getUTCDate()])"
    assert value(source, globals={"rows": frame.to_dict("records")}) == [[1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (datetime(2020, 1, 1), "time zone"),
        (object, "the class object"),
        ((n for n in range(3)), r"list\(…\)"),
        (3 + 4j, "complex"),
    ],
)
def test_3_5_a_refused_python_value_says_why(given: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        run_code("export default 1", globals={"given": given})


def test_3_5_a_naive_datetime_is_utc_if_the_caller_says_so(value: Value) -> None:
    noon = datetime(2020, 1, 1, 12)
    source = (
        "const now = get(); export default [given, now, await later()].map((d) => d.toISOString())"
    )

    async def later() -> datetime:
        return noon

    lent = {"given": noon, "get": lambda: noon, "later": later}
    assert value(source, globals=lent, naive="utc") == ["2020-01-01T12:00:00.000Z"] * 3
    with pytest.raises(SerializationError, match=r"^globals\.given: .*naive='utc'$"):
        run_code(source, globals=lent)
    with pytest.raises(OptionError, match="naive must be 'utc', not 'local'"):
        run_code("export default 1", {"naive": "local"})


def test_3_5_large_binary_crosses_both_ways(value: Value) -> None:
    data = np.arange(500_000, dtype=np.float64)
    found = value("export default data.map((x) => x + 1)", globals={"data": data})
    assert isinstance(found, array)
    assert np.array_equal(np.frombuffer(found), data + 1)
