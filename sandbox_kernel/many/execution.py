"""`ManyExecution`, what `run_many` returns: iterate it, and the results come as they are asked for.

Inputs are taken when there is room for another unit of work, and a result that nobody has asked for
yet takes room too: neither inputs nor results pile up. Whoever stops iterating ends everything.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, Generic, TypeVar

from .. import loops
from ..contract import CodeExecutionResult
from .plan import Plan

Item = TypeVar("Item")  # a result, or an index and a result
_Unit = tuple[int, Sequence[Any]]  # the first index, and the inputs
_Done = tuple[_Unit, Callable[[], list[CodeExecutionResult]]]
_Submit = Callable[[_Unit], None]


class ManyExecution(Generic[Item]):
    """Iterated once, by `for` or `async for`; counts may be read from any thread meanwhile."""

    def __init__(
        self,
        plan: Plan,
        inputs: Iterable[Any],
        *,
        ordered: bool,
        width: Callable[[], int],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """
        Args:
            width: Units of work under way, or waiting to be asked for, at once.
            loop: What the backend lives on, if that may be the caller's own.
        """
        self.total = len(inputs) if isinstance(inputs, Sized) else None
        self.done = 0
        self.failed = 0
        self._plan = plan
        self._inputs = iter(inputs)
        self._ordered = ordered
        self._width = width
        self._loop = loop
        self._taken = 0
        self._begun = self._ended = False
        self._reason: str | None = None
        self._wake: Callable[[], None] | None = None
        self.on_change: Callable[[], None] | None = None

    @property
    def running(self) -> bool:
        """True while somebody iterates it."""
        return self._begun and not self._ended

    def terminate(self, reason: str | None = None) -> None:
        """Ends the iteration and all runs under way. Idempotent; may be called from any thread."""
        if not self._ended:
            self._reason = reason or "terminated by the caller"
        self._ended = True
        wake = self._wake
        if wake is not None:
            wake()

    def __iter__(self) -> Iterator[Item]:
        if self._loop is not None and self._loop is asyncio._get_running_loop():
            raise RuntimeError("for would block the loop that its engine lives on; use async for")
        self._begin()
        return self._iterate()

    def __aiter__(self) -> AsyncIterator[Item]:
        self._begin()
        return self._iterate_async()

    def _begin(self) -> None:
        if self._begun:
            raise RuntimeError("it is iterated once; call run_many again")
        self._begun = True

    # -- what both ways of iterating share

    def _steps(self, submit: _Submit) -> Generator[Item | None, _Done | None, None]:
        """Yields items, and None when it has to be sent what is done next."""
        kept: dict[int, list[CodeExecutionResult]] = {}  # that earlier ones hold up
        under_way = following = 0
        exhausted = False
        while not self._ended:
            while not exhausted and under_way + len(kept) < max(1, self._width()):
                unit = self._take()
                exhausted = unit is None
                if unit is not None:
                    submit(unit)
                    under_way += 1
            if not under_way:
                return
            done = yield None
            if done is None:
                continue
            under_way -= 1
            (first, _), result_of = done
            results = self._counted(result_of())
            if not self._ordered:
                yield from self._until_ended(enumerate(results, first))
                continue
            kept[first] = results
            while following in kept and not self._ended:
                yield from self._until_ended(kept[following])
                following += len(kept.pop(following))

    def _until_ended(self, items: Iterable[Any]) -> Iterator[Item]:
        """Somebody may have enough in the middle of a batch."""
        for item in items:
            if self._ended:
                return
            yield item

    def _take(self) -> _Unit | None:
        values = list(islice(self._inputs, self._plan.size))
        first = self._taken
        self._taken += len(values)
        return (first, values) if values else None

    def _counted(self, results: list[CodeExecutionResult]) -> list[CodeExecutionResult]:
        self.done += len(results)
        self.failed += sum(result.status != "success" for result in results)
        if self.on_change is not None:
            self.on_change()
        return results

    def _end(self) -> None:
        self._ended, self._wake = True, None
        if self.on_change is not None:
            self.on_change()

    # -- the two ways

    def _iterate(self) -> Iterator[Item]:
        """The work is done on a thread's loop, so that the caller may block its own."""
        thread = loops.borrow()
        done: queue.SimpleQueue[_Done | None] = queue.SimpleQueue()
        futures: set[Future[Any]] = set()

        def submit(unit: _Unit) -> None:
            future = asyncio.run_coroutine_threadsafe(self._plan.run(unit[1]), thread.loop)
            futures.add(future)
            future.add_done_callback(lambda each: done.put((unit, each.result)))
            future.add_done_callback(futures.discard)

        self._wake = lambda: done.put(None)
        try:
            steps = self._steps(submit)
            item = next(steps, _END)
            while item is not _END:
                if item is None:
                    item = _sent(steps, done.get())
                else:
                    yield item  # type: ignore[misc]  # neither None nor the end
                    item = next(steps, _END)
        finally:
            self._end()
            for future in list(futures):
                future.cancel()
            loops.give_back(thread)

    async def _iterate_async(self) -> AsyncIterator[Item]:
        """On the caller's loop, where lent functions are called too."""
        loop = asyncio.get_running_loop()
        done: asyncio.Queue[_Done | None] = asyncio.Queue()
        tasks: set[asyncio.Task[Any]] = set()

        def submit(unit: _Unit) -> None:
            task = loop.create_task(self._plan.run(unit[1]))
            tasks.add(task)
            task.add_done_callback(partial(_hand_over, done, unit))

        self._wake = lambda: _from_any_thread(loop, done)
        try:
            steps = self._steps(submit)
            item = next(steps, _END)
            while item is not _END:
                if item is None:
                    item = _sent(steps, await done.get())
                    tasks = {task for task in tasks if not task.done()}
                else:
                    yield item  # type: ignore[misc]  # neither None nor the end
                    item = next(steps, _END)
        finally:
            self._end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ipython_display_(self) -> None:
        """A live view in notebooks, which stand above this module: loaded like a plug-in."""
        import_module("sandbox_kernel.notebook.view.progress").show(self)

    def __repr__(self) -> str:
        return f"<ManyExecution {self.summary}>"

    @property
    def summary(self) -> str:
        """`120 of 1,000 done, 3 failed`"""
        total = "" if self.total is None else f" of {self.total:,}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        ended = f", {self._reason}" if self._reason else ""
        return f"{self.done:,}{total} done{failed}{ended}"


_END = object()


def _sent(steps: Generator[Any, Any, None], done: _Done | None) -> Any:
    try:
        return steps.send(done)
    except StopIteration:
        return _END


def _hand_over(
    done: asyncio.Queue[_Done | None], unit: _Unit, task: asyncio.Task[list[CodeExecutionResult]]
) -> None:
    if not task.cancelled():
        task.exception()  # looked at, even if another one is raised first
    done.put_nowait((unit, task.result))


def _from_any_thread(loop: asyncio.AbstractEventLoop, done: asyncio.Queue[_Done | None]) -> None:
    try:
        loop.call_soon_threadsafe(done.put_nowait, None)
    except RuntimeError:
        pass  # the loop is closed, and nobody iterates
