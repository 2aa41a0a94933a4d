"""Python's plain data in the guest: what each kind becomes, as the guest itself sees it."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import sqlite3
import uuid
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sandbox_kernel import run_code

# Writes down a value with its types, so that 1, 1n, '1' and a Float64Array of it differ.
SEEN = """
const seen = (v) => {
  if (v === null || v === undefined || typeof v === 'boolean') return String(v);
  if (typeof v === 'number') return Object.is(v, -0) ? '-0' : String(v);
  if (typeof v === 'bigint') return v + 'n';
  if (typeof v === 'string') return JSON.stringify(v);
  if (typeof v === 'function') return 'function';
  if (v instanceof Date) return 'Date(' + v.toISOString() + ')';
  if (Array.isArray(v)) return '[' + v.map(seen).join(' ') + ']';
  if (ArrayBuffer.isView(v)) return v.constructor.name + '[' + Array.from(v, seen).join(' ') + ']';
  if (v instanceof Set) return 'Set{' + [...v].map(seen).join(' ') + '}';
  return '{' + Object.entries(v).map(([k, x]) => k + ':' + seen(x)).join(' ') + '}';
};
"""


class Color(enum.Enum):
    RED = "red"
    SINCE = dt.date(2024, 1, 2)
    PARTS = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: int
    y: Any = None


@dataclasses.dataclass
class Node:
    name: str
    next: Any = None
    _hidden: int = 7


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    when: dt.date


class Movie(TypedDict):
    name: str


def _row() -> sqlite3.Row:
    with sqlite3.connect(":memory:") as database:
        database.row_factory = sqlite3.Row
        row: sqlite3.Row = database.execute("select 1 as a, 'x' as b").fetchone()
    database.close()
    return row


def _utc(text: str) -> str:
    return f"Date({text}.000Z)"


NEW_YEAR = _utc("2024-01-01T00:00:00")
CROSSING: list[tuple[Any, str]] = [
    (Color.RED, '"red"'),
    (Color.SINCE, '"2024-01-02"'),
    (Color.PARTS, "[1 2]"),
    (Level.HIGH, "3"),
    (Point(1, Point(2)), "{x:1 y:{x:2 y:null}}"),
    (Node("a", Node("b")), '{name:"a" next:{name:"b" next:null _hidden:7} _hidden:7}'),
    (Slotted(dt.date(2024, 1, 2)), '{when:"2024-01-02"}'),
    (Movie(name="Up"), '{name:"Up"}'),
    (dt.date(2024, 1, 2), '"2024-01-02"'),
    (dt.time(1, 2, 3), '"01:02:03"'),
    (dt.timedelta(seconds=1.5), "1500"),
    (dt.timedelta(microseconds=1), "0.001"),
    (decimal.Decimal("1.10"), '"1.10"'),
    (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    (pathlib.Path("/a/b"), '"/a/b"'),
    (pathlib.PureWindowsPath("c:/a"), '"c:\\\\a"'),
    (range(3), "[0 1 2]"),
    ({"a": 1}.keys(), '["a"]'),
    ({"a": 1}.values(), "[1]"),
    ({"a": 1}.items(), '[["a" 1]]'),
    (collections.deque([1, {2}]), "[1 Set{2}]"),
    (collections.UserList([1]), "[1]"),
    (collections.UserString("text"), '"text"'),
    (collections.UserDict(a=1), "{a:1}"),
    (collections.Counter("aab"), "{a:2 b:1}"),
    (_row(), '{a:1 b:"x"}'),
    # NumPy
    (np.float64(1.5), "1.5"),
    (np.int64(3), "3"),
    (np.bool_(True), "true"),
    (np.str_("s"), '"s"'),
    (np.longdouble(1.5), "1.5"),
    (np.array(5), "5"),
    (np.datetime64("2024-01-01"), NEW_YEAR),
    (np.array("2024-01-01", "datetime64[s]"), NEW_YEAR),
    (np.datetime64("NaT"), "null"),
    (np.timedelta64(1500, "us"), "1.5"),
    (np.timedelta64("NaT"), "null"),
    (np.array([1.5, np.nan]), "Float64Array[1.5 NaN]"),
    (np.array([1, 2], np.float32), "Float32Array[1 2]"),
    (np.array([1, 2], np.int8), "Int8Array[1 2]"),
    (np.array([1, 2]), "Float64Array[1 2]"),
    (np.array([2**53 - 1, -(2**53) + 1]), f"Float64Array[{2**53 - 1} {-(2**53) + 1}]"),
    (np.array([2**53, 1]), f"BigInt64Array[{2**53}n 1n]"),
    (np.array([1], np.uint64), "Float64Array[1]"),
    (np.array([2**63], np.uint64), f"BigUint64Array[{2**63}n]"),
    (np.array([], np.int64), "Float64Array[]"),
    (np.array([1, 2], ">i4"), "Int32Array[1 2]"),
    (np.array([1.5], np.longdouble), "Float64Array[1.5]"),
    (np.array([1, 2, 3, 4])[::2], "Float64Array[1 3]"),
    (np.array([True, False]), "[true false]"),
    (np.arange(4).reshape(2, 2), "[[0 1] [2 3]]"),
    (np.array([[1.5, np.nan]]), "[[1.5 NaN]]"),
    (np.array([["2024-01-01"]], "datetime64[D]"), f"[[{NEW_YEAR}]]"),
    (np.array(["a", "b"]), '["a" "b"]'),
    (np.array([1, "x", None, {3}], dtype=object), '[1 "x" null Set{3}]'),
    (np.array(["2024-01-01", "NaT"], "datetime64[ns]"), f"[{NEW_YEAR} null]"),
    (np.array([1500, "NaT"], "timedelta64[ms]"), "[1500 null]"),
    (np.ma.array([1, 2], mask=[False, True]), "[1 null]"),
    (np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]), "[{a:1 b:2.5}]"),
    (np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])[0], "{a:1 b:2.5}"),
    # pandas
    (pd.NA, "null"),
    (pd.NaT, "null"),
    (float("nan"), "NaN"),
    (pd.Timestamp("2024-01-01"), NEW_YEAR),
    (pd.Timestamp("2024-01-01", tz="Europe/Berlin"), _utc("2023-12-31T23:00:00")),
    (pd.Timedelta(seconds=2), "2000"),
    (pd.Series([1, 2]), "[1 2]"),
    (pd.Series([1.5, None]), "[1.5 null]"),
    (pd.Series([2**60, 1]), f"[{2**60}n 1]"),
    (pd.Series(["a", None]), '["a" null]'),
    (pd.Series([True, False]), "[true false]"),
    (pd.Series([1, None], dtype="Int64"), "[1 null]"),
    (pd.Series([True, None], dtype="boolean"), "[true null]"),
    (pd.Series([1.5, np.inf, np.nan], dtype="Float64"), "[1.5 Infinity null]"),
    (pd.Series(["u", None, "u"], dtype="category"), '["u" null "u"]'),
    (pd.Series([{"k": 1}, [2], np.nan]), "[{k:1} [2] null]"),
    (pd.Series(pd.to_timedelta([1, None], unit="s")), "[1000 null]"),
    (pd.Series([], dtype=float), "[]"),
    (pd.Index([3, 4]), "[3 4]"),
    (pd.RangeIndex(2), "[0 1]"),
    (pd.MultiIndex.from_tuples([("a", 1)]), '[["a" 1]]'),
    (pd.to_datetime(["2024-01-01", None]), f"[{NEW_YEAR} null]"),
    (pd.period_range("2024-01", periods=2, freq="M"), '["2024-01" "2024-02"]'),
    (pd.DataFrame({"a": [1, 2], 3: ["x", None]}), '[{3:"x" a:1} {3:null a:2}]'),
    (pd.DataFrame({"a": []}), "[]"),
    (pd.DataFrame(index=range(2)), "[{} {}]"),
    # Arrow
    (pa.scalar(5), "5"),
    (pa.scalar(None), "null"),
    (pa.scalar(dt.datetime(2024, 1, 1)), NEW_YEAR),
    (pa.scalar(dt.timedelta(seconds=2)), "2000"),
    (pa.array([1, 2]), "[1 2]"),
    (pa.array([1, None]), "[1 null]"),
    (pa.array([2**60, 1]), f"[{2**60}n 1]"),
    (pa.array([1.5, float("nan"), None]), "[1.5 null null]"),
    (pa.chunked_array([["a"], ["b", None]]), '["a" "b" null]'),
    (pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ns")), f"[{NEW_YEAR} null]"),
    (pa.table({"a": [1, 2], "s": ["x", None]}), '[{a:1 s:"x"} {a:2 s:null}]'),
    (pa.record_batch({"a": [[1], None]}), "[{a:[1]} {a:null}]"),
]  # fmt: skip


@pytest.fixture(scope="module")
def all_seen() -> list[str]:
    """Every value in one run: what the guest says of it."""
    source = SEEN + "export default lent.map(seen)"
    lent = [value for value, _ in CROSSING]
    result: list[str] = run_code(source, globals={"lent": lent}).wait(60).unwrap()
    return result


@pytest.mark.parametrize("at", range(len(CROSSING)), ids=lambda at: CROSSING[at][1][:40])
def test_a_value_is_in_the_guest_what_the_table_says(at: int, all_seen: list[str]) -> None:
    assert all_seen[at] == CROSSING[at][1]


def _seen(*values: Any, **options: Any) -> list[str]:
    source = SEEN + "export default (...given) => given.map(seen)"
    found: list[str] = run_code(source, execute={"args": list(values)}, **options).wait(60).unwrap()
    return found


FRAME = pd.DataFrame(
    {
        "id": [1, 2],
        "price": [1.5, None],
        "name": ["a", None],
        "when": pd.to_datetime(["2024-01-01", None]),
        "zoned": pd.to_datetime(["2024-01-01", None]).tz_localize("Europe/Berlin"),
        "took": pd.to_timedelta([1, None], unit="s"),
        "kind": pd.Categorical(["u", None]),
        "count": pd.array([1, None], dtype="Int64"),
        "ok": [True, False],
        "huge": [2**60, 1],
        "tags": [{1}, None],
    }
)


def test_a_frame_is_an_array_of_records() -> None:
    first = (
        f'{{id:1 price:1.5 name:"a" when:{NEW_YEAR} zoned:{_utc("2023-12-31T23:00:00")} took:1000'
        f' kind:"u" count:1 ok:true huge:{2**60}n tags:Set{{1}}}}'
    )
    second = (
        "{id:2 price:null name:null when:null zoned:null took:null kind:null count:null ok:false"
        " huge:1 tags:null}"
    )
    assert _seen(FRAME) == [f"[{first} {second}]"]


def test_records_of_a_frame_with_moments_cross() -> None:
    """What people wrote before frames crossed."""
    [found] = _seen(pd.DataFrame({"when": pd.to_datetime(["2024-01-01", None])}).to_dict("records"))
    assert found == f"[{{when:{NEW_YEAR}}} {{when:null}}]"


def test_an_arrow_table_has_the_rules_of_a_frame() -> None:
    columns = {
        "f": [1.5, float("nan")],
        "t": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("us", "Europe/Berlin")),
        "d": [decimal.Decimal("1.10"), None],
        "day": [dt.date(2024, 1, 2), None],
        "took": pa.array([dt.timedelta(seconds=1), None]),
        "word": pa.array(["u", None]).dictionary_encode(),
        "row": [{"x": 1}, None],
    }
    first = f'{{f:1.5 t:{NEW_YEAR} d:"1.10" day:"2024-01-02" took:1000 word:"u" row:{{x:1}}}}'
    second = "{f:null t:null d:null day:null took:null word:null row:null}"
    assert _seen(pa.table(columns)) == [f"[{first} {second}]"]


def test_a_frame_that_arrow_holds_has_the_rules_of_its_table() -> None:
    moment, day = dt.datetime(2024, 1, 1), dt.date(2024, 1, 2)
    columns = {
        "i": pa.array([1, None]),
        "t": pa.array([moment, None], pa.timestamp("ns")),
        "day": pa.array([day, None]),
        "took": pa.array([dt.timedelta(seconds=1), None]),
        "inner": pa.array([{"at": moment, "all": [moment]}, None]),
    }
    frame = pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    assert str(frame["t"].dtype) == "timestamp[ns][pyarrow]"
    inner = f"{{at:{NEW_YEAR} all:[{NEW_YEAR}]}}"
    first = f'{{i:1 t:{NEW_YEAR} day:"2024-01-02" took:1000 inner:{inner}}}'
    expected = f"[{first} {{i:null t:null day:null took:null inner:null}}]"
    assert _seen(frame, pa.table(columns)) == [expected, expected]
    assert _seen(frame["t"], frame["t"].array) == [f"[{NEW_YEAR} null]"] * 2


def test_groups_of_a_frame_are_pairs_of_a_key_and_rows() -> None:
    groups = pd.DataFrame({"a": [1, 1, 2], "b": [2, 3, 4]}).groupby("a")
    assert _seen(groups) == ["[[1 [{a:1 b:2} {a:1 b:3}]] [2 [{a:2 b:4}]]]"]


def test_what_is_shared_stays_shared() -> None:
    node, frame, inner = Node("a"), pd.DataFrame({"a": [1]}), [1]
    node.next = node
    plain = {"inner": inner, "deep": [{"inner": inner}]}
    source = """
