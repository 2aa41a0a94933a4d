"""`extract_code`: the code in a model's reply."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"([ \t]{0,12})(?:[-*>] )?(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*")
_SCRIPTS = frozenset("ts typescript mts js javascript mjs jsx tsx ecmascript".split())
_THOUGHT = "</think>"


class _Block(NamedTuple):
    language: str
    text: str


def extract_code(reply: str) -> str:
    """The JavaScript or TypeScript in a model's reply, ready for `evaluate` or `run_code`.

    Blocks between ``` lines are joined in order: those that are marked as JavaScript or TypeScript; if
    there are none, those without a mark; else those in the language of the first. A reply without
    such lines is taken as code. What a model thinks aloud, up to `</think>`, is left out.
    """
    if not isinstance(reply, str):
        raise TypeError(f"reply must be a string, not {type(reply).__name__}")
    text = reply.rpartition(_THOUGHT)[2].replace("\r\n", "\n")
    blocks = _blocks(text.split("\n"))
    if not blocks:
        return text.strip("\n")
    return "\n\n".join(block.text for block in _chosen(blocks))


def _chosen(blocks: list[_Block]) -> list[_Block]:
    for languages in (_SCRIPTS, frozenset(("",)), frozenset((blocks[0].language,))):
        found = [block for block in blocks if block.language in languages]
        if found:
            return found
    return blocks


def _blocks(lines: list[str]) -> list[_Block]:
    """A block ends at a line with the same marks and nothing else, or with the reply."""
    blocks: list[_Block] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        at += 1
        if opening is None:
            continue
        end = at
        while end < len(lines) and not _closes(lines[end], opening[2]):
            end += 1
        body = [_without(line, len(opening[1])) for line in lines[at:end]]
        blocks.append(_Block(opening[3].lower(), "\n".join(body).strip("\n")))
        at = end + 1
    return [block for block in blocks if block.text.strip()]


def _closes(line: str, marks: str) -> bool:
    text = line.strip()
    return len(text) >= len(marks) and set(text) == {marks[0]}


def _without(line: str, indent: int) -> str:
    """A line of a block that is indented as a whole, as in an item of a list."""
    return line[indent:] if not line[:indent].strip() else line
