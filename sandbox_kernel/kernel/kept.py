"""`%%runcode --keep NAME`: results that later cells are lent as globals.

A kept value is plain data: it is encoded when it is kept, so that a result that cannot be lent
again is refused in the cell that wanted to keep it, and its size is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..budget import Budget
from ..errors import OptionError, SerializationError
from ..notebook.show.render import class_name, show
from ..options import CodeExecutionOptions
from ..sizes import about_size, spell_size
from ..values import Undefined
from ..wire.values import encode

MOST_KEPT = 100  # values
MOST_BYTES = 256 * 2**20  # of all of them, as they cross
_SUMMARY = 60  # characters


@dataclass(frozen=True, slots=True)
class _Kept:
    value: Any
    size: int


class KeptValues:
    """Kept values by name, until `%reset`."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        self._kept.clear()

    def check(self, name: str, taken: Mapping[str, Any], built_in: Collection[str]) -> None:
        """Raises if a result could not be kept under this name; called before the cell runs."""
        _check_name(name)
        if name in taken:
            raise OptionError(
                f"--keep {name}: %defaults already has --global {name}; choose another name", "keep"
            )
        if name in built_in:
            raise OptionError(f"--keep {name}: {name} is built in; choose another name", "keep")
        if name not in self._kept and len(self._kept) >= MOST_KEPT:
            raise OptionError(
                f"--keep {name}: {MOST_KEPT} values are kept already; %reset kept forgets them",
                "keep",
            )

    def keep(self, name: str, value: Any) -> None:
        """Replaces what was kept under this name. Raises if the value cannot be lent again."""
        if isinstance(value, Undefined):
            raise OptionError(
                f"--keep {name}: the cell has no result; end it with an expression, "
                "or write export default",
                "keep",
            )
        try:
            text, attachments = encode(value, name, None)
        except SerializationError as error:
            raise OptionError(
                f"--keep {name}: the result cannot be kept, because {error}", "keep"
            ) from None
        size = len(text) + sum(memoryview(each).nbytes for each in attachments)
        others = sum(each.size for other, each in self._kept.items() if other != name)
        if size + others > MOST_BYTES:
            raise OptionError(
                f"--keep {name}: {about_size(size)} more would exceed the {spell_size(MOST_BYTES)} "
                f"that a notebook keeps ({about_size(others)} now); %reset kept forgets them",
                "keep",
            )
        self._kept[name] = _Kept(value, size)

    def mentioned_in(self, texts: Iterable[str]) -> dict[str, Any]:
        """The values whose names occur in these texts: a cell pays only for what it may use."""
        words: set[str] = set()
        if self._kept:
            for text in texts:
                words.update(_WORD.findall(text))
        return {name: kept.value for name, kept in self._kept.items() if name in words}

    def values(self) -> dict[str, Any]:
        return {name: kept.value for name, kept in self._kept.items()}

    def summary(self) -> str:
        return "\n".join(
            f"{name}: {_summary(kept.value)}, {about_size(kept.size)}"
            for name, kept in self._kept.items()
        )


_WORD = re.compile(r"[\w$]+")


def _check_name(name: str) -> None:
    try:
        CodeExecutionOptions.of(globals={name: None})
    except OptionError as error:
        reason = str(error).removeprefix(f"globals key {name!r} ")
        raise OptionError(f"--keep {name} {reason}", "keep") from None


def _summary(value: Any) -> str:
    text = show(value, depth=1, budget=Budget(4 * _SUMMARY, 100))
    return text if len(text) <= _SUMMARY and "\n" not in text else _counted(value)


def _counted(value: Any) -> str:
    name = "String" if isinstance(value, str) else class_name(value)
    try:
        return f"{name}({len(value)})"
    except TypeError:
        return name
