"""`run_many` on every backend: order, windows, failures of single inputs, and that nothing is left."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pandas
import pytest

from sandbox_kernel import Engine, EngineClosedError, OptionError, run_code, run_many
from sandbox_kernel.engine.settings import Settings
from tests.relaying import RelayBackend
from tests.waiting import eventually, until

SQUARE = "export default (n: number) => n * n"
# Each input's own end: 3 throws, 5 fills its heap, 7 has nothing that can cross.
ENDINGS = """
export default (n) => {
  if (n === 3) throw new RangeError("three");
  if (n === 5) { const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20)); }
  if (n === 7) return Symbol("s");
  return n;
}
"""
FRAME = pandas.DataFrame({"a": [1, 2]})


@pytest.fixture(scope="module", params=["engine", "relay"])
def backend(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "relay":
        with RelayBackend(settings=Settings(spares=2, concurrency=4)) as relay:
            yield relay
        return
    with Engine(spares=2, concurrency=4) as engine:
        yield engine


@pytest.fixture(params=["item", "batch"])
def isolate(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_results_come_in_the_order_of_the_inputs(backend: Any, isolate: Any) -> None:
    many = run_many(SQUARE, range(30), isolate=isolate, engine=backend)
    assert [result.result for result in many] == [n * n for n in range(30)]
    assert (many.done, many.failed, many.total) == (30, 0, 30)


async def test_they_can_be_iterated_asynchronously(backend: Any, isolate: Any) -> None:
    many = run_many(SQUARE, range(30), isolate=isolate, engine=backend)
    assert [result.result async for result in many] == [n * n for n in range(30)]


def test_or_they_come_with_their_index_as_they_are_ready(backend: Any, isolate: Any) -> None:
    many = run_many(SQUARE, range(30), isolate=isolate, ordered=False, engine=backend)
    found = {index: result.result for index, result in many}
    assert found == {n: n * n for n in range(30)}


def test_the_failure_of_an_input_is_its_own_result(backend: Any, isolate: Any) -> None:
    inputs = [*range(10), object()]
    many = run_many(ENDINGS, inputs, isolate=isolate, batch=11, engine=backend)
    results = list(many)
    assert [result.status for result in results] == [
        *("success", "success", "success", "error", "success", "memory"),
        *("success", "error", "success", "success", "error"),
    ]
    errors = [result.error for result in results if result.error is not None]
    assert [error.name for error in errors] == [
        *("RangeError", "MemoryLimitExceeded", "SerializationError", "SerializationError"),
    ]
    assert "input" in errors[3].message
    assert (many.done, many.failed) == (11, 4)


def test_an_input_that_nothing_can_settle_any_more_is_not_waited_for(
    backend: Any, isolate: Any
) -> None:
    """Nor is one that awaits what is lent, as long as that goes on."""
    source = """
    export default async (n) => {
      if (n === 2) await new Promise(() => {});
      return (await lent(n)) * 2;
    }"""

    async def lent(n: int) -> int:
        await asyncio.sleep(0.01)
        return n

    for waits in (source, source.replace("lent(n)", "n")):
        options: dict[str, Any] = {"globals": {"lent": lent}} if waits is source else {}
        many = run_many(waits, range(5), isolate=isolate, batch=5, engine=backend, **options)
        answers = [each.result if each.error is None else each.error.name for each in many]
        assert answers == [0, 2, "DeadlockError", 6, 8]


@pytest.mark.parametrize(("limit", "spelled"), [(None, "64 MiB"), (16 << 20, "16 MiB")])
def test_a_full_heap_is_told_with_its_limit(
    backend: Any, isolate: Any, limit: int | None, spelled: str
) -> None:
    """Whether the guest's export has thrown it, or the sandbox died of it."""
    source = """
    export default (n) => {
      const all = [];
      for (;;) all.push(n ? new ArrayBuffer(2 ** 20) : [all]);
    }"""
    options: dict[str, Any] = {} if limit is None else {"memory_limit_bytes": limit}
    many = run_many(source, [0, 1], isolate=isolate, batch=2, engine=backend, **options)
    errors = [(result.status, str(result.error)) for result in many]
    message = f"MemoryLimitExceeded: the heap exceeded its limit of {spelled}"
    assert errors == [("memory", message)] * 2


