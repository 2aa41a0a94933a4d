"""Places where blanking a type would change how the rest is parsed, and the character that prevents it.

JavaScript ends a statement at a line break only where the next line cannot continue it, and often a type is the reason:
`a as T` cannot be called, so a `(` on the next line starts a statement; with the type blanked, it would be a call.
Where possible the character is written over blanked text, so that nothing moves.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from .blank import Page

# What, at the start of a line, would continue the line before.
_CONTINUES = re.compile(rb"[(\[`/+\-*<]|in(?:stanceof)?(?![\w$\x80-\xff])")
# What must not follow `a as T`. TypeScript refuses it; we keep the assertion, so that the engine refuses it too.
_NOT_AFTER_ASSERTION = re.compile(
    rb"\.|\?\.(?!\d)|=(?![=>])|(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)=(?!=)"
)
_ARITHMETIC = re.compile(rb"\*\*|>>>|<<|>>|[-+*/%]")
_NOT_ON_THE_LINE = re.compile(rb"[(\[`]|\+\+|--")
_OPENS_A_DECLARATION = re.compile(rb"\{|(?:function|class|async|let)(?![\w$\x80-\xff])")
_HEADED = re.compile(rb"(?<![\w$.\x80-\xff])(?:if|while|for|for\s+await|with)\s*$")
_TAKES_THE_NEXT = re.compile(rb"(?<![\w$.\x80-\xff])(?:else|do)$")
_LONGEST_HEAD = 400
_WANTS_ITS_LINE = re.compile(rb"(?<![\w$.\x80-\xff])(?:return|throw|yield)$")


def may_erase_assertion(page: Page, end: int) -> bool:
    """Whether TypeScript accepts what follows an assertion that ends here."""
    following = page.after(end)
    if _NOT_AFTER_ASSERTION.match(page.data, following):
        return False
    return page.breaks(end, following) or not _NOT_ON_THE_LINE.match(page.data, following)


def end_assertion(page: Page, keyword: Node, end: int) -> bool:
    """`a as T` and then a bracket or a template on the next line: two statements.

    Returns whether the operator that follows binds more tightly than an assertion.
    """
    following = page.after(end)
    if page.data[following : following + 1] in (b"(", b"[", b"`"):
        page.put(keyword.start_byte, ";")
    return _ARITHMETIC.match(page.data, following) is not None


def close_gap(page: Page, at: int) -> None:
    """Separate two statements or members that an erased statement, member or modifier separated."""
    before = page.before(at)
    if before < 0 or page.data[before] in b";{":
        return
    if _CONTINUES.match(page.data, page.after(at)) or _wants_a_statement(page.data, before):
        page.put(at, ";")


def _wants_a_statement(data: bytes, before: int) -> bool:
    """Whether `while (a)`, `else` or the like would take the next statement for the erased one."""
    if data[before] != ord(")"):
        return _TAKES_THE_NEXT.search(data, max(0, before - 4), before + 1) is not None
    depth = 0
    for at in range(before, max(-1, before - _LONGEST_HEAD), -1):
        depth += (data[at] == ord(")")) - (data[at] == ord("("))
        if depth == 0:
            return _HEADED.search(data, max(0, at - 12), at) is not None
    return False


def close_gaps(page: Page, gaps: list[int]) -> None:
    """One semicolon is enough between two statements, however many were erased between them."""
    last = -1
    for gap in sorted(gaps):
        following = page.after(gap)
        if following != last:
            close_gap(page, gap)
        last = following


def keep_field_apart(page: Page, name: bytes, mark: int, end: int) -> None:
    """A field called `get` must not turn the next member into a getter."""
    if name in (b"get", b"set", b"static", b"accessor"):
        following = page.after(end)
        if page.data[following : following + 1] not in (b";", b"=", b"}"):
            page.put(mark, ";")


def wrap_angle(page: Page, node: Node) -> None:
    """`<T>{}` would become a block; `return <T>` with its value on the next line would return nothing."""
    opening, operand = node.start_byte, node.child(node.child_count - 1)
    assert operand is not None
    before, start = page.before(opening), page.after(opening)
    if _is_statement_like(page, before, start) or _loses_its_line(page, before, opening, start):
        page.put(opening, "(")
        page.insert(page.end(node), ")", order=-1)


def _is_statement_like(page: Page, before: int, start: int) -> bool:
    if not _OPENS_A_DECLARATION.match(page.data, start):
        return False
    arrow = page.data[before - 1 : before + 1] == b"=>" and before > 0
    return arrow or before < 0 or page.data[before] not in b"=(,[?&|+-*/%!~<>^."


def _loses_its_line(page: Page, before: int, opening: int, start: int) -> bool:
    word = page.data[max(0, before - 7) : before + 1]
    return bool(_WANTS_ITS_LINE.search(word)) and page.breaks(opening, start)


def keep_arrow_on_its_line(page: Page, arrow: Node) -> None:
    """`=>` must be on the line of its `)`, and the parameters on the line where `<T>` started."""
    generics, parameters = (
        arrow.child_by_field_name("type_parameters"),
        arrow.child_by_field_name("parameters"),
    )
    returned = arrow.child_by_field_name("return_type")
    if parameters is None:
        return
    if generics is not None and page.breaks(generics.start_byte, parameters.start_byte):
        page.put(generics.start_byte, "(")
        page.blank(parameters.start_byte, parameters.start_byte + 1)
    if returned is not None and page.breaks(parameters.end_byte, sign_of(arrow)):
        page.blank(parameters.end_byte - 1, parameters.end_byte)
        if page.breaks(returned.end_byte, sign_of(arrow)):
            page.insert(sign_of(arrow), ")")
        else:
            page.put_last(returned.end_byte, ")")


def sign_of(arrow: Node) -> int:
    """The position of `=>`."""
    signs = (child.start_byte for child in arrow.children if child.type == "=>")
    return next(signs, arrow.end_byte)
