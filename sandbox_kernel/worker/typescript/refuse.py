"""Syntax that cannot be erased to an ES module; each refusal says what to write instead."""

from __future__ import annotations

from tree_sitter import Node

DECORATOR = (
    "decorators are not supported: call the decorator as a function,"
    " for example `const C = logged(class C { … })`"
)
REQUIRE = (
    "`import … = require(…)` is not part of ES modules:"
    " write `import name from '…'` or `import * as name from '…'`"
)
EXPORT_ASSIGNMENT = "`export =` is not part of ES modules: write `export default …`"
MARKUP = (
    "JSX is not supported: build the value with function calls,"
    " for example `h('div', { id: 'a' }, 'text')`"
)


class UnsupportedSyntax(Exception):
    """TypeScript that is refused by design. `line` and `column` count from 1, `column` in characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message, line, column)
        self.message, self.line, self.column = message, line, column

    def __str__(self) -> str:
        return f"{self.message} ({self.line}:{self.column})"


def refusal(data: bytes, node: Node, message: str) -> UnsupportedSyntax:
    """The refusal of a node, with its position."""
    before = data[: node.start_byte].decode("utf-8", "surrogatepass")
    line_start = max(before.rfind(end) for end in ("\n", "\r", "\u2028", "\u2029")) + 1
    lines = before.count("\n") + before.replace("\r\n", "\n").count("\r")
    lines += before.count("\u2028") + before.count("\u2029")
    return UnsupportedSyntax(message, lines + 1, len(before) - line_start + 1)
