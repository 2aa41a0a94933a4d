"""Bridges that raise, hang, answer garbage, cancel, end the program, or call back into the engine."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.engine import Engine
from tests.faults.health import works
from tests.waiting import until


class Garbage:
    """Every question that encoding might ask it, it answers by raising."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("garbage")


class EndlessScalar:
    ndim = 0

    def item(self) -> EndlessScalar:
        return self


class BadMapping(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("garbage")


class Awaitable:
    def __await__(self) -> Any:
        raise RuntimeError("garbage")


def released() -> memoryview:
    view = memoryview(b"x")
    view.release()
    return view


def circle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


GARBAGE: dict[str, Any] = {
    "an_object": object,
    "a_class": lambda: int,
    "raises_when_looked_at": Garbage,
    "an_endless_scalar": EndlessScalar,
    "a_mapping_that_raises": lambda: BadMapping(a=object()),
    "an_awaitable_that_raises": Awaitable,
    "a_released_buffer": released,
    "a_module": lambda: asyncio,
    "a_complex_number": lambda: 1j,
    "a_generator": lambda: (n for n in [1]),
    "nested_garbage": lambda: {"a": [{"b": object()}]},
}


@pytest.mark.parametrize("way", ["sync", "later"])
@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_is_an_error_in_the_guest(kind: str, way: str) -> None:
    make = GARBAGE[kind]

    async def later() -> Any:
        return make()

    result = run_code(
        "let told; try { told = ['got', await bridge()] } catch (e) { told = [e.name] }"
        " report('after'); export default told.length",
        globals={"bridge": make if way == "sync" and not isinstance(make, type) else
                 (later if way == "later" else lambda: make())},
        report=lambda value: None,
    ).wait(30)  # fmt: skip
    assert (result.status, result.result, result.reports) == ("success", 1, ["after"])


def test_a_cycle_is_not_garbage() -> None:
    source = "const c = bridge(); export default c[0] === c"
    assert run_code(source, globals={"bridge": circle}).wait(30).result is True


RAISED = [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, StopIteration,
          StopAsyncIteration, MemoryError, RecursionError]  # fmt: skip


@pytest.mark.parametrize("way", ["sync", "later", "sink"])
@pytest.mark.parametrize("kind", RAISED)
def test_a_run_goes_on_whatever_a_bridge_raises(kind: type[BaseException], way: str) -> None:
    def bridge() -> None:
        raise kind

    async def later() -> None:
        raise kind

    def sink(value: Any) -> None:
        if way == "sink":
            raise kind

    result = run_code(
        "let told = 'none'; try { await bridge() } catch (e) { told = e.name } report(1); export default told",
        globals={"bridge": {"sync": bridge, "later": later, "sink": lambda: None}[way]},
        report=sink,
    ).wait(30)
    told = {"StopIteration": "RuntimeError"}.get(kind.__name__, kind.__name__)
    expected = "none" if way == "sink" else kind.__name__ if way == "sync" else told
    assert (result.status, result.result, result.reports) == ("success", expected, [1])
    assert works()


def test_a_bridge_that_hangs_holds_up_only_its_own_run() -> None:
    release = threading.Event()
    run = run_code("report(1); hang(); report(2)", globals={"hang": lambda: release.wait(60)},
                   report=lambda value: None)  # fmt: skip
    assert until(lambda: run.reports)
    assert works()
    run.terminate("enough")
    result = run.wait(30)
    assert (result.status, result.error and result.error.message) == ("terminated", "enough")
    assert result.reports == [1]
    release.set()
    assert works()


def test_a_bridge_that_never_settles_is_cancelled_with_its_run() -> None:
    cancelled = asyncio.Event()
    run: Any = None

    async def forever() -> None:
        run.terminate("enough")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def main() -> Any:
        nonlocal run
        run = run_code("report(1); await forever()", globals={"forever": forever},
                       report=lambda value: None)  # fmt: skip
        result = await run
        await asyncio.wait_for(cancelled.wait(), 20)
        return result

    result = asyncio.run(main())
    assert (result.status, result.reports) == ("terminated", [1])


def test_a_bridge_that_cancels_its_own_task() -> None:
    async def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    result = run_code(
        "let told; try { await cancel() } catch (e) { told = e.name } export default told",
        globals={"cancel": cancel},
    ).wait(30)
    assert (result.status, result.result) == ("success", "CancelledError")


def test_bridges_that_run_code_when_no_place_is_free() -> None:
    """Every place is taken by a run that waits for a run of its own: those go first."""
    with Engine(spares=1, concurrency=2) as engine:

        async def inner(depth: int) -> Any:
            source = "export default n > 0 ? await inner(n - 1) : 'bottom'"
            given = {"inner": inner, "n": depth}
            result = await run_code(source, engine=engine, globals=given)
            return result.result

        async def main() -> list[Any]:
            return await asyncio.wait_for(asyncio.gather(*(inner(3) for _ in range(6))), 60)

        assert asyncio.run(main()) == ["bottom"] * 6
        assert works(engine)


def test_a_bridge_that_terminates_its_own_run() -> None:
    holder: dict[str, Any] = {}

    async def main() -> Any:
        holder["run"] = run_code(
            "report(1); stop(); report(2); for (;;);",
            globals={"stop": lambda: holder["run"].terminate("by the bridge")},
            report=lambda value: None,
        )
        return await holder["run"]

    result = asyncio.run(main())
    assert (result.status, result.error.message) == ("terminated", "by the bridge")
    assert result.reports == [1]
