"""Values that hold others: records, arrays, frames, and whatever has a length and can be iterated."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from . import arrow
from .arrays import array_contents, is_array
from .bounded import items_within
from .frames import frame_contents, is_frame, is_series, series_contents
from .loaded import library_of


def contents_of(value: Any) -> Any:
    """A dict, a list, a form or a buffer of what it holds; None if it is not one of these kinds."""
    for ask in (record_fields, library_contents, _view, sized_contents):
        contents = ask(value)
        if contents is not None:
            return contents
    return None


def _view(value: Any) -> memoryview | None:
    try:
        return memoryview(value)
    except TypeError:
        return None


_LIBRARIES = frozenset(("numpy", "pandas", "pyarrow"))


def library_contents(value: Any) -> Any:
    """What an array, series, frame or table of a library holds; None if it is something else."""
    if library_of(type(value), _LIBRARIES) is None:
        return None
    if is_array(value):
        return array_contents(value)
    if is_frame(value):
        return frame_contents(value)
    if is_series(value):
        return series_contents(value)
    if arrow.is_arrow_table(value):
        return arrow.table_contents(value)
    if arrow.is_arrow_array(value):
        return arrow.array_contents(value)
    return None


def cell_count(value: Any) -> int:
    """How many cells an array, series, frame or table of a library has; 0 if it is something else."""
    if is_array(value) or is_frame(value) or is_series(value):
        return int(value.size)
    if arrow.is_arrow_table(value):
        return int(value.num_rows * value.num_columns)
    return len(value) if arrow.is_arrow_array(value) else 0


def record_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass or NamedTuple; None if it is something else."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    if isinstance(names, tuple) and len(names) == len(value):
        return dict(zip(names, tuple(value), strict=True))
    return None


def sized_contents(value: Any) -> Any:
    """The items of a range, a view, a deque and the like; None if it has no length or iteration.

    What has `keys` is like a mapping, as `dict` sees it: a row of sqlite3, for example.
    """
    if not _is_sized(value) or type(value).__name__ in _AMBIGUOUS:
        return None
    if callable(getattr(type(value), "keys", None)) and hasattr(type(value), "__getitem__"):
        return {key: value[key] for key in items_within(value, value.keys())}
    return items_within(value, value)


# Iterating a frame of a library that we do not know gives its columns, which nobody expects.
_AMBIGUOUS = ("DataFrame", "LazyFrame")


def _is_sized(value: Any) -> bool:
    return hasattr(type(value), "__len__") and hasattr(type(value), "__iter__")
