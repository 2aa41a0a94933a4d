"""A program's turn in its session: it waits for those before it, and goes before those after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from ..errors import EngineError
from ..sessions import Lease, Workspaces


class Turn:
    """All of it happens on the program's loop."""

    def __init__(self, workspaces: Workspaces, session: str, on_delete: Callable[[], None]) -> None:
        """Makes the workspace if it is not there; OptionError or EngineError if that cannot be."""
        self.session = session
        self.root = str(workspaces.root)
        self.quota = workspaces.quota
        try:
            workspaces.open(session)
        except OSError as error:
            raise _unusable(error) from error
        self.mark = partial(workspaces.shelf.mark_of, session)  # of the workspace that it has now
        self._lease: Lease = workspaces.lease(session, on_delete)
        self._task: asyncio.Task[None] | None = None

    def wait(
        self,
        loop: asyncio.AbstractEventLoop,
        then: Callable[[], None],
        fail: Callable[[EngineError], None],
    ) -> None:
        self._task = loop.create_task(self._wait(then, fail))

    async def _wait(self, then: Callable[[], None], fail: Callable[[EngineError], None]) -> None:
        try:
            await self._lease.__aenter__()
        except OSError as error:
            fail(_unusable(error))
            return
        then()

    def end(self) -> None:
        """Whether its turn has come or not. Idempotent."""
        if self._task is not None and not self._task.done():
            with suppress(RuntimeError):  # its loop is closed
                self._task.cancel()
        self._lease.__exit__()


def _unusable(error: OSError) -> EngineError:
    return EngineError(f"the workspace cannot be used: {error.strerror}")
