"""Single values: Enum members, dates, decimals, paths and the like, and the scalars of libraries."""

from __future__ import annotations

from collections import UserString
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import Any

from ..values import BigInt
from . import arrow
from .loaded import library_of, module, types_in

Simplify = Callable[[Any], Any]
_MILLISECOND = timedelta(milliseconds=1)


def scalar_rule(kind: type) -> Simplify | None:
    """How a value of this type becomes simpler; None if it is not one of these kinds.

    What a rule gives may itself need one, such as a date that is the value of an Enum member.
    """
    library = library_of(kind, _LIBRARIES)
    for kinds, rule in (*_BUILT_IN, *(_LIBRARIES[library]() if library else ())):
        if issubclass(kind, kinds):
            return rule
    return without_dimension if hasattr(kind, "ndim") and hasattr(kind, "item") else None


def _value_of(member: Any) -> Any:
    return member.value


def _isoformat(value: Any) -> str:
    return str(value.isoformat())


def _milliseconds(value: timedelta) -> float:
    return value / _MILLISECOND


def _moment(value: datetime) -> datetime | None:
    """A datetime, unless it is pandas' NaT, which is one, too. Naive ones of pandas are UTC there."""
    if value is getattr(module("pandas"), "NaT", None):
        return None
    is_pandas = isinstance(value, types_in("pandas", "Timestamp"))
    return value.replace(tzinfo=UTC) if is_pandas and value.tzinfo is None else value


def _null(value: Any) -> None:
    return None


_Rules = tuple[tuple[tuple[type, ...], Simplify], ...]
_BUILT_IN: _Rules = (
    ((Enum,), _value_of),
    ((BigInt,), BigInt),  # an int, but never a number
    ((str,), str.__str__),
    ((int,), int.__int__),
    ((float,), float.__float__),
    ((datetime,), _moment),  # before date, which it is a kind of
    ((date, time), _isoformat),
    ((timedelta,), _milliseconds),
    ((UserString,), str),
)


def _text_rules(module: str, name: str) -> Callable[[], _Rules]:
    return lambda: ((types_in(module, name), str),)


def _numpy_rules() -> _Rules:
    return ((types_in("numpy", "generic"), _numpy_scalar),)


def _numpy_scalar(value: Any) -> Any:
    kind = value.dtype.kind
    if kind == "M":
        return _numpy_moment(value)
    if kind == "m":
        return _numpy_milliseconds(value)
    if kind == "V":
        return _numpy_fields(value)
    return float(value) if kind == "f" else value.item()  # item() of a longdouble is one itself


def _numpy_moment(value: Any) -> datetime | None:
    """UTC, as in arrays and frames."""
    if value != value:
        return None
    found = value.astype("datetime64[us]").item()
    if isinstance(found, datetime):
        return found.replace(tzinfo=UTC)
    raise ValueError("it is outside the years 1 to 9999")


def _numpy_milliseconds(value: Any) -> float | None:
    return None if value != value else float(value.astype("timedelta64[us]").astype("int64")) / 1000


def _numpy_fields(value: Any) -> Any:
    """A row of a structured array."""
    names = value.dtype.names
    return {name: value[name] for name in names} if names else bytes(value)


def _pandas_rules() -> _Rules:
    pandas = module("pandas")
    missing = tuple(type(getattr(pandas, name)) for name in ("NA", "NaT") if hasattr(pandas, name))
    return ((missing, _null), (types_in("pandas", "Period"), str))


def _arrow_rules() -> _Rules:
    return ((types_in("pyarrow", "Scalar"), arrow.scalar_of),)


_LIBRARIES: dict[str, Callable[[], _Rules]] = {
    "decimal": _text_rules("decimal", "Decimal"),
    "pathlib": _text_rules("pathlib", "PurePath"),
    "uuid": _text_rules("uuid", "UUID"),
    "numpy": _numpy_rules,
    "pandas": _pandas_rules,
    "pyarrow": _arrow_rules,
}


def without_dimension(value: Any) -> Any:
    """The one item of an array or tensor that has no dimension; the value itself if it has one."""
    if value.ndim != 0:
        return value
    return value[()] if isinstance(value, types_in("numpy", "ndarray")) else value.item()
