"""`POST /run`: modules, in the contract's JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.serving import Service
from tests.service.talking import answering, streaming, told


def _run(service: Service, source: str, **fields: Any) -> Any:
    answer = service.ask("POST", "/run", {"source": source, **fields})
    assert answer.status == 200, answer.body
    return answer.json


def test_a_run_answers_as_its_json(service: Service) -> None:
    found = _run(
        service,
        "import { x } from 'lent'; import { y } from './m.ts';"
        "console.log('hi', 1); report([x]); export default (n: number) => ({ sum: n + x + y + z });",
        options={
            "execute": {"args": [1]},
            "imports": {"lent": {"x": 10}},
            "modules": {"./m.ts": "export const y: number = 100"},
            "globals": {"z": 1000},
        },
    )
    assert (found["status"], found["result"], found["reports"]) == (
        "success",
        {"sum": 1111},
        [[10]],
    )
    assert [(log["level"], log["args"]) for log in found["logs"]] == [("log", ["hi", 1])]
    assert found["durationMs"] > 0


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("throw new Error('x')", "error"),
        ("1", "link_error"),
        ("import 'nothing'; export default 1", "link_error"),
        ("export default [1].concat(new Array(1e9).fill(0))", "memory"),
    ],
)
def test_every_status_is_answered_with_200(service: Service, source: str, status: str) -> None:
    found = _run(service, source)
    assert found["status"] == status
    assert found["error"]["name"]


def test_a_run_has_a_time_limit_of_its_own(service: Service) -> None:
    found = _run(service, "for (;;);", timeout_ms=300)
    assert found["status"] == "terminated"
    assert "time limit of 300 ms" in found["error"]["message"]


def test_its_memory_is_at_most_what_the_service_gives(service: Service) -> None:
    source = "let s = 'x'.repeat(2 ** 20); const all = []; for (;;) all.push(s + all.length);"
    found = _run(service, source, options={"memoryLimitBytes": 2**50})
    assert found["status"] == "memory"


def test_reports_and_logs_come_as_they_happen(service: Service) -> None:
    source = """
      import { wait } from 'tools';
      console.warn('a', { b: 1 });
      report(1n);
      await wait();
      report('after');
      export default 'end';
    """
    with streaming(service, "/run", {"source": source, "tools": ["wait"]}) as events:
        log, report, call = next(events), next(events), next(events)
        assert (log["event"], log["level"], log["args"]) == ("log", "warn", ["a", {"b": 1}])
        assert isinstance(log["timestamp"], int | float)
        assert report == {"event": "report", "value": "1"}
        assert (call["event"], call["name"], call["args"]) == ("call", "wait", {})
        path = f"/runs/{call['execution_id']}/results"
        service.ask("POST", path, {"id": call["id"], "data": "null"})
        assert next(events) == {"event": "report", "value": "after"}
        last = next(events)
    assert last["event"] == "result"
    assert (last["status"], last["result"]) == ("success", "end")


def test_tools_are_a_module(service: Service) -> None:
    source = """
      import { callTool, callToolsParallel, double } from 'tools';
      const caught = await callTool('run_code', {}).catch((e) => e.message);
      export default [await double({ n: 1 }), await callToolsParallel([['double', { n: 2 }]]), caught];
    """
    with answering(lambda call: told(call["args"]["n"] * 2)) as (url, _):
        found = _run(service, source, tools=["double"], callback_url=url)
    assert found["status"] == "success", found
    assert found["result"][:2] == [2, [4]]
    assert "runs code" in found["result"][2]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "source"),
        ({"source": 1}, "source"),
        ({"source": "", "what": 1}, "what"),
        ({"source": "", "options": []}, "options"),
        ({"source": "", "options": {"report": 1}}, "report"),
        ({"source": "", "options": {"memory_limit_bytes": 1}}, "memory_limit_bytes"),
        ({"source": "", "options": {"memoryLimitBytes": 0}}, "memoryLimitBytes"),
        ({"source": "", "options": {"imports": {"./x": {}}}}, "imports"),
        ({"source": "", "options": {"modules": {"x": ""}}}, "modules"),
        ({"source": "", "options": {"modules": {"../x": ""}}}, "modules"),
        ({"source": "", "options": {"globals": {"not a name": 1}}}, "globals"),
        ({"source": "", "options": {"language": "python"}}, "language"),
        ({"source": "", "options": {"execute": "main"}}, "execute"),
        ({"source": "", "tools": ["a"]}, "tools"),
    ],
)
def test_wrong_options_are_refused_by_name(service: Service, body: Any, named: str) -> None:
    answer = service.ask("POST", "/run", body)
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_request")
    assert named in answer.json["error"]["message"]


def test_a_run_is_stopped(service: Service) -> None:
    source = "report('begun'); for (;;);"
    with streaming(service, "/run", {"source": source, "execution_id": "to-stop"}) as events:
        assert next(events)["value"] == "begun"
        assert service.ask("POST", "/runs/to-stop/stop", {"reason": "enough"}).status == 204
        assert list(events)[-1]["error"]["message"] == "enough"
