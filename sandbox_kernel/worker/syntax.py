"""The tree of a compiled text, and questions about it that have one certain answer, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from .typescript.grammar import grammar

LONGEST_TEXT = 60  # characters of an expression that is quoted
FUNCTIONS = frozenset(
    "function_declaration function_expression generator_function generator_function_declaration"
    " arrow_function method_definition class_static_block".split()
)
LOOPS = frozenset("for_statement for_in_statement while_statement do_statement".split())
_NAMES_VALUE = frozenset(("variable_declarator", "public_field_definition"))
_NAMES_FUNCTION = FUNCTIONS | _NAMES_VALUE
_CALLED = {"call_expression": "function", "new_expression": "constructor"}
_NAMED = re.compile(r"[\w$.?!\[\]()'\"]+")


class Tree:
    """The tree of one compiled text."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self.root = grammar().parse(self.data)

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def path(self, at: int) -> list[Node]:
        """The nodes that contain a byte, from the innermost to the root."""
        cursor, found = self.root.walk(), [self.root]
        while cursor.goto_first_child_for_byte(at) is not None:
            node = cursor.node
            if node is None or node.start_byte > at:
                break
            found.append(node)
        return found[::-1]

    def walk(self, root: Node, *, into_functions: bool = True) -> Iterator[Node]:
        """Every node below, in order. A function is yielded, but perhaps not entered."""
        cursor, depth = root.walk(), 0
        if not cursor.goto_first_child():
            return
        while depth >= 0:
            node = cursor.node
            assert node is not None
            yield node
            entered = into_functions or node.type not in FUNCTIONS
            if entered and cursor.goto_first_child():
                depth += 1
                continue
            while depth >= 0 and not cursor.goto_next_sibling():
                depth -= 1
                if depth >= 0:
                    cursor.goto_parent()


def callee(tree: Tree, at: int) -> Node | None:
    """The function of the only call that can have failed at a byte.

    The engine gives the place of what it did last before a call: the call itself, or something in its
    arguments. If that contains another call, either of them may have failed.
    """
    while tree.data[at : at + 1] in (b" ", b"\t", b"\r", b"\n", b"("):
        if tree.data[at : at + 1] == b"(" and _calls(tree, at):
            break
        at += 1
    found = _calls(tree, at)
    return found[0] if len(found) == 1 else None


def _calls(tree: Tree, at: int) -> list[Node]:
    """The functions of calls that a place may belong to."""
    found = []
    for node in tree.path(at):
        field = _CALLED.get(node.type)
        function = node.child_by_field_name(field) if field is not None else None
        if function is not None:
            is_member = function.type == "member_expression" and field == "function"
            owner = function.child_by_field_name("object") if is_member else None
            if at >= (function.start_byte if owner is None else owner.end_byte):
                found.append(function)
        if node.type in FUNCTIONS and at > node.start_byte:  # else it is an argument of the call
            break
    return found


def called_as(tree: Tree, at: int, name: str) -> Node | None:
    """The function of the only call with this name that a place may belong to."""
    found = [each for each in _calls(tree, at) if _last_name(tree, each) == name]
    return found[0] if len(found) == 1 else None


def _last_name(tree: Tree, function: Node) -> str:
    return tree.text(function.child_by_field_name("property") or function)


def argument_of(tree: Tree, at: int) -> Node | None:
    """The function of the call that has an argument at this byte which cannot fail by itself."""
    path = tree.path(at)
    for node, parent, call in zip(path, path[1:], path[2:], strict=False):
        if parent.type == "arguments" and call.type in _CALLED:
            is_safe = node.type == "identifier" or node.type in FUNCTIONS
            return call.child_by_field_name(_CALLED[call.type]) if is_safe else None
    return None


def called_at(callee: Node) -> int:
    """The byte that the engine names for a call without arguments."""
    is_new = callee.parent is not None and callee.parent.type == "new_expression"
    member = None if is_new else callee.child_by_field_name("property")
    return callee.start_byte if member is None else member.start_byte


def quoted(tree: Tree, callee: Node) -> str | None:
    text = tree.text(callee)
    if len(text) <= LONGEST_TEXT and _NAMED.fullmatch(text):
        return text
    member = callee.child_by_field_name("property")
    if member is None or callee.type != "member_expression":
        return None
    name = tree.text(member)
    return f"….{name}" if len(name) <= LONGEST_TEXT else None


def loops(tree: Tree, function: Node) -> list[Node]:
    """The outermost loops of a function or of a module."""
    found: list[Node] = []
    for node in tree.walk(function, into_functions=False):
        if node.type in LOOPS and (not found or node.start_byte >= found[-1].end_byte):
            found.append(node)
    return found


def functions_named(tree: Tree, name: str) -> list[Node]:
    """Functions that a frame of a stack calls so: declared, or the value of a variable."""
    found = []
    for node in tree.walk(tree.root):
        bound = node.child_by_field_name("name") if node.type in _NAMES_FUNCTION else None
        if bound is not None and tree.text(bound) == name:
            value = node.child_by_field_name("value") if node.type in _NAMES_VALUE else node
            if value is not None and value.type in FUNCTIONS:
                found.append(value)
    return found


def iterated(path: list[Node]) -> Node | None:
    """What a loop or a spread asks for its items."""
    for node in path:
        if node.type == "for_in_statement":
            return node.child_by_field_name("right")
        if node.type == "spread_element":
            return node.named_child(0)
        if node.type in FUNCTIONS:
            return None
    return None


def only_value(tree: Tree, name: str) -> Node | None:
    """The value that a variable has for sure: declared once with it, and never assigned."""
    declared = declarations(tree, name)
    if len(declared) != 1 or declared[0].type != "variable_declarator":
        return None
    return declared[0].child_by_field_name("value")


def declarations(tree: Tree, name: str) -> list[Node]:
    """Whatever gives a name its value, anywhere: more than one makes it uncertain."""
    found = []
    for node in tree.walk(tree.root):
        bound = _bound_name(node)
        if bound is not None and tree.text(bound) == name:
            found.append(node)
    return found


def _bound_name(node: Node) -> Node | None:
    match node.type:
        case "variable_declarator" | "function_declaration" | "class_declaration":
            return node.child_by_field_name("name")
        case "generator_function_declaration":
            return node.child_by_field_name("name")
        case "assignment_expression" | "augmented_assignment_expression":
            return node.child_by_field_name("left")
        case "import_specifier":
            return node.child_by_field_name("alias") or node.child_by_field_name("name")
        case "required_parameter" | "optional_parameter":
            return node.child_by_field_name("pattern")
        case "namespace_import" | "shorthand_property_identifier_pattern":
            return node.named_child(0) or node
    return None


def namespace(tree: Tree, name: str) -> str | None:
    """The specifier of `import * as name from`, if nothing else has the name."""
    if len(declarations(tree, name)) != 1:
        return None
    for specifier, clause in imports(tree):
        for node in tree.walk(clause):
            if node.type == "namespace_import" and tree.text(node).split()[-1] == name:
                return specifier
    return None


def imports(tree: Tree) -> Iterator[tuple[str, Node]]:
    for node in tree.root.named_children:
        source = node.child_by_field_name("source") if node.type == "import_statement" else None
        if source is not None:
            yield tree.text(source)[1:-1].removeprefix("node:"), node


def may_throw(tree: Tree, statement: Node, message: str) -> bool:
    """Whether a `throw` can have thrown something that is not an error, with this text."""
    value = statement.named_child(0)
    if value is None or value.type == "new_expression":
        return False
    text = tree.text(value)
    return value.type != "string" or "\\" in text or text[1:-1] == message
