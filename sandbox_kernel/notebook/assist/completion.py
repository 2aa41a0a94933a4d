"""Completion in a cell's code: specifiers, exports, members, names. None of the cell is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from . import names
from .infer import Inference
from .intrinsics import Intrinsic
from .scan import KEYWORDS, Scan, scan
from .scope import Scope

_WORD_END = re.compile(r"[\w$]*\Z")
_WORD_START = re.compile(r"[\w$]*")
_COMMON_KEYWORDS = frozenset(
    ("export", "default", "import", "function", "return", "await", "async", "const")
)


def code_matches(
    code: str, cursor: int, scope: Scope, intrinsics: Mapping[str, Intrinsic]
) -> tuple[int, Iterable[str]]:
    """Where the word at the cursor begins, and its completions."""
    blanked = blank_magics(code)
    before = scan(blanked[:cursor])
    if before.open_text is not None:
        return _specifier_matches(before, scope)
    start = cursor - len(_word_before(code, cursor))
    whole = scan(blanked)
    specifier = _braced_import(before, whole, cursor)
    if specifier is not None:
        return start, _exports_of(specifier, scope)
    things = Inference(whole, scope, intrinsics)
    tokens = [token for token in before.tokens if token.end <= start]
    if tokens and tokens[-1].text in (".", "?."):
        return start, things.members_before(tokens)
    keywords = KEYWORDS if code[start:cursor] else _COMMON_KEYWORDS
    return start, sorted([*things.candidates(), *keywords], key=str.lower)


def with_prefix(matches: Iterable[str], typed: str) -> list[str]:
    """Matches with this prefix, exact case first; within that, in the order given."""
    fit = dict.fromkeys(m for m in matches if m.lower().startswith(typed.lower()))
    return sorted(fit, key=lambda m: (not m.startswith(typed), m.startswith("_")))


def _word_before(code: str, cursor: int) -> str:
    match = _WORD_END.search(code[max(0, cursor - 200) : cursor])
    return match[0] if match else ""


def word_after(code: str, cursor: int) -> str:
    match = _WORD_START.match(code, cursor)
    return match[0] if match else ""


def call_before(code: str, cursor: int) -> int | None:
    """Where the name ends whose arguments the cursor is among: `Math.max(1, |`."""
    before = scan(code[:cursor])
    depth = 0
    for at in range(len(before.tokens) - 1, 0, -1):
        text = before.tokens[at].text
        depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
        if depth < 0:
            named = before.tokens[at - 1]
            is_call = text == "(" and named.kind == "name" and named.text not in KEYWORDS
            return named.end if is_call else None
    return None


def blank_magics(code: str) -> str:
    """The code with spaces in place of magic lines, so that positions stay the same."""
    lines = code.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("%"):
            lines[at] = " " * len(line)
        elif line.strip():
            break
    return "\n".join(lines)


def _specifier_matches(before: Scan, scope: Scope) -> tuple[int, Iterable[str]]:
    """Specifiers, in a string that names a module: after `from`, `import` or `import(`."""
    text = before.open_text
    assert text is not None
    last = [token.text for token in before.tokens[-2:]]
    names_module = last[-1:] in (["from"], ["import"]) or last == ["import", "("]
    if text.kind != "string" or not names_module:
        return text.end, []
    return text.start + 1, [*scope.imports, *scope.modules]


def _braced_import(before: Scan, whole: Scan, cursor: int) -> str | None:
    """The specifier of the `import { … }` that the cursor is in, empty if it is not written yet."""
    words = [token.text for token in before.tokens]
    if "{" not in words or before.brackets[-1:] != ["{"]:
        return None
    opened = len(words) - 1 - words[::-1].index("{")
    if "import" not in words[max(0, opened - 4) : opened]:
        return None
    following = [token for token in whole.tokens if token.start >= cursor][:100]
    for token, then in pairwise(following):
        if token.text == "from" and then.kind == "string":
            return then.text[1:-1]
        if token.text in (";", "import"):
            break
    return ""


def _exports_of(specifier: str, scope: Scope) -> list[str]:
    if specifier in scope.imports:
        return [name for name in scope.imports[specifier] if name != "default"]
    if specifier in scope.modules:
        return names.exports(scan(scope.modules[specifier]))
    known = [*scope.imports, *scope.modules]
    return [] if specifier else [name for each in known for name in _exports_of(each, scope)]
