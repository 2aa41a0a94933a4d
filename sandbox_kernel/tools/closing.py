"""What runners have in common: they are closed, by hand or at the end of an `async with`."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ..errors import EngineClosedError


class Closing:
    _closed = False

    def _check_open(self) -> None:
        if self._closed:
            raise EngineClosedError("the runner was closed; create a new one")

    async def close(self) -> None:
        """Ends what runs. Idempotent."""
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
