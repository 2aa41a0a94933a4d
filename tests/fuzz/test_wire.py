"""The host's decoders on bytes that no worker of ours would send: a value or a ProtocolError, nothing else."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel import ArrayBuffer, BigInt, JSMap, undefined
from sandbox_kernel.errors import ProtocolError
from sandbox_kernel.jsonable import to_jsonable
from sandbox_kernel.wire.frame import FrameReader
from sandbox_kernel.wire.values import decode, decode_lines, encode, weight
from tests.charges import anything
from tests.fuzz.conftest import tries
from tests.fuzz.shapes import ATTACHMENTS, FRAMES, TEXTS


class Borrower:
    def guest_function(self, ident: int, name: str) -> Any:
        return ("function", ident, name)

    def guest_promise(self, ident: int) -> Any:
        return ("promise", ident)


def read(data: bytes, cuts: list[int]) -> list[Any]:
    """What a reader with a small cap makes of a stream that arrives in pieces."""
    reader = FrameReader(1 << 16)
    found: list[Any] = []
    at = 0
    try:
        for cut in [*cuts, len(data)]:
            while at < min(cut, len(data)):
                room = reader.room()
                assert len(room) > 0
                count = min(len(room), cut - at, len(data) - at)
                room[:count] = data[at : at + count]
                room.release()
                at += count
                for frame in reader.feed(count):  # one by one: what came before an error counts
                    found.append(  # noqa: PERF401  # what came before an error counts
                        (
                            frame.kind,
                            frame.a,
                            frame.b,
                            bytes(frame.text),
                            [bytes(x) for x in frame.attachments],
                        )
                    )
    except ProtocolError:
        found.append("refused")
    return found


@tries(300)
@given(
    st.lists(st.one_of(FRAMES, st.binary(max_size=50)), max_size=6).map(b"".join),
    st.lists(st.integers(0, 300), max_size=6),
)
def test_frames_are_the_same_whole_or_in_pieces(data: bytes, cuts: list[int]) -> None:
    whole = read(data, [])
    assert read(data, sorted(cuts)) == whole
    assert read(data, list(range(min(len(data), 400)))) == whole


@tries(1000)
@given(TEXTS, ATTACHMENTS, st.booleans())
def test_any_text_is_a_value_or_refused(text: bytes, binary: list[bytes], ordered: bool) -> None:
    assert weight(text, binary) >= len(text)
    try:
        value = decode(text, binary, Borrower(), anything, ordered=ordered)
    except ProtocolError:
        return
    to_jsonable(value)


@tries(500)
@given(TEXTS)
def test_any_lines_are_values_or_refused(text: bytes) -> None:
    try:
        list(decode_lines(text, lambda letter: Borrower(), anything))
    except ProtocolError:
        pass


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(), st.floats(),
    st.integers(2**53).map(BigInt), st.binary(max_size=9), st.binary(max_size=9).map(ArrayBuffer),
    st.just(undefined),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=4), inner, max_size=4),
        st.lists(st.tuples(st.one_of(st.text(), st.integers(0, 99)), inner), max_size=4).map(JSMap),
    ),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and list(one) == list(other)
            and all(same(one[k], other[k]) for k in one)
        )
    if isinstance(one, JSMap):
        return isinstance(other, JSMap) and same(
            list(map(list, one.items())), list(map(list, other.items()))
        )
    return bool(type(one) is type(other) and one == other)


def spelled_out(text: str) -> str:
    """A value for the guest as it could come from one: without parts that are left as JSON."""
    if not text.startswith("T"):
        return text
    table = json.loads(text[1:])

    def item(value: Any) -> Any:
        if not isinstance(value, list | dict):
            return value
        table.append(None)
        at = len(table) - 1
        table[at] = node(value)
        return [at - 1]

    def node(value: Any) -> list[Any]:
        if isinstance(value, list):
            return ["a", *map(item, value)]
        return ["o", *(part for key, each in value.items() for part in (key, item(each)))]

    for at in range(1, len(table)):
        if table[at][0] == "j":
            table[at] = node(table[at][1])
    return "T" + json.dumps(table)


@tries(500)
@given(VALUES)
def test_values_come_back_as_they_went(value: Any) -> None:
    text, attachments = encode(value, "value", None)
    assert same(decode(spelled_out(text), attachments, None, anything), value)
