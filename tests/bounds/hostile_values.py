"""Values that are small for a guest to make and would be endless, huge or dangerous to show."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

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

MEGA = 1_000_000
EVIL = "\x1b[2J\u202e\u200b\U000e0041<!--<script>\ud800"


def doubled(times: int = 60) -> list[Any]:
    """Two references to a list of two references to a list ... 2**60 leaves, 61 lists."""
    value: list[Any] = [1]
    for _ in range(times):
        value = [value, value]
    return value


def deep(levels: int = 5_000) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {"list": [], "map": JSMap()}
    value["list"].append(value)
    value["map"][value["map"]] = value
    return value


def doubled_maps(times: int = 40) -> JSMap:
    value = JSMap([("a", 1)])
    for _ in range(times):
        value = JSMap([(value, value)])
    return value


def doubled_objects(times: int = 40) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(times):
        value = {"a": value, "b": value, EVIL: value}
    return value


def guest_function(name: str) -> GuestFunction:
    async def never(_args: Any) -> None: ...

    return GuestFunction(name, never)


HOSTILE: dict[str, Callable[[], Any]] = {
    "doubled lists": doubled,
    "doubled maps": doubled_maps,
    "doubled objects": doubled_objects,
    "deep": deep,
    "cyclic": cyclic,
    "wide list": lambda: list(range(MEGA)),
    "wide object": lambda: {f"k{at}": at for at in range(200_000)},
    "wide object, shared": lambda: [{f"k{at}": at for at in range(200_000)}] * 10_000,
    "wide rows, shared": lambda: [[0] * 500_000] * 1_000,
    "records, shared": lambda: [{f"c{at}": at for at in range(50)}] * 200_000,
    "wide set": lambda: JSSet(range(100_000)),
    "wide map": lambda: JSMap((at, at) for at in range(100_000)),
    "long text": lambda: "x" * 10 * MEGA,
    "long text, shared": lambda: ["x" * MEGA] * 10_000,
    "text that is all escapes": lambda: "\x1b" * 10 * MEGA,
    "texts that are all escapes": lambda: [["\U000e0041" * 10_000] * 100] * 100,
    "joiners": lambda: "\u200d" * MEGA,
    "emoji": lambda: "👩\u200d" * MEGA,
    "newlines": lambda: "\n" * MEGA,
    "directives": lambda: "%s%o%d%c%%" * 100_000,
    "keys that are cut alike": lambda: [
        {f"{'k' * 1_000}{row}{column}{EVIL}": 1 for column in range(49)} for row in range(1_000)
    ],
    "huge key": lambda: [{EVIL + "k" * MEGA: 1}] * 10_000,
    "huge message": lambda: [GuestError("E" * MEGA, "m" * MEGA, "s\n" * MEGA)] * 2_000,
    "huge class": lambda: [Opaque("C" * MEGA, "T" * MEGA, {"x": doubled()})] * 2_000,
    "huge symbol": lambda: [Opaque("Symbol", "S" * MEGA)] * 2_000,
    "huge function": lambda: [guest_function("f" * MEGA)] * 2_000,
    "bigint": lambda: BigInt(1 << 8 * MEGA),
    "negative bigint": lambda: BigInt(-(1 << MEGA) - 1),
    "bigints": lambda: [[BigInt(1 << 13_000)] * 100] * 1_000,
    "plain int that is huge": lambda: [1 << 100_000],
    "map of doubled": lambda: JSMap([(doubled(), doubled())]),
    "rows with odd keys": lambda: [JSMap([(doubled(), 1), ([1], 2), (1, 3)]), {"a": 1}, [1]],
    "bigint keys": lambda: JSMap([(BigInt(1 << 100_000), cyclic())]),
    "many maps": lambda: [[[JSMap([({}, {})])] * 100] * 100] * 100,
    "typed arrays": lambda: [[[array("d", [1.5] * 1000)] * 100] * 100] * 100,
    "buffers": lambda: [[[ArrayBuffer(b"x" * 1000)] * 100] * 100] * 100,
    "bytes": lambda: b"x" * MEGA,
    "floats": lambda: [[1.2345678901234567e-7] * 100] * 1_000,
    "wide cells": lambda: [{f"c{at}": "日本" * 1_000 for at in range(50)}] * 1_000,
    "odd progress": lambda: {"progress": 1, "label": BigInt(10**5000)},
    "everything": lambda: [
        None, undefined, True, -0.0, float("nan"), EVIL, datetime(2020, 1, 1, tzinfo=UTC), {1}, (),
    ],
}  # fmt: skip

_NAMES = ("a", "", "k" * 5_000, EVIL, EVIL * 500, "progress", "__proto__")
_names = st.integers(0, len(_NAMES) - 1).map(_NAMES.__getitem__)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.just(undefined),
    st.integers().map(BigInt),
    st.integers(100, 50_000).map(lambda bits: BigInt(1 << bits)),
    st.text(st.characters(codec=None)),
    _names,
    _names.map(lambda name: name * 20),
    st.builds(GuestError, _names, _names, st.none() | _names),
    st.builds(Opaque, _names, _names),
    _names.map(guest_function),
    st.binary(max_size=200).map(ArrayBuffer),
    st.lists(st.floats(), max_size=200).map(lambda items: array("d", items)),
)


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Structures of structures, whose parts are shared many times over."""
    return st.one_of(
        st.lists(inner, max_size=8),
        st.builds(lambda item, times: [item] * times, inner, st.sampled_from([2, 100, 3_000])),
        st.dictionaries(_names, inner, max_size=5),
        st.lists(st.tuples(inner, inner), max_size=5).map(JSMap),
        st.lists(inner, max_size=5).map(JSSet),
        st.builds(Opaque, _names, _names, st.dictionaries(_names, inner, max_size=3)),
    )


hostile_values = st.recursive(_leaves, _grown, max_leaves=30)
