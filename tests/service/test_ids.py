"""An `execution_id` is a key of idempotency, and a client that goes away ends its run."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.contract.serving import Service
from tests.service.talking import Small, connected, connections, holding, posted, streaming
from tests.waiting import until

_COUNT = """
import os
number = len(os.listdir())
open(str(number), 'w').close()
set_result(number)
"""


def _metric(service: Service, name: str) -> float:
    text = service.ask("GET", "/metrics").body.decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_a_retry_gets_the_same_answer_and_runs_nothing(service: Service) -> None:
    request = {"code": _COUNT, "session_id": "counted", "execution_id": "retried"}
    first = service.ask("POST", "/execute", request)
    again = service.ask("POST", "/execute", request)
    assert first.status == 200
    assert again.body == first.body
    assert service.execute(_COUNT, session_id="counted")["output"] == 1


def test_the_same_body_in_another_order_is_the_same(service: Service) -> None:
    first = service.ask("POST", "/execute", b'{"code": "print(1)", "execution_id": "order"}')
    again = service.ask("POST", "/execute", b'{"execution_id": "order",  "code": "print(1)"}')
    assert again.body == first.body


@pytest.mark.parametrize("path", ["/execute", "/run"])
def test_another_body_under_the_same_id_is_a_conflict(service: Service, path: str) -> None:
    name = "code" if path == "/execute" else "source"
    ident = f"conflicting{path.replace('/', '-')}"
    assert service.ask("POST", path, {name: "1", "execution_id": ident}).status == 200
    answer = service.ask("POST", path, {name: "2", "execution_id": ident})
    assert (answer.status, answer.json["error"]["code"]) == (409, "conflict")


def test_a_program_and_a_run_do_not_share_an_id(service: Service) -> None:
    assert service.ask("POST", "/execute", {"code": "", "execution_id": "both"}).status == 200
    answer = service.ask("POST", "/run", {"source": "", "execution_id": "both"})
    assert answer.status == 409


def test_a_retry_while_it_runs_waits_for_the_same_execution(service: Service) -> None:
    code = "call_tool('wait')\n" + _COUNT
    answers: list[Any] = []
    with holding() as (url, released):
        ids = {"session_id": "at-once", "execution_id": "at-once"}
        request = {"code": code, "callback_url": url, **ids}
        threads = [
            threading.Thread(
                target=lambda: answers.append(service.ask("POST", "/execute", request))
            )
            for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        assert until(lambda: connections(service) >= 5)
        released.set()
        for thread in threads:
            thread.join()
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert answers[0].json["output"] == 0


def test_what_was_refused_is_not_remembered(service: Service) -> None:
    wrong = {"code": "", "language": "cobol", "execution_id": "refused"}
    assert service.ask("POST", "/execute", wrong).status == 400
    right = {"code": "print(1)", "execution_id": "refused"}
    assert service.ask("POST", "/execute", right).status == 200


def test_a_full_service_still_answers_what_it_has(small: Small) -> None:
    service = small.service
    known = {"code": "print(1)", "execution_id": "known"}
    first = service.ask("POST", "/execute", known)
    endless = {"code": _ENDLESS, "execution_id": "fills-it"}
    with streaming(service, "/execute", endless) as events:
        next(events)
        assert service.ask("POST", "/execute", {"code": ""}).status == 503
        assert service.ask("POST", "/execute", known).body == first.body
        service.ask("POST", "/runs/fills-it/stop", {})
        list(events)


# ---------------------------------------------------------------------------- going away

_ENDLESS = "print('begun', flush=True)\nwhile True: pass"


def _hang_up(service: Service, ident: str) -> None:
    with streaming(service, "/execute", {"code": _ENDLESS, "execution_id": ident}) as events:
        assert next(events) == {"event": "stdout", "text": "begun\n"}


def test_a_client_that_hangs_up_ends_its_run(service: Service) -> None:
    _hang_up(service, "left")
    assert until(lambda: _metric(service, "sandbox_executions_running") == 0)


def test_a_client_that_waits_for_a_plain_answer_does_too(service: Service) -> None:
    with connected(service) as connection:
        connection.sendall(posted("/execute", {"code": _ENDLESS, "execution_id": "plain"}))
        assert until(lambda: _metric(service, "sandbox_executions_running") == 1)
    assert until(lambda: _metric(service, "sandbox_executions_running") == 0)


def test_that_end_is_not_remembered(service: Service) -> None:
    _hang_up(service, "left-and-back")
    assert until(lambda: _metric(service, "sandbox_executions_running") == 0)
    request = {"code": "print(2)", "execution_id": "left-and-back"}
    assert service.ask("POST", "/execute", request).json["stdout"] == "2\n"


def test_whoever_comes_back_in_time_finds_it_going_on(service: Service) -> None:
    request = {"code": _ENDLESS, "execution_id": "back"}
    with streaming(service, "/execute", request) as events:
        assert next(events)["text"] == "begun\n"
    with streaming(service, "/execute", request) as events:
        assert next(events)["text"] == "begun\n"  # from the first on
        assert service.ask("POST", "/runs/back/stop", {"reason": "enough"}).status == 204
        last = list(events)[-1]
    assert last["event"] == "result"
    assert (last["killed"], last["error"]) == (True, "enough")


def test_a_stopped_run_is_remembered_as_that(service: Service) -> None:
    request = {"code": _ENDLESS, "execution_id": "stopped"}
    with streaming(service, "/execute", request) as events:
        next(events)
        service.ask("POST", "/runs/stopped/stop", {})
        last = list(events)[-1]
    again = service.ask("POST", "/execute", request).json
    assert {"event": "result", **again} == last
    assert json.dumps(again)


@pytest.mark.parametrize("path", ["/runs/forged/stop", "/runs/forged/results"])
def test_an_id_that_is_not_under_way_is_not_found(service: Service, path: str) -> None:
    answer = service.ask("POST", path, {"id": "x", "data": "1"} if "results" in path else {})
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
