"""Writes tables (`table.py` describes them): values that JSON alone cannot represent, for the guest."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Protocol

from ..errors import SerializationError
from ..plain.bounded import DEEPEST, MOST_VALUES, items_within, too_deep, too_many
from ..plain.forms import Moments, Numbers, Records
from ..plain.keywords import check_callable
from ..values import (
    MAX_SAFE_INTEGER,
    TYPED_ARRAYS,
    ArrayBuffer,
    BigInt,
    JSMap,
    JSSet,
    Opaque,
    Undefined,
)
from .dump import dump_texts
from .failures import error_node
from .frame import Buffer
from .jsonlike import PARTS, TEXTS, are_plain, plain_containers
from .scalars import EPOCH
from .trail import ROOT, Step, Trail

_BUFFER_TYPES = {**TYPED_ARRAYS, "e": "Float16Array", "c": "Uint8Array", "?": "Uint8Array"}
_BUFFERS = frozenset((bytes, bytearray, memoryview, array))
_FUNCTIONS = frozenset((FunctionType, MethodType, BuiltinFunctionType))
_NEVER_SCALARS = frozenset((dict, list, tuple, set, frozenset, datetime)) | _BUFFERS | _FUNCTIONS
_STR = frozenset((str,))
_MANY = 100  # texts in a list that are worth a way of their own
_FORMS = (Records, Numbers)
_MILLISECOND = timedelta(milliseconds=1)
_EMBEDS_AT = 2  # depth down to which a whole part may be embedded; each level costs another walk


Simplify = Callable[[Any], Any]


class _Kinds:
    """What knows the kinds of values that are uncommon. Most runs are lent plain data and functions."""

    def __init__(self) -> None:
        from ..plain.advice import refusal, unreadable
        from ..plain.containers import contents_of, record_fields
        from ..plain.scalars import scalar_rule

        self.scalar_rule = scalar_rule
        self.contents_of = contents_of
        self.record_fields = record_fields
        self.refusal = refusal
        self.unreadable = unreadable


@cache
def _kinds() -> _Kinds:
    """Loaded with the first value that needs it."""
    return _Kinds()


class Lender(Protocol):
    """Keeps the host functions and awaitables in a value, and numbers them."""

    @property
    def naive_is_utc(self) -> bool:
        """Whether a datetime without a time zone is meant as UTC; if not, it is refused."""

    def lend_function(self, function: Callable[..., Any], path: str) -> tuple[int, int, str]:
        """`path` leads to the function from the root of the value."""

    def lend_awaitable(self, awaitable: Any) -> int: ...


class Tabulator:
    """Breadth first: a container is numbered when it is first seen, and encoded in that order."""

    def __init__(self, path: str, lender: Lender | None) -> None:
        self.attachments: list[Buffer] = []
        self.spelled: dict[int, str] = {}  # entries of the table that are JSON already
        self._lender = lender
        self._trail = Trail(path)
        self._numbers: dict[int, int] = {}  # by identity
        self._queue: list[Any] = []  # the containers, which also keeps their identities taken
        self._table: list[Any] = []
        self._depth = 0  # of the container that is being encoded
        self._rules: dict[type, Simplify | None] = {}
        self._embedded = _Embedded()
        self._left = MOST_VALUES

    def table(self, root: Any) -> list[Any]:
        table, queue = self._table, self._queue
        table.append(self._item(root, ROOT, ""))
        done, level_ends = 0, 1
        while done < len(queue):
            if done == level_ends:
                self._depth += 1
                level_ends = len(queue)
            table.append(self._checked_node(queue[done], done))
            done += 1
        return table

    def _checked_node(self, value: Any, me: int) -> list[Any]:
        try:
            node = self._node(value, me)
            self._left -= len(node)
            if self._left < 0:
                raise too_many(MOST_VALUES + 1)
            if self._depth > DEEPEST:
                raise too_deep()
            return node
        except SerializationError as error:
            if error.path:
                raise
            raise SerializationError(error.reason, self._trail.path(me)) from error.__cause__
        except Exception as error:  # it ran methods of the value
            raise SerializationError(
                _kinds().unreadable(value, error), self._trail.path(me)
            ) from error

    # -- items

    def _item(self, value: Any, parent: int, step: Step) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else _bigint(value)
        if kind is float:
            return _number_item(value)
        number = self._numbers.get(id(value))
        if number is not None:
            return [number]
        if kind not in _NEVER_SCALARS:
            if kind is BigInt:
                return _bigint(value)
            if kind is Undefined:
                return ["u"]
            simpler = self._simpler(value, kind, parent, step)
            if simpler is not value:
                return self._item(simpler, parent, step)
        return [self._number(value, parent, step)]

    def _simpler(self, value: Any, kind: type, parent: int, step: Step) -> Any:
        try:
            if kind not in self._rules:
                self._rules[kind] = _kinds().scalar_rule(kind)
            rule = self._rules[kind]
            return value if rule is None else rule(value)
        except Exception as error:  # it ran methods of the value
            path = self._trail.path(parent, step)
            raise SerializationError(_kinds().unreadable(value, error), path) from error

    def _number(self, value: Any, parent: int, step: Step) -> int:
        """Takes a container into the table. What was embedded elsewhere is shared, so it gets a node."""
        number = len(self._queue)
        self._queue.append(value)
        self._trail.append((parent, step))
        self._numbers[id(value)] = number
        owner = self._embedded.take_out(id(value))
        if owner is not None:
            self._table[owner + 1] = self._spelled(self._queue[owner], owner)
        return number

    # -- nodes

    def _node(self, value: Any, me: int) -> list[Any]:
        kind = type(value)
        if kind is dict or kind is list or kind is tuple:
            return self._embed(value, me) or self._spelled(value, me)
        if kind is datetime:
            return self._date_node(value)
        if kind is set or kind is frozenset:
            return self._set_node(value, me)
        if kind in _FUNCTIONS:
            return self._function_node(value, me)
        if kind in _BUFFERS:
            return self._binary_node(value, memoryview(value))
        return self._uncommon_node(value, me)

    def _embed(self, value: Any, me: int) -> list[Any] | None:
        """A part that JSON represents is left as it is: the guest has it as soon as it has parsed."""
        if type(value) is dict and not set(map(type, value)) <= _STR:
            return None
        items = value.values() if type(value) is dict else value
        kinds = set(map(type, items))
        if are_plain(kinds, items):
            if kinds <= TEXTS and type(value) is list and len(value) >= _MANY:
                self._spell_texts(value, me)
            return ["j", value]
        if kinds <= PARTS and 0 < self._depth <= _EMBEDS_AT:  # the root is known not to be plain
            within = plain_containers(value)
            if within and self._embedded.add(me, within - {id(value)}, self._numbers):
                return ["j", value]
        return None

    def _spell_texts(self, texts: list[str | None], me: int) -> None:
        text = dump_texts(texts)
        if text is not None:
            self.spelled[me + 1] = f'["j",{text}]'

    def _spelled(self, value: Any, me: int) -> list[Any]:
        """The node of a dict, list or tuple, item by item."""
        if type(value) is dict:
            return self._mapping_node(value, me)
        return ["a", *(self._item(each, me, at) for at, each in enumerate(value))]

    def _uncommon_node(self, value: Any, me: int) -> list[Any]:
        if isinstance(value, Mapping):
            return self._mapping_node(value, me)
        if isinstance(value, list | tuple):
            return self._list_node(value, me)
        if isinstance(value, set | frozenset | JSSet):
            return self._set_node(items_within(value, value), me)
        if isinstance(value, datetime):
            return self._date_node(value)
        if isinstance(value, BaseException):
            return error_node(value)
        if isinstance(value, _FORMS):
            return self._form_node(value, me)
        if isinstance(value, Opaque):
            raise SerializationError(_kinds().refusal(value))
        if callable(value) and not isinstance(value, type):
            return self._function_node(value, me)
        if hasattr(value, "__await__"):
            if self._lender is None:
                raise SerializationError(_kinds().refusal(value))
            return ["p", self._lender.lend_awaitable(value)]
        return self._contents_node(value, me)

    def _contents_node(self, value: Any, me: int) -> list[Any]:
        """Of what has to be asked for its contents."""
        contents = _kinds().contents_of(value)
        if contents is None:
            raise SerializationError(_kinds().refusal(value))
        if isinstance(contents, memoryview):
            return self._binary_node(value, contents)
        return self._node(contents, me)

    def _set_node(self, members: Iterable[Any], me: int) -> list[Any]:
        return ["s", *(self._item(each, me, ("member", at)) for at, each in enumerate(members))]

    def _list_node(self, value: Any, me: int) -> list[Any]:
        """Of a class that is derived: a NamedTuple is an object."""
        fields = _kinds().record_fields(value)
        return self._spelled(items_within(value, value) if fields is None else fields, me)

    def _mapping_node(self, value: Mapping[Any, Any], me: int) -> list[Any]:
        entries = value.items() if type(value) is dict else items_within(value, value.items())
        node: list[Any] = []
        if not isinstance(value, JSMap) and all(isinstance(key, str) for key, _ in entries):
            for key, item in entries:
                node += (str.__str__(key), self._item(item, me, key))
            return ["o", *node]
        for index, (key, item) in enumerate(entries):
            node.append(self._item(key, me, ("key", index)))
            node.append(self._item(item, me, ("value", index)))
        return ["m", *node]

    def _date_node(self, value: datetime) -> list[Any]:
        if value.tzinfo is None:
            if self._lender is None or not self._lender.naive_is_utc:
                raise SerializationError(
                    "a datetime needs a time zone to be a Date; add one, such as"
                    " replace(tzinfo=UTC), or give run_code the option naive='utc'"
                )
            value = value.replace(tzinfo=UTC)
        milliseconds = (value - EPOCH) / _MILLISECOND
        return ["d", milliseconds if math.isfinite(milliseconds) else None]

    def _form_node(self, value: Records | Numbers, me: int) -> list[Any]:
        if not isinstance(value, Records):
            tag = "D" if isinstance(value, Moments) else "N"
            return [tag, *self._attach(memoryview(value.buffer))]
        node: list[Any] = ["r", value.count]
        for name, column in value.columns.items():
            node += (name, self._item(column, me, ("column", name)))
        return node

    def _function_node(self, value: Callable[..., Any], me: int) -> list[Any]:
        if self._lender is None:
            raise SerializationError(_kinds().refusal(value))
        check_callable(value)
        return ["f", *self._lender.lend_function(value, self._trail.path(me))]

    def _binary_node(self, value: Any, view: memoryview) -> list[Any]:
        if isinstance(value, ArrayBuffer):
            return ["x", "ArrayBuffer", self._attach(view)[1]]
        if view.ndim != 1:
            return ["j", view.tolist()]
        return ["x", *self._attach(view)]

    def _attach(self, view: memoryview) -> tuple[str, int]:
        """The kind of typed array, and the number of the attachment."""
        code = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>")
        if code not in _BUFFER_TYPES:
            raise SerializationError(
                f"no typed array has items of format {view.format!r}; pass a list, or numbers such as"
                " float64"
            )
        flat = view if view.c_contiguous else memoryview(view.tobytes())
        self.attachments.append(flat.cast("B") if flat.nbytes else b"")
        return _BUFFER_TYPES[code], len(self.attachments) - 1


class _Embedded:
    """The containers within parts that are left as JSON, and the node that each of them is in."""

    def __init__(self) -> None:
        self._owners: dict[int, int] = {}
        self._parts: dict[int, set[int]] = {}

    def add(self, owner: int, within: set[int], numbers: Mapping[int, int]) -> bool:
        """Whether none of them is elsewhere: what is shared has to have a number."""
        if not within.isdisjoint(self._owners) or not within.isdisjoint(numbers):
            return False
        self._parts[owner] = within
        self._owners.update(dict.fromkeys(within, owner))
        return True

    def take_out(self, identity: int) -> int | None:
        """The node that this container is in, which is then no longer embedded."""
        owner = self._owners.get(identity)
        if owner is not None:
            for each in self._parts.pop(owner):
                del self._owners[each]
        return owner


def _bigint(value: int) -> list[str]:
    return ["b", format(value, "x")]


def _number_item(value: float) -> Any:
    if math.isfinite(value):
        return value if value or math.copysign(1.0, value) > 0 else ["n", "-0"]
    return ["n", "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"]
