"""The text of JSON is made in pieces, none of which keeps other threads waiting for long."""

from __future__ import annotations

import json
import math
from array import array

import pytest

from sandbox_kernel import CodeExecutionResult
from sandbox_kernel.contract import shape_of
from sandbox_kernel.jsonable import JSONSpeller, to_jsonable
from sandbox_kernel.jsonpieces import json_pieces, json_within
from tests.bounds.hostile_values import HOSTILE

PIECE = 600_100  # characters: 50,000 that JSON spells with twelve each


def pieces_of(result: CodeExecutionResult) -> list[str]:
    return list(json_pieces(shape_of(result, JSONSpeller(keeps_buffers=True))))


@pytest.mark.parametrize("name", HOSTILE)
def test_any_value_is_written_in_pieces(name: str) -> None:
    result = CodeExecutionResult("success", HOSTILE[name]())
    shape, pieces = result.to_json(), pieces_of(result)
    assert max(map(len, pieces)) <= PIECE
    assert "".join(pieces) == json.dumps(shape)


def test_binary_data_is_written_as_the_numbers_in_it() -> None:
    floats = array("d", [0.5, math.nan, math.inf] * 3_000)
    bigs = array("q", [1, 2**60] * 3_000)
    for buffer in (bytes(range(256)) * 40, floats, bigs, array("f", [0.25])):
        result = CodeExecutionResult("success", {"a": [buffer], "b": buffer})
        assert "".join(pieces_of(result)) == json.dumps(result.to_json())


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_too_long_is_not_written(name: str) -> None:
    value = HOSTILE[name]()
    text = json_within(value, 10_000)
    assert text is None or text == json.dumps(to_jsonable(value))
    assert len(text or "") <= 10_000


def test_what_fits_is_written_to_the_last_character() -> None:
    value = {"a": [1, "x", None, b"ab"], "b": {}}
    text = json.dumps(to_jsonable(value))
    assert json_within(value, len(text)) == text
    assert json_within(value, len(text) - 1) is None
