"""Classes: erases modifiers, signatures and `?` or `!`; rewrites parameter properties as fields and assignments."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from . import hazards
from .blank import Page

_SIGNATURES = frozenset("method_signature abstract_method_signature index_signature".split())
_ERASED = frozenset("accessibility_modifier override_modifier readonly ? !".split())
_ONLY_TYPES = frozenset(("declare", "abstract"))
_PROPERTY = frozenset("accessibility_modifier override_modifier readonly".split())
_PARAMETERS = frozenset(("required_parameter", "optional_parameter"))


class Classes:
    """Visits class bodies. Notes possible hazards, which are handled once everything is blanked."""

    def __init__(self, page: Page, gaps: list[int]) -> None:
        self.page, self.gaps = page, gaps
        self.fields: list[tuple[bytes, int, int]] = []
        self.constructors: list[tuple[Node, Node, list[str]]] = []

    def visit(self, body: Node) -> None:
        """class { private readonly a?: T; b(): void; declare c: T; constructor(public d: T) {} }"""
        for member in body.named_children:
            if member.type in _SIGNATURES:
                self._erase(member)
            elif member.type == "public_field_definition":
                self._field(member)
            elif member.type == "method_definition":
                self._method(body, member)

    def _erase(self, member: Node) -> None:
        if not member.has_error:
            self.page.blank(member.start_byte, member.end_byte)
            self.gaps.append(member.start_byte)

    def _field(self, member: Node) -> None:
        children = member.children
        if any(child.type in _ONLY_TYPES and not self._is_alone(child) for child in children):
            self._erase(member)
            return
        self._modifiers(children)
        name = member.child_by_field_name("name")
        if name is not None and not member.child_by_field_name("value") and children[-1] != name:
            self.fields.append((self._bytes(name), name.end_byte, member.end_byte))

    def _method(self, body: Node, member: Node) -> None:
        self._modifiers(member.children)
        name, parameters = (
            member.child_by_field_name("name"),
            member.child_by_field_name("parameters"),
        )
        if (
            name is None
            or parameters is None
            or self._bytes(name) not in (b"constructor", b"'constructor'")
        ):
            return
        properties = list(self._properties(parameters))
        if properties:
            self.constructors.append((body, member, properties))

    def _modifiers(self, children: list[Node]) -> None:
        for index, child in enumerate(children):
            if child.type in _ERASED and not self._is_alone(child):
                self.page.blank(child.start_byte, child.end_byte)
                if index == 0:
                    self.gaps.append(child.start_byte)

    def _is_alone(self, modifier: Node) -> bool:
        """Whether a modifier ends its line; then it is a field of that name."""
        end = modifier.end_byte
        return modifier.type not in "?!" and self.page.breaks(end, self.page.after(end))

    def _properties(self, parameters: Node) -> Iterator[str]:
        """constructor(private readonly a: T = b)"""
        for parameter in parameters.named_children:
            if parameter.type not in _PARAMETERS:
                continue
            modifiers = [child for child in parameter.children if child.type in _PROPERTY]
            for modifier in modifiers:
                self.page.blank(modifier.start_byte, modifier.end_byte)
            pattern = parameter.child_by_field_name("pattern")
            if modifiers and pattern is not None and pattern.type == "identifier":
                yield self._bytes(pattern).decode("utf-8", "surrogatepass")

    def avoid_hazards(self) -> None:
        """Called once the page is settled."""
        for name, end_of_name, end in self.fields:
            mark = end_of_name
            while self.page.data[mark] in b" \t\r\n":
                mark += 1
            hazards.keep_field_apart(self.page, name, mark, end)

    def rewrite(self) -> None:
        """Declare each parameter property as a field, and assign it where `this` is first available."""
        for body, constructor, names in self.constructors:
            block = constructor.child_by_field_name("body")
            if block is None or self.page.is_gone(constructor):
                continue
            self.page.insert(body.start_byte + 1, "".join(f"{name};" for name in names))
            assignments = "".join(f"this.{name}={name};" for name in names)
            self.page.insert(_where_this_is_available(self.page, block), ";" + assignments)

    def _bytes(self, node: Node) -> bytes:
        return self.page.data[node.start_byte : node.end_byte]


def _where_this_is_available(page: Page, block: Node) -> int:
    """After the directives, or after the first statement `super()`, which may be inside `try`."""
    call = _super_call(block)
    if call is not None:
        return page.end(call)
    end = block.start_byte + 1
    for statement in block.named_children:
        expression = statement.named_child(0) if statement.type == "expression_statement" else None
        if statement.type != "comment" and (expression is None or expression.type != "string"):
            break
        if statement.type != "comment":
            end = page.end(statement)
    return end


def _super_call(block: Node) -> Node | None:
    tasks = [block]
    while tasks:
        node = tasks.pop()
        if _is_super_call(node):
            return node
        body = node.child_by_field_name("body") if node.type == "try_statement" else None
        tasks.extend(
            reversed(block.named_children if node is block else body.named_children if body else [])
        )
    return None


def _is_super_call(statement: Node) -> bool:
    call = statement.named_child(0) if statement.type == "expression_statement" else None
    callee = (
        call.child_by_field_name("function") if call and call.type == "call_expression" else None
    )
    return callee is not None and callee.type == "super"
