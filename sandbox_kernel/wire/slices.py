"""JSON read in slices, so that a long text never holds up the host's loop.

Python's JSON scanner is one call of C that lets nobody else run until it has read everything. Here a
long text is read a window at a time. A list or object that does not end soon is entered, and a few of
its values are read one by one. The rest are most likely like them: so a window is cut where another
such value ends, and the scanner confirms that by reading it as a whole container.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from .weight import is_wide, weight_of_text

BATCH = 4000  # values that are made between two pauses
WINDOW = 1 << 16  # bytes; even of the densest text read in a few milliseconds
_GLANCE = 1 << 12  # bytes; a value that does not end within them is entered
_LEAST = 1 << 8  # bytes that are looked at where longer looks were in vain
_FEW = 8  # values that are read one by one before a window full of them is tried
_DEEPEST = 1000  # containers that are entered, within each other

Steps = Generator[None, None, Any]  # pauses after each slice; returns the value
Charge = Callable[[int], None]  # told what each slice will weigh before it is kept; may raise

_value_at = json.JSONDecoder().raw_decode
# The characters of a string and whole escapes, up to its end or that of the window.
_TEXT = re.compile(rb'[^"\\]*+(?:\\(?:[^u]|u[0-9a-fA-F]{4})[^"\\]*+)*+')
# How one value ends and the next begins, in a list of values of one kind.
_SEAMS: dict[type, bytes] = {dict: b"},{", list: b"],[", str: b'","'}
_KEY_SEAMS = (b'},"', b'],"', b'","', b',"')


def parse(data: bytes | bytearray, charge: Charge, start: int = 0) -> Steps:
    """The value that fills `data` from `start` on. Raises ValueError if there is none."""
    reader = _Reader(data, charge, start)
    value = yield from reader.value()
    if reader.at != len(data):
        raise ValueError("text after the end of a value")
    return value


def in_batches(items: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    """The items, as many at a time as may be handled between two pauses."""
    if len(items) <= size:
        yield items
        return
    for start in range(0, len(items), size):
        yield items[start : start + size]


def finish(steps: Steps) -> Any:
    """The value, without a pause: for what is known to be short."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class _Reader:
    """Where it is in the text, and the containers that it is in; without recursion."""

    def __init__(self, data: bytes | bytearray, charge: Charge, start: int) -> None:
        self._data = data
        self._charge = charge
        self.at = start
        # Bytes that are looked at together. A look in vain halves them and one that pays grows them,
        # so that a text made for looks in vain takes no longer than its size allows.
        self._reach = _GLANCE

    def value(self) -> Steps:
        if len(self._data) - self.at <= WINDOW:
            return self._small_rest()
        return (yield from self._long_value())

    def _small_rest(self) -> Any:
        rest = bytes(self._data[self.at :])
        self._charge(weight_of_text(rest))
        self.at = len(self._data)
        return json.loads(rest)

    def _long_value(self) -> Steps:
        first = self._next()
        if first == b'"':
            return (yield from self._long_text())
        root = self._enter(first)
        inside: list[list[Any] | dict[str, Any]] = [root]
        while inside:
            container = inside[-1]
            child = yield from (
                self._fill_list(container)
                if isinstance(container, list)
                else self._fill_object(container)
            )
            if child is not None:
                inside.append(child)
                if len(inside) > _DEEPEST:
                    raise ValueError("containers nested too deep")
                yield
                continue
            inside.pop()
            while inside and self._leave(b"]" if isinstance(inside[-1], list) else b"}"):
                inside.pop()
        return root

    # -- containers that are entered

    def _enter(self, first: bytes) -> list[Any] | dict[str, Any]:
        if first not in (b"[", b"{"):
            raise ValueError(f"no value at {self.at}")
        self._charge(weight_of_text(first))
        self.at += 1
        return [] if first == b"[" else {}

    def _leave(self, end: bytes) -> bool:
        """Passes over a comma, or over the end."""
        mark = self._next()
        self.at += 1
        if mark not in (b",", end):
            raise ValueError(f"a comma or {end.decode()} expected at {self.at - 1}")
        return mark == end

    def _fill_list(self, target: list[Any]) -> Steps:
        """Until its end, which gives None, or a container in it that is to be filled first."""
        few = _FEW
        while True:
            some = self._single_values(_value_at, few)
            target.extend(some)
            if not some:
                child = yield from self._long_item(target.append)
                if child is not None:
                    return child
            if self._leave(b"]"):
                return None
            yield
            if len(some) == few:
                more = self._list_slice(some)
                target.extend(more)
                few = _FEW if more else min(4 * few, BATCH)
                if more and self._leave(b"]"):
                    return None
                yield

    def _list_slice(self, like: list[Any]) -> list[Any]:
        """As many values as a window has, if they are of the same kind or short; or none."""
        window = self._window()
        kinds = set[type](map(type, like))
        seam = window.rfind(_SEAMS.get(kinds.pop(), b",") if len(kinds) == 1 else b",")
        some = None if seam < 0 else self._read(b"[", window, seam, b"]")
        return some if isinstance(some, list) else []

    def _fill_object(self, target: dict[str, Any]) -> Steps:
        few = _FEW
        while True:
            some = self._single_values(_pair_at, few)
            target.update(some)
            if not some:
                key = yield from self._key()
                child = yield from self._item(_setter(target, key))
                if child is not None:
                    return child
            if self._leave(b"}"):
                return None
            yield
            if len(some) == few:
                more = self._object_slice()
                target.update(more)
                few = _FEW if more else min(4 * few, BATCH)
                if more and self._leave(b"}"):
                    return None
                yield

    def _object_slice(self) -> dict[str, Any]:
        window = self._window()
        seam = max(window.rfind(mark) + len(mark) - 2 for mark in _KEY_SEAMS)
        some = None if seam <= 0 else self._read(b"{", window, seam, b"}")
        return some if isinstance(some, dict) else {}

    def _single_values(
        self, value_at: Callable[[str, int], tuple[Any, int]], most: int
    ) -> list[Any]:
        """Values one by one, up to the first that does not end soon."""
        text = self._text(max(_GLANCE, 16 * most))
        found: list[Any] = []
        at, in_vain = 0, False
        try:
            while len(found) < most:
                value, end = value_at(text, at)
                if text[end] not in ",]}":
                    break
                found.append(value)
                at = end + 1
                if text[end] != ",":
                    break
        except (ValueError, IndexError):
            in_vain = True  # the next one goes on, or is broken, which will be found out
        self._learn(at, in_vain)
        if found:
            self._pass_over(text[: at - 1])
        return found

    def _learn(self, read: int, in_vain: bool) -> None:
        reach = max(_LEAST, self._reach // 2) if in_vain else self._reach
        self._reach = min(WINDOW, max(reach, 2 * read))

    def _read(self, before: bytes, window: bytes, seam: int, after: bytes) -> Any:
        """What is before the comma at the seam, or up to the container's end if that comes first.

        None if the seam is not the end of a value.
        """
        end = seam if window[seam : seam + 1] == b"," else seam + 1
        try:
            text = (before + window[:end] + after).decode("utf-8", "strict")
            values, stop = _value_at(text, 0)
        except ValueError:
            self._learn(0, True)
            return None
        read = window[:end] if stop == len(text) else text[1 : stop - 1].encode()
        self._learn(len(read), False)
        self._charge(weight_of_text(read))
        self.at += len(read)
        return values

    # -- single values

    def _item(self, put: Callable[[Any], object]) -> Steps:
        """Puts the next value where it belongs; one that is to be filled is also returned."""
        found, value = self._one_value()
        if found:
            put(value)
            return None
        return (yield from self._long_item(put))

    def _long_item(self, put: Callable[[Any], object]) -> Steps:
        first = self._next()
        if first == b'"':
            put((yield from self._long_text()))
            return None
        child = self._enter(first)
        put(child)
        return child

    def _one_value(self) -> tuple[bool, Any]:
        """Whether the value that begins here ends soon, and the value."""
        text = self._text(_GLANCE)
        try:
            value, end = _value_at(text, 0)
        except ValueError:
            self._learn(0, True)
            return False, None
        if end == len(text):
            return False, None  # a number, say, that may go on
        self._pass_over(text[:end])
        return True, value

    def _key(self) -> Steps:
        if self._next() != b'"':
            raise ValueError(f"a name expected at {self.at}")
        key = yield from self._long_text()
        if self._next() != b":":
            raise ValueError(f"a colon expected at {self.at}")
        self.at += 1
        return key

    def _long_text(self) -> Steps:
        """A string, however long; it begins here. One wide character makes all of it wide."""
        self._charge(weight_of_text(b'"'))
        self.at += 1
        pieces: list[str] = []
        size, wide = 0, False
        while self._next() != b'"':
            piece = self._piece()
            size += len(piece)
            if wide or is_wide(piece):
                self._charge(4 * len(piece) if wide else 3 * size + len(piece))
                wide = True
            else:
                self._charge(len(piece))
            self.at += len(piece)
            _append(pieces, json.loads(b'"' + piece + b'"'))
            yield
        self.at += 1
        return "".join(pieces)

    def _piece(self) -> bytes:
        found = _TEXT.match(self._data, self.at, self.at + WINDOW)
        piece = _whole_characters(bytes(found[0])) if found else b""
        if not piece:
            raise ValueError(f"a string that cannot be read at {self.at}")
        return piece

    def _pass_over(self, text: str) -> None:
        read = text.encode()
        self._charge(weight_of_text(read))
        self.at += len(read)

    def _text(self, size: int) -> str:
        """The next bytes as text; a character that their end cuts off is left out."""
        some = bytes(self._data[self.at : self.at + min(size, self._reach)])
        return _whole_characters(some).decode("utf-8", "strict")

    def _window(self) -> bytes:
        return bytes(self._data[self.at : self.at + self._reach])

    def _next(self) -> bytes:
        return bytes(self._data[self.at : self.at + 1])


def _pair_at(text: str, at: int) -> tuple[tuple[str, Any], int]:
    key, colon = _value_at(text, at)
    if not isinstance(key, str) or text[colon] != ":":
        raise ValueError("a name and a colon expected")
    value, end = _value_at(text, colon + 1)
    return (key, value), end


def _setter(target: dict[str, Any], key: str) -> Callable[[Any], object]:
    def put(value: Any) -> None:
        target[key] = value

    return put


def _append(pieces: list[str], text: str) -> None:
    """Joins the two halves of a character whose escapes were torn apart."""
    if pieces and "\ud800" <= pieces[-1][-1] <= "\udbff" and "\udc00" <= text[0] <= "\udfff":
        pair = (pieces[-1][-1] + text[0]).encode("utf-16", "surrogatepass").decode("utf-16")
        pieces[-1] = pieces[-1][:-1] + pair
        text = text[1:]
        if not text:
            return
    pieces.append(text)


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a character that the end of the window cut off."""
    end = len(data)
    while end and len(data) - end < 3 and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    lead = data[end - 1] if end else 0
    wanted = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
    return data if end - 1 + wanted <= len(data) else data[: end - 1]
