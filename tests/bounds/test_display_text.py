"""A guest's text is shown whole, harmless and visible, and read in linear time."""

from __future__ import annotations

import sys
import time
import unicodedata
from typing import Any

import pytest

from sandbox_kernel.clean import clean, clean_line, clean_start, is_clean
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionResult
from sandbox_kernel.explain.scene import Scene
from sandbox_kernel.notebook.show.traceback import refusal_of, traceback_of

MEGA = 1_000_000
SCENE = Scene("cell-1.ts", "throw 1", {"./m.ts": "export {}"}, {"fs": {"readText": print}})
TRACEBACK = 200_000  # characters, at most


def unseen() -> list[str]:
    """Unicode's format characters, and what is drawn as nothing by its Default_Ignorable list."""
    formats = [chr(code) for code in range(sys.maxunicode + 1)
               if unicodedata.category(chr(code)) in ("Cf", "Cs", "Zl", "Zp")]  # fmt: skip
    ignorable = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u3164\ufe00\ufe0f\uffa0\U000e0100"
    return [*formats, *ignorable]


def test_nothing_invisible_gets_through() -> None:
    for character in unseen():
        for text in (character, f"pass{character}word", f"1{character}1", f"é{character}é"):
            assert character not in clean(text), hex(ord(character))
            assert character not in clean_line(text)
            assert not is_clean(text)


@pytest.mark.parametrize(
    "emoji",
    ["👩\u200d💻", "❤\ufe0f", "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈", "👨\u200d👩\u200d👧", "☺\ufe0e"],
)
def test_an_emoji_is_left_whole(emoji: str) -> None:
    assert clean(f"a {emoji} b") == f"a {emoji} b"
    assert is_clean(emoji)
    assert clean_start(emoji * 30_000, 200_000)[0].startswith(emoji * 8_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👩\u200dword", r"👩\u200Dword"),
        ("\u200d👩", r"\u200D👩"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f" + r"\uFE0F"),
        ("1\ufe0f", r"1\uFE0F"),
        ("🏴\U000e0067\U000e007f", r"🏴\u{E0067}\u{E007F}"),
        ("\u200b\ufeff\xad", r"\u200B\uFEFF\xAD"),
    ],
)
def test_what_only_looks_like_an_emoji_is_spelled_out(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(shown) == shown


@pytest.mark.parametrize("text", ["\x1b" * MEGA, "a\x1b" * MEGA, "\r\n" * MEGA, "日本" * MEGA])
def test_only_as_much_is_cleaned_as_is_shown(text: str) -> None:
    shown, left = clean_start(text, 10_000)
    assert len(shown) <= 10_000
    assert left >= len(text) - 20_000
    assert is_clean(shown)


def told(status: str = "error", **fields: Any) -> list[str]:
    error = CodeExecutionError(**{"name": "E", "message": "m", **fields})
    return traceback_of(CodeExecutionResult(status, error=error), SCENE).lines  # type: ignore[arg-type]  # a status is a text here


def seconds(name: str, message: str) -> float:
    started = time.thread_time()
    told(name=name, message=message)
    return time.thread_time() - started


def test_a_long_message_is_read_in_linear_time() -> None:
    harmless = min(seconds("TypeError", "a" * 100_000) for _ in range(3))
    hostile = seconds("ReferenceError", "a" * 100_000)
    assert hostile < 100 * harmless + 0.1


@pytest.mark.parametrize("message", ["x is not defined", "'x' is not defined"])
def test_a_missing_name_is_still_found(message: str) -> None:
    message = message.replace("x", "readText")
    assert told(name="ReferenceError", message=message)[-1] == (
        "hint: import { readText } from 'fs'"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "E" * MEGA},
        {"message": "m" * 10 * MEGA},
        {"message": "\U000e0041" * MEGA},
        {"message": "\n" * MEGA},
        {"filename": "f" * 10 * MEGA, "line": 1, "column": 1},
        {"specifier": "s" * 10 * MEGA},
        {"specifier": "\x1b" * MEGA, "status": "link_error"},
        {"stack": "    at f (cell-1.ts:1:1)\n" * MEGA},
        {"stack": f"    at cell-1.ts:1:{'1' * 10 * MEGA}"},
        {"stack": f"at {'n' * MEGA} (cell-1.ts:1:1)"},
        {"stack": f"at {' (' * 300}:1:1\n" * 1_000},
        {"message": "export '" * MEGA, "status": "link_error", "specifier": "fs"},
        {"line": 10**5000, "column": 1},
    ],
    ids=lambda fields: "+".join(fields),
)
def test_a_traceback_is_bounded(fields: dict[str, Any]) -> None:
    lines = told(**fields)
    assert sum(map(len, lines)) <= TRACEBACK
    assert is_clean("\n".join(lines))


def test_a_traceback_that_cannot_be_shown_in_full_still_says_what_happened() -> None:
    lines = told(name="E", message="what", line="no number", column=1)
    assert lines == ["E: what", "  (the rest cannot be shown: TypeError)"]


def test_a_refusal_is_bounded() -> None:
    assert len(refusal_of(ValueError("x" * MEGA)).lines[0]) < 5_000


@pytest.mark.parametrize(
    ("line", "is_shown"),
    [
        ("    at f (cell-1.ts:1:2)", True),
        ("    at cell-1.ts:1:2", True),
        ("    at cell-1.ts:7", True),
        ("    at a (b) (m.ts:1:2)", True),
        ("    at f (other.ts:1:2)", False),
        ("    at f (cell-1.ts)", False),
        ("cell-1.ts:1:2", False),
        ("    at :1:2", False),
    ],
)
def test_frames_in_files_of_the_run_are_shown(line: str, is_shown: bool) -> None:
    lines = told(stack=f"{line}\n    at g (cell-1.ts:9:9)")
    assert (f"  {line.strip()}" in lines) is is_shown
