"""Errors are reported where they stand in the source, however much type syntax surrounds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MARK = 'Error("here")'

# Each throws at MARK; nothing else in them may matter to the position.
THROWING = {
    "plain": f"throw new {MARK}",
    "beneath types": (
        "interface A<T> { a: T }\ntype B = {\n  b: 'é𝒳' }\n"
        f"function f<T extends A<B>>(this: any, x?: T, ...y: Array<[B]>): asserts x is T {{ throw new {MARK} as any }}\n"
        "f.call<any, any, void>(null)"
    ),
    "beside types": f"const a: Map<string, 'é'> = ((): any => {{ throw (<any>new {MARK}) as Error }})() as any",
    "behind astral characters": f"/* 𝒳𝒳 */ const é: '𝒳' = '𝒳' as const; throw new {MARK}",
    "windows line breaks": f"type A = {{\r\n a: 1\r\n}}\r\n  throw new {MARK} as any",
    "byte order mark": f"\ufeffconst a: number = 1; throw new {MARK}",
    "hashbang": f"#!/usr/bin/env node\nconst a: number = 1; throw new {MARK}",
    "in an enum": f"const f = (): number => {{ throw new {MARK} }}\nenum A {{ B, C = 2, D = f() }}",
    "in an enum's initializer": f"enum A {{ B, 'c-d' = 2, E = (() => {{ throw new {MARK} }})() as number, F = 3 }}",
    "behind an enum": f"enum A {{ B, C }} throw new {MARK}",
    "in a namespace": f"namespace N.M {{ export const a = 1, b = a; export function f() {{ throw new {MARK} }} f() }}",
    "behind exported names": f"namespace N {{ export let a = 1, b = a; a + b; throw new {MARK} }}",
    "behind parameter properties": (
        f"class A {{ constructor(public a: number, private b = 2) {{ a; throw new {MARK} }} }} new A(1)"
    ),
    "behind super": (
        "class P {}\nclass A extends P { constructor(readonly a: 1) { "
        f"super(); throw new {MARK} }} }}\nnew A(1)"
    ),
    "in a moved arrow": f"const f = <\n T\n>(x: T):\n any => {{ throw new {MARK} }}\nf(1)",
    "in a wrapped object": f"const f = () => <any>{{ a: (() => {{ throw new {MARK} }})() }}; f()",
    "behind a group": f"const a: any = 1; a + a as any * a; throw new {MARK}",
    "behind a nameless overload": (
        "export default function (é: '𝒳'): void; export default function (é: any): void "
        f"{{ throw new {MARK} }}"
    ),
    "behind dropped imports": f"import type {{ A }} from 'a'; import {{ B }} from 'b'; let b: B; throw new {MARK}",
}


@pytest.mark.parametrize("title", THROWING)
def test_a_thrown_error_stands_where_it_stands_in_the_source(
    title: str, run: Callable[..., Any]
) -> None:
    source = THROWING[title]
    error = run(source).error
    assert error.message == "here"
    line, column = place(source, MARK)
    assert (error.line, error.column) == (line, column)


def place(source: str, mark: str) -> tuple[int, int]:
    """Line and column of a mark, from 1, in characters; a byte order mark is one."""
    before = source[: source.index(mark)].replace("\r\n", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


# Syntax errors: the engine names them, on the line where the mistake is.
MISTAKEN = {
    "const a: number = 1\nlet b: string = ;\nlet c: A<B> = 2": 2,
    "interface A { a: string }\nfunction f(x: number): void {\n  return x +* 2\n}": 3,
    "enum A { B }\nlet x = (1 as any\nlet y = 2": 3,
    "class A {\n  private x: number = 1\n  constructor(public y: A) {\n    let let = 1\n  }\n}": 4,
    "let a = b as any (c)": 1,
    "let a: number = 1\na as any = 2": 2,
    "let a = 1 as\nlet b = 2": 1,
    "namespace N { export const a = 1\n export function f( { } }": 2,
}


@pytest.mark.parametrize("source", MISTAKEN)
def test_a_syntax_error_is_the_engines_and_on_its_line(
    source: str, run: Callable[..., Any]
) -> None:
    result = run(source)
    assert result.error.name == "SyntaxError"
    assert result.error.line == MISTAKEN[source]
