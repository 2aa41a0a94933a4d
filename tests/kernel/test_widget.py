"""The live view in the kernel: under its cell, live, and heard while the cell runs."""

from __future__ import annotations

from typing import Any

from tests.clients import VIEW, Client


def views(done: Any) -> list[dict[str, Any]]:
    return [c["data"] for c in done.all("display_data") if VIEW in c["data"]]


def test_a_short_quiet_cell_shows_no_view(kernel: Client) -> None:
    assert views(kernel.run("1 + 1")) == []


def test_reports_show_a_view_with_text_for_those_who_cannot(kernel: Client) -> None:
    done = kernel.run("report({ progress: 1, total: 2 }); report('x'); 'end'")
    assert len(views(done)) == 1
    updates = done.all("update_display_data")
    assert "'x'" in updates[-1]["data"]["text/plain"]
    kinds = [m["msg_type"] for m in done.messages]
    assert kinds.index("display_data") < kinds.index("execute_result")
    assert done.text == "'end'"


def test_no_widget_means_none(kernel: Client) -> None:
    done = kernel.run("%%runcode --no-widget\nreport(1); 5")
    assert views(done) == []
    assert done.text == "5"
    assert not done.all("comm_open")


def test_the_terminate_button_is_heard_while_the_cell_runs(kernel: Client) -> None:
    msg_id = kernel.send("report(1); for (;;) {}")
    shown = kernel.wait_for(msg_id, "display_data")
    kernel.press_terminate(shown["data"])
    done = kernel.finish(msg_id)
    assert done.content["ename"] == "terminated"
    assert done.content["evalue"] == "Terminate button"
    assert kernel.value("'ready'") == "'ready'"


def test_the_button_is_heard_while_a_bridge_is_awaited(kernel: Client) -> None:
    kernel.run("%%bridge slow\nimport asyncio\nasync def forever(): await asyncio.sleep(600)")
    msg_id = kernel.send("import { forever } from 'slow'; report(1); await forever()")
    shown = kernel.wait_for(msg_id, "display_data")
    kernel.press_terminate(shown["data"])
    assert kernel.finish(msg_id).content["ename"] == "terminated"


def test_comms_are_listed_and_closed_ones_forgotten(kernel: Client) -> None:
    done = kernel.run("report(1)")
    model = views(done)[0][VIEW]["model_id"]
    comms = kernel.reply(kernel.channels.comm_info())["content"]["comms"]
    assert comms[model]["target_name"] == "jupyter.widget"


def test_a_page_that_is_opened_meanwhile_gets_the_state(kernel: Client) -> None:
    """JupyterLab asks all of this when a page is loaded again while a cell runs."""
    running = kernel.send("report('first'); for (;;) {}")
    view = kernel.wait_for(running, "display_data")["data"]
    model = view[VIEW]["model_id"]
    assert kernel.reply(kernel.channels.kernel_info())["content"]["status"] == "ok"
    assert model in kernel.reply(kernel.channels.comm_info())["content"]["comms"]
    opened = {"comm_id": "page", "target_name": "jupyter.widget.control", "data": {}}
    kernel.tell("comm_open", opened, {"version": "1.0.0"})
    asked = kernel.tell("comm_msg", {"comm_id": "page", "data": {"method": "request_states"}})
    answer = kernel.wait_for(asked, "comm_msg")["data"]
    assert answer["method"] == "update_states"
    assert answer["states"][model]["state"]["head"]["status"] == "running"
    kernel.press_terminate(view)
    assert kernel.finish(running).content["ename"] == "terminated"
