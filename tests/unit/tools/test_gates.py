"""Seed 002's tool and gates: who has it, who is asked, and an executor that is not believed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.permissions import (
    ApprovalChoice,
    FilePermissionStore,
    InMemoryPermissionStore,
    permission_gate,
)
from sandbox_kernel.tools import (
    ExecutorError,
    Gates,
    LocalRunner,
    Toolbox,
    execute_code_tool,
    run_tool_calls,
    with_code_execution,
)
from tests.answering import answering

URL = "http://127.0.0.1:9"  # nothing listens there
GOOD = {
    "stdout": "42\n",
    "stderr": "",
    "exit_code": 0,
    "duration_ms": 3,
    "killed": False,
    "oom": False,
    "truncated": False,
    "output_files": [{"name": "a", "size": 1, "truncated": False, "data": "not for the model"}],
    "output": "not asked for",
}
CALL = {"id": "1", "name": "execute_code", "args": {"code": "print(42)"}}


class Person:
    def __init__(self, choice: ApprovalChoice = ApprovalChoice.ALLOW_ONCE) -> None:
        self.choice = choice
        self.batches: list[list[str]] = []

    def ask(self, batch: Any) -> list[ApprovalChoice]:
        self.batches.append([item.tool_call.function.name for item in batch])
        return [self.choice] * len(batch)


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def tools_for(gates: Gates, team: str = "red") -> Toolbox:
    return gates.tools_for(team, Toolbox([add, execute_code_tool(gates)]))


def dispatch(gates: Gates, team: str = "red", **args: Any) -> Any:
    return asyncio.run(tools_for(gates, team).dispatch("execute_code", {"code": "1", **args}))


# ---------------------------------------------------------------------------- who has it


@pytest.mark.parametrize("setting", [1, "true", "yes", [True], object()])
def test_only_true_is_a_yes(setting: Any) -> None:
    gates = Gates(URL, lambda team: setting)
    assert not gates.open_for("red")


def test_a_setting_that_raises_is_a_no_even_where_everyone_may(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def raises(team: str) -> bool:
        raise LookupError(team)

    assert not Gates(URL, raises, everyone=True).open_for("red")
    assert "so the answer is no" in caplog.text
    assert Gates(URL, {"blue": False}, everyone=True).open_for("red")


def test_a_team_that_opts_out_later_is_refused_at_its_next_call() -> None:
    settings = {"red": True}
    gates = Gates(URL, settings, Person())
    box = tools_for(gates)
    settings["red"] = False
    with pytest.raises(PermissionError, match="not turned on for this team"):
        asyncio.run(box.dispatch("execute_code", {"code": "1"}))


def test_the_tool_of_no_team_refuses_every_call() -> None:
    person = Person()
    gates = Gates(URL, {"red": True}, person)
    tool = execute_code_tool(gates)
    result = asyncio.run(tool.call({"code": "1"}))
    assert result.is_error
    assert "gates.tools_for" in result.content
    assert person.batches == []


def test_another_gates_tool_is_stripped() -> None:
    mine, other = Gates(URL, {"red": True}), Gates(URL, {"red": True})
    assert "execute_code" not in mine.tools_for("red", Toolbox([execute_code_tool(other)]))


@pytest.mark.parametrize("team", ["", "x" * 201, None, 3, "\ud800"])
def test_what_cannot_be_a_team_is_refused(team: Any) -> None:
    with pytest.raises(OptionError, match="team"):
        Gates(URL, {}).open_for(team)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gates("file:///etc", {}), "an http or https address"),
        (lambda: Gates("http://", {}), "an http or https address"),
        (lambda: Gates(URL, {}, key="a\nb: c"), "no header can have"),
        (lambda: Gates(URL, {}, timeout=0), "is a number of seconds"),
        (lambda: Gates(URL, 3), "team_setting is a mapping"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Gates(URL, asyncio.sleep), "team_setting is a mapping"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Gates(URL, {}, 3), "a prompter has a method ask"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Gates(URL, {}, store=3), "a permission store has"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: execute_code_tool(3), "takes Gates"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_what_cannot_be_used_is_refused(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_an_environment_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_EXECUTOR_URL", URL)
    monkeypatch.setenv("SANDBOX_EXECUTOR_TIMEOUT_SECONDS", "soon")
    with pytest.raises(OptionError, match="SANDBOX_EXECUTOR_TIMEOUT_SECONDS is 'soon'"):
        Gates()


def test_the_keys_of_the_environment_are_for_its_address_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SANDBOX_EXECUTOR_API_KEY", "secret")
    with answering(json.dumps(GOOD).encode()) as (url, seen):
        dispatch(Gates(url, {"red": True}, Person()))
        monkeypatch.setenv("SANDBOX_EXECUTOR_URL", url)
        dispatch(Gates(None, {"red": True}, Person()))
    assert "X-Service-Api-Key" not in seen[0].headers
    assert seen[1].headers["X-Service-Api-Key"] == "secret"
    assert seen[1].headers["Authorization"] == "Bearer secret"


def test_a_toolbox_with_the_execute_code_of_both_seeds_is_refused() -> None:
    gates = Gates(URL, {"red": True})
    with pytest.raises(OptionError, match="two tools are called 'execute_code'; leave one out"):
        with_code_execution(Toolbox([execute_code_tool(gates)]), LocalRunner())


# ---------------------------------------------------------------------------- who is asked


@pytest.mark.parametrize("way", ["turn", "dispatch", "call"])
def test_nothing_is_sent_before_a_person_has_said_yes(way: str) -> None:
    person = Person(ApprovalChoice.DENY_ONCE)
    with answering(json.dumps(GOOD).encode()) as (url, seen):
        box = tools_for(Gates(url, {"red": True}, person))
        if way == "turn":
            (result,) = asyncio.run(run_tool_calls(box, [CALL]))
            assert result.is_error
        elif way == "call":
            assert asyncio.run(box["execute_code"].call({"code": "1"})).is_error  # type: ignore[attr-defined]  # a tool that may be called
        else:
            with pytest.raises(PermissionError, match="a person said no"):
                asyncio.run(box.dispatch("execute_code", {"code": "1"}))
        assert (seen, person.batches) == ([], [["execute_code"]])


def test_nobody_to_ask_is_a_no() -> None:
    with pytest.raises(PermissionError, match="nobody to ask"):
        dispatch(Gates(URL, {"red": True}))


def test_the_question_comes_before_the_parallel_phase_and_once() -> None:
    order: list[str] = []

    class Slow(Person):
        def ask(self, batch: Any) -> list[ApprovalChoice]:
            order.append("asked")
            return super().ask(batch)

    def work() -> str:
        """Works."""
        order.append("worked")
        return "done"

    person = Slow()
    with answering(json.dumps(GOOD).encode()) as (url, seen):
        gates = Gates(url, {"red": True}, person)
        box = gates.tools_for("red", Toolbox([work, execute_code_tool(gates)]))
        turn = [{"id": "0", "name": "work", "args": {}}, CALL, {**CALL, "id": "2"}]
        results = asyncio.run(run_tool_calls(box, turn))
        assert [result.is_error for result in results] == [False, False, False]
        assert len(seen) == 2
    assert order == ["asked", "worked"]
    assert person.batches == [["execute_code", "execute_code"]]


def test_the_gate_of_a_turn_and_the_teams_are_each_asked_once() -> None:
    turn, team = Person(), Person()
    gate = permission_gate(InMemoryPermissionStore(), turn)
    with answering(json.dumps(GOOD).encode()) as (url, _):
        box = tools_for(Gates(url, {"red": True}, team))
        (result,) = asyncio.run(run_tool_calls(box, [CALL], gate))
    assert not result.is_error
    assert (turn.batches, team.batches) == ([["execute_code"]], [["execute_code"]])


def test_what_the_turn_denies_the_team_is_not_asked_about() -> None:
    team = Person()
    gate = permission_gate(InMemoryPermissionStore(), Person(ApprovalChoice.DENY_ONCE))
    (result,) = asyncio.run(
        run_tool_calls(tools_for(Gates(URL, {"red": True}, team)), [CALL], gate)
    )
    assert (result.is_error, team.batches) == (True, [])


def test_always_is_one_teams_policy_and_can_be_taken_back(tmp_path: Any) -> None:
    person = Person(ApprovalChoice.ALLOW_ALWAYS)
    store = FilePermissionStore(tmp_path / "permissions.json")
    with answering(json.dumps(GOOD).encode()) as (url, _):
        gates = Gates(url, None, person, everyone=True, store=store)
        for team, asked in (("a/b", 1), ("a/b", 1), ("a", 2), ("*", 3), ("b*", 4), ("*", 4)):
            dispatch(gates, team)
            assert len(person.batches) == asked
        gates.set_policy("a", "deny")
        with pytest.raises(PermissionError, match="a rule denies it"):
            dispatch(gates, "a")
        gates.set_policy("a", "ask")
        dispatch(gates, "a")
        assert len(person.batches) == 5


def test_a_stores_own_fallback_does_not_allow_tier_t4() -> None:
    person = Person(ApprovalChoice.DENY_ONCE)
    gates = Gates(URL, {"red": True}, person, store=InMemoryPermissionStore(fallback="allow"))
    with pytest.raises(PermissionError):
        dispatch(gates)
    assert person.batches == [["execute_code"]]


def test_code_and_plans_cannot_call_it() -> None:
    box = tools_for(Gates(URL, {"red": True}, Person()))
    with pytest.raises(PermissionError, match="runs code"):
        asyncio.run(box.dispatch_from_code("execute_code", {"code": "1"}))


# ---------------------------------------------------------------------------- the executor


def test_the_model_reads_the_fields_of_the_result_as_json() -> None:
    files = [{"name": "data.csv", "content": "1"}]
    args = {"code": "print(42)", "stdin": "x", "timeout_ms": 5, "files": files}
    with answering(json.dumps(GOOD).encode()) as (url, seen):
        box = tools_for(Gates(url + "/", {"red": True}, Person(), key="secret"))
        (result,) = asyncio.run(run_tool_calls(box, [{**CALL, "args": args}]))
    found = json.loads(result.content)
    assert found["stdout"] == "42\n"
    assert found["output_files"] == [{"name": "a", "size": 1, "truncated": False}]
    assert "output" not in found
    assert (seen[0].path, seen[0].body) == ("/execute", {"language": "python", **args})


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"language": "node"}, "not one of 'python'"),
        ({"timeout_ms": "5"}, "not an integer"),
        ({"timeout_ms": 0}, "minimum"),
        ({"files": [{"name": "a"}]}, "content is missing"),
        ({"callback_url": "http://127.0.0.1"}, "is not known"),
        ({"tools": ["add"]}, "is not known"),
        ({"code": ""}, "minLength"),
    ],
)
def test_arguments_are_checked_before_anybody_is_asked(args: Any, message: str) -> None:
    person = Person()
    with pytest.raises(ValueError, match=message):
        dispatch(Gates(URL, {"red": True}, person), **args)
    assert person.batches == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{}", 200, "has no stdout"),
        (b"[]", 200, "did not answer with an object"),
        (b"<html>", 200, "did not answer with JSON"),
        (b"[" * 100_000, 200, "did not answer with JSON"),
        (json.dumps({**GOOD, "exit_code": "0"}).encode(), 200, "has no exit_code"),
        (json.dumps({**GOOD, "killed": 1}).encode(), 200, "has no killed"),
        (json.dumps({**GOOD, "output_files": {}}).encode(), 200, "output_files"),
        (json.dumps({**GOOD, "output_files": [3]}).encode(), 200, "an object"),
        (b'{"error": {"message": "full"}}', 503, "answered 503: full"),
        (b"no", 401, "answered 401: no"),
        (b"", 302, "answered 302"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_executor_that_does_not_answer_as_it_should_is_an_error(
    body: bytes, status: int, message: str
) -> None:
    elsewhere = {"Location": "http://127.0.0.1:9/"}
    with answering(body, status, elsewhere if status == 302 else None) as (url, seen):
        gates = Gates(url, {"red": True}, Person(), key="secret-key")
        with pytest.raises(ExecutorError, match=message) as caught:
            dispatch(gates)
        assert len(seen) == 1
    assert "secret-key" not in str(caught.value)


def test_an_executor_that_never_answers_is_given_up() -> None:
    with answering(b"", hang=True) as (url, _), pytest.raises(ExecutorError, match=r"599|Timeout"):
        dispatch(Gates(url, {"red": True}, Person(), timeout=0.2))


def test_an_executor_that_is_not_there_is_told() -> None:
    with pytest.raises(ExecutorError, match=r"cannot be reached|599"):
        dispatch(Gates(URL, {"red": True}, Person()))
