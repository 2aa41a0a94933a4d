"""JSON in slices: the same values as `json.loads`, in many small steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.wire import slices


def read(data: bytes) -> tuple[Any, int, int]:
    """The value, how many steps it took, and what was charged for it."""
    charged = 0

    def charge(size: int) -> None:
        nonlocal charged
        charged += size

    steps, count = slices.parse(data, charge), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, count, charged
        count += 1


@pytest.fixture(params=[(64, 64, 64, 1), (64, 64, 64, 2), (128, 128, 64, 8)])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows so small that everything is longer than one."""
    for name, value in zip(("WINDOW", "_GLANCE", "_LEAST", "_FEW"), request.param, strict=True):
        monkeypatch.setattr(slices, name, value)


TEXT = st.text() | st.text('aé€😀\\"\n', min_size=20, max_size=200) | st.just("\ud83d")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(TEXT, inner, max_size=20),
    max_leaves=60,
)  # fmt: skip


@pytest.mark.usefixtures("narrow")
@given(VALUES, st.booleans())
def test_it_reads_what_json_reads(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=ascii_only)
    data = text.encode("utf-8", "replace")
    assert read(data)[0] == json.loads(data)


@pytest.mark.usefixtures("narrow")
@given(st.binary(max_size=300) | st.text('[]{},:"\\u0d8e1', max_size=300).map(str.encode))
def test_whatever_it_is_given_it_reads_as_json_does_or_refuses(data: bytes) -> None:
    try:
        expected = json.loads(data)
    except (ValueError, RecursionError):
        with pytest.raises((ValueError, RecursionError)):
            read(data)
        return
    try:
        assert read(data)[0] == expected
    except ValueError:
        assert any(space in data for space in b" \t\r\n")  # which no encoder of ours writes


ALIKE = {
    "numbers": [1] * 100_000,
    "rows": [{"a": 1, "b": "two"}] * 20_000,
    "lists": [[]] * 100_000,
    "texts": ["a,b", "c"] * 20_000,
    "mixture": [{"a": [1]}, 2, "},{", None] * 20_000,
    "two kinds": ["a", 1] * 40_000,
    "empty lists in pairs": [[[], []]] * 30_000,
    "names": {f"name {n}": n for n in range(20_000)},
    "lists in a list": [list(range(40_000))] * 4,
    "columns": {"x": list(range(50_000)), "y": ["é"] * 50_000},
    "one text": "x" * 500_000,
    "one text of escapes": "\n" * 200_000,
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_long_text_is_read_in_many_steps(name: str) -> None:
    data = json.dumps(ALIKE[name], separators=(",", ":")).encode()
    value, steps, _ = read(data)
    assert value == ALIKE[name]
    assert steps >= len(data) // slices.WINDOW


def test_one_wide_character_makes_a_long_text_wide() -> None:
    plain = read(b'"' + b"x" * 10**6 + b'"')[2]
    wide = read(b'"' + b"x" * 10**6 + "😀".encode() + b'"')[2]
    assert 10**6 <= plain < 1.1 * 10**6
    assert 4 * 10**6 <= wide < 4.1 * 10**6


def test_a_character_whose_escapes_are_torn_apart_is_whole_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for window in range(32, 60):
        monkeypatch.setattr(slices, "WINDOW", window)
        assert read(b'"' + rb"\ud83d\ude00" * 20 + b'"')[0] == "😀" * 20


def test_nothing_is_read_beyond_a_charge_that_is_refused() -> None:
    class Enough(Exception):
        pass

    def charge(size: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        slices.finish(slices.parse(json.dumps([1] * 10**5).encode(), charge))


def test_long_containers_within_each_other_have_a_limit() -> None:
    text = b'["' + b"x" * slices.WINDOW + b'",'
    for depth, allowed in (50, True), (1100, False):
        deep = text * depth + b"0" + b",1" * 40_000 + b"]" * depth
        if allowed:
            assert read(deep)[0] == json.loads(deep)
        else:
            with pytest.raises(ValueError, match="nested too deep"):
                read(deep)
