"""NumPy's arrays, by the kind of their items. NumPy is loaded if there is one, and never imported."""

from __future__ import annotations

from math import nan
from typing import Any

from ..errors import SerializationError
from .forms import Moments, Numbers, Records, are_safe
from .loaded import types_in

_NOT_A_TIME = -(2**63)
_MICROSECONDS = 1000


def is_array(value: Any) -> bool:
    return isinstance(value, types_in("numpy", "ndarray"))


def array_contents(array: Any) -> Any:
    """Numbers in one dimension are a buffer for a typed array; everything else is an array of items."""
    if isinstance(array, types_in("numpy.ma", "MaskedArray")):
        return array.tolist()  # with None where it is masked
    kind = array.dtype.kind
    if kind == "c":
        raise SerializationError(
            "JavaScript has no complex numbers; pass the arrays .real and .imag"
        )
    if array.dtype.names:
        return _records(array)
    if kind in "Mm":
        return _times(array)
    if kind in "iuf" and array.ndim == 1:
        return numbers(array)
    return array.tolist()


def numbers(array: Any) -> Any:
    """A buffer in a type that typed arrays have. 64-bit integers are numbers if all of them are safe."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if (kind in "iu" and size == 8 and is_safe(array)) or (kind == "f" and size > 8):
        return memoryview(array.astype("float64"))
    return memoryview(
        array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    )


def is_safe(array: Any) -> bool:
    """Whether all of its whole numbers are exact as JavaScript's numbers."""
    return not array.size or are_safe(int(array.min()), int(array.max()))


def milliseconds(array: Any) -> Any:
    """Of an array of datetime64 or timedelta64, as float64; NaN where it has no time."""
    kind = "datetime64[us]" if array.dtype.kind == "M" else "timedelta64[us]"
    counts = array.astype(kind).astype("int64")
    exact = counts / _MICROSECONDS
    exact[counts == _NOT_A_TIME] = nan
    return exact


def _times(array: Any) -> Any:
    if array.ndim > 1:
        return list(array)
    form = Moments if array.dtype.kind == "M" else Numbers
    return form(milliseconds(array))


def _records(array: Any) -> Any:
    if array.ndim > 1:
        return list(array)
    return Records(len(array), {name: array_contents(array[name]) for name in array.dtype.names})
