"""Values print as JavaScript consoles print them."""

from __future__ import annotations

import json
from array import array
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.clean import clean, clean_line, is_clean
from sandbox_kernel.contract import CodeExecutionLog
from sandbox_kernel.notebook.show.numbers import spell_number
from sandbox_kernel.notebook.show.output import console_line, show
from sandbox_kernel.notebook.show.result import result_bundle
from sandbox_kernel.notebook.show.table import records_table
from sandbox_kernel.values import (
    ArrayBuffer,
    BigInt,
    GuestError,
    GuestFunction,
    JSMap,
    JSSet,
    Opaque,
    undefined,
)
from sandbox_kernel.width import display_width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (undefined, "undefined"),
        (True, "true"),
        (42, "42"),
        (2.5, "2.5"),
        (BigInt(3), "3n"),
        ("it's", '"it\'s"'),
        ("plain", "'plain'"),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", None], "[ 1, 'a', null ]"),
        ({"a": 1, "b-c": {"d": [True]}}, "{ a: 1, 'b-c': { d: [ true ] } }"),
        (JSMap([("a", 1), (2, [3])]), "Map(2) { 'a' => 1, 2 => [ 3 ] }"),
        ({1: 2}, "Map(1) { 1 => 2 }"),
        ({7}, "Set(1) { 7 }"),
        (JSSet([1, True]), "Set(2) { 1, true }"),
        (datetime(2020, 1, 2, 3, 4, 5, 6000, UTC), "2020-01-02T03:04:05.006Z"),
        (b"ab", "Uint8Array(2) [ 97, 98 ]"),
        (array("d", [1, 2.5]), "Float64Array(2) [ 1, 2.5 ]"),
        (ArrayBuffer(b"\x01\xff"), "ArrayBuffer { [Uint8Contents]: <01 ff>, byteLength: 2 }"),
        (GuestError("TypeError", "no"), "[TypeError: no]"),
        (Opaque("Point", "Point {}", {"x": 1}), "Point { x: 1 }"),
        (Opaque("Symbol", "Symbol(s)"), "Symbol(s)"),
    ],
)
def test_a_value_shows_as_in_a_console(value: Any, text: str) -> None:
    assert show(value) == text


def test_functions_show_their_names() -> None:
    async def never(_args: Any) -> None: ...

    assert show([GuestFunction("f", never)]) == "[ [Function: f] ]"
    assert show(GuestFunction("", never)) == "[Function (anonymous)]"


def test_cycles_are_marked_where_they_begin_and_where_they_close() -> None:
    loop: dict[str, Any] = {"name": "loop"}
    loop["self"] = loop
    assert show(loop) == "<ref *1> { name: 'loop', self: [Circular *1] }"


def test_a_shared_value_that_is_no_cycle_shows_twice() -> None:
    part = {"x": 1}
    assert show([part, part]) == "[ { x: 1 }, { x: 1 } ]"


def test_long_arrays_strings_and_objects_are_cut_with_a_count() -> None:
    assert show(list(range(130))).endswith("... 30 more items\n]")
    assert show("x" * 10_001).endswith("... 1 more character")
    assert "... 20 more keys" in show({f"k{i}": i for i in range(120)})
    assert "... 1 more item" in show(JSMap((i, i) for i in range(101)))


def test_deep_values_end_in_their_class() -> None:
    assert show({"a": {"b": {"c": {"d": {"e": {}}}}}}).count("[Object]") == 1


def test_a_value_that_unfolds_without_end_is_shown_in_bounded_time() -> None:
    value: list[Any] = []
    for _ in range(60):
        value = [value] * 100
    assert len(show(value, depth=60)) < 5_000_000


def test_long_structures_break_into_lines_and_short_items_into_columns() -> None:
    record = {"first": "a" * 30, "second": "b" * 30, "third": "c" * 30}
    assert show(record).split("\n")[1] == f"  first: '{'a' * 30}',"
    rows = show(list(range(100))).split("\n")
    assert rows[1].startswith("   0,  1,  2")
    assert len({len(row) for row in rows[1:-2]}) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"), (100.0, "100"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
        (1e-6, "0.000001"), (1e-7, "1e-7"), (1.5e-9, "1.5e-9"), (-0.0, "-0"), (5e-324, "5e-324"),
        (float("nan"), "NaN"), (float("-inf"), "-Infinity"), (2**53, "9007199254740992n"),
        (123456789.125, "123456789.125"), (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)  # fmt: skip
def test_numbers_are_spelled_as_in_javascript(number: float, text: str) -> None:
    assert spell_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_spelled_number_reads_back_as_itself(number: float) -> None:
    assert float(spell_number(number)) == number


def log(*args: Any, method: str = "log", depth: int = 0) -> str:
    return console_line(CodeExecutionLog("log", args, 0.0, method, depth))


