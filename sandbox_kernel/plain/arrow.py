"""Arrow's tables, batches, arrays and scalars, by the rules of frames. Never imports pyarrow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from .forms import Moments, Numbers, Records, are_safe
from .labels import distinct
from .loaded import module, types_in

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS = 1000


def is_arrow_table(value: Any) -> bool:
    return isinstance(value, types_in("pyarrow", "Table", "RecordBatch"))


def is_arrow_array(value: Any) -> bool:
    return isinstance(value, types_in("pyarrow", "Array", "ChunkedArray"))


def table_contents(table: Any) -> Records:
    names = distinct(list(table.schema.names))
    columns = {name: array_contents(table.column(at)) for at, name in enumerate(names)}
    return Records(table.num_rows, columns)


def array_contents(array: Any) -> Any:
    """The cells of a column, in a form that becomes a plain array; null where there is none."""
    types = module("pyarrow").types
    if types.is_timestamp(array.type):
        return Moments(milliseconds(array))
    if types.is_duration(array.type):
        return Numbers(milliseconds(array))
    if types.is_floating(array.type) or is_safely_whole(array):
        return Numbers(to_numpy(array).astype("float64", copy=False))
    return cells(array)


def cells(array: Any) -> list[Any]:
    """As Python's values; None where there is none."""
    zoned = _zoned(array.type)
    found: list[Any] = (array if zoned == array.type else array.cast(zoned)).to_pylist()
    return found


def _zoned(kind: Any) -> Any:
    """The type with a time zone for moments inside of lists and structs: they are UTC there, too."""
    pyarrow = module("pyarrow")
    types = pyarrow.types
    if types.is_timestamp(kind) and not kind.tz:
        return pyarrow.timestamp(kind.unit, "UTC")
    if types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return pyarrow.struct([field.with_type(_zoned(field.type)) for field in fields])
    if types.is_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_zoned(kind.value_type)))
    return kind


def milliseconds(array: Any) -> Any:
    """Of timestamps or durations, as float64; NaN where there is none. Naive timestamps are UTC."""
    pyarrow = module("pyarrow")
    is_moment = pyarrow.types.is_timestamp(array.type)
    unit = pyarrow.timestamp("us", array.type.tz) if is_moment else pyarrow.duration("us")
    counts = array.cast(unit, safe=False).cast(pyarrow.int64()).cast(pyarrow.float64(), safe=False)
    return to_numpy(counts) / _MICROSECONDS


def is_safely_whole(array: Any) -> bool:
    """Whether it has only whole numbers, none missing, that are exact as JavaScript's numbers."""
    if not module("pyarrow").types.is_integer(array.type) or array.null_count:
        return False
    found = to_numpy(array)
    return not found.size or are_safe(int(found.min()), int(found.max()))


def to_numpy(array: Any) -> Any:
    if isinstance(array, types_in("pyarrow", "ChunkedArray")):
        return array.to_numpy()
    return array.to_numpy(zero_copy_only=False)


def scalar_of(scalar: Any) -> Any:
    pyarrow = module("pyarrow")
    if not scalar.is_valid:
        return None
    if not (pyarrow.types.is_timestamp(scalar.type) or pyarrow.types.is_duration(scalar.type)):
        return scalar.as_py()
    found = float(milliseconds(pyarrow.array([scalar]))[0])
    if pyarrow.types.is_duration(scalar.type):
        return found
    return _EPOCH + timedelta(milliseconds=found)
