"""`to_frame`: what a run gave, as a pandas DataFrame. pandas is the caller's; it is not imported here."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from .contract import CodeExecutionResult
from .errors import OptionError
from .values import undefined

_SHAPES = "an array of objects, or an object of columns"


def to_frame(result: Any) -> Any:
    """A DataFrame of a result (`RunFailed` if it did not succeed) or of a value that a run gave.

    The value is an array of objects, which become rows, or an object of arrays, which become
    columns. What a row lacks, `undefined` and `null` are missing there.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:
        raise OptionError("to_frame makes a DataFrame of pandas: import pandas before you call it")
    value = result.unwrap() if isinstance(result, CodeExecutionResult) else result
    if isinstance(value, Mapping):
        return pandas.DataFrame(_columns(value))
    if isinstance(value, list | tuple):
        return pandas.DataFrame(_columns_of_rows(value), index=range(len(value)))
    raise OptionError(f"to_frame takes {_SHAPES}, not {_kind(value)}; return one from the script")


def _columns_of_rows(rows: Sequence[Any]) -> dict[str, list[Any]]:
    names: dict[str, None] = {}
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise OptionError(f"to_frame takes {_SHAPES}; item {at} of the array is {_kind(row)}")
        names.update(dict.fromkeys(row))
    return {name: [_or_none(row.get(name)) for row in rows] for name in names}


def _columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: _cells(name, cells) for name, cells in columns.items()}
    sizes = {len(cells): name for name, cells in made.items()}
    if len(sizes) > 1:
        (one, first), (other, second), *_ = sizes.items()
        raise OptionError(
            f"the columns of a frame are equally long, but {first!r} has {one:,} cells and"
            f" {second!r} has {other:,}; return an array of objects, or fill the shorter ones"
        )
    return made


def _cells(name: str, cells: Any) -> Any:
    if isinstance(cells, bytes | array):
        numpy = sys.modules["numpy"]  # pandas has loaded it
        return (
            numpy.frombuffer(cells, "uint8") if isinstance(cells, bytes) else numpy.asarray(cells)
        )
    if isinstance(cells, list | tuple):
        return [_or_none(cell) for cell in cells]
    raise OptionError(
        f"to_frame takes {_SHAPES}; {name!r} is {_kind(cells)}. One object is one row: put it into an"
        " array"
    )


def _or_none(cell: Any) -> Any:
    return None if cell is undefined else cell


def _kind(value: Any) -> str:
    return f"a value of type {type(value).__name__}"
