"""Contract §3.2: importing an unknown specifier fails linkage, whatever characters it has."""

from __future__ import annotations

import pytest

from sandbox_kernel import run_code


@pytest.mark.parametrize("specifier", [r"\ud800", r"\x1b", r"\x00x", "é", r"a\u202e"])
async def test_section_3_2_any_unknown_specifier_is_a_link_error(specifier: str) -> None:
    result = await run_code(f"import '{specifier}'")
    assert result.status == "link_error"
    assert result.error is not None
    result = await run_code(f"await import('{specifier}')")
    assert result.status == "error"
    assert result.error is not None
    assert result.error.name == "LinkError"