export default (node, frames, plain, alone) =>
  [node.next === node, frames[0] === frames[1], plain.inner === plain.deep[0].inner, plain.inner === alone]
"""
    args = [node, [frame, frame], plain, inner]
    assert run_code(source, execute={"args": args}).wait().unwrap() == [True] * 4


@pytest.mark.parametrize("first", [True, False])
def test_a_part_of_plain_data_that_is_lent_again_is_the_same_object(first: bool) -> None:
    """Plain data crosses as it stands, unless something else refers into it."""
    part = {"a": [1]}
    whole = {"rows": [part, {"b": 2}]}
    given = (
        {"part": [part, {1}], "whole": whole} if first else {"whole": whole, "part": [part, {1}]}
    )
    source = "export default [whole.rows[0] === part[0], whole.rows[0].a[0], whole.rows[1].b]"
    assert run_code(source, globals=given).wait().unwrap() == [True, 1, 2]


def test_bridges_return_these_kinds_too() -> None:
    async def later() -> Any:
        return Point(1, dt.date(2024, 1, 2))

    source = SEEN + "export default [seen(frame()), seen(await later())]"
    lent = {"frame": lambda: pd.DataFrame({"a": [1]}), "later": later}
    expected = ["[{a:1}]", '{x:1 y:"2024-01-02"}']
    assert run_code(source, globals=lent).wait().unwrap() == expected


def test_rows_do_not_pass_through_setters_of_a_guest() -> None:
    source = """
const caught = [];
for (const prototype of [Array.prototype, Object.prototype])
  for (const name of ['0', '7', 'a', '__proto__', 'when'])
    Object.defineProperty(prototype, name, { set(v) { caught.push(name) }, get() { return 'trap' }, configurable: true });
const rows = get();
export default [caught.length, rows.length, Object.keys(rows[0]).join(), rows[7].a, rows[7].when.getTime(), rows[7].n]
"""
    frame = pd.DataFrame(
        {
            "a": range(200),
            "__proto__": ["x"] * 200,
            "when": pd.to_datetime(range(200), unit="s"),
            "n": [{i} for i in range(200)],
        }
    )
    found = run_code(source, globals={"get": lambda: frame}).wait().unwrap()
    assert found == [0, 200, "a,__proto__,when,n", 7, 7000, {7}]


def test_a_lent_row_named_after_a_prototype_stays_a_plain_object() -> None:
    frame = pd.DataFrame({"__proto__": [{"evil": True}], "constructor": [{1}]})
    source = "export default (rows) => [rows[0].evil === undefined, Object.keys(rows[0]).length]"
    assert run_code(source, execute={"args": [frame]}).wait().unwrap() == [True, 2]
