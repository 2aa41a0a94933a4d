"""The host's half of the codec, alone: hostile tables, and round trips through the real worker."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_kernel import ArrayBuffer, BigInt, JSMap, JSSet, undefined
from sandbox_kernel.errors import ProtocolError
from sandbox_kernel.wire.values import decode
from tests.charges import anything

MOMENTS = st.integers(-(10**12), 4 * 10**12).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.integers().map(BigInt)
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.just(undefined)
)
LEAVES = (
    SCALARS
    | MOMENTS
    | st.binary(max_size=40)
    | st.binary(max_size=40).map(ArrayBuffer)
    | st.lists(st.floats(width=32), max_size=5).map(lambda items: array("f", items))
    | st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(lambda items: array("q", items))
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=5)
        | st.lists(st.tuples(SCALARS, inner), max_size=4).map(JSMap)
        | st.lists(inner, max_size=4).map(JSSet)
    ),
    max_leaves=20,
)


def alike(a: Any, b: Any) -> bool:
    """Equal as JavaScript would have it: NaN is NaN, -0 is not 0, whole floats are ints."""
    if (
        isinstance(a, float | int)
        and isinstance(b, float | int)
        and not isinstance(a, bool | BigInt)
    ):
        if a != a and b != b:
            return True
        same = a == b
        return same and type(b) is not bool and math.copysign(1, a) == math.copysign(1, b)
    if isinstance(a, JSSet):
        return (
            isinstance(b, JSSet | set)
            and len(a) == len(b)
            and (isinstance(b, set) or all(map(alike_as_keys, a, b)))
        )
    if type(a) is not type(b):
        return False
    if isinstance(a, JSMap):
        pairs = zip(a.items(), b.items(), strict=True)
        return len(a) == len(b) and all(
            alike_as_keys(x[0], y[0]) and alike(x[1], y[1]) for x, y in pairs
        )
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, array):
        return a.typecode == b.typecode and a.tobytes() == b.tobytes()
    return bool(a == b)


def alike_as_keys(a: Any, b: Any) -> bool:
    """Sets and Maps of JavaScript keep 0 where they are given -0."""
    return alike(a, b) or (isinstance(a, float) and a == 0 == b)


@given(st.lists(VALUES, min_size=1, max_size=40))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_values_survive_the_round_trip_through_a_worker(
    value: Callable[..., Any], given: list[Any]
) -> None:
    found = value("export default given", globals={"given": given})
    for before, after in zip(given, found, strict=True):
        assert alike(before, after), (before, after)


HOSTILE = [
    "", "X1", "P", "P{", "T", "T1", "T[]", "T[[0]]", "T[[1],[\"a\"]]", "T[[-1],[\"a\"]]", "T[[0.5],[\"a\"]]",
    "T[[true],[\"a\"]]", "T[{}]", "T[[0],5]", "T[[0],[]]", "T[[0],[\"zz\"]]", "T[[0],[\"o\",1,2]]",
    "T[[0],[\"o\",\"k\"]]", "T[[0],[\"m\",1]]", "T[[0],[\"x\",\"Uint8Array\",0]]", "T[[0],[\"x\",\"Nope\",0]]",
    "T[[0],[\"f\",0,\"n\"]]", "T[[0],[\"p\",1]]", "T[[0],[\"d\",\"x\"]]", "T[[0],[\"e\",1,2,3]]", "T[[\"b\",\"zz\"]]",
    "T[[\"b\",5]]", "T[[\"n\",[]]]", "T[[\"q\",1]]", "T[[0],[\"q\",\"a\",\"b\"]]", "T[[0],[[\"a\"]]]", "T[[0],{\"a\":1}]",
    "T" + "[" * 100_000, "P" + "[" * 100_000 + "]" * 100_000, "P1" + "0" * 10_000, "T[[\"__class__\",\"x\"]]",
    "T[[0],[\"_function\",1]]", "T[[0],[\"d\",1e308]]",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:30])
def test_a_hostile_text_is_a_value_or_a_protocol_error(text: str) -> None:
    try:
        decode(text, [], None, anything)
    except ProtocolError:
        pass


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=3)
        | st.sampled_from("aomsdexfpqunb"),
        lambda x: st.lists(x, max_size=4),
        max_leaves=30,
    )
)
def test_any_table_is_a_value_or_a_protocol_error(table: Any) -> None:
    try:
        decode("T" + json.dumps(table), [b"12345678"], None, anything)
    except ProtocolError:
        pass


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_protocol_error(data: bytes) -> None:
    try:
        decode(data, [], None, anything)
    except ProtocolError:
        pass
