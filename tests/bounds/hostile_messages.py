"""Messages as a hostile worker would send them: small on the wire, large once they are decoded.

Every form of a value and every kind of node and column is there. A shape is made with as many parts
as the caller likes, so that tests take few of them and the benchmark fills the output cap.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from sandbox_kernel.wire.columns import COST


class Message(NamedTuple):
    """The text of one value, as a message carries it, and what it refers to."""

    text: bytes
    attachments: tuple[bytes, ...] = ()


Shape = Callable[[int], Message]


def plain(item: Callable[[int], str]) -> Shape:
    """A JSON list of so many items; `item` spells one by its number."""
    return lambda count: _message(f"P[{','.join(map(item, range(count)))}]")


def plain_object(entry: Callable[[int], str]) -> Shape:
    """One JSON object of so many entries."""
    return lambda count: _message(f"P{{{','.join(map(entry, range(count)))}}}")


def table(node: Callable[[int], str]) -> Shape:
    """A table whose root is a list of so many nodes."""

    def made(count: int) -> Message:
        nodes = ",".join(map(node, range(count)))
        return _message(f'T[[0],["a",{_references(count)}],{nodes}]')

    return made


def one_node(tag: str, item: Callable[[int], str]) -> Shape:
    """A table of one node with so many items."""
    return lambda count: _message(f'T[[0],["{tag}",{",".join(map(item, range(count)))}]]')


def columns(
    made: Callable[[int], tuple[int, list[Any]]], *attached: Callable[[int], bytes]
) -> Shape:
    """Columns, with the units that they declare: no more than the host demands."""

    def message(count: int) -> Message:
        units, table = made(count)
        text = f"C{units}{json.dumps(table, separators=(',', ':'))}"
        return Message(text.encode(), tuple(each(count) for each in attached))

    return message


def deep(opening: str, inner: str, closing: str) -> Shape:
    """Lists of nests, each as deep as the host reads at once."""

    def made(count: int) -> Message:
        nest = opening * 900 + inner + closing * 900
        return _message(f"P[{','.join([nest] * max(1, count // 900))}]")

    return made


def _message(text: str) -> Message:
    return Message(text.encode("utf-8"))


def _references(count: int) -> str:
    """Items that name the nodes after the first."""
    return ",".join(f"[{at + 1}]" for at in range(count))


def _binary(kind: str, count: int) -> Message:
    """A list of so many empty ones."""
    nodes = ",".join(f'["x","{kind}",{at}]' for at in range(count))
    return Message(f'T[[0],["a",{_references(count)}],{nodes}]'.encode(), (b"",) * count)


ESCAPED = "\\ud83d\\ude00"  # one character, of four bytes in Python
SHAPES: dict[str, Shape] = {
    # JSON
    "empty lists": plain(lambda at: "[]"),
    "empty objects": plain(lambda at: "{}"),
    "small numbers": plain(lambda at: "1"),
    "numbers": plain(lambda at: str(at + 1000)),
    "large numbers": plain(lambda at: str(at + 2**40)),
    "fractions": plain(lambda at: f"{at % 10}.5"),
    "exponents": plain(lambda at: "1e9"),
    "literals": plain(lambda at: "null"),
    "short texts": plain(lambda at: f'"{at:x}"'),
    "texts of one wide character": plain(lambda at: f'"{ESCAPED}"'),
    "texts of two narrow characters": plain(lambda at: '"\\u00e9a"'),
    "texts of two characters that are not ASCII": plain(lambda at: '"éé"'),
    "texts of one character of three bytes": plain(lambda at: '"日"'),
    "lists of one": plain(lambda at: "[1]"),
    "lists of a number": plain(lambda at: "[1.5]"),
    "lists of five": plain(lambda at: "[1,2,3,4,5]"),
    "objects of one": plain(lambda at: '{"a":1}'),
    "objects of a number": plain(lambda at: '{"":1.5}'),
    "objects of six": plain(lambda at: '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}'),
    "objects of keys of their own": plain(lambda at: f'{{"{at:x}":1}}'),
    "objects of objects": plain(lambda at: '{"":{"":{}}}'),
    "wide object": plain_object(lambda at: f'"{at:x}":1'),
    "wide object of lists": plain_object(lambda at: f'"{at:x}":[]'),
    "wide object of fractions": plain_object(lambda at: f'"{at:x}":.5'.replace(":.", ":0.")),
    "wide object of wide keys": plain_object(lambda at: f'"\\ud83d{at:x}":1'),
    "objects of wide keys": plain(lambda at: f'{{"{ESCAPED}{at:x}":1}}'),
    "deep lists": deep("[", "", "]"),
    "deep objects": deep('{"":', "1", "}"),
    "escaped text": lambda count: _message(f'P"{ESCAPED}{"x" * 32 * count}"'),
    "escaped text at its end": lambda count: _message(f'P"{"x" * 32 * count}{ESCAPED}"'),
    "astral text": lambda count: _message(f'P"{"x" * 32 * count}\U0001f600"'),
    "escaped texts": plain(lambda at: f'"{ESCAPED}{"x" * 50}"'),
    "escaped keys": plain_object(lambda at: f'"{ESCAPED}{"x" * 50}{at}":1'),
    "plain text": lambda count: _message(f'P"{"x" * 32 * count}"'),
    # tables
    "nodes: arrays": table(lambda at: '["a"]'),
    "nodes: arrays of one": table(lambda at: '["a",1]'),
    "nodes: objects": table(lambda at: '["o"]'),
    "nodes: objects of one": table(lambda at: '["o","",1]'),
    "nodes: Maps": table(lambda at: '["m"]'),
    "nodes: Maps of one": table(lambda at: '["m",1,1]'),
    "nodes: Maps of Maps": table(lambda at: f'["m",[{at}],[{at}]]'),
    "nodes: Sets": table(lambda at: '["s"]'),
    "nodes: Sets of one": table(lambda at: '["s",1]'),
    "nodes: Sets of one list": table(lambda at: '["s",[0]]'),
    "nodes: Sets of six": table(lambda at: '["s",1,2,3,4,5,6]'),
    "nodes: Dates": table(lambda at: '["d",1]'),
    "nodes: invalid Dates": table(lambda at: '["d",null]'),
    "nodes: Dates beyond Python's": table(lambda at: '["d",8e15]'),
    "nodes: errors": table(lambda at: '["e","","",""]'),
    "nodes: errors without a stack": table(lambda at: '["e","","",null]'),
    "nodes: functions": table(lambda at: f'["f",{at},""]'),
    "nodes: promises": table(lambda at: f'["p",{at}]'),
    "nodes: descriptions": table(lambda at: '["q","","",null]'),
    "nodes: descriptions with fields": table(lambda at: '["q","","",[0]]'),
    "items: undefined": one_node("a", lambda at: '["u"]'),
    "items: odd numbers": one_node("a", lambda at: '["n","1"]'),
    "items: bigints": one_node("a", lambda at: f'["b","{at:x}"]'),
    "items: references": one_node("a", lambda at: "[0]"),
    "one object": one_node("o", lambda at: f'"{at:x}",1'),
    "one object of references": one_node("o", lambda at: f'"{at:x}",[0]'),
    "one Map of numbers": one_node("m", lambda at: f"{at},1"),
    "one Map of fractions": one_node("m", lambda at: f"{at}.5,0.5"),
    "one Map of texts": one_node("m", lambda at: f'"{at:x}","{at:x}"'),
    "one Map of bigints": one_node("m", lambda at: f'["b","{at:x}"],0'),
    "one Set of numbers": one_node("s", lambda at: f"{at}"),
    "one Set of fractions": one_node("s", lambda at: f"{at}.5"),
    "one Set of texts": one_node("s", lambda at: f'"{at:x}"'),
    "one Set of bigints": one_node("s", lambda at: f'["b","{at:x}"]'),
    "Set of lists": lambda count: _message(
        f'T[[0],["s",{_references(count)}],' + ",".join(['["a"]'] * count) + "]"
    ),
    "binary": lambda count: _binary("Uint8Array", count // 8),
    "buffers": lambda count: _binary("ArrayBuffer", count // 8),
    "typed arrays": lambda count: _binary("Float64Array", count // 8),
    "half floats": lambda count: Message(b'T[[0],["x","Float16Array",0]]', (bytes(8 * count),)),
    "typed array": lambda count: Message(b'T[[0],["x","Float64Array",0]]', (bytes(8 * count),)),
    # columns
    "columns: values": columns(lambda n: (COST.array, [["a", [n], 1], ["v", [1] * n]])),
    "columns: undefined": columns(lambda n: (COST.array + n, [["a", [n], 1], ["u", n]])),
    "columns: odd numbers": columns(lambda n: (COST.array, [["a", [n], 1], ["n", ["0"] * n]])),
    "columns: bigints": columns(
        lambda n: (COST.array + COST.bigint * n, [["a", [n], 1], ["b", ["0"] * n]])
    ),
    "columns: Dates": columns(
        lambda n: (COST.array + COST.date * n, [["a", [n], 1], ["d", [1] * n]])
    ),
    "columns: Dates beyond Python's": columns(
        lambda n: (COST.array + COST.date * n, [["a", [n], 1], ["d", [8e15] * n]])
    ),
    "columns: invalid Dates": columns(
        lambda n: (COST.array + COST.date * n, [["a", [n], 1], ["d", [None] * n]])
    ),
    "columns: floats": columns(
        lambda n: (COST.array + COST.float * n, [["a", [n], 1], ["f", 0]]),
        lambda n: struct.pack("<d", 1.5) * n,
    ),
    "columns: whole floats": columns(
        lambda n: (COST.array + COST.float * n, [["a", [n], 1], ["f", 0]]),
        lambda n: struct.pack("<d", 2.0**50) * n,
    ),
    "columns: rows": columns(
        lambda n: (
            COST.array + COST.object * n,
            [["a", [n], 1], ["o", ["a", "b"], n, 2], ["v", [1] * n], ["v", [1] * n]],
        )
    ),
    "columns: rows of nothing": columns(
        lambda n: (COST.array + COST.object * n, [["a", [n], 1], ["o", [], n, 2]])
    ),
    "columns: rows of undefined": columns(
        lambda n: (
            COST.array + (COST.object + 8 * COST.undefined) * n,
            [["a", [n], 1], ["o", list("abcdefgh"), n, 2], *[["u", n]] * 8],
        )
    ),
    "columns: wide rows": columns(
        lambda n: (
            COST.array + COST.object * (n // 1000) + COST.undefined * n,
            [
                ["a", [n // 1000], 1],
                ["o", [f"k{at}" for at in range(1000)], n // 1000, 2],
                *[["u", n // 1000]] * 1000,
            ],
        )
    ),
    "columns: objects": columns(
        lambda n: (
            COST.array + COST.object * n,
            [["a", [n], 1], ["k", [1] * n, ["a"] * n, 2], ["v", [1] * n]],
        )
    ),
    "columns: objects of nothing": columns(
        lambda n: (COST.array + COST.object * n, [["a", [n], 1], ["k", [0] * n, [], 2], ["v", []]])
    ),
    "columns: one object": columns(
        lambda n: (
            COST.object,
            [["k", [n], [f"{at:x}" for at in range(n)], 1], ["v", [1] * n]],
        )
    ),
    "columns: one object of undefined": columns(
        lambda n: (
            COST.object + n * COST.undefined,
            [["k", [n], [f"{at:x}" for at in range(n)], 1], ["u", n]],
        )
    ),
    "columns: arrays": columns(
        lambda n: (COST.array + COST.array * n, [["a", [n], 1], ["a", [0] * n, 2], ["v", []]])
    ),
    "columns: arrays of one": columns(
        lambda n: (COST.array + COST.array * n, [["a", [n], 1], ["a", [1] * n, 2], ["v", [1] * n]])
    ),
    "columns: Sets": columns(
        lambda n: (COST.array + COST.set * n, [["a", [n], 1], ["s", [0] * n, 2], ["v", []]])
    ),
    "columns: Sets of one": columns(
        lambda n: (
            COST.array + (COST.set + COST.member) * n,
            [["a", [n], 1], ["s", [1] * n, 2], ["v", [1] * n]],
        )
    ),
    "columns: Sets of one Set": columns(
        lambda n: (
            COST.array + (2 * COST.set + COST.member) * n,
            [["a", [n], 1], ["s", [1] * n, 2], ["s", [0] * n, 3], ["v", []]],
        )
    ),
    "columns: Sets of six": columns(
        lambda n: (
            COST.array + (COST.set + 6 * COST.member) * n,
            [["a", [n], 1], ["s", [6] * n, 2], ["v", [1, 2, 3, 4, 5, 6] * n]],
        )
    ),
    "columns: one Set of numbers": columns(
        lambda n: (COST.set + COST.member * n, [["s", [n], 1], ["v", list(range(n))]])
    ),
    "columns: one Set of texts": columns(
        lambda n: (
            COST.set + COST.member * n,
            [["s", [n], 1], ["v", [f"{at:x}" for at in range(n)]]],
        )
    ),
    "columns: one Set of bigints": columns(
        lambda n: (
            COST.set + (COST.member + COST.bigint) * n,
            [["s", [n], 1], ["b", [f"{at:x}" for at in range(n)]]],
        )
    ),
    "columns: one Set of floats": columns(
        lambda n: (COST.set + (COST.member + COST.float) * n, [["s", [n], 1], ["f", 0]]),
        lambda n: struct.pack(f"<{n}d", *(at + 0.5 for at in range(n))),
    ),
    "columns: Maps": columns(
        lambda n: (
            COST.array + COST.map * n,
            [["a", [n], 1], ["m", [0] * n, 2], ["v", []], ["v", []]],
        )
    ),
    "columns: Maps of one": columns(
        lambda n: (
            COST.array + (COST.map + COST.entry) * n,
            [["a", [n], 1], ["m", [1] * n, 2], ["v", [1] * n], ["v", [1] * n]],
        )
    ),
    "columns: one Map of numbers": columns(
        lambda n: (
            COST.map + COST.entry * n,
            [["m", [n], 1], ["v", list(range(n))], ["v", [1] * n]],
        )
    ),
    "columns: one Map of floats": columns(
        lambda n: (
            COST.map + (COST.entry + COST.float + COST.undefined) * n,
            [["m", [n], 1], ["f", 0], ["u", n]],
        ),
        lambda n: struct.pack(f"<{n}d", *(at + 0.5 for at in range(n))),
    ),
    "columns: one Map of texts": columns(
        lambda n: (
            COST.map + (COST.entry + COST.undefined) * n,
            [["m", [n], 1], ["v", [f"{at:x}" for at in range(n)]], ["u", n]],
        )
    ),
    "columns: one Map of Sets": columns(
        lambda n: (
            COST.map + (COST.entry + COST.set + COST.undefined) * n,
            [["m", [n], 1], ["s", [0] * n, 3], ["u", n], ["v", []]],
        )
    ),
    "columns: mixture": columns(
        lambda n: (
            COST.array + n * COST.undefined,
            [["a", [2 * n], 1], ["+", [0, 1] * n, 2, 2], ["v", [1] * n], ["u", n]],
        )
    ),
    "columns: shared": columns(
        lambda n: (COST.array + COST.object, [["a", [n], 1], ["r", [0] * n, 2], ["o", [], 1, 3]])
    ),
}
