"""Alarms: in time, in order, cancelled or not, whatever one of them does."""

from __future__ import annotations

import os
import threading
import time

import pytest

from sandbox_kernel.clock import Clock, Countdown

SOON = 0.01
ENOUGH = 20


def test_a_call_is_made_in_a_thread_of_the_clocks() -> None:
    called: list[str] = []
    done = threading.Event()
    Clock().after(SOON, lambda: (called.append(threading.current_thread().name), done.set()))
    assert done.wait(ENOUGH)
    assert called == ["clock"]


def test_the_earlier_call_comes_first_however_they_were_asked_for() -> None:
    """They have long been due when the clock can look at them, so that no delay changes the order."""
    clock, order, done = Clock(), list[int](), threading.Event()
    held, asked = threading.Event(), threading.Event()
    clock.after(0, lambda: (held.set(), asked.wait(ENOUGH)))
    assert held.wait(ENOUGH)
    clock.after(-100, lambda: (order.append(3), done.set()))
    clock.after(-300, lambda: order.append(1))
    clock.after(-200, lambda: order.append(2))
    asked.set()
    assert done.wait(ENOUGH)
    assert order == [1, 2, 3]


def test_a_call_is_never_early() -> None:
    began, done = time.monotonic(), threading.Event()
    Clock().after(5 * SOON, done.set)
    assert done.wait(ENOUGH)
    assert time.monotonic() - began >= 5 * SOON


def test_a_cancelled_call_is_not_made() -> None:
    clock, made, done = Clock(), list[int](), threading.Event()
    clock.after(SOON, lambda: made.append(1)).cancel()
    clock.after(2 * SOON, done.set)
    assert done.wait(ENOUGH)
    assert made == []


def test_cancelled_calls_do_not_pile_up() -> None:
    """As those of short runs with long budgets would."""
    clock, done = Clock(), threading.Event()
    clock.after(60, lambda: None)
    for _ in range(10_000):
        clock.after(3600, lambda: None).cancel()
    assert len(clock._alarms) <= 2000
    clock.after(SOON, done.set)
    assert done.wait(ENOUGH)
    assert [alarm.due for _, _, alarm in clock._alarms if alarm.call is not None]


def test_a_countdown_counts_from_its_start() -> None:
    countdown, called = Countdown(), list[str]()
    done = threading.Event()
    countdown.set(0, lambda: called.append("replaced"))
    countdown.set(SOON, lambda: (called.append("second"), done.set()))
    assert not done.wait(5 * SOON)  # it has not been started
    countdown.start(time.perf_counter())
    assert done.wait(ENOUGH)
    assert called == ["second"]


def test_a_countdown_can_be_set_after_its_start_and_cancelled() -> None:
    countdown, called, done = Countdown(), list[int](), threading.Event()
    countdown.start(time.perf_counter())
    countdown.set(60, lambda: called.append(1))
    countdown.cancel()
    countdown.set(0, done.set)
    assert done.wait(ENOUGH)
    assert called == []


def test_a_call_that_fails_is_logged_and_the_others_are_made(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, done = Clock(), threading.Event()
    clock.after(SOON, lambda: 1 // 0)
    clock.after(2 * SOON, done.set)
    assert done.wait(ENOUGH)
    assert "ZeroDivisionError" in caplog.text


def test_one_thread_serves_all_alarms() -> None:
    clock, done = Clock(), threading.Event()
    before = threading.active_count()
    for _ in range(100):
        clock.after(SOON, lambda: None)
    clock.after(2 * SOON, done.set)
    assert threading.active_count() == before + 1
    assert done.wait(ENOUGH)


def test_a_forked_process_has_a_working_clock() -> None:
    from sandbox_kernel.clock import clock

    done = threading.Event()
    clock.after(SOON, done.set)
    assert done.wait(ENOUGH)
    child = os.fork()
    if child == 0:
        rang = threading.Event()
        clock.after(SOON, rang.set)
        os._exit(0 if rang.wait(ENOUGH) else 1)
    assert os.waitpid(child, 0)[1] == 0
