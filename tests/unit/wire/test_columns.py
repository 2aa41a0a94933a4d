"""Columns: what the realm writes and the host reads, and what else it might be sent."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel import BigInt, JSMap, JSSet, undefined
from sandbox_kernel.errors import ProtocolError
from sandbox_kernel.values import Opaque
from sandbox_kernel.wire.values import decode, decode_lines, weight
from tests.charges import anything


def columns(made: int, *table: Any) -> str:
    return f"C{made}{json.dumps(table)}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (columns(0, ["v", ["text"]]), "text"),
        (columns(1, ["u", 1]), undefined),
        (columns(0, ["n", ["-Infinity"]]), float("-inf")),
        (columns(6, ["b", ["-ff"]]), BigInt(-255)),
        (columns(8, ["d", [1500]]), datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=UTC)),
        (columns(8, ["d", [None]]), Opaque("Date", "Invalid Date")),
        (columns(8, ["d", [8.64e15]]), Opaque("Date", "Date(8640000000000000.0)")),
        (columns(8, ["o", ["a", "b"], 1, 1], ["v", [1]], ["v", [2]]), {"a": 1, "b": 2}),
        (columns(8, ["o", [], 1, 1]), {}),
        (columns(24, ["a", [2], 1], ["k", [0, 1], ["x"], 2], ["v", [3]]), [{}, {"x": 3}]),
        (columns(25, ["s", [2], 1], ["v", [1, "a"]]), {1, "a"}),
        (columns(25, ["s", [2], 1], ["v", [1, True]]), JSSet([1, True])),
        (columns(30, ["m", [1], 1], ["v", ["k"]], ["v", [2]]), JSMap([("k", 2)])),
        (
            columns(9, ["a", [3], 1], ["+", [0, 1, 0], 2, 2], ["v", [1, 2]], ["u", 1]),
            [1, undefined, 2],
        ),
    ],
)
def test_each_kind_of_column(text: str, value: Any) -> None:
    found = decode(text, [], None, anything)
    assert type(found) is type(value)
    assert found == value


def test_one_object_in_two_places_is_one_object() -> None:
    text = columns(16, ["a", [2], 1], ["r", [0, 0], 2], ["o", ["n"], 1, 3], ["v", [1]])
    one, other = decode(text, [], None, anything)
    assert one == {"n": 1}
    assert one is other


def test_fractions_are_binary_and_whole_numbers_are_ints() -> None:
    data = struct.pack("<4d", 0.5, 2.0, 1e300, float("inf"))
    found = decode(columns(12, ["a", [4], 1], ["f", 0]), [data], None, anything)
    assert found == [0.5, 2, 1e300, float("inf")]
    assert list(map(type, found)) == [float, int, float, float]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (columns(8, ["a", [1], 1], ["f", 0]), b"12345678"),  # no room for the number
        (columns(99, ["a", [1], 1], ["f", 0]), b"1234"),
        (columns(99, ["a", [1], 1], ["f", 1]), b"12345678"),
        (columns(99, ["a", [1], 1], ["f", -1]), b"12345678"),
        (columns(99, ["a", [1], 1], ["f", False]), b"12345678"),
        (columns(99, ["a", [2], 1], ["+", [0, 1], 2, 2], ["f", 0], ["f", 0]), b"12345678"),
    ],
)
def test_binary_data_that_does_not_fit_is_refused(text: str, data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(text, [data], None, anything)


HOSTILE = {
    "no number": 'C[["v",[1]]]',
    "a number beyond all bounds": 'C99999999999["v",[1]]',
    "a number in another script": 'C١[["v",[1]]]',
    "a number with a sign": 'C+1[["u",1]]',
    "no column": "C0[]",
    "no list": 'C0{"v":[1]}',
    "a first column of two values": columns(0, ["v", [1, 2]]),
    "a first column without values": columns(0, ["v", []]),
    "values that are text": columns(0, ["v", "1"]),
    "an unknown kind": columns(0, ["_take", 0]),
    "a kind that is a list": columns(0, [["v"], [1]]),
    "a column that is empty": columns(0, []),
    "more undefined than said": columns(4, ["a", [2], 1], ["u", 2]),
    "more objects than said": columns(18, ["a", [2], 1], ["o", [], 2, 2]),
    "fewer than none": columns(99, ["a", [-1], 1], ["u", -1]),
    "a column before its own": columns(99, ["a", [1], 0]),
    "a column beyond the last": columns(99, ["a", [1], 7]),
    "a column counted from the end": columns(99, ["a", [1], -1], ["v", [1]]),
    "a column that is true": columns(99, ["a", [1], True], ["v", [1]]),
    "a column used twice": columns(99, ["a", [2], 1], ["a", [1, 1], 2], ["v", [1, 1]], ["a", [1], 2]),
    "sizes beyond their items": columns(99, ["a", [2], 1], ["v", [1]]),
    "sizes short of their items": columns(99, ["a", [1], 1], ["v", [1, 2]]),
    "sizes that only add up": columns(99, ["a", [1], 1], ["a", [3, -1], 2], ["v", [1, 2]]),
    "sizes that are fractions": columns(99, ["a", [1], 1], ["a", [0.5, 0.5], 2], ["v", [1]]),
    "rows of different lengths": columns(99, ["o", ["a", "b"], 1, 1], ["v", [1]], ["v", [1, 2]]),
    "names that are numbers": columns(99, ["o", [1], 1, 1], ["v", [1]]),
    "names that are lists": columns(99, ["k", [1], [[]], 1], ["v", [1]]),
    "fewer names than values": columns(99, ["k", [1], ["a"], 1], ["v", [1, 2]]),
    "a date that is text": columns(99, ["d", ["x"]]),
    "a date that is a list": columns(99, ["d", [[]]]),
    "a date beyond time": columns(99, ["d", [1e300]]),
    "a date that is not a number": 'C99[["d",[NaN]]]',
    "a bigint that is none": columns(99, ["b", ["zz"]]),
    "a number that is none": columns(99, ["n", ["zz"]]),
    "members that are lists": columns(99, ["s", [1], 1], ["v", [[]]]),
    "a map with half an entry": columns(99, ["m", [1], 1], ["v", [1]], ["v", []]),
    "choices beyond the columns": columns(99, ["+", [1], 1, 1], ["v", [1]]),
    "choices before the columns": columns(99, ["+", [-1], 1, 1], ["v", [1]]),
    "choices that exhaust a column": columns(
        9, ["a", [2], 1], ["+", [0, 0], 2, 2], ["v", [1]], ["v", [1]]
    ),
    "a mixture of all there is": columns(99, ["+", [0], 1, 10**9], ["v", [1]]),
    "a reference beyond its column": columns(99, ["r", [1], 1], ["v", [1]]),
    "a reference before its column": columns(99, ["r", [-1], 1], ["v", [1]]),
    "nested beyond any stack": "C0" + "[" * 100_000,
}  # fmt: skip
HARMLESS = {"members that are lists"}  # equal to nothing but themselves, as in JavaScript


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_are_no_columns_is_refused(kind: str) -> None:
    if kind in HARMLESS:
        assert isinstance(decode(HOSTILE[kind], [], None, anything), JSSet)
        return
    with pytest.raises(ProtocolError):
        decode(HOSTILE[kind], [], None, anything)


LISTS = st.lists(st.integers(-1, 3) | st.sampled_from([None, True, "a", 0.5, 2**70]), max_size=3)
PARTS = st.integers(-1, 4) | LISTS | st.sampled_from(["a", None, 10**12])
TABLES = st.lists(
    st.tuples(st.sampled_from("vunbdokasm+r"), PARTS, PARTS, PARTS, st.integers(1, 3)).map(
        lambda parts: list(parts[: 1 + parts[4]])
    ),
    max_size=6,
)


@given(st.integers(0, 20), TABLES, st.booleans())
def test_any_columns_are_a_value_or_a_protocol_error(
    made: int, table: list[Any], ordered: bool
) -> None:
    try:
        decode(columns(made, *table), [], None, anything, ordered=ordered)
    except ProtocolError:
        pass


def test_what_columns_make_weighs_before_it_is_made() -> None:
    sizes = ",".join(["0"] * 1000)
    text = f'C8003[["a",[1000],1],["s",[{sizes}],2],["v",[]]]'
    assert weight(text.encode(), []) > 1000 * 230
    line = f"R{text}\n".encode()
    assert weight(b"RP1\n" + line + line, []) > 2 * weight(text.encode(), []) - 200


MANY = 10_000
SWELLING = {
    "undefined": columns(8 + MANY, ["a", [MANY], 1], ["u", MANY]),
    "numbers": columns(8, ["a", [MANY], 1], ["v", [0.5] * MANY]),
    "dates": columns(8 + 8 * MANY, ["a", [MANY], 1], ["d", list(range(MANY))]),
    "objects": columns(8 + 8 * MANY, ["a", [MANY], 1], ["o", ["a"], MANY, 2], ["v", [1] * MANY]),
    "arrays": columns(8 + 8 * MANY, ["a", [MANY], 1], ["a", [0] * MANY, 2], ["v", []]),
    "sets": columns(8 + 15 * MANY, ["a", [MANY], 1], ["s", [0] * MANY, 2], ["v", []]),
    "members": columns(15 + 5 * MANY, ["s", [MANY], 1], ["v", list(range(1000, 1000 + MANY))]),
    "maps": columns(8 + 16 * MANY, ["a", [MANY], 1], ["m", [0] * MANY, 2], ["v", []], ["v", []]),
    "entries": columns(
        16 + 14 * MANY, ["m", [MANY], 1], ["v", list(range(MANY))], ["v", [1] * MANY]
    ),
}


@pytest.mark.parametrize("kind", SWELLING)
def test_columns_weigh_about_what_they_take(kind: str) -> None:
    text = SWELLING[kind]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        value = decode(text, [], None, anything)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(value) == MANY
    assert taken / 2 < weight(text.encode(), []) < 8 * taken


NAMES = [f"n{number}" for number in range(300)]


@pytest.mark.parametrize(
    "table",
    [
        [["o", NAMES, 10_000, 1]],
        [["a", [10_000], 1], ["o", NAMES, 10_000, 2], *[["v", [1]]] * 300],
    ],
    ids=["without values", "with too few values"],
)
def test_rows_are_not_made_before_their_values_are_there(table: list[Any]) -> None:
    """Each would have room for all its names: 10,000 of them are 150 MB."""
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            decode(columns(10**9, *table), [], None, anything)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_columns_stand_on_lines_of_reports_and_logs_only() -> None:
    assert list(decode_lines(b'RC1[["u",1]]\nRP2\n', lambda letter: None, anything)) == [
        ("R", undefined),
        ("R", 2),
    ]
    with pytest.raises(ProtocolError, match="neither report nor log"):
        list(decode_lines(b'XC1[["u",1]]\n', lambda letter: None, anything))


COLLIDING = [k * (2**61 - 1) for k in range(1, 20_000)]  # Python hashes all to 0


@pytest.mark.parametrize(
    "text",
    [
        "T" + json.dumps([[0], ["s", *COLLIDING]]),
        "T" + json.dumps([[0], ["m", *(part for key in COLLIDING for part in (key, 0))]]),
        columns(10**6, ["s", [len(COLLIDING)], 1], ["v", COLLIDING]),
        columns(10**6, ["m", [len(COLLIDING)], 1], ["v", COLLIDING], ["v", COLLIDING]),
    ],
    ids=["set in a table", "map in a table", "set in columns", "map in columns"],
)
def test_whole_numbers_that_javascript_lacks_are_no_keys(text: str) -> None:
    """A taken worker can choose them so that putting them in a dict takes quadratic time."""
    with pytest.raises(ProtocolError, match="not a safe integer of JavaScript"):
        decode(text, [], None, anything)


def test_large_bigints_are_no_members_of_a_python_set() -> None:
    hexes = [f"{k * (2**61 - 1):x}" for k in range(1, 20_000)]
    found = decode(columns(10**6, ["s", [len(hexes)], 1], ["b", hexes]), [], None, anything)
    assert isinstance(found, JSSet)
    assert len(found) == len(hexes)


# ------------------------------------------------------------------ what the realm writes


ROWS = """
const day = (n) => new Date(n * 864e5);
const rows = Array.from({ length: 100 }, (_, i) => ({
  i, name: 'row ' + i, when: day(i), tags: new Set(['a', i]), none: undefined, odd: i % 2 ? NaN : -0, big: 2n ** BigInt(i),
}));
"""


def expected_row(i: int) -> dict[str, Any]:
    return {
        "i": i,
        "name": f"row {i}",
        "when": datetime.fromtimestamp(i * 86400, UTC),
        "tags": {"a", i},
        "none": undefined,
        "big": BigInt(2**i),
    }


def test_rows_arrive_as_they_were(value: Callable[..., Any]) -> None:
    found = value(ROWS + "export default { rows, count: rows.length }")
    assert found["count"] == 100
    for i, row in enumerate(found["rows"]):
        assert list(row) == ["i", "name", "when", "tags", "none", "odd", "big"]
        assert repr(row.pop("odd")) == ("nan" if i % 2 else "-0.0")
        assert row == expected_row(i)
        assert type(row["big"]) is BigInt


SHAPES = {
    "names in another order": ("[{ a: 1, b: u }, { b: 2, a: u }]", [["a", "b"], ["b", "a"]]),
    "a name that is missing": ("[{ a: 1, b: u }, { a: 2 }]", [["a", "b"], ["a"]]),
    "a name that is numeric": ("[{ b: u, 1: 2 }, { b: u, 1: 3 }]", [["1", "b"], ["1", "b"]]),
    "no names": ("[{}, {}, { u }]", [[], [], ["u"]]),
    "the name __proto__": ("[{ ['__proto__']: u }, JSON.parse('{\"__proto__\": 1}')]", [["__proto__"]] * 2),
    "no prototype": ("[Object.create(null), Object.assign(Object.create(null), { u })]", [[], ["u"]]),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_names_and_their_order_are_kept(value: Callable[..., Any], shape: str) -> None:
    source, names = SHAPES[shape]
    assert [list(each) for each in value(f"let u; export default {source}")] == names


def test_many_rows_of_plain_data_keep_what_is_odd_about_them(value: Callable[..., Any]) -> None:
    source = """