def test_a_source_that_cannot_be_linked_fails_for_each(backend: Any, isolate: Any) -> None:
    results = list(run_many("export const f = 1", [1, 2], isolate=isolate, engine=backend))
    assert [result.status for result in results] == ["link_error", "link_error"]


def test_an_error_names_the_source_as_if_it_ran_alone(backend: Any, isolate: Any) -> None:
    source = """
import { check } from './checks.ts';
export default (n: number) => { if (n === 1) return lenght; return check(n); }
"""
    checks = {
        "./rules/checks.ts": "export const check = (n) => { if (n > 1) throw new RangeError('large'); }"
    }
    options: dict[str, Any] = {"filename": "rules/price.ts", "modules": checks}
    many = run_many(source, [0, 1, 2], isolate=isolate, engine=backend, **options)
    good, unknown, thrown = [result.error for result in many]
    assert good is None
    assert (unknown.filename, unknown.line, unknown.column) == ("rules/price.ts", 3, 53)
    assert "price.ts:3:53\n     3 | export default" in unknown.render()
    assert (thrown.filename, thrown.line) == ("./rules/checks.ts", 1)
    frames = ["check (./rules/checks.ts:1:52)", "default (rules/price.ts:3:68)"]
    assert thrown.stack == "\n".join(f"    at {frame}" for frame in frames)


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        ("export const f = 1", "link_error", "LinkError: the module has no export 'default'"),
        ("export default 7", "error", "TypeError: export 'default' is not a function"),
        ("export default () => { throw 'text' }", "error", "Error: text"),
        ("export default () => { throw null }", "error", "Error: null"),
        ("export default () => { throw { a: [1] } }", "error", 'Error: {"a":[1]}'),
        ("export default () => Symbol()", "error", "SerializationError: result: a symbol"),
        ("export default (n =>", "link_error", "SyntaxError: unexpected end of input"),
    ],
)
def test_a_source_fails_alike_however_it_is_isolated(
    backend: Any, isolate: Any, source: str, status: str, message: str
) -> None:
    (result,) = run_many(source, [1], isolate=isolate, engine=backend)
    assert result.status == status
    assert str(result.error).startswith(message)
    assert "run_many>" not in result.error.render()


def test_columns_are_left_out_where_bytes_are_no_characters(backend: Any) -> None:
    source = "export default () => { const é = 1; throw new Error('x') }"
    (result,) = run_many(source, [1], isolate="batch", engine=backend)
    assert (result.error.line, result.error.column) == (1, None)


def test_another_export_may_be_called(backend: Any, isolate: Any) -> None:
    source = "export const twice = async (n) => n * 2"
    many = run_many(source, [1, 2], execute={"fn": "twice"}, isolate=isolate, engine=backend)
    assert [result.result for result in many] == [2, 4]


def test_inputs_are_taken_as_they_are_needed(backend: Any) -> None:
    taken: list[int] = []

    def inputs() -> Iterator[int]:
        for n in range(10**9):
            taken.append(n)
            yield n

    width = backend.settings.concurrency
    many = run_many(SQUARE, inputs(), engine=backend)
    for count, _ in enumerate(many, 1):
        assert len(taken) <= count + width
        if count == 20:
            break
    assert many.total is None
    assert not many.running


def test_a_bridge_is_called_once_for_each_input(backend: Any, isolate: Any) -> None:
    """Also in a batch whose sandbox dies on the way."""
    called: list[int] = []
    source = "export default (n) => { called(n); if (n === 4) { const a = []; for (;;) a.push(new ArrayBuffer(2 ** 20)) } }"
    many = run_many(
        source,
        range(9),
        isolate=isolate,
        batch=9,
        globals={"called": called.append},
        engine=backend,
    )
    assert [index for index, result in enumerate(many) if result.status == "memory"] == [4]
    assert sorted(called) == list(range(9))