def test_console_arguments_are_joined_with_strings_bare() -> None:
    assert log("a", 1, {"b": "c"}, "d") == "a 1 { b: 'c' } d\n"
    assert log() == "\n"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("%s is %d", "x", 5, "more"), "x is 5 more"),
        (("%i%%", 3.9), "3%"),
        (("%o and %j", {"a": 1}, [1]), "{ a: 1 } and [ 1 ]"),
        (("%c styled", "color: red"), " styled"),
        (("%s",), "%s"),
        (("100%", 1), "100% 1"),
        (("%f", "1.5"), "1.5"),
        (("%d", "x"), "NaN"),
    ],
)
def test_console_directives_are_replaced(args: tuple[Any, ...], text: str) -> None:
    assert log(*args) == text + "\n"


def test_groups_indent_every_line() -> None:
    assert log("a\nb", depth=2) == "    a\n    b\n"


def test_console_table_draws_rows_and_columns() -> None:
    assert log([{"a": 1, "b": "x"}, {"a": 2}], method="table") == (
        "┌─────────┬───┬─────┐\n"
        "│ (index) │ a │ b   │\n"
        "├─────────┼───┼─────┤\n"
        "│       0 │ 1 │ 'x' │\n"
        "│       1 │ 2 │     │\n"
        "└─────────┴───┴─────┘\n"
    )


def test_console_table_takes_columns_and_lists_of_plain_values() -> None:
    assert "│ b" not in log([{"a": 1, "b": 2}], ["a"], method="table")
    assert "│       0 │      5 │" in log([5], method="table")
    assert log(5, method="table") == "5\n"


def test_numbers_stand_at_the_right_of_their_column() -> None:
    rows = [{"n": 1, "t": "a", "m": 1}, {"n": 10.5, "t": "b", "m": "x"}, {"n": None, "t": "c"}]
    assert log(rows, method="table") == (
        "┌─────────┬──────┬─────┬─────┐\n"
        "│ (index) │    n │ t   │ m   │\n"
        "├─────────┼──────┼─────┼─────┤\n"
        "│       0 │    1 │ 'a' │ 1   │\n"
        "│       1 │ 10.5 │ 'b' │ 'x' │\n"
        "│       2 │ null │ 'c' │     │\n"
        "└─────────┴──────┴─────┴─────┘\n"
    )


def test_only_arrays_of_records_are_a_table() -> None:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    for rows in ([{"a": 1}, {"a": "日本"}], [{"a": float("nan"), "b": moment, "c": [1, 2]}]):
        assert records_table(rows, show) is not None
    others: list[Any] = [[], [1], [{"a": {"b": 1}}], {"a": 1}, [{}], "x", [{"a": 1}, 2]]
    for other in others:
        assert records_table(other, show) is None


HOSTILE = "a\x1b[31mred\x07\u202eback\u2066\r\x9b0m\ud800\x00end"


def test_terminal_and_direction_controls_become_escapes() -> None:
    shown = clean(HOSTILE)
    assert shown == r"a\x1B[31mred\x07\u202Eback\u2066\r\x9B0m\uD800\x00end"
    assert clean("a\tb\r\nc\n") == "a\tb\nc\n"
    assert clean_line("a\nb\tc") == r"a\nb\tc"


@given(st.text(st.characters(codec=None)))
def test_clean_text_stays_clean_and_can_be_sent(text: str) -> None:
    once = clean(text)
    assert is_clean(once)
    assert clean(once) == once
    once.encode("utf-8")


@pytest.mark.parametrize(
    "value",
    [HOSTILE, {HOSTILE: 1}, [{"a": HOSTILE}], JSMap([(HOSTILE, HOSTILE)]), {HOSTILE},
     GuestError(HOSTILE, HOSTILE), Opaque(HOSTILE, HOSTILE), Opaque(HOSTILE, "", {HOSTILE: 1})],
)  # fmt: skip
def test_no_path_lets_a_control_character_out(value: Any) -> None:
    bundle = result_bundle(value)
    assert set(bundle) <= {"text/plain", "text/html", "application/json"}
    assert is_clean(bundle["text/plain"])
    assert is_clean(bundle.get("text/html", ""))
    assert is_clean(json.dumps(bundle.get("application/json"), ensure_ascii=False))
    assert is_clean(log(value))
    assert is_clean(log("%s %o", value, value))
    assert is_clean(log([{"k": value}], method="table"))


def test_a_table_fits_a_page() -> None:
    rows = [
        {"id": 1, "text": "x" * 300, "more": "y" * 80},
        {"id": 2, "text": "日本" * 90, "more": ""},
    ]
    for table in (records_table(rows, show), log(rows, method="table").rstrip("\n")):
        assert table is not None
        widths = {display_width(line) for line in table.split("\n")}
        assert len(widths) == 1
        assert max(widths) <= 100
        assert "…" in table
        assert "│  1 │" in table  # what is narrow is whole
