"""Random programs, in both languages, through the whole engine: each ends by itself, none in a crash."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel import run_code
from sandbox_kernel.options import Language
from tests.fuzz.conftest import tries

NAMES = st.sampled_from(
    ["a", "b", "f", "report", "console.log", "sync", "later", "globalThis", "Object.prototype"]
)
ATOMS = st.one_of(
    NAMES,
    st.integers(-9, 2**33).map(lambda n: f"({n})"),
    st.text(max_size=5).map(lambda text: repr(text.encode("unicode_escape").decode())),
    st.sampled_from(["null", "undefined", "[]", "{}", "7n", "/x/g", "new Map()", "new Set([1])", "-0", "NaN",
                     "new Date(0)", "new Uint8Array(3)", "Symbol()", "`t`", "this", "new Proxy({}, {})", "(() => a)",
                     "Promise.resolve(1)", "Promise.reject(2)", "new Error('e')", "import.meta", "async () => 1"]),
)  # fmt: skip
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda e: st.one_of(
        st.tuples(
            e, st.sampled_from(["+", "*", "??", "in", "===", ",", "instanceof", "**", ">>>"]), e
        ).map(lambda p: f"(({p[0]}) {p[1]} ({p[2]}))"),
        st.tuples(e, st.lists(e, max_size=3)).map(lambda p: f"({p[0]})({', '.join(p[1])})"),
        st.tuples(
            e, st.sampled_from([".x", ".then", "[0]", ".constructor", "?.length", ".__proto__"])
        ).map("".join),
        st.lists(e, max_size=3).map(lambda p: f"[{', '.join(p)}]"),
        st.lists(e, max_size=3).map(
            lambda p: "({" + ", ".join(f"k{i}: {v}" for i, v in enumerate(p)) + "})"
        ),
        e.map(lambda p: f"(await ({p}))"),
        e.map(lambda p: f"(typeof ({p}))"),
        e.map(lambda p: f"({p} as any)"),
        e.map(lambda p: f"(() => {{ try {{ return {p} }} catch (e) {{ return e }} }})()"),
    ),
    max_leaves=8,
)
STATEMENTS = st.one_of(
    EXPRESSIONS.map(lambda e: f"{e};"),
    EXPRESSIONS.map(lambda e: f"try {{ {e} }} catch {{}}"),
    EXPRESSIONS.map(lambda e: f"try {{ report({e}) }} catch {{}}"),
    EXPRESSIONS.map(lambda e: f"try {{ console.log({e}) }} catch {{}}"),
    EXPRESSIONS.map(lambda e: f"try {{ sync({e}) }} catch {{}}"),
    EXPRESSIONS.map(lambda e: f"try {{ await later({e}) }} catch {{}}"),
    EXPRESSIONS.map(lambda e: f"a = {e};"),
    EXPRESSIONS.map(lambda e: f"enum E {{ A = 1 }} let t: E | string = {e};"),
    EXPRESSIONS.map(lambda e: f"class C<T> {{ private x: T = {e} }}"),
    st.text("(){}[]<>;:,.=?!`'\"/\\ \n abxyz019${}", max_size=30),
)
PROGRAMS = st.lists(STATEMENTS, max_size=5).map(
    lambda lines: "let a = 1, b = [2], f = () => a;\n" + "\n".join(lines) + "\nexport default a;"
)


async def later(*args: Any) -> Any:
    return args[0] if args else None


async def run_all(programs: list[tuple[str, Language]]) -> list[Any]:
    async def one(source: str, language: Language) -> Any:
        run = run_code(
            source, language=language, report=lambda value: None,
            globals={"sync": lambda *args: args[0] if args else None, "later": later},
            memory_limit_bytes=16 * 2**20,
        )  # fmt: skip
        handle = asyncio.get_running_loop().call_later(60, run.terminate, "too long")
        result = await run
        handle.cancel()
        return result

    return await asyncio.gather(*(one(*program) for program in programs))


@tries(60)
@given(
    st.lists(
        st.tuples(PROGRAMS, st.sampled_from(["javascript", "typescript"])), min_size=6, max_size=10
    )
)
def test_every_program_ends_and_none_crashes(programs: list[tuple[str, Language]]) -> None:
    """Nothing in them loops: one that has to be terminated hangs in code of ours."""
    for (source, language), result in zip(programs, asyncio.run(run_all(programs)), strict=True):
        assert result.status != "terminated", (language, source, result.error)
        crashed = result.error is not None and result.error.name == "SandboxCrash"
        assert not crashed, (language, source, result.error)
        assert (result.error is None) == (result.status == "success")
        result.to_json()
