"""Contract §3.2: each name of a bridged module is its own function."""

from __future__ import annotations

from sandbox_kernel import run_code


async def test_section_3_2_several_functions_of_one_module_stay_apart() -> None:
    functions = {name: (lambda name=name: name) for name in ("a", "b", "c")}
    source = "import * as s from 's'; export default [s.a(), s.b(), s.c(), s.a === s.b]"
    result = await run_code(source, imports={"s": functions})
    assert result.result == ["a", "b", "c", False]
