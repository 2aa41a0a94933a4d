"""Magic lines that continue on the next line, after a backslash at the end."""

from __future__ import annotations

from collections.abc import Sequence

_CONTINUES = "\\"


def continued(lines: Sequence[str]) -> tuple[str, int]:
    """The first of these lines, joined with those that it continues on; how many that were."""
    count = 1
    while count < len(lines) and lines[count - 1].rstrip().endswith(_CONTINUES):
        count += 1
    parts = [line.rstrip().removesuffix(_CONTINUES) for line in lines[: count - 1]]
    return " ".join([*parts, lines[count - 1]]), count


def unfolded(code: str) -> str:
    """The code with its continued magic lines as one line each, every position where it was."""
    lines = code.split("\n")
    at, whole = 0, []
    while at < len(lines) and (lines[at].startswith("%") or not lines[at].strip()):
        _, count = continued(lines[at:])
        folded = [_blanked(line) for line in lines[at : at + count - 1]]
        whole.append(" ".join([*folded, lines[at + count - 1]]))
        at += count
    return "\n".join([*whole, *lines[at:]])


def _blanked(line: str) -> str:
    end = len(line.rstrip())
    return line[: end - 1] + " " * (len(line) - end + 1)
