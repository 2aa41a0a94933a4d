"""When a view shows itself, what it says, and what it hears: on real runs, without a front end."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.notebook.view.run_view import PATIENCE, RunView
from sandbox_kernel.notebook.view.still import plain_text
from sandbox_kernel.run import run_code
from tests.clients import VIEW
from tests.waiting import eventually, until

Published = list[tuple[dict[str, Any], str, bool]]


def watched(source: str, **options: Any) -> tuple[CodeExecution, RunView, Published]:
    run = run_code(source, report=lambda value: None, **options)
    published: Published = []
    view = RunView.watch(run, lambda *message: published.append(message))
    return run, view, published


def test_a_short_quiet_run_shows_nothing() -> None:
    run, view, published = watched("export default 1")
    view.finish(run.wait())
    assert published == [] or run.wait().duration_ms >= PATIENCE * 1000


def test_one_report_is_enough_and_the_end_lists_it() -> None:
    run, view, published = watched("report({ a: 1 }); export default 1")
    view.finish(run.wait())
    (view_bundle, _, _), (first, first_id, first_update), (last, last_id, last_update) = published
    assert VIEW in view_bundle
    assert (first_update, last_update) == (False, True)
    assert first_id == last_id
    assert "still running" in first["text/plain"]
    assert last["text/plain"].endswith("\n[0] { a: 1 }")
    assert set(last) == {"text/plain", "text/html"}


async def test_a_run_that_lasts_is_shown_while_it_does() -> None:
    door = asyncio.Event()
    run, view, published = watched("await wait(); export default 1", globals={"wait": door.wait})
    assert await eventually(lambda: published)
    assert run.running
    door.set()
    view.finish(await run)
    assert published[-1][2]


def test_a_message_of_the_page_terminates_the_run() -> None:
    run, view, published = watched("report('on'); for (;;) {}")
    assert until(lambda: published)
    assert view._widget is not None
    view._widget._handle_custom_msg({"kind": "something else"}, [])
    assert run.running
    view._widget._handle_custom_msg({"kind": "terminate"}, [])
    result = run.wait(20)
    view.finish(result)
    assert result.status == "terminated"
    assert view._widget.head["status"] == "terminated"
    assert "error" not in view._widget.head  # the cell says it


def test_a_run_in_the_background_says_its_error_in_the_view() -> None:
    run = run_code("report(1); throw new TypeError('no')", report=lambda value: None)
    view = RunView.watch(run, lambda *_: None, says_error=True)
    view.finish(run.wait())
    assert view._widget is not None
    assert view._widget.head["error"] == "TypeError: no"


def test_the_final_state_has_every_count_and_the_newest_reports() -> None:
    run, view, _ = watched("for (let i = 0; i < 5000; i++) report(i); console.log('x')")
    result = run.wait(60)
    view.finish(result)
    assert view._widget is not None
    assert (view._widget.head["reports"], view._widget.head["logs"]) == (5_000, 1)
    assert view._widget.window["reports"]["items"][-1] == [4999, ["number", "4999"]]
    assert view._widget.plot["count"] == 5_000
    assert "… 4,950 earlier reports\n[4950] 4950\n" in plain_text(result)
