"""What is blanked keeps its shape: one space per character, every line break, and nothing else moves."""

import re

import pytest

from sandbox_kernel.worker.typescript import prepare

ERASABLE = [
    "let a: number = b;",
    "const 𝒳: Map<'é', \"𝒳\"> = f();",
    "type A = {\r\n  b: string\r\n}\r\nc()",
    "interface A {\n  b: string\u2028  c: 'ü'\n}\nd()",
    "x = y as { é: 1 };",
    "abstract class A<T> extends B<T> implements C { private readonly a?: T; abstract b(): void }",
]


@pytest.mark.parametrize("source", ERASABLE)
def test_erasure_keeps_length_and_line_breaks(source: str) -> None:
    text = prepare(source).text
    assert len(text) == len(source)
    for kept, was in zip(text, source, strict=True):
        assert kept == was or (kept in " ;" and was not in "\r\n\u2028\u2029")


@pytest.mark.parametrize("source", ERASABLE)
def test_columns_are_the_sources_where_nothing_was_added(source: str) -> None:
    prepared = prepare(source)
    assert prepared.source_column(1, 7) == 7


def test_a_column_behind_added_text_is_corrected() -> None:
    source = "enum A { B = f() }"
    prepared = prepare(source)
    for call in re.finditer(r"f\(\)", prepared.text):
        assert prepared.source_column(1, call.start() + 1) == source.index("f()") + 1


def test_javascript_is_not_touched() -> None:
    source = "let a = b as c"
    assert prepare(source, language="javascript").text is source
