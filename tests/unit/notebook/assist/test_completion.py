"""Completion of members: right where the type is certain, and nothing where it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from sandbox_kernel.notebook.assist.completion import code_matches, with_prefix
from sandbox_kernel.notebook.assist.intrinsics import Intrinsic, Intrinsics
from sandbox_kernel.notebook.assist.scope import Scope
from sandbox_kernel.notebook.assist.signatures import SIGNATURES
from sandbox_kernel.values import BigInt, JSMap, undefined

LENT = {
    "rows": [{"id": 1, "name": "a"}, {"other": 2}],
    "price": 2.5,
    "text": "x",
    "big": BigInt(3),
    "nothing": None,
    "missing": undefined,
    "when": datetime(2020, 1, 1, tzinfo=UTC),
    "data": b"x",
    "map": JSMap([("a", 1)]),
    "strange": object(),
}
IMPORTS = {"fs": {"read": len, "ROOT": "/", "LIMITS": {"depth": 3}}}
MODULES = {
    "./lib.ts": "export const list = [1]\nexport const first = [1][0]\nexport function f() {}"
}


@cache
def intrinsics() -> Mapping[str, Intrinsic]:
    return asyncio.run(Intrinsics().all())


def offered(code: str) -> list[str]:
    cursor = code.rindex("|")
    scope = Scope(IMPORTS, MODULES, LENT)
    start, matches = code_matches(code[:cursor] + code[cursor + 1 :], cursor, scope, intrinsics())
    return with_prefix(matches, code[start:cursor])


@pytest.mark.parametrize(
    ("code", "some", "never"),
    [
        ("[1, 2].|", ["map", "toString"], ["toFixed"]),
        ("f([1, 2].|", ["map"], []),
        ("return [1].|", ["map"], []),
        ("const a = [1]\na.|", ["map"], []),
        ("const a = [\n  1,\n]; a.|", ["map"], []),
        ("const a: number[] = f(); a.|", ["map"], []),
        ("const a: Map<string, number[]> = f(); a.|", ["get"], ["map"]),
        ("const a = new Map<string, number>()\na.|", ["get"], []),
        ("const a = new Set([1]); a.|", ["has"], ["get"]),
        ("new Date().|", ["getTime"], []),
        ("'x'.|", ["trim"], ["map"]),
        ("`x`.|", ["trim"], []),
        ("/x/.|", ["test"], []),
        ("const s = 'a'\nconst t = 1\ns.|", ["trim"], ["toFixed"]),
        ("let s = 'a'; s.|", ["trim"], []),
        ("function f() {}\nf.|", ["call"], []),
        ("class A {}\nA.|", ["call"], []),
        ("Math.|", ["max", "toString"], ["call"]),
        ("Array.|", ["from", "call"], ["map"]),
        ("rows.|", ["map"], ["id"]),
        ("rows[0].|", ["id", "name", "hasOwnProperty"], ["map", "other"]),
        ("rows[1].|", ["other"], ["id"]),
        ("rows[0].name.|", ["trim"], ["map"]),
        ("price.|", ["toFixed"], []),
        ("big.|", ["toString"], ["toFixed"]),
        ("when.|", ["getTime"], []),
        ("data.|", ["subarray", "slice"], []),
        ("map.|", ["get"], ["a"]),
        ("text.|", ["trim"], []),
        ("import * as fs from 'fs'\nfs.|", ["read", "ROOT"], ["toString", "hasOwnProperty"]),
        ("import { LIMITS } from 'fs'\nLIMITS.|", ["depth"], []),
        ("import { list } from './lib.ts'\nlist.|", ["map"], []),
        ("console.|", ["log"], []),
        ("if (text) { text.|", ["trim"], []),
        ("f(text); text.|", ["trim"], []),
    ],
)  # fmt: skip
def test_members_are_offered_where_the_type_is_certain(
    code: str, some: list[str], never: list[str]
) -> None:
    matches = offered(code)
    assert set(some) <= set(matches)
    assert not set(never) & set(matches)


@pytest.mark.parametrize(
    "code",
    [
        "const rows = [{id: 1}]; rows[0].|",
        "const rows = [{id: 1}]; rows[0].id.|",
        "rows[9].|",
        "rows[i].|",
        "rows[0][1].|",
        "f().|",
        "(a || b).|",
        "unknown.|",
        "unknown.name.|",
        "this.|",
        "const n = 'abc'.length; n.|",
        "const n = [1, 2].length\nn.|",
        "const x = [1, 2][0]; x.|",
        "const x = new Map().get('a'); x.|",
        "const x = 'a' in y; x.|",
        "const x = 'a' + 1 - 2; x.|",
        "const x = [1]\n  .map(f)\nx.|",
        "const x = 1 as any; x.|",
        "let x = []; x = 'text'; x.|",
        "let x = 1; x += 'text'; x.|",
        "const x: string | number = f(); x.|",
        "const x: Map<string, number>[] | null = f(); x.|",
        "const x: () => string = f; x.|",
        "const x: any = f(); x.|",
        "const { a } = f(); a.|",
        "const [a, b] = f(); b.|",
        "const text = [1]; function f(text) { text.|",
        "const g = (text) => text.|",
        "const g = text => text.|",
        "const g = ({ text }) => text.|",
        "function f(a, { b: [text] }) { text.|",
        "try {} catch (text) { text.|",
        "for (const text of rows) text.|",
        "const text = 1; { const text = 'a'; text.|",
        "nothing.|",
        "missing.|",
        "strange.|",
        "Math.PI.|",
        "'a'.length.|",
        "import { first } from './lib.ts'\nfirst.|",
        "import { nope } from 'fs'\nnope.|",
        "enum E { a }\nE.|",
        "const o = { a: 1 }; o.a.|",
    ],
)
def test_nothing_is_offered_where_the_type_is_not_certain(code: str) -> None:
    assert offered(code) == []


def test_every_offer_of_a_literal_is_there() -> None:
    """By a realm itself, which has listed them."""
    realm: Any = intrinsics()
    assert set(offered("'x'.|")) <= {*realm["String"].prototype, *realm["Object"].prototype}


def test_every_signature_is_of_a_function_that_there_is() -> None:
    realm = intrinsics()
    for name in set(SIGNATURES) - {"report"}:
        owner, *rest = name.split(".")
        if not rest:
            assert realm[owner].arity is not None, name
        elif rest[0] == "prototype":
            assert realm[owner].prototype[rest[1]] is not None, name
        else:
            assert realm[owner].own[rest[0]] is not None, name
