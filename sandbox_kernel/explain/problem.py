"""The error that is explained, as far as it is read."""

from __future__ import annotations

from typing import Protocol


class Problem(Protocol):
    """What is read of a `CodeExecutionError`."""

    @property
    def name(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def stack(self) -> str | None: ...
    @property
    def specifier(self) -> str | None: ...
    @property
    def filename(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
