"""The light scanner: enough of the language to help while typing, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.notebook.assist.names import Imported, declared, exports, imports
from sandbox_kernel.notebook.assist.scan import scan


def texts(source: str) -> list[str]:
    return [token.text for token in scan(source).tokens]


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("a.b(1)", ["a", ".", "b", "(", "1", ")"]),
        ("x = /[/]\\//g.test(y)", ["x", "=", "/[/]\\//g", ".", "test", "(", "y", ")"]),
        ("a / b / c", ["a", "/", "b", "/", "c"]),
        ("'a\\'b' + \"c\"", ["'a\\'b'", "+", '"c"']),
        ("a // b\nc /* d */ e", ["a", "c", "e"]),
        ("`a ${`b ${c}`} d`", ["c", "} d`"]),
    ],
)
def test_tokens(source: str, tokens: list[str]) -> None:
    assert [text for text in texts(source) if not text.startswith(("`", "}`"))] == tokens


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        ("import fs from 'fs'", [Imported("fs", "fs", "default")]),
        ("import * as fs from 'fs'", [Imported("fs", "fs", "*")]),
        ("import { a, b as c } from './m.ts'",
         [Imported("a", "./m.ts", "a"), Imported("c", "./m.ts", "b")]),
        ("import d, { e } from 'x'", [Imported("d", "x", "default"), Imported("e", "x", "e")]),
        ("import type { T } from 'x'", [Imported("T", "x", "T")]),
        ("import 'x'; const a = 'y'", []),
        ("await import('x')", []),
    ],
)  # fmt: skip
def test_imports_are_read(source: str, bound: list[Imported]) -> None:
    assert imports(scan(source)) == bound


def test_exports_are_read() -> None:
    source = (
        "export const a = 1\nexport async function b() {}\nexport class C {}\n"
        "const d = 1, e = 2\nexport { d, e as f }\nexport default 5\nexport enum G { x }"
    )
    assert exports(scan(source)) == ["a", "b", "C", "d", "f", "default", "G"]


def test_names_of_the_cell_are_its_own_words_but_not_members() -> None:
    assert declared(scan("const total = rows.length; let x")) == ["total", "rows", "x"]


@given(st.text(alphabet="ab1 \n'\"`/\\*$(){}[].;=", max_size=200))
def test_any_text_can_be_scanned(source: str) -> None:
    found = scan(source)
    assert all(source[token.start : token.end] == token.text for token in found.tokens)


@pytest.mark.parametrize("part", ["`${", "'\\", "/[", "((((", "a/b", "\\`", "/*", "import {a,"])
def test_long_hostile_text_is_scanned_in_linear_time(part: str) -> None:
    found = scan(part * 20_000)
    imports(found), exports(found), declared(found)
