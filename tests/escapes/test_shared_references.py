"""A small value that is enormous when spelled out: forty arrays, each holding the next one twice."""

from __future__ import annotations

import json
from typing import Any

from tests.escapes.attack import attack

DOUBLING = "let v = ['end']; for (let i = 0; i < 40; i++) v = [v, v]; "


def test_a_doubling_value_crosses_with_its_references() -> None:
    result = attack(DOUBLING + "report(v); console.log(v); export default v", report=lambda v: None)
    assert result.status == "success", result.error
    value = result.result
    for _ in range(40):
        assert value[0] is value[1]
        value = value[0]
    assert value == ["end"]


def test_the_json_of_a_doubling_value_is_bounded() -> None:
    """`to_json` feeds notebooks: it may cut, it must not run for ever."""
    result = attack(DOUBLING + "export default { v, n: [1, 2] }")
    shape = result.to_json()
    assert len(json.dumps(shape)) < 50_000_000
    assert shape["result"]["n"] == [1, 2]


def test_plain_repetition_is_kept() -> None:
    result = attack("const a = { x: 1 }; export default [a, a, a]")
    assert result.to_json()["result"] == [{"x": 1}] * 3


def test_a_number_too_long_to_print() -> None:
    result = attack("export default [2n ** 100000n, -(2n ** 100000n)]")
    assert result.status == "success"
    assert result.result == [2**100000, -(2**100000)]
    shape: dict[str, Any] = result.to_json()
    assert [text.lstrip("-")[:2] for text in shape["result"]] == ["0x", "0x"]


def test_a_value_far_deeper_than_any_stack() -> None:
    result = attack(
        "let v = []; for (let i = 0; i < 2e4; i++) v = [v]; export default v",
        memory_limit_bytes=256 * 2**20,
    )
    assert result.status == "success", result.error
    json.dumps(result.to_json())
    depth, value = 0, result.result
    while value:
        depth, value = depth + 1, value[0]
    assert depth == 20_000
