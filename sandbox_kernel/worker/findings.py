"""What a failure is about, found in the tree of the guest's source, where the engine does not say.

Everything here is right or absent: a position or a name is given only if nothing else could be meant.
It is computed for a run that has failed, so that it costs others nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tree_sitter import Node

from ..wire.order import Order
from .heap import Heap
from .positions import Position, Sources
from .promising import Promising, promising
from .syntax import (
    FUNCTIONS,
    LONGEST_TEXT,
    LOOPS,
    Tree,
    argument_of,
    called_as,
    called_at,
    callee,
    declarations,
    functions_named,
    imports,
    iterated,
    loops,
    may_throw,
    namespace,
    only_value,
    quoted,
)

_FRAMES = 50  # of a stack, whose places are looked at
_ARGUMENT = re.compile(rb"[\w$\x80-\xff]+\s*(?:[,)]|=>)|(?:async|function)\b")
_FUNCTION = re.compile(r" *at ([\w$]+) \(")
_LONGEST_FRAME = 2_000
_MOST_CALLS = (
    200  # places that are looked up for one run; each may take as long as reading its source
)
_LONGEST_SOURCE = 50_000  # characters of a source that is parsed again
_BYTES_OF_TREE = 200  # for each of them, at most
_USED_LIKE_A_VALUE = ("not a function", "value is not iterable")
_UNNAMED = ("<anonymous>", "<eval>")
_CHAINS = ("then", "catch", "finally")
_ERRORS = frozenset("Error TypeError RangeError SyntaxError ReferenceError super".split())
_SETTLED = frozenset("string number true false null undefined template_string array object".split())
_Answer = TypeVar("_Answer")


class Explained(NamedTuple):
    """An error's message, and its frames, with the names and places that the engine does not tell;
    and the call whose promise was used like a value, if that is why."""

    message: str
    stack: str
    promise: str | None = None


class Findings:
    """Made in the zygote; `begin` tells what the one run was given."""

    def __init__(self, sources: Sources, heap: Heap) -> None:
        self._sources = sources
        self._heap = heap
        self._order: Order | None = None
        self._trees: dict[str, Tree] = {}
        self._calls: dict[tuple[Position, str], int | None] = {}  # offsets of what is called

    def begin(self, order: Order) -> None:
        self._order = order

    def _answer(self, question: Callable[[], _Answer]) -> _Answer | None:
        """None if it cannot be found out: a better message is not worth a run."""
        try:
            return question()
        except Exception:
            return None
        finally:
            self._trees.clear()  # they take memory that counts as the guest's

    # -- what was called or iterated

    def explained(self, name: str, message: str, stack: str) -> Explained:
        return self._answer(lambda: self._explained(name, message, stack)) or Explained(
            message, stack
        )

    def at_calls(self, name: str, stack: str) -> str:
        """The frames of an error at the calls that they are in, as `explained` has them."""
        first = name != "ReferenceError"  # which an argument may be the reason for
        return self._answer(lambda: self._at_calls(stack, first=first)) or stack

    def _explained(self, name: str, message: str, stack: str) -> Explained:
        stack = self._at_calls(stack, first=name != "ReferenceError")
        if name != "TypeError" or message not in _USED_LIKE_A_VALUE:
            return Explained(message, stack)
        return Explained(*self._reworded(message, stack))

    def _at_calls(self, stack: str, *, first: bool = True) -> str:
        """The frames, or all but the first, at the calls that they are in.

        The engine names what it looked at last before a call: the call, or something in its arguments.
        """
        frames, called = stack.split("\n", _FRAMES), ""
        for number, frame in enumerate(frames[:_FRAMES]):
            if number or first:
                frames[number] = self._at_the_call(frame, called)
            named = _FUNCTION.match(frame[:_LONGEST_FRAME])
            called = named[1] if named is not None else ""
        return "\n".join(frames)

    def _at_the_call(self, frame: str, called: str) -> str:
        """`called` is the name of the function that the next inner frame is in, if it has one."""
        place = self._sources.first_place(frame)
        if place is None:
            return frame
        if (place, called) not in self._calls:
            if len(self._calls) >= _MOST_CALLS:
                return frame
            self._calls[place, called] = self._offset_of_call(place, called)
        offset = self._calls[place, called]
        return frame if offset is None else self._sources.moved(frame, place, offset)

    def _offset_of_call(self, place: Position, called: str) -> int | None:
        at = self._offset(place)
        if at is None:
            return None
        text = self._sources.text(place.filename) or ""
        if not called and not _ARGUMENT.match(text.encode("utf-8", "surrogatepass"), at):
            return None  # most are not, and need no tree
        tree = self._tree(place.filename)
        if tree is None:
            return None
        function = (called_as(tree, at, called) if called else None) or argument_of(tree, at)
        return None if function is None else called_at(function)

    def _reworded(self, message: str, stack: str) -> tuple[str, str, str | None]:
        place = self._sources.first_place(stack)
        if place is None:
            return message, stack, None
        tree, at = self._tree(place.filename), self._sources.offset(place)
        if tree is None or at is None:
            return message, stack, None
        if message != "not a function":
            return message, stack, self._promise(tree, iterated(tree.path(at)))
        called = callee(tree, at)
        call = called.parent if called is not None else None
        if called is None or call is None or tree.text(called) in _ERRORS:
            return message, stack, None
        if message in tree.text(call):
            return message, stack, None  # it may make an error of its own that says so
        owner = called.child_by_field_name("object") if called.type == "member_expression" else None
        name = quoted(tree, called)
        if name is not None:
            kind = "constructor" if call.type == "new_expression" else "function"
            message = f"{name} is not a {kind}"
        stack = self._sources.moved(stack, place, called_at(called))
        return message, stack, self._promise(tree, owner)

    def _promise(self, tree: Tree, value: Node | None) -> str | None:
        """The call that gave a value, if that is certain to be a promise nobody awaited."""
        if value is not None and value.type == "identifier":
            value = only_value(tree, tree.text(value))
        if value is None or value.type != "call_expression":
            return None
        function = value.child_by_field_name("function")
        if function is None or not self._gives_promises(tree, function):
            return None
        text = tree.text(value)
        is_short = len(text) <= LONGEST_TEXT and "\n" not in text
        return text if is_short else f"{tree.text(function)}(…)"

    def _gives_promises(self, tree: Tree, function: Node) -> bool:
        lent = promising(self._order) if self._order is not None else Promising()
        if function.type == "identifier":
            name = tree.text(function)
            declared = declarations(tree, name)
            if declared:
                return len(declared) == 1 and _is_async(tree, declared[0], name, lent)
            return name in lent.names
        owner, member = (function.child_by_field_name(each) for each in ("object", "property"))
        if function.type != "member_expression" or owner is None or member is None:
            return False
        specifier = namespace(tree, tree.text(owner))
        return specifier is not None and tree.text(member) in lent.exports.get(specifier, ())

    # -- where something was thrown, or is awaited

    def thrown_at(self, frames: str, message: str) -> Position | None:
        """Where a value that is not an error was thrown.

        `frames` are those that the engine noted first since the last catch: perhaps of another
        error, so that what stands there must be able to throw this value.
        """
        return self._answer(lambda: self._thrown_at(frames, message) or self._only_throw(message))

    def _thrown_at(self, frames: str, message: str) -> Position | None:
        place = self._sources.first_place(frames)
        tree = self._tree(place.filename) if place is not None else None
        at = self._sources.offset(place) if place is not None else None
        if place is None or tree is None or at is None:
            return None
        for node in tree.path(at):
            if node.type == "throw_statement" and may_throw(tree, node, message):
                return self._sources.translated(place)
            if node.type == "await_expression":
                return self._sources.translated(place)
            if node.type in FUNCTIONS:
                return None
        return None

    def _only_throw(self, message: str) -> Position | None:
        """Where the only statement is that can have thrown it, if nothing else rejects promises."""
        found: list[tuple[str, int]] = []
        for filename in self._sources.filenames():
            tree = self._tree(filename)
            if tree is None:
                return None
            for node in tree.walk(tree.root):
                if node.type == "throw_statement" and may_throw(tree, node, message):
                    found.append((filename, node.start_byte))
                elif (node.type == "identifier" and tree.text(node) == "reject") or (
                    node.type == "property_identifier" and tree.text(node) in ("reject", "throw")
                ):
                    return None
        return self._sources.position(*found[0]) if len(found) == 1 else None

    def runs_at(self, frames: str) -> Position | None:
        """The line that is running, of the frames that an interruption sees.

        A frame has the place of its last call, which may be long before the loop that it is in.
        """
        return self._answer(lambda: self._runs_at(frames))

    def _runs_at(self, frames: str) -> Position | None:
        if not frames:
            return self._only_loop_that_awaits()
        first = frames.partition("\n")[0]
        if first.endswith("(native)"):
            return self._sources.translate(self._at_calls(frames))[1]
        place = self._sources.first_place(frames)
        if place is None:
            name = first.strip().removeprefix("at ").removesuffix(" (missing)")
            return self._only_loop(name) if first.endswith(" (missing)") else None
        tree, at = self._tree(place.filename), self._sources.offset(place)
        if tree is None or at is None:
            return None
        for node in tree.path(at):
            if node.type in LOOPS:
                return self._sources.translated(place)
            if node.type in FUNCTIONS or node is tree.root:
                return self._loop_in(place.filename, tree, node)
        return None

    def _only_loop(self, function: str) -> Position | None:
        """In the only function of that name; or anywhere, if it has none, as modules have none."""
        found: list[tuple[str, int]] = []
        for filename in self._sources.filenames():
            tree = self._tree(filename)
            if tree is None:
                return None
            if function in _UNNAMED:
                found += [(filename, n.start_byte) for n in tree.walk(tree.root) if n.type in LOOPS]
            for scope in functions_named(tree, function):
                found += [(filename, loop.start_byte) for loop in loops(tree, scope)]
        return self._sources.position(*found[0]) if len(found) == 1 else None

    def _only_loop_that_awaits(self) -> Position | None:
        """A job is about to begin. Without chains of promises, only such a loop makes more of them."""
        found: list[tuple[str, Node]] = []
        for filename in self._sources.filenames():
            tree = self._tree(filename)
            if tree is None:
                return None
            for node in tree.walk(tree.root):
                if node.type == "property_identifier" and tree.text(node) in _CHAINS:
                    return None
                inner = (
                    found and found[-1][0] == filename and node.end_byte <= found[-1][1].end_byte
                )
                if node.type in LOOPS and not inner and _awaits_within(tree, node):
                    found.append((filename, node))
        return (
            self._sources.position(found[0][0], found[0][1].start_byte) if len(found) == 1 else None
        )

    def _loop_in(self, filename: str, tree: Tree, scope: Node) -> Position | None:
        found = loops(tree, scope)
        return self._sources.position(filename, found[0].start_byte) if len(found) == 1 else None

    def waits_at(self) -> Position | None:
        """The only `await` at the top of a module that can still be waiting."""
        return self._answer(self._waits_at)

    def _waits_at(self) -> Position | None:
        found: list[tuple[str, int]] = []
        for filename in self._sources.filenames():
            tree = self._tree(filename)
            if tree is None:
                return None
            found += [(filename, node.start_byte) for node in self._awaits(tree)]
        return self._sources.position(*found[0]) if len(found) == 1 else None

    def _awaits(self, tree: Tree) -> list[Node]:
        return [
            node
            for node in tree.walk(tree.root, into_functions=False)
            if (node.type == "await_expression" and not self._is_over(tree, node))
            or (node.type == "for_in_statement" and any(c.type == "await" for c in node.children))
        ]

    def _is_over(self, tree: Tree, waiting: Node) -> bool:
        """Whether its promise has settled for sure: no call of a bridge is in flight."""
        operand = waiting.named_child(0)
        if operand is None or operand.type in _SETTLED:
            return True
        if operand.type != "call_expression":
            return False
        function = operand.child_by_field_name("function")
        if function is None or function.type == "import":
            return function is not None
        return not _is_local(tree, function) and self._gives_promises(tree, function)

    def _offset(self, place: Position) -> int | None:
        text = self._sources.text(place.filename)
        is_short = text is not None and len(text) <= _LONGEST_SOURCE
        return self._sources.offset(place) if is_short else None

    def _tree(self, filename: str) -> Tree | None:
        text = self._sources.text(filename)
        if text is None or len(text) > _LONGEST_SOURCE:
            return None
        if len(text) * _BYTES_OF_TREE > self._heap.room() // 2:
            return None
        if filename not in self._trees:
            self._trees[filename] = Tree(text)
        return self._trees[filename]


def _awaits_within(tree: Tree, loop: Node) -> bool:
    return any(
        node.type in ("await", "await_expression") for node in tree.walk(loop, into_functions=False)
    )


def _is_async(tree: Tree, declared: Node, name: str, lent: Promising) -> bool:
    if declared.type == "import_specifier":
        exported = declared.child_by_field_name("name")
        return exported is not None and any(
            tree.text(exported) in lent.exports.get(specifier, ())
            for specifier, clause in imports(tree)
            if clause.start_byte <= declared.start_byte < clause.end_byte
        )
    function = declared
    if declared.type == "variable_declarator":
        value = declared.child_by_field_name("value")
        if value is None or value.type not in FUNCTIONS:
            return False
        function = value
    return any(child.type == "async" for child in function.children)


def _is_local(tree: Tree, function: Node) -> bool:
    declared = declarations(tree, tree.text(function)) if function.type == "identifier" else []
    return any(node.type != "import_specifier" for node in declared)