def test_in_a_batch_inputs_share_a_realm_and_alone_they_do_not(backend: Any, isolate: Any) -> None:
    source = "let count = 0; export default () => ++count"
    many = run_many(source, range(3), isolate=isolate, batch=3, engine=backend)
    expected = [1, 2, 3] if isolate == "batch" else [1, 1, 1]
    assert [result.result for result in many] == expected


def test_leaving_the_loop_ends_everything(backend: Any, isolate: Any) -> None:
    begun = threading.Semaphore(0)
    source = "export default (n) => { begun(); if (n) for (;;); }"
    many = run_many(
        *(source, range(100)),
        isolate=isolate,
        batch=1,
        globals={"begun": begun.release},
        engine=backend,
    )
    for _ in many:
        assert begun.acquire(timeout=60)
        break
    assert not many.running
    assert until(lambda: not _live(backend))


async def test_cancelling_ends_everything(backend: Any, isolate: Any) -> None:
    begun = asyncio.Event()

    async def iterate() -> None:
        source = "export default () => { begun(); for (;;); }"
        lent = {"begun": begun.set}
        many = run_many(source, range(100), isolate=isolate, globals=lent, engine=backend)
        async for _ in many:
            pass

    task = asyncio.create_task(iterate())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await eventually(lambda: not _live(backend))


def test_terminate_ends_the_iteration(backend: Any, isolate: Any) -> None:
    source = "export default (n) => { begun(); for (;;); }"
    terminate: list[Any] = []
    many = run_many(
        *(source, range(100)),
        isolate=isolate,
        globals={"begun": lambda: terminate[0]()},
        engine=backend,
    )
    terminate.append(lambda: many.terminate("enough"))
    assert list(many) == []
    assert repr(many) == "<ManyExecution 0 of 100 done, enough>"
    assert until(lambda: not _live(backend))


@pytest.mark.parametrize("ordered", [True, False])
def test_terminate_ends_it_in_the_middle_of_a_batch(backend: Any, ordered: bool) -> None:
    many = run_many(SQUARE, range(100), isolate="batch", batch=50, ordered=ordered, engine=backend)
    for count, _ in enumerate(many, 1):
        if count == 3:
            many.terminate()
    assert count == 3


async def test_terminate_ends_an_asynchronous_iteration(backend: Any) -> None:
    many = run_many("export default (n) => { if (n) for (;;); }", range(100), engine=backend)
    seen = 0
    async for _ in many:
        seen += 1
        threading.Thread(target=many.terminate).start()
    assert seen == 1
    assert await eventually(lambda: not _live(backend))


def test_an_error_of_the_inputs_is_raised_and_ends_everything(backend: Any) -> None:
    def inputs() -> Iterator[int]:
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(run_many("export default () => { for (;;); }", inputs(), engine=backend))
    assert until(lambda: not _live(backend))


def test_one_that_is_never_iterated_starts_nothing() -> None:
    with Engine() as engine:
        many = run_many(SQUARE, range(10), engine=engine)
        assert (many.running, many.done) == (False, 0)
        assert not engine.runs()
        processes = engine.processes()
        assert (processes.zygote, processes.spares, processes.workers) == (None, (), ())


def test_it_is_iterated_once(backend: Any) -> None:
    many = run_many(SQUARE, [1], engine=backend)
    assert len(list(many)) == 1
    with pytest.raises(RuntimeError, match="iterated once"):
        list(many)


def test_a_closed_engine_is_a_clear_error(isolate: Any) -> None:
    engine = Engine(spares=0)
    engine.close()
    with pytest.raises(EngineClosedError, match="the engine is closed"):
        list(run_many(SQUARE, range(9), isolate=isolate, engine=engine))


