"""Strategies: bytes that are almost frames, JSON that is almost a table, programs that are almost sane."""

from __future__ import annotations

import json
import struct
from typing import Any

from hypothesis import strategies as st

from sandbox_kernel.wire import messages

KINDS = [*range(14, 32), 0, 1, 255]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from([2**53, -(2**53), 10**400, "__proto__", "", "\ud800", "u", "n", "b"]),
)  # fmt: skip
TAGS = st.sampled_from([*"aomsdexfpqunbz", "", "_item", "aa"])
ITEMS = st.one_of(
    SCALARS,
    st.lists(st.integers(-2, 9), min_size=1, max_size=1),
    st.just(["u"]),
    st.tuples(st.sampled_from(["n", "b"]), st.one_of(st.text("0123456789abcdefNaInfity-_.e", max_size=9), SCALARS)).map(list),
    st.lists(SCALARS, max_size=4),
)  # fmt: skip
NODES = st.tuples(TAGS, st.lists(ITEMS, max_size=6)).map(lambda node: [node[0], *node[1]])
TABLES = st.tuples(ITEMS, st.lists(st.one_of(NODES, NODES, NODES, SCALARS), max_size=9)).map(
    lambda table: [table[0], *table[1]]
)


def text_of(form: str, value: Any) -> bytes:
    return (form + json.dumps(value)).encode()


ANY_JSON = st.recursive(SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=5), inner, max_size=5)), max_leaves=25)  # fmt: skip
TEXTS = st.one_of(
    TABLES.map(lambda table: text_of("T", table)),
    TABLES.map(lambda table: text_of("T", table)),
    ANY_JSON.map(lambda value: text_of("P", value)),
    ANY_JSON.map(lambda value: text_of("T", value)),
    ANY_JSON.map(lambda value: json.dumps(value).encode()),
    st.lists(st.tuples(st.sampled_from(["RP", "LP", "RT", "LT", "XP", "R", ""]), ANY_JSON), max_size=4).map(
        lambda lines: "".join(f"{head}{json.dumps(value)}\n" for head, value in lines).encode()
    ),
    st.binary(max_size=60),
)  # fmt: skip
ATTACHMENTS = st.lists(st.binary(max_size=20), max_size=3)


def spell(
    kind: int, a: int, b: int, text: bytes, binary: list[bytes], lie: int, flags: int
) -> bytes:
    """A frame; `lie` is added to its size, `flags` to the number of its attachments."""
    sizes = struct.pack(f"<{len(binary)}I", *map(len, binary))
    body = sizes + text + b"".join(binary)
    head = struct.pack(
        "<IIII", (kind & 0xFF) | (len(binary) + flags & 0xFFFFFF) << 8, a, b, len(text)
    )
    return struct.pack("<I", (16 + len(body) + lie) & 0xFFFFFFFF) + head + body


FRAMES = st.builds(
    spell,
    st.one_of(st.sampled_from(KINDS), st.integers(16, 26), st.integers(16, 26)),
    st.integers(0, 5), st.integers(0, 3), TEXTS, ATTACHMENTS,
    st.sampled_from([0] * 12 + [1, -1, 7, 2**31, -16]), st.sampled_from([0] * 12 + [1, 2**20]),
)  # fmt: skip
SPEECHES = st.tuples(st.booleans(), st.lists(FRAMES, max_size=8), st.integers(-6, 40))

READY = spell(messages.READY, messages.FILTERED, messages.VERSION, b"", [], 0, 0)
