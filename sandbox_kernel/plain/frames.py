"""pandas' frames, series and indexes. What is missing there (NaN, NA, NaT, None) is null."""

from __future__ import annotations

from typing import Any

from . import arrow
from .arrays import is_safe, milliseconds
from .forms import Moments, Numbers, Records
from .labels import column_names
from .loaded import types_in


def is_frame(value: Any) -> bool:
    return isinstance(value, types_in("pandas", "DataFrame"))


def is_series(value: Any) -> bool:
    return isinstance(value, types_in("pandas", "Series", "Index"))


def frame_contents(frame: Any) -> Records:
    """Its rows; the index is not among the columns."""
    names = column_names(frame.columns)
    cells = (series_contents(series) for _, series in frame.items())
    return Records(len(frame), dict(zip(names, cells, strict=True)))


def series_contents(series: Any) -> Any:
    """The cells of a Series or an Index, in a form that becomes a plain array."""
    if is_backed_by_arrow(series):
        return arrow.array_contents(series.array.__arrow_array__())
    kind = series.dtype.kind
    if kind in "Mm":
        form = Moments if kind == "M" else Numbers
        return form(milliseconds(to_times(series)))
    if isinstance(series.dtype, types_in("numpy", "dtype")) and kind in "iuf":
        array = series.to_numpy()
        if kind == "f" or is_safe(array):
            return Numbers(array.astype("float64", copy=False))
        return array.tolist()
    return cells_or_none(series)


def is_backed_by_arrow(series: Any) -> bool:
    return isinstance(series.dtype, types_in("pandas", "ArrowDtype"))


def to_times(series: Any) -> Any:
    """A numpy array of datetime64 or timedelta64; moments that have a time zone are in UTC."""
    unit = "datetime64[us]" if series.dtype.kind == "M" else "timedelta64[us]"
    return series.to_numpy(dtype=unit)


def cells_or_none(series: Any) -> list[Any]:
    cells: list[Any] = series.tolist()
    if isinstance(series, types_in("pandas", "MultiIndex")):
        return cells  # tuples, of which none is missing
    missing = series.isna()
    if not missing.any():
        return cells
    return [None if absent else cell for cell, absent in zip(cells, missing.tolist(), strict=True)]
