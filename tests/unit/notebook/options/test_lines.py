"""A magic's line goes on after a backslash."""

from __future__ import annotations

import pytest

from sandbox_kernel.notebook.options.lines import continued, unfolded


@pytest.mark.parametrize(
    ("lines", "joined", "count"),
    [
        (["%%x --a 1", "body"], "%%x --a 1", 1),
        (["%%x --a 1 \\", "  --b 2", "body \\", "more"], "%%x --a 1    --b 2", 2),
        (["%%x \\  ", "--a \\", "1", "body"], "%%x  --a  1", 3),
        (["%%x \\"], "%%x \\", 1),
    ],
)
def test_lines_are_joined(lines: list[str], joined: str, count: int) -> None:
    assert continued(lines) == (joined, count)


@pytest.mark.parametrize(
    "code",
    ["%%x \\\n --a \\  \n 1\nbody \\\nmore", "\n%a \\\n b\n%%c\n1", "1 \\\n+ 2", "%%x \\", ""],
)
def test_unfolding_moves_nothing(code: str) -> None:
    flat = unfolded(code)
    assert len(flat) == len(code)
    assert all(new in (old, " ") for old, new in zip(code, flat, strict=True))


def test_only_magic_lines_are_unfolded() -> None:
    assert unfolded("%%x \\\n --a\nbody \\\nmore") == "%%x    --a\nbody \\\nmore"
