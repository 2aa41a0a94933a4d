"""Whatever the text is, it comes back with its lines, not much longer, and without an exception of ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel.worker.typescript import Prepared, UnsupportedSyntax, prepare

MANY = 20_000
HOSTILE = {
    "100,000 parentheses": "(" * 100_000 + "1" + ")" * 100_000,
    "open parentheses": "(" * MANY,
    "brackets": "[" * MANY + "]" * MANY,
    "commas": "x = [" + "," * MANY + "]",
    "a line of a megabyte": f"let x: string = '{'a' * 1_000_000}' as any",
    "assertions": "x = 1" + " as any" * MANY,
    "asserted products": "x = 1" + " + 1 as any * 2" * 3_000,
    "nested assertions": "(" * 5_000 + "1" + " as any)" * 5_000,
    "angle brackets": "<any>" * 3_000 + "1",
    "nested type arguments": "let x: " + "A<" * 5_000 + "B" + ">" * 5_000,
    "nested function types": "let x: " + "() => " * 5_000 + "a",
    "type operators": "type A = " + "keyof " * 5_000 + "a",
    "unions": "type A = " + " | ".join(["a"] * MANY),
    "nested namespaces": "namespace A {" * 800 + "export let a = 1" + "}" * 800,
    "nested functions": "function f(a: number) {" * 1_000 + "}" * 1_000,
    "nested classes": "class A { constructor(public x) {" * 800 + "}}" * 800,
    "nested templates": "`${" * 2_000 + "}`" * 2_000,
    "open comments": "/*" * MANY,
    "open types": "const x: {" * 3_000,
    "open interfaces": "interface A {" * 3_000,
    "a big enum": "enum A {" + ",".join(f"a{n}" for n in range(5_000)) + "}",
    "an enum of references": "enum A { a0 = 1," + ",".join(f"a{n} = a{n - 1} | 1" for n in range(1, 3_000)) + "}",
    "a deep constant": "enum A { a = " + "(" * 5_000 + "1" + ")" * 5_000 + " }",
    "many imports": "\n".join(f"import {{ a{n} }} from 'x'; let b{n}: a{n}" for n in range(1_000)),
    "gaps": "x\ntype A = 1\n(y)\n" * 3_000,
    "zeros": "\0" * MANY,
    "backslashes": "\\" * MANY,
    "questions": "a?" * MANY,
}  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_source_keeps_its_lines_and_is_not_much_longer(title: str) -> None:
    source = HOSTILE[title]
    text = prepare(source, last_expression=True).text
    assert text.count("\n") == source.count("\n")
    assert len(text) <= 10 * len(source)


@pytest.mark.parametrize(
    "source",
    [
        "let x: '\ud800' = '\udfff' as any // \ud800",
        "let x: string = '\0\0' as any // \0",
        "const \ud800: number = 1",
        "let a: number\r\rlet b: string\u2028let c: any\u2029",
    ],
)
def test_odd_characters_survive(source: str) -> None:
    text = prepare(source).text
    assert len(text) == len(source)
    assert all(kept in (was, " ") for kept, was in zip(text, source, strict=True))


PIECES = (
    "a b ( ) [ ] { } < > , ; : ? ! . = => as satisfies type interface enum namespace class static get "
    "async import export default from 'x' `t${ }` /r/ + - * @ # 1 \n \r\n // /* */ function return new "
    "declare abstract readonly public <T> : T as any é 𝒳 \ud800 \0 \u2028"
).split(" ")


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_any_sequence_of_pieces_keeps_its_lines(source: str) -> None:
    prepared = prepared_or_refused(source)
    assert prepared.text.count("\n") == source.count("\n")
    for line in range(1, source.count("\n") + 2):
        assert prepared.source_column(line, 1) >= 1


def prepared_or_refused(source: str) -> Prepared:
    try:
        return prepare(source, last_expression=True)
    except UnsupportedSyntax:
        return Prepared(source)
