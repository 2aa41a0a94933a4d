"""Plain functions as tools: side by side, bounded, and unable to end or hang the loop."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from typing import Any

import pytest

from sandbox_kernel.tools import Toolbox, run_tool_calls
from sandbox_kernel.tools.threads import MOST, Threaded, Threads

WHO = contextvars.ContextVar("who", default="nobody")


def calls(name: str, count: int = 1) -> list[dict[str, Any]]:
    return [{"id": str(at), "name": name, "args": {}} for at in range(count)]


def outcome(function: Any) -> Any:
    (result,) = asyncio.run(
        asyncio.wait_for(run_tool_calls(Toolbox({"tool": function}), calls("tool")), 30)
    )
    return result


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, StopIteration, GeneratorExit])
def test_what_would_end_the_loop_or_hang_it_is_an_error_of_the_tool(
    kind: type[BaseException],
) -> None:
    def tool() -> None:
        """Raises."""
        raise kind(3)

    found = outcome(tool)
    assert (found.is_error, found.content) == (True, f"the tool raised {kind.__name__}")


def test_an_async_tool_that_exits_does_not_end_the_loop() -> None:
    async def tool() -> None:
        """Exits."""
        raise SystemExit(3)

    assert outcome(tool).content == "the tool raised SystemExit"


def test_as_many_as_there_are_threads_run_at_once_and_the_rest_in_turn() -> None:
    together = threading.Barrier(MOST, timeout=30)

    def tool() -> int:
        """Returns when all threads are in it."""
        return together.wait()

    results = asyncio.run(run_tool_calls(Toolbox([tool]), calls("tool", 2 * MOST)))
    assert sorted(int(result.content) for result in results) == sorted([*range(MOST)] * 2)


def test_a_function_sees_the_context_of_its_caller() -> None:
    def tool() -> str:
        """Who called."""
        return WHO.get()

    async def main() -> Any:
        WHO.set("me")
        return await Toolbox([tool]).dispatch("tool")

    assert asyncio.run(main()) == "me"


def test_a_call_that_nobody_waits_for_any_more_is_let_go_of() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def tool() -> None:
        """Waits."""
        begun.set()
        goes_on.wait(30)

    async def main() -> str:
        task = asyncio.create_task(Toolbox([tool]).dispatch("tool"))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        goes_on.set()
        return str(await Toolbox([lambda_free]).dispatch("lambda_free"))

    assert asyncio.run(main()) == "still here"


def lambda_free() -> str:
    """A plain function."""
    return "still here"


def test_a_loop_that_has_ended_is_not_told() -> None:
    threads, goes_on, over = Threads(), threading.Event(), threading.Event()

    def slow() -> None:
        goes_on.wait(30)

    async def main() -> None:
        task = asyncio.ensure_future(Threaded(slow, threads)({}))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(main())
    goes_on.set()

    async def again() -> None:
        await Threaded(over.set, threads)({})

    asyncio.run(again())
    assert over.is_set()


def test_a_slow_function_does_not_hold_the_loop_up() -> None:
    goes_on = threading.Event()

    def slow() -> None:
        assert goes_on.wait(30)

    async def main() -> None:
        task = asyncio.ensure_future(Threaded(slow)({}))
        while not task.done():  # only the loop can let it go on
            await asyncio.sleep(0)
            goes_on.set()
        await task

    asyncio.run(main())


def test_a_function_that_waits_for_the_loop_gets_its_turn_each_time() -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()

        async def on_the_loop(at: int) -> int:
            return at

        def asks_the_loop(at: int) -> int:
            return asyncio.run_coroutine_threadsafe(on_the_loop(at), loop).result(30)

        threaded = Threaded(asks_the_loop)
        return [await threaded({"at": at}) for at in range(20)]

    assert asyncio.run(main()) == list(range(20))


def test_calls_one_after_the_other_share_a_thread_and_fail_for_themselves() -> None:
    threads, names = Threads(), set()

    def tool(at: int) -> int:
        names.add(threading.current_thread())
        if at % 2:
            raise ValueError(at)
        return at

    async def main() -> list[Any]:
        threaded = Threaded(tool, threads)
        return [
            (await asyncio.gather(threaded({"at": at}), return_exceptions=True))[0]
            for at in range(200)
        ]

    found = asyncio.run(main())
    assert [each if isinstance(each, int) else each.args[0] for each in found] == list(range(200))
    assert len(names) == 1


def test_no_call_is_lost_where_many_loops_want_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_kernel.tools.threads.MOST", 4)
    threads = Threads()

    def tool(at: int) -> int:
        if at % 7 == 0:
            time.sleep(0.001)  # longer than a loop waits
        return at

    async def all_of_them() -> None:
        threaded = Threaded(tool, threads)
        for _ in range(20):
            found = await asyncio.gather(*(threaded({"at": at}) for at in range(40)))
            assert found == list(range(40))

    async def main() -> None:
        loops = [asyncio.to_thread(asyncio.run, all_of_them()) for _ in range(4)]
        await asyncio.wait_for(asyncio.gather(*loops), 60)

    asyncio.run(main())


def test_a_fork_has_threads_of_its_own() -> None:
    assert outcome(lambda_free).content == "still here"
    child = os.fork()
    if child == 0:
        os._exit(0 if outcome(lambda_free).content == "still here" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
