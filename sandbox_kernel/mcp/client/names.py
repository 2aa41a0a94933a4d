"""The names under which a server's tools are exported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ...errors import McpServerError
from ...options import is_identifier, is_variable

_LONGEST = 128
# An export of one of these names would make the module something else than a set of functions:
# `then` a promise, `default` what is imported without naming it.
NEVER = ("then", "default")


def exported(tools: Sequence[str]) -> dict[str, str]:
    """Export to tool: each under its own name, and one that no variable can have under another.

    An alias that two tools could mean, or that is another's name, is nobody's.
    """
    for name, count in Counter(tools).items():
        _check(name, count)
    wanted = {name: _alias(name) for name in tools if not is_variable(name) or name in NEVER}
    counts = Counter(wanted.values())
    exports = {name: name for name in tools if name not in NEVER}
    for name, alias in wanted.items():
        if counts[alias] == 1 and alias not in exports and alias not in NEVER:
            exports[alias] = name
    return exports


def _check(name: str, count: int) -> None:
    if count > 1:
        raise McpServerError(f"it lists the tool {name!r:.80} {count} times")
    printable = name.isprintable() and not any("\ud800" <= each <= "\udfff" for each in name)
    if not name or len(name) > _LONGEST or not printable or "*" in name:  # which rules use
        raise McpServerError(f"it lists a tool whose name cannot be used: {name!r:.80}")


def _alias(name: str) -> str:
    """`create-issue` as createIssue, `2fa` as _2fa, `then` as then_, `delete` as delete_."""
    if is_identifier(name):
        return f"{name}_"
    first, *rest = [each for each in re.split(r"[^A-Za-z0-9_$]+", name) if each] or ["tool"]
    joined = first + "".join(each[0].upper() + each[1:] for each in rest)
    return joined if is_variable(joined) else f"_{joined}"
