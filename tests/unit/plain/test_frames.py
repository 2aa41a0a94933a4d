"""`columns(frame)` on the way in, `to_frame(result)` on the way back."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from array import array
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sandbox_kernel import (
    OptionError,
    RunFailed,
    SerializationError,
    columns,
    run_code,
    to_frame,
    undefined,
)

SEEN = """
export default (given) => Object.entries(given).map(([name, v]) =>
  name + ' ' + (v?.constructor.name) + ' ' + Array.from(v, (x) => typeof x === 'bigint' ? x + 'n' : x).map(String).join())
"""
NEW_YEAR = 1704067200000


def _seen(given: Any) -> list[str]:
    found: list[str] = run_code(SEEN, execute={"args": [given]}).wait().unwrap()
    return found


def test_the_columns_of_a_frame_are_typed() -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "small": np.array([1, 2], np.int8),
            "price": [1.5, None],
            "single": np.array([1, 2], np.float32),
            "count": pd.array([1, None], dtype="Int64"),
            "huge": [2**60, 1],
            "huge_or_not": pd.array([2**60, None], dtype="Int64"),
            "ok": [True, False],
            "maybe": pd.array([True, None], dtype="boolean"),
            "name": ["a", None],
            "when": pd.to_datetime(["2024-01-01", None]),
            "zoned": pd.to_datetime(["2024-01-01", None]).tz_localize("Europe/Berlin"),
            "took": pd.to_timedelta([1, None], unit="s"),
            "kind": pd.Categorical(["u", None]),
        }
    )
    assert _seen(columns(frame)) == [
        "id Float64Array 1,2",
        "small Int8Array 1,2",
        "price Float64Array 1.5,NaN",
        "single Float32Array 1,2",
        "count Float64Array 1,NaN",
        f"huge BigInt64Array {2**60}n,1n",
        f"huge_or_not Array {2**60}n,null",
        "ok Array true,false",
        "maybe Array true,null",
        "name Array a,null",
        f"when Float64Array {NEW_YEAR},NaN",
        f"zoned Float64Array {NEW_YEAR - 3_600_000},NaN",
        "took Float64Array 1000,NaN",
        "kind Array u,null",
    ]


def test_the_columns_of_an_arrow_table_follow_the_same_rules() -> None:
    table = pa.table(
        {
            "id": [1, 2],
            "count": [1, None],
            "huge": [2**60, None],
            "price": [1.5, None],
            "name": ["a", None],
            "when": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ns")),
            "took": pa.array([dt.timedelta(seconds=1), None]),
            "ok": [True, None],
        }
    )
    assert _seen(columns(table)) == [
        "id Float64Array 1,2",
        "count Float64Array 1,NaN",
        f"huge Array {2**60}n,null",
        "price Float64Array 1.5,NaN",
        "name Array a,null",
        f"when Float64Array {NEW_YEAR},NaN",
        "took Float64Array 1000,NaN",
        "ok Array true,null",
    ]


def test_columns_takes_frames_only() -> None:
    with pytest.raises(OptionError, match="pandas DataFrame or an Arrow table, not list"):
        columns([{"a": 1}])
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(SerializationError, match="two of its columns are called 'a'"):
        columns(twice)


def test_rows_become_a_frame() -> None:
    source = """
export default [{ id: 1, at: new Date(0), s: 'a', n: null }, { id: 2, at: new Date(1000), extra: undefined, s: 'b' }]
"""
    frame = to_frame(run_code(source).wait())
    assert list(frame.columns) == ["id", "at", "s", "n", "extra"]
    assert frame["id"].tolist() == [1, 2]
    assert str(frame["at"].dt.tz) == "UTC"
    assert frame["at"].dt.second.tolist() == [0, 1]
    assert frame["extra"].isna().all()
    assert frame["n"].isna().all()


def test_columns_become_a_frame() -> None:
    source = """
export default { x: new Float64Array([1.5, 2]), i: new Int16Array([1, 2]), b: new Uint8Array([7, 8]), s: ['a', undefined] }
"""
    frame = to_frame(run_code(source).wait())
    assert frame.dtypes[["x", "i", "b"]].map(str).tolist() == ["float64", "int16", "uint8"]
    assert frame["x"].tolist() == [1.5, 2.0]
    assert frame["s"].isna().tolist() == [False, True]


def test_a_frame_makes_the_round_trip() -> None:
    frame = pd.DataFrame({"id": [1, 2], "price": [1.5, None], "name": ["a", None]})
    by_rows = run_code("export default rows", globals={"rows": frame}).wait()
    by_columns = run_code("export default cols", globals={"cols": columns(frame)}).wait()
    for back in (to_frame(by_rows), to_frame(by_columns), to_frame(by_rows.result)):
        assert back["id"].tolist() == [1, 2]
        assert back["price"].isna().tolist() == [False, True]
        assert back["name"].isna().tolist() == [False, True]


def test_nothing_is_an_empty_frame() -> None:
    assert to_frame([]).shape == (0, 0)
    assert to_frame({}).shape == (0, 0)
    assert to_frame([{}, {}]).shape == (2, 0)
    assert to_frame({"a": []}).shape == (0, 1)
    assert to_frame([{"a": undefined}])["a"].isna().tolist() == [True]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (5, "an array of objects, or an object of columns, not a value of type int"),
        ([1], "item 0 of the array is a value of type int"),
        ({"a": 1}, "'a' is a value of type int. One object is one row: put it into an array"),
        ({"a": [1], "b": array("d", [1, 2])}, "'a' has 1 cells and 'b' has 2"),
    ],
)
def test_what_is_not_a_frame_says_what_would_be(value: Any, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        to_frame(value)


def test_a_run_that_failed_is_raised() -> None:
    with pytest.raises(RunFailed, match="nope"):
        to_frame(run_code("throw new Error('nope')").wait())


def test_pandas_is_not_imported_for_it() -> None:
    program = """
import sys
from sandbox_kernel import OptionError, columns, to_frame
for call in (lambda: to_frame([]), lambda: columns([])):
    try:
        call()
    except OptionError:
        pass
    else:
        raise AssertionError
assert not {"numpy", "pandas", "pyarrow"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