def test_an_engine_that_is_busy_with_other_things_is_waited_for() -> None:
    with Engine(spares=1, concurrency=1, max_queued=0) as engine:
        first = run_many(SQUARE, range(8), engine=engine)
        second: list[Any] = []
        thread = threading.Thread(
            target=lambda: second.extend(run_many(SQUARE, range(8), engine=engine))
        )
        thread.start()
        assert [result.result for result in first] == [n * n for n in range(8)]
        thread.join(60)
        assert [result.result for result in second] == [n * n for n in range(8)]


def test_a_guest_that_changes_the_answers_of_its_batch_harms_itself_only(backend: Any) -> None:
    source = """
    const later = { get length() { return 0 }, set length(_) {} };
    export default (n) => {
      if (n === 2) Object.defineProperty(Array.prototype, 5, { set() {}, configurable: true });
      return n;
    }"""
    many = run_many(source, range(20), isolate="batch", batch=20, engine=backend)
    results = list(many)
    assert len(results) == 20
    assert [result.result for result in results][:2] == [0, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inputs": 5}, "inputs must be an iterable, such as a list, not int"),
        ({"inputs": "text"}, r"inputs is one text; give a list of inputs: \[text\]"),
        (
            {"inputs": {"a": 1}},
            r"inputs is a mapping, .*; give a list, such as list\(inputs.values",
        ),
        (
            {"inputs": FRAME},
            r"inputs is a DataFrame, .*; give its rows: frame.to_dict\('records'\)",
        ),
        ({"timeout": 2}, r"of each input of run_many with engine=Engine\(cpu_seconds=SECONDS\)"),
        ({"isolate": "realm"}, "isolate must be 'item' or 'batch', not 'realm'"),
        ({"batch": 0}, "batch must be a whole number from 1 on, not 0"),
        ({"batch": True}, "batch must be a whole number from 1 on, not True"),
        ({"execute": {"fn": "f", "args": [1]}}, "give 'execute' without 'args'"),
        ({"memry_limit_bytes": 1}, "did you mean"),
        ({"engine": Engine}, "engine of run_many cannot be the class Engine; write Engine"),
        ({"source": 5}, "source must be a string, not int"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(given: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"source": SQUARE, "inputs": [1], **given}
    with pytest.raises(OptionError, match=message):
        run_many(**arguments)


def test_batches_grow_while_they_are_quick() -> None:
    with Engine(spares=1) as engine:
        many = run_many(SQUARE, range(3000), isolate="batch", engine=engine)
        assert sum(result.result for result in many) == sum(n * n for n in range(3000))
        assert many._plan.size > 16


@pytest.mark.parametrize(
    ("opening", "calling", "size"),
    [
        (0.01, 0.1, 32),
        (0.01, 0.5, 16),
        (0.01, 2.0, 8),
        (0.5, 0.9, 32),  # a sandbox that takes long to be ready is worth more inputs
        (1.0, 3.0, 16),
        (1.0, 5.0, 8),
    ],
)
def test_a_batch_grows_until_it_takes_longer_than_its_sandbox(
    opening: float, calling: float, size: int
) -> None:
    with Engine(spares=0) as engine:
        plan: Any = run_many(SQUARE, [], isolate="batch", engine=engine)._plan
        plan.choose_size(16, opening, calling)
        assert plan.size == size


def test_the_wait_for_a_sandbox_makes_no_batch_smaller() -> None:
    """Else batches of a busy machine would shrink to one input, and keep it busier."""
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        assert release.wait(60)

    with Engine(spares=1, concurrency=1) as engine:
        blocker = run_code("export default hold()", globals={"hold": hold}, engine=engine)
        assert held.wait(60)
        many = run_many(SQUARE, range(16), isolate="batch", engine=engine)
        thread = threading.Thread(target=list, args=(many,))
        thread.start()
        assert until(lambda: engine.queued)
        until(lambda: False, 1.1)  # longer than a batch should take
        release.set()
        assert blocker.wait(60).status == "success"
        thread.join(60)
        assert many.done == 16
        assert many._plan.size >= 16


def _live(backend: Any) -> int:
    gc.collect()
    live = getattr(backend, "_live", None)
    return len(live) if live is not None else backend.executing + backend.queued