const rows = Array.from({ length: 64 }, (_, i) => ({ i, s: '\\ud800' + i }));
rows[7] = { i: 7 };
rows[9] = null;
rows[11] = [1, [2, [3]]];
delete rows[13];
export default rows;
"""
    found = value(source)
    assert (found[7], found[9], found[11]) == ({"i": 7}, None, [1, [2, [3]]])
    assert found[13] is undefined
    assert found[63] == {"i": 63, "s": "\ud80063"}


def test_many_fractions_arrive_as_they_were(value: Callable[..., Any]) -> None:
    source = """
const odd = [-0, NaN, Infinity, 2 ** 53, -(2 ** 60), 1e21, 1e300, 5e-324];
const numbers = Array.from({ length: 3000 }, (_, i) => i / 4);
export default [numbers, [...numbers, ...odd], numbers.map((x) => ({ x, text: 'x' })), [...numbers, 'text']];
"""
    numbers, odd, rows, mixed = value(source)
    assert numbers == [i / 4 for i in range(3000)]
    assert {type(x) for x in numbers[::4]} == {int}
    assert odd[:3000] == mixed[:3000] == [row["x"] for row in rows] == numbers
    assert [repr(x) for x in odd[3000:]] == [
        "-0.0", "nan", "inf", "9007199254740992.0", "-1.152921504606847e+18", "1e+21", "1e+300", "5e-324",
    ]  # fmt: skip
    assert mixed[3000] == "text"


def test_many_fractions_in_a_report_and_a_call(value: Callable[..., Any]) -> None:
    source = """
