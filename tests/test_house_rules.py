"""Rules of CONTRIBUTING.md that no tool checks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
_SILENCED = re.compile(r"  # (?:noqa|type: ignore|pragma: no cover)([^#]*?)(?=  #|$)")
_BARE = "print(x)  # " + "noqa: T201"


def _is_bare(line: str) -> bool:
    found = _SILENCED.search(line)
    return found is not None and "(" not in found[1] and "  # " not in _SILENCED.sub("", line)


def test_a_silenced_check_has_its_reason_beside_it() -> None:
    assert _is_bare(_BARE)
    assert not _is_bare(_BARE + "  # a program prints")
    files = (
        path
        for folder in ("sandbox_kernel", "extension", "benchmarks", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "node_modules" not in path.parts
    )
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if _is_bare(line)
    ] == []
