"""A module that stays open, whatever executes it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sandbox_kernel import (
    GuestError,
    OpenCode,
    OptionError,
    RunEndedError,
    RunFailed,
    open_code,
    run_code,
    undefined,
)
from sandbox_kernel.backend import Backend
from tests.backends.script import script

SECONDS = 20
EXPORTS: list[list[Any]] = [
    *(["export", "double", "double"], ["export", "fail", "throw"], ["export", "hang", "hang"]),
    *(["export", "tell", "report"], ["constant", "LIMIT"]),
]


def ignore(_value: Any) -> None:
    """A sink, so that the guest may report."""


def opened(backend: Backend, *steps: list[Any]) -> OpenCode:
    return open_code(script(*(steps or EXPORTS)), engine=backend, report=ignore)


async def test_its_exports_can_be_called_many_times(backend: Backend) -> None:
    async with opened(backend) as module:
        assert [await module.double(n) for n in range(50)] == [2 * n for n in range(50)]


async def test_calls_may_overlap(backend: Backend) -> None:
    async with opened(backend) as module:
        hanging = asyncio.create_task(module.hang())
        answers = await asyncio.gather(*(module.double(n) for n in range(20)))
        assert answers == [2 * n for n in range(20)]
        assert not hanging.done()
    with pytest.raises(RunEndedError, match="closed"):
        await hanging


async def test_what_failed_to_open_raises_on_entry(backend: Backend) -> None:
    handle = opened(backend, ["report", 1], ["throw", "no"])
    with pytest.raises(RunFailed, match="no") as caught:
        await handle.__aenter__()
    assert (caught.value.result.status, caught.value.result.reports) == ("error", [1])
    assert handle.running is False


async def test_what_was_terminated_before_it_opened_raises_on_entry(backend: Backend) -> None:
    handle = opened(backend, ["loop"]).terminate_after(0.05)
    with pytest.raises(RunFailed, match=r"0\.05s budget"):
        await handle.__aenter__()


async def test_a_call_that_throws_raises_and_the_module_goes_on(backend: Backend) -> None:
    async with opened(backend) as module:
        with pytest.raises(GuestError) as caught:
            await module.fail()
        assert (caught.value.name, caught.value.message) == ("RangeError", "no")
        assert await module.double(2) == 4


async def test_a_missing_export_is_an_attribute_error(backend: Backend) -> None:
    async with opened(backend) as module:
        with pytest.raises(AttributeError, match=r"no export 'duble'; did you mean 'double'\?"):
            _ = module.duble
        with pytest.raises(AttributeError, match="'LIMIT' is not a function"):
            _ = module.LIMIT
        assert not hasattr(module, "_repr_html_")
        assert dir(module) == ["LIMIT", "double", "fail", "hang", "tell"] or len(dir(module)) == 5


async def test_after_the_end_calls_raise_with_the_reason(backend: Backend) -> None:
    handle = opened(backend)
    async with handle as module:
        double = module.double
        handle.terminate("enough")
        with pytest.raises(RunEndedError, match="enough"):
            await double(1)
    with pytest.raises(RunEndedError, match="enough"):
        await double(1)
    async with opened(backend) as module:
        double = module.double
    with pytest.raises(RunEndedError, match="closed"):
        await double(1)


async def test_cancelling_a_call_ends_the_module(backend: Backend) -> None:
    handle = opened(backend)
    async with handle as module:
        other = asyncio.create_task(module.hang())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(module.hang(), 0.05)
        with pytest.raises(RunEndedError, match="cancelled"):
            await other
        with pytest.raises(RunEndedError, match="cancelled"):
            await module.double(1)
        assert handle.running is False


async def test_cancelling_the_entry_ends_the_module(backend: Backend) -> None:
    handle = opened(backend, ["loop"])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handle.__aenter__(), 0.05)
    result = await handle._run
    assert result.error is not None
    assert result.error.message == "cancelled"


async def test_an_error_in_the_block_closes_it_and_comes_out(backend: Backend) -> None:
    handle = opened(backend)
    with pytest.raises(ZeroDivisionError):
        async with handle as module:
            await module.double(1 // 0)
    assert handle.running is False


async def test_its_reports_are_there_when_the_call_is_answered(backend: Backend) -> None:
    handle = opened(backend)
    async with handle as module:
        for number in range(5):
            assert await module.tell(number) is undefined
            assert list(handle.reports) == list(range(number + 1))
        assert handle.running is handle.started is True
    result = await handle._run
    assert (result.status, result.reports) == ("success", [0, 1, 2, 3, 4])


async def test_it_is_entered_once(backend: Backend) -> None:
    handle = opened(backend)
    async with handle:
        pass
    with pytest.raises(RuntimeError, match="call open_code again"):
        await handle.__aenter__()


def test_it_may_begin_without_a_loop_and_be_entered_on_one(backend: Backend) -> None:
    handle = opened(backend)

    async def use() -> list[Any]:
        async with handle as module:
            with pytest.raises(GuestError):
                await module.fail()
            return [await module.double(n) for n in range(3)]

    assert asyncio.run(use()) == [0, 2, 4]


async def test_it_can_be_terminated_from_another_thread(backend: Backend) -> None:
    handle = opened(backend)
    async with handle as module:
        threading.Timer(0.02, handle.terminate, ["from a thread"]).start()
        with pytest.raises(RunEndedError, match="from a thread"):
            await module.hang()


def test_it_has_no_execute(backend: Backend) -> None:
    for options in ({"execute": {"fn": "double"}}, {"execute": {"args": [1]}}):
        with pytest.raises(OptionError, match="open_code takes no 'execute'"):
            open_code(script(*EXPORTS), options, engine=backend)


async def test_an_export_can_be_lent_to_another_run(backend: Backend) -> None:
    async with opened(backend) as module:
        run = run_code(
            script(["call", "hang"], ["return", 1]), engine=backend, globals={"hang": module.hang}
        )
        result = await run.terminate_after(0.05)
        assert result.status == "terminated"
