"""What of a value may reach a page, and in what form."""

from __future__ import annotations

import json
from array import array
from typing import Any

import pytest

from sandbox_kernel.notebook.show.outline import outline
from sandbox_kernel.notebook.view.tally import weight
from sandbox_kernel.values import BigInt, GuestError, JSMap, Opaque, undefined


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        (None, ["null", "null"]),
        (undefined, ["null", "undefined"]),
        (True, ["boolean", "true"]),
        (1.0, ["number", "1"]),
        (BigInt(7), ["number", "7n"]),
        ("text", ["string", "text"]),
        ({"a": 1}, ["object", "", [["a", ["number", "1"]]], 0]),
        ([1], ["array", "Array(1)", [["0", ["number", "1"]]], 0]),
        (JSMap([("k", 1)]), ["map", "Map(1)", [["'k'", ["number", "1"]]], 0]),
        (JSMap([(1, 1)]), ["map", "Map(1)", [["1", ["number", "1"]]], 0]),
        ({5}, ["set", "Set(1)", [["0", ["number", "5"]]], 0]),
        (array("d", [0.5]), ["array", "Float64Array(1)", [["0", ["number", "0.5"]]], 0]),
        (Opaque("Foo", "Foo {}", {"x": 1}), ["object", "Foo", [["x", ["number", "1"]]], 0]),
        (GuestError("TypeError", "no"), ["error", "TypeError: no"]),
        (GuestError("E", "m", "  at f.ts:1:2\n"), ["error", "E: m\n  at f.ts:1:2"]),
    ],
)
def test_each_kind_of_value_has_its_outline(value: Any, drawn: list[Any]) -> None:
    assert outline(value) == drawn


def test_a_cycle_ends() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    assert outline(cycle) == ["object", "", [["self", ["note", "[Circular]"]]], 0]


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000_000,
        ["y" * 10_000] * 10_000,
        {f"key {at}": at for at in range(100_000)},
        {"k" * 1_000_000: "v" * 1_000_000},
        [[[[[[[[[["deep"] * 60] * 60] * 60] * 60] * 60] * 60] * 60] * 60] * 60],
    ],
    ids=["long string", "many strings", "many keys", "long key", "shared without end"],
)
def test_however_large_a_value_is_its_outline_is_small(value: Any) -> None:
    assert weight(outline(value)) < 400_000


def test_what_was_left_out_is_counted() -> None:
    assert outline("x" * 1_234)[2] == 234
    kind, _, entries, more = outline(list(range(1_000)))
    assert (kind, len(entries) + more) == ("array", 1_000)


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202edesrever", "a\u2066b", "\x00", "\ud800"])
def test_controls_and_direction_marks_are_spelled_out(hostile: str) -> None:
    drawn = json.dumps(outline({hostile: [hostile]}), ensure_ascii=False)
    assert hostile not in drawn
    drawn.encode("utf-8")
