"""`columns(frame)`: a frame or table as an object of columns, which crosses faster than its rows."""

from __future__ import annotations

from math import nan
from typing import Any

from ..errors import OptionError
from . import arrow
from .arrays import is_safe, milliseconds
from .frames import cells_or_none, is_backed_by_arrow, is_frame, to_times
from .labels import column_names, distinct
from .loaded import module, types_in


def columns(frame: Any) -> dict[str, Any]:
    """The columns of a pandas DataFrame or an Arrow table, by name, ready to be lent.

    The guest gets an object of typed arrays (numbers; moments and durations in milliseconds) and
    arrays (everything else). Missing numbers, moments and durations are NaN there, other missing
    values null.
    """
    if is_frame(frame):
        names = column_names(frame.columns)
        cells = (_of_series(series) for _, series in frame.items())
        return dict(zip(names, cells, strict=True))
    if arrow.is_arrow_table(frame):
        names = distinct(list(frame.schema.names))
        return {name: _of_arrow(frame.column(at)) for at, name in enumerate(names)}
    raise OptionError(
        f"columns takes a pandas DataFrame or an Arrow table, not {type(frame).__name__}; an object of"
        " columns can be written as a dict, such as {'price': array.array('d', prices)}"
    )


def _of_series(series: Any) -> Any:
    if is_backed_by_arrow(series):
        return _of_arrow(series.array.__arrow_array__())
    kind = series.dtype.kind
    if kind in "Mm":
        return milliseconds(to_times(series))
    is_extension = not isinstance(series.dtype, types_in("numpy", "dtype"))
    if kind in "iuf" and is_extension:
        return _numbers_or_cells(series, kind)
    if kind in "iufb" and not is_extension:
        return series.to_numpy()
    return cells_or_none(series)


def _numbers_or_cells(series: Any, kind: str) -> Any:
    """Of a type that can lack values. Whole numbers that a float cannot hold stay as they are."""
    if kind in "iu" and not is_safe(series.dropna().to_numpy()):
        return cells_or_none(series)
    return series.to_numpy(dtype="float64", na_value=nan)


def _of_arrow(column: Any) -> Any:
    types = module("pyarrow").types
    if types.is_timestamp(column.type) or types.is_duration(column.type):
        return arrow.milliseconds(column)
    if types.is_floating(column.type):
        return arrow.to_numpy(column)
    if types.is_integer(column.type) and is_safe(arrow.to_numpy(column.drop_null())):
        return arrow.to_numpy(column)
    return arrow.cells(column)
