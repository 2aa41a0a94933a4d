"""Seed 002: the tool `execute_code`, its two gates, and first-use approval."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.parts import part
from tests.contract.scripted_service import FINISHED, scripted
from tests.contract.serving import KEY, Service

URL = "http://127.0.0.1:9"  # nothing listens there; registration does not need it


class Prompter:
    """A person who always gives the same answer, and remembers what was asked."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.asked: list[str] = []
        self.when_asked: Callable[[], bool] = lambda: True
        self.was_so: list[bool] = []

    def ask(self, batch: Any) -> list[Any]:
        self.was_so.append(self.when_asked())
        self.asked += [item.tool_call.function.name for item in batch]
        choices = part("permissions").ApprovalChoice
        return [getattr(choices, self.choice) for _ in batch]


def gates(
    opted_in: Any = True, choice: str = "ALLOW_ONCE", url: str | None = URL, **options: Any
) -> tuple[Any, Prompter]:
    prompter = Prompter(choice)
    lookup: Callable[..., Any] = opted_in if callable(opted_in) else lambda team: opted_in
    made = part("tools").Gates(executor_url=url, team_setting=lookup, approvals=prompter, **options)
    return made, prompter


def names(toolbox: Any) -> list[str]:
    return [schema["name"] for schema in toolbox.schemas()]


def tools_for(gate: Any, team: str = "red") -> Any:
    tools = part("tools")
    return gate.tools_for(team, tools.Toolbox([tools.execute_code_tool(gate)]))


# ---------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("name", "required", "kind"),
    [
        ("code", True, "string"),
        ("language", False, "string"),
        ("stdin", False, "string"),
        ("timeout_ms", False, "integer"),
        ("files", False, "array"),
    ],
)
def test_the_parameters_of_the_table(name: str, required: bool, kind: str) -> None:
    """ParameterRequiredDescription"""
    gate, _ = gates()
    (schema,) = tools_for(gate).schemas()
    parameters = schema["parameters"]
    assert parameters["properties"][name]["type"] == kind
    assert (name in parameters.get("required", [])) is required
    assert set(parameters["properties"]) == {"code", "language", "stdin", "timeout_ms", "files"}


def test_language_supports_only_python() -> None:
    """Phase 1 supports only python (the default)."""
    gate, _ = gates()
    (schema,) = tools_for(gate).schemas()
    assert schema["parameters"]["properties"]["language"]["enum"] == ["python"]


async def test_the_result_has_the_fields_that_the_agent_reads(service: Service) -> None:
    """The result the agent reads back includes"""
    gate, _ = gates(url=service.url, key=KEY)
    result = await tools_for(gate).dispatch(
        "execute_code",
        {
            "code": "print(open('data.csv').read())",
            "files": [{"name": "data.csv", "content": "1"}],
        },
    )
    found = json.loads(result) if isinstance(result, str) else result
    assert found["stdout"] == "1\n"
    fields = {"stdout", "stderr", "exit_code", "duration_ms", "killed", "oom", "output_files"}
    assert fields <= set(found)


# ---------------------------------------------------------------------------- gates


def test_without_operator_wiring_the_tool_is_never_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When it's unset, execute_code is never registered for any agent."""
    monkeypatch.delenv("SANDBOX_EXECUTOR_URL", raising=False)
    gate, _ = gates(url=None)
    assert names(tools_for(gate)) == []
    monkeypatch.setenv("SANDBOX_EXECUTOR_URL", "")
    gate, _ = gates(url=None)
    assert names(tools_for(gate)) == []


def test_operator_wiring_is_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operator wiring — the sandbox sidecar is configured (SANDBOX_EXECUTOR_URL set)."""
    monkeypatch.setenv("SANDBOX_EXECUTOR_URL", URL)
    gate, _ = gates(url=None)
    assert names(tools_for(gate)) == ["execute_code"]


def _raises(team: str) -> bool:
    raise LookupError(team)


@pytest.mark.parametrize("setting", [None, False, _raises, "", 0])
def test_a_team_that_did_not_opt_in_has_no_tool(setting: Any) -> None:
    """This is default-deny: with no setting (or any lookup error), the tool is stripped from the run."""
    gate, _ = gates(opted_in=setting)
    assert names(tools_for(gate)) == []


def test_each_team_decides_for_itself() -> None:
    """the team has turned on the agent_sandbox setting"""
    gate, _ = gates(opted_in=lambda team: team == "red")
    assert names(tools_for(gate, "red")) == ["execute_code"]
    assert names(tools_for(gate, "blue")) == []


def test_an_operator_can_enable_it_for_the_whole_fleet() -> None:
    """An operator can also enable it fleet-wide with a single global setting."""
    settings = {"blue": False}
    gate, _ = gates(opted_in=settings.get, everyone=True)
    assert names(tools_for(gate, "red")) == ["execute_code"]
    assert names(tools_for(gate, "blue")) == []  # a team's own no still holds


async def test_the_first_call_pauses_for_human_approval_before_anything_executes() -> None:
    """the first time an agent in a team tries to run code, the call pauses for human approval before anything executes"""
    call = {"id": "1", "name": "execute_code", "args": {"code": "print(1)"}}
    with scripted(lambda body: (200, FINISHED)) as service:
        gate, prompter = gates(choice="DENY_ONCE", url=service.url)
        prompter.when_asked = lambda: service.requests == []
        (result,) = await part("tools").run_tool_calls(tools_for(gate), [call])
        assert (prompter.asked, prompter.was_so) == (["execute_code"], [True])
        assert (result.is_error, service.requests) == (True, [])
        assert "a person said no" in result.content
        gate, prompter = gates(choice="ALLOW_ONCE", url=service.url)
        prompter.when_asked = lambda: service.requests == []
        (result,) = await part("tools").run_tool_calls(tools_for(gate), [call])
        assert (prompter.was_so, len(service.requests), result.is_error) == ([True], 1, False)


async def test_a_team_can_set_a_policy_to_allow_it_without_re_approving(service: Service) -> None:
    """After that, a team can set a tool policy to allow it without re-approving each time."""
    gate, prompter = gates(choice="ALLOW_ALWAYS", url=service.url, key=KEY)
    for team, expected in (("red", 1), ("red", 1), ("blue", 2)):
        await tools_for(gate, team).dispatch("execute_code", {"code": "print(1)"})
        assert len(prompter.asked) == expected


async def test_until_a_policy_is_set_every_call_asks(service: Service) -> None:
    """execute_code is risk tier T4"""
    gate, prompter = gates(choice="ALLOW_ONCE", url=service.url, key=KEY)
    box = tools_for(gate)
    for expected in (1, 2):
        await box.dispatch("execute_code", {"code": "print(1)"})
        assert len(prompter.asked) == expected


# ---------------------------------------------------------------------------- wiring


async def test_the_request_timeout_and_the_shared_secret_are_environment_variables(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """core-api sends it as SANDBOX_EXECUTOR_API_KEY and the sidecar validates it as SANDBOX_EXECUTOR_SERVICE_API_KEY"""
    monkeypatch.setenv("SANDBOX_EXECUTOR_URL", service.url)
    monkeypatch.setenv("SANDBOX_EXECUTOR_TIMEOUT_SECONDS", "65")
    call = {"id": "1", "name": "execute_code", "args": {"code": "print(6 * 7)"}}
    for key, works in ((KEY, True), ("another", False)):
        monkeypatch.setenv("SANDBOX_EXECUTOR_API_KEY", key)
        gate, _ = gates(url=None)
        (result,) = await part("tools").run_tool_calls(tools_for(gate), [call])
        assert ("42" in result.content) is works
        assert result.is_error is not works
