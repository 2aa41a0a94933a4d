"""Makes the last expression of a cell the default export of its module, so that its value is shown."""

from __future__ import annotations

from tree_sitter import Node

from .blank import Page

_IGNORED = frozenset(("comment", "empty_statement", "html_comment"))
_NAMED_AFTER_THE_EXPORT = frozenset(
    "arrow_function function_expression generator_function class".split()
)


def show_last(page: Page, root: Node) -> bool:
    """Export the last statement if it is an expression and the module has no default export."""
    statements = [node for node in root.named_children if node.type not in _IGNORED]
    if root.has_error or not statements or any(_is_default(page, node) for node in statements):
        return False
    last = statements[-1]
    expression = last.named_child(0) if last.type == "expression_statement" else None
    if expression is None or expression.type == "internal_module" or page.is_gone(last):
        return False
    # In a comma expression a function keeps its own name instead of being called "default".
    opening = "(0," if expression.type in _NAMED_AFTER_THE_EXPORT else "("
    page.insert(last.start_byte, "export default " + opening, order=-9)
    page.insert(page.end(expression), ")", order=9)
    return True


def _is_default(page: Page, statement: Node) -> bool:
    if statement.type != "export_statement":
        return False
    return any(
        child.type in ("default", "=") or _has_default(page, child) for child in statement.children
    )


def _has_default(page: Page, clause: Node) -> bool:
    """export { a as default }"""
    for specifier in clause.named_children if clause.type == "export_clause" else []:
        name = specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")
        if name is not None and page.text(name).strip("'\"") == "default":
            return True
    return False
