"""Rewrites enums as objects; each member stays on its line.

`enum E { A, B = f() }` reads `var E;(function(E_1){ E_1[E_1["A"]=0]="A"; E_1[E_1["B"] = f()]="B"; })(E||(E={}));`
afterwards: each initializer stays in place, and the added text is subtracted from reported columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from .blank import Page
from .constants import Constant, Constants, written

Values = dict[str, Constant]


class _Visible(NamedTuple):
    """The values of an enum's members, and the span of source in which its name is visible."""

    start: int
    end: int
    values: Values


class Enums:
    """The enums of a module, and the values that are known."""

    def __init__(self, page: Page, root: Node) -> None:
        self.page, self.root = page, root
        self.known: dict[str, list[_Visible]] = {}
        self.constants = Constants(page, self._lookup)
        self._current: Values = {}
        self._variables: dict[str, Node] | None = None

    def members(self, enum: Node) -> set[str]:
        """The member names, which its initializers and those of merged enums may use unqualified."""
        body = enum.child_by_field_name("body")
        members = body.named_children if body else []
        return {self._plain(member.child_by_field_name("name") or member) for member in members}

    def write(self, enum: Node, block: Node, target: str) -> None:
        """Rewrite the body; `target` is the parameter that holds the object."""
        name, body = enum.child_by_field_name("name"), enum.child_by_field_name("body")
        if name is None or body is None:
            return
        self._current = self._values(self.page.name(name), block)
        following: Constant = 0
        for child in body.children:
            if child.type == ",":
                self.page.blank(child.start_byte, child.end_byte)
            elif child.is_named and child.type != "comment":
                following = self._member(child, target, following)

    def _values(self, name: str, block: Node) -> Values:
        for visible in self.known.setdefault(name, []):
            if (visible.start, visible.end) == (block.start_byte, block.end_byte):
                return visible.values
        values: Values = {}
        self.known[name].append(_Visible(block.start_byte, block.end_byte, values))
        return values

    def _member(self, member: Node, target: str, following: Constant) -> Constant:
        """A  or  A = 1  or  'a-b' = 2; returns the value of an automatic next member."""
        name, value = (
            member.child_by_field_name("name") or member,
            member.child_by_field_name("value"),
        )
        constant = self.constants.value(value) if value else following
        self._current[self._plain(name)] = constant
        is_text = isinstance(constant, str) or (value is not None and _is_syntactically_text(value))
        self._name(name, target, is_text)
        key = self._key(name)
        if value is not None:
            self.page.insert(value.end_byte, ";" if is_text else f"]={key};", order=-1)
        else:
            text = "void 0" if not isinstance(constant, (int, float)) else written(constant)
            self.page.insert(name.end_byte, f"={text}]={key};", order=1)
        return constant + 1 if isinstance(constant, (int, float)) else None

    def _name(self, name: Node, target: str, is_text: bool) -> None:
        opening = target if is_text else f"{target}[{target}"
        before, after = {
            "property_identifier": ('["', '"]'),
            "computed_property_name": ("", ""),
        }.get(name.type, ("[", "]"))
        self.page.insert(name.start_byte, opening + before)
        if after:
            self.page.insert(name.end_byte, after)

    def _key(self, name: Node) -> str:
        text = self.page.text(name)
        if name.type == "property_identifier":
            return f'"{text}"'
        return text[1:-1].strip() if name.type == "computed_property_name" else text

    def _plain(self, name: Node) -> str:
        if name.type == "property_identifier":
            return self.page.name(name)
        return self._key(name)[1:-1]

    def _lookup(self, node: Node, depth: int) -> Constant:
        """a  or  E.a  or  E['a']"""
        if node.type == "identifier":
            return self._named(self.page.name(node), depth)
        holder, key = node.child_by_field_name("object"), node.child_by_field_name("property")
        if node.type == "subscript_expression":
            key = node.child_by_field_name("index")
        if holder is None or key is None or key.type not in ("property_identifier", "string"):
            return None
        enum = self.page.name(holder.child_by_field_name("property") or holder)
        values = self._visible(enum, node.start_byte)
        return values.get(self._plain(key)) if values else None

    def _named(self, name: str, depth: int) -> Constant:
        if name in self._current:
            return self._current[name]
        if name in ("NaN", "Infinity"):
            return float(name)
        return self.constants.value(self._constant_variables().get(name), depth)

    def _visible(self, enum: str, at: int) -> Values | None:
        around = [seen for seen in self.known.get(enum, ()) if seen.start <= at < seen.end]
        found = min(around, key=lambda seen: seen.end - seen.start, default=None)
        return found.values if found else None

    def _constant_variables(self) -> dict[str, Node]:
        """const a = 1, at the top of the module"""
        if self._variables is None:
            self._variables = dict(self._find_constants())
        return self._variables

    def _find_constants(self) -> Iterator[tuple[str, Node]]:
        for statement in self.root.named_children:
            declaration = statement.child_by_field_name("declaration") or statement
            kind = declaration.child_by_field_name("kind")
            if declaration.type != "lexical_declaration" or kind is None or kind.type != "const":
                continue
            for declarator in declaration.named_children:
                name, value = (
                    declarator.child_by_field_name("name"),
                    declarator.child_by_field_name("value"),
                )
                if name and value and not declarator.child_by_field_name("type"):
                    yield self.page.name(name), value


def _is_syntactically_text(value: Node) -> bool:
    """Whether the syntax shows that it is a string: a literal, a template, or a sum with one."""
    tasks = [value]
    while tasks:
        node = tasks.pop()
        if node.type in ("string", "template_string"):
            return True
        operator = node.child_by_field_name("operator")
        if (
            node.type == "binary_expression" and operator is not None and operator.type == "+"
        ) or node.type == "parenthesized_expression":
            tasks.extend(node.named_children)
    return False
