"""`timers()`: order, clearing, what counts as waiting, and what ends with a run."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from sandbox_kernel import OptionError, open_code, run_code
from sandbox_kernel.capabilities import timers


def run(source: str, limit: int = 1000) -> Any:
    return run_code(source, lend=[timers(limit)]).wait(60)


def test_timers_fire_in_the_order_they_are_due() -> None:
    source = """const order = [];
    setTimeout(() => order.push('c'), 400); setTimeout(() => order.push('a'));
    setTimeout((x) => order.push(x), 200, 'b');
    await sleep(600);
    export default order.join('')"""
    assert run(source).unwrap() == "abc"


def test_timers_of_one_turn_count_from_the_same_moment() -> None:
    """However long it takes to set them: a busy machine changes no order."""
    source = """const order = [];
    setTimeout(() => order.push('b'), 30);
    for (const began = Date.now(); Date.now() < began + 60;);
    setTimeout(() => order.push('a'), 10);
    await sleep(60);
    while (order.length < 2) await sleep(1);
    export default order.join('')"""
    assert run(source).unwrap() == "ab"


def test_timers_that_are_due_together_fire_in_the_order_they_were_set() -> None:
    source = """const order = [];
    for (let i = 0; i < 50; i++) setTimeout(() => order.push(i), 5);
    await sleep(30); while (order.length < 50) await sleep(1);
    export default order"""
    assert run(source).unwrap() == list(range(50))


def test_promise_jobs_run_before_the_next_timer() -> None:
    source = """const order = [];
    const job = async (name, n) => { for (let i = 0; i < n; i++) { await null; order.push(name); } };
    setTimeout(() => { order.push('t1'); job('j', 5); }, 1);
    setTimeout(() => order.push('t2'), 1);
    await sleep(30);
    export default order"""
    assert run(source).unwrap() == ["t1", "j", "j", "j", "j", "j", "t2"]


def test_a_promise_comes_before_a_timeout_of_zero() -> None:
    source = """const order = [];
    setTimeout(() => order.push('timer')); Promise.resolve().then(() => order.push('job')); order.push('now');
    await sleep(5);
    export default order"""
    assert run(source).unwrap() == ["now", "job", "timer"]


def test_a_sleep_is_never_too_short() -> None:
    source = """const short = [];
    for (const ms of [1, 3, 10, 25]) { const start = Date.now(); await sleep(ms); if (Date.now() - start < ms) short.push(ms); }
    export default short"""
    assert run(source).unwrap() == []


def test_a_cleared_timer_never_fires() -> None:
    source = """let fired = 0;
    const timer = setTimeout(() => fired++, 5); clearTimeout(timer); clearTimeout(timer); clearTimeout(undefined);
    const other = setTimeout(() => fired++, 6); clearInterval(other);
    setTimeout(() => clearTimeout(last), 5); const last = setTimeout(() => fired++, 5);
    await sleep(30);
    export default fired"""
    assert run(source).unwrap() == 0


def test_an_interval_repeats_until_it_is_cleared_from_within() -> None:
    source = """let count = 0;
    await new Promise((done) => { const timer = setInterval(() => { if (++count === 4) { clearInterval(timer); done(); } }, 1); });
    await sleep(10);
    export default count"""
    assert run(source).unwrap() == 4


def test_a_pending_timer_is_no_deadlock() -> None:
    assert run("await new Promise((done) => setTimeout(done, 30)); export default 1").unwrap() == 1


@pytest.mark.parametrize(
    "source",
    [
        "await new Promise(() => {})",
        "clearTimeout(setTimeout(() => {}, 600_000)); await new Promise(() => {})",
        "setTimeout(() => {}, 1); await new Promise(() => {})",
    ],
)
def test_without_one_a_deadlock_is_told_soon(source: str) -> None:
    started = monotonic()
    result = run(source)
    assert result.error.name == "DeadlockError"
    assert monotonic() - started < 60


def test_a_pending_timer_does_not_keep_a_finished_run_alive() -> None:
    started = monotonic()
    assert (
        run("setTimeout(() => {}, 600_000); setInterval(() => {}, 1); export default 1").unwrap()
        == 1
    )
    assert monotonic() - started < 60


def test_an_error_in_a_callback_is_logged_and_the_run_goes_on() -> None:
    result = run(
        "setTimeout(() => { throw new Error('oops') }, 1); await sleep(10); export default 1"
    )
    assert result.unwrap() == 1
    assert "oops" in result.logs[0].args[0]


def test_the_limit_counts_pending_timers() -> None:
    source = """let count = 0, message;
    try { for (;;) { setTimeout(() => {}, 10_000); count++; } } catch (error) { message = `${error.name}: ${error.message}`; }
    export default [count, message]"""
    assert run(source, 7).unwrap() == [7, "RangeError: at most 7 timers may be pending at once"]


def test_a_timer_that_has_fired_makes_room() -> None:
    assert run("for (let i = 0; i < 20; i++) await sleep(0); export default 1", 1).unwrap() == 1


@pytest.mark.parametrize("delay", ["-5", "NaN", "'x'", "undefined", "2 ** 31", "Infinity", "{}"])
def test_a_delay_that_is_none_is_zero(delay: str) -> None:
    assert (
        run(f"await new Promise((done) => setTimeout(done, {delay})); export default 1").unwrap()
        == 1
    )


@pytest.mark.parametrize("callback", ["'alert(1)'", "undefined", "{}"])
def test_only_functions_can_be_called_back(callback: str) -> None:
    assert run(f"setTimeout({callback}, 1)").error.name == "TypeError"


async def test_timers_fire_between_the_calls_of_an_open_module() -> None:
    source = "let ticks = 0; setInterval(() => ticks++, 1); export const wait = async () => { await sleep(30); return ticks }"
    async with open_code(source, lend=[timers()]) as module:
        first = await module.wait()
        assert await module.wait() > first > 0


async def test_one_capability_serves_many_runs_at_once() -> None:
    lent = timers(limit=2)
    runs = [run_code(f"await sleep({n % 5}); export default {n}", lend=[lent]) for n in range(20)]
    assert [(await each).unwrap() for each in runs] == list(range(20))


def test_node_spells_it_with_promises() -> None:
    source = "import { setTimeout as later } from 'node:timers/promises'; export default await later(2, 'v')"
    assert run(source).unwrap() == "v"


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "5", None])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(OptionError, match="limit"):
        timers(limit)
