"""The labels of columns as names that an object can have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import SerializationError


def column_names(labels: Iterable[Any]) -> list[str]:
    """Names that an object can have. Raises SerializationError for labels of several levels."""
    names: list[str] = []
    for label in labels:
        if isinstance(label, tuple):
            raise SerializationError(
                "its columns have labels of several levels; flatten them first, such as"
                " df.columns = ['_'.join(map(str, label)) for label in df.columns]"
            )
        names.append(str(label))
    return distinct(names)


def distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SerializationError(
            f"two of its columns are called {twice!r}; rename one of them, or select the columns"
            " that you need"
        )
    return names