const numbers = Array.from({ length: 2000 }, (_, i) => i + 0.5);
report('before'); report(numbers); report('after');
export default total(numbers);
"""
    reports: list[Any] = []
    assert value(source, globals={"total": sum}, report=reports.append) == 2000 * 2000 / 2
    assert reports == ["before", [i + 0.5 for i in range(2000)], "after"]


def test_what_is_shared_and_what_is_cyclic_survives_among_rows(value: Callable[..., Any]) -> None:
    source = """
const shared = { s: new Date(0) };
const rows = Array.from({ length: 100 }, (_, i) => ({ i, shared }));
export default { rows, other: OTHER };
"""
    found = value(source.replace("OTHER", "1"))
    assert all(row["shared"] is found["rows"][0]["shared"] for row in found["rows"])
    assert found["rows"][0]["shared"]["s"] == datetime(1970, 1, 1, tzinfo=UTC)
    found = value(source.replace("OTHER", "[shared.s, shared]"))
    assert found["other"][1] is found["rows"][50]["shared"]
    assert found["other"][0] is found["rows"][50]["shared"]["s"]
    found = value(source.replace("OTHER", "rows") + "rows[3].loop = rows;")
    assert found["other"] is found["rows"] is found["rows"][3]["loop"]


def test_the_path_to_what_cannot_cross_is_told_among_rows(run: Callable[..., Any]) -> None:
    result = run(ROWS + "rows[70].tags = new (class Point {})(); export default { rows }")
    assert result.error.name == "SerializationError"
    assert result.error.message.startswith("result.rows[70].tags: an instance of Point")


def test_a_proxy_may_claim_any_length(value: Callable[..., Any]) -> None:
    for length in ("1.5", "'2'", "-1", "NaN"):
        source = """
const liar = new Proxy([1, new Date(0), 3], { get: (t, k) => k === 'length' ? LENGTH : t[k] });
export default [liar, liar.length];
"""
        assert isinstance(value(source.replace("LENGTH", length))[0], list)


def test_what_pretends_to_be_a_date_or_a_set_is_refused(run: Callable[..., Any]) -> None:
    for name in ("Date", "Set", "Map"):
        result = run(f"export default [undefined, Object.create({name}.prototype)]")
        assert (
            result.error.message
            == f"result[1]: an instance of {name} cannot cross out of the sandbox"
        )


def test_a_hidden_to_json_is_not_asked(value: Callable[..., Any]) -> None:
    source = """
const hide = (target) => Object.defineProperty(target, 'toJSON', { value: () => 'forged' });
export default [hide({ a: 1 }), hide([1, 2])];
"""
    assert value(source) == [{"a": 1}, [1, 2]]
