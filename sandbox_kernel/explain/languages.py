"""Recognises source that is not JavaScript at all: Markdown, Python, a shell's command.

Looks at the line that an error names, or at the beginning of the text, cut; every pattern takes
linear time, because a guest chooses the text. Patterns are compiled when they are first needed.
"""

from __future__ import annotations

import re
import sys

from .problem import Problem
from .scene import Scene

_LOOKED_AT = 20_000  # characters of a source that are searched for a fence
_FENCE = r"^[ \t]{0,3}(?:`{3}|~{3})"
_COMMANDS = (
    "apt|apt-get|bash|cat|cd|conda|cp|curl|deno|echo|git|grep|head|ls|mkdir|mv|node|npm|npx|pip|pip3"
    "|pwd|python|python3|rm|sh|sudo|tail|uv|wget|which"
)
_PYTHON_LINES = (
    r"\s*(?:async\s)?\s*def\s[\w ]+\(",
    r"\s*class\s[\w ]+(?:\([^()]*\))?\s?:\s*$",
    r"\s*from\s[\w. ]+\simport\s",
    r"\s*import\s[\w.]+\sas\s\w+\s*$",
    r"\s*import\s\w+(?:\.\w+)+\s*$",
    r"\s*(?:if|elif|while|with|except|for)\s(?:[^(\s]|\([^()]*\)\s*[^\s{(]).*:\s*(?:#.*)?$",
    r"\s*(?:else|try|finally|except)\s?:\s*(?:#.*)?$",
    r"\s*(?:raise|assert|del|global|nonlocal)\s\w[\w.]*\s*(?:\(.*\))?\s*$",
    r"\s*(?:\"{3}|'{3})",
    r"\s*print\s[\w'\"]",
    r".*[\s(=,]lambda\s\w*\s?:",
)
# Where JavaScript ends an expression and Python goes on: a comprehension, and `1 if x else 2`.
_GOES_ON = r"(?:for\s\w[\w, ]*\sin|if\s[^(\s].*\selse)\s"
_NO_FROM = "from clause expected"
_PYTHON_PACKAGES = frozenset(
    "numpy pandas scipy matplotlib seaborn sklearn requests torch polars pyarrow bs4 yaml".split()
)


def language_hint(error: Problem, scene: Scene) -> str | None:
    """The key of the text about the language that the source seems to be in."""
    if not scene.is_in_entry(error):
        return None
    if _is_fenced(error, scene):
        return "fence"
    line = scene.line_of(error)
    if error.name == "ReferenceError":
        return "shell" if re.match(rf"\s*!(?:{_COMMANDS})(?:\s|$)", line) else None
    if error.name != "SyntaxError" or scene.status != "link_error":
        return None
    if error.message == _NO_FROM and _imports_python(_last_import(error, scene)):
        return "python"
    return _of_line(line, error.column or 1)


def _is_fenced(error: Problem, scene: Scene) -> bool:
    """Whether the error is at or above the first line of a fence, which no comment contains."""
    text = scene.source[:_LOOKED_AT]
    fence = re.search(_FENCE, text, re.MULTILINE)
    if fence is None or error.line is None or error.name == "LinkError":
        return False
    before = text[: fence.start()]
    if not before.strip():
        return True
    in_comment = before.rfind("/*") > before.rfind("*/")
    return not in_comment and error.line <= before.count("\n") + 1


def _of_line(line: str, column: int) -> str | None:
    """What the line with a syntax error says."""
    if re.match(r"\s*!\s?[A-Za-z]", line):
        return "shell"
    if re.match(r"\s*%%?[A-Za-z]", line):
        return "percent"
    if re.fullmatch(r"\s*[\w$.]+\?{1,2}\s*", line):
        return "question"
    if re.match(r"\s*#(?![\w$!])", line):
        return "hash_comment"
    if any(re.match(pattern, line) for pattern in _PYTHON_LINES) or _imports_python(line):
        return "python"
    before = line[: column - 1]
    if before.strip() and re.match(_GOES_ON, line[column - 1 :]):
        return "python"
    return (
        "f_string" if re.search(r"(?:^|[^\w$.])[fr]$", before) and _quote_at(line, column) else None
    )


def _last_import(error: Problem, scene: Scene) -> str:
    """The statement that has no `from`: the engine sees that only at what comes next."""
    lines = scene.source[:_LOOKED_AT].split("\n")[: error.line]
    return next((line for line in reversed(lines) if line.lstrip().startswith("import")), "")


def _imports_python(line: str) -> bool:
    """`import os, sys`: an import statement without `from` that names modules of Python."""
    statement = re.split("[;#]", line)[0]
    found = re.fullmatch(r"\s*import\s((?:\w+)(?:\s?,\s?\w+)*)\s*", statement)
    modules = sys.stdlib_module_names | _PYTHON_PACKAGES
    return found is not None and all(name.strip() in modules for name in found[1].split(","))


def _quote_at(line: str, column: int) -> bool:
    return line[column - 1 : column] in ("'", '"')
