"""A guest's value as JSON of a bounded size: spelled as far as it fits, the rest counted.

Nothing is spelled in order to be cut, so a small value that is endless when spelled out costs no
more than any other. Half of a surrogate pair, which no UTF-8 message can hold, becomes `\\ufffd`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Set
from itertools import islice
from typing import Any

from ...budget import more
from ...jsonable import to_jsonable
from ...values import JSMap, Undefined

MOST_BYTES = 500_000  # of one answer, about
_DEEPEST = 100
_SEPARATORS = 4  # bytes that each item or key takes beside itself


class Cutter:
    """Spends one allowance on everything that it spells; `cut` says whether something is missing."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._left = most
        self._above: set[int] = set()
        self.cut = False

    def spell(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool | float) or type(value) is int:
            self._left -= 8
            return to_jsonable(value)
        if id(value) in self._above:
            return "[Circular]"
        if len(self._above) >= _DEEPEST:
            self.cut = True
            return "[nested too deep]"
        self._above.add(id(value))
        try:
            return self._structure(value)
        finally:
            self._above.remove(id(value))

    def _structure(self, value: Any) -> Any:
        match value:
            case JSMap():
                return self._items(([k, v] for k, v in value.items()), len(value))
            case Mapping():
                return self._object(value)
            case list() | tuple() | bytes() | bytearray() | array() | Set():
                return self._items(value, len(value))
            case _:
                plain = to_jsonable(value)
                return plain if plain is None else self.spell(plain)

    def _items(self, items: Iterable[Any], count: int) -> list[Any]:
        spelled: list[Any] = []
        for item in islice(items, count):
            if self._left <= 0:
                spelled.append(self._missing(count - len(spelled), "item"))
                break
            self._left -= _SEPARATORS
            spelled.append(self.spell(item))
        return spelled

    def _object(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        spelled: dict[str, Any] = {}
        for done, (key, item) in enumerate(islice(value.items(), len(value))):
            if self._left <= 0:
                spelled["…"] = self._missing(len(value) - done, "key")
                break
            if not isinstance(item, Undefined):
                self._left -= _SEPARATORS
                spelled[self._text(str(key))] = self.spell(item)
        return spelled

    def _text(self, text: str) -> str:
        room = max(0, self._left)
        start = whole(text[:room]).encode()
        spelled = start[:room].decode(errors="ignore")
        self._left -= len(start)
        if max(len(text), len(start)) <= room:
            return spelled
        self.cut = True
        return f"{spelled} {more(len(text) - len(spelled))}"

    def _missing(self, count: int, what: str) -> str:
        self.cut = True
        return f"… {count:,} more {what}{'' if count == 1 else 's'}"


def whole(text: str) -> str:
    """Without halves of surrogate pairs; two halves that belong together become one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
