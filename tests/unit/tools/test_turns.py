"""One turn of a model: nothing that it sends raises, and nothing that is denied runs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.permissions import Decision, InMemoryPermissionStore, permission_gate
from sandbox_kernel.tools import (
    Toolbox,
    ToolResult,
    answer_openai,
    plan_execution_tool,
    run_tool_calls,
)

ran: list[str] = []


def note(text: str) -> dict[str, str]:
    """Notes it."""
    ran.append(text)
    return {"noted": text}


def fail() -> None:
    """Fails."""
    raise ValueError("out of paper")


BOX = Toolbox([note, fail])


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def turn(*calls: Any, gate: Any = None, box: Toolbox = BOX) -> list[ToolResult]:
    return asyncio.run(run_tool_calls(box, calls, gate))


def call(name: Any, args: Any, ident: Any = "1") -> dict[str, Any]:
    return {"id": ident, "name": name, "args": args}


def test_text_is_handed_on_and_anything_else_as_json() -> None:
    (result,) = turn(call("note", {"text": "é"}))
    assert (result.content, result.is_error) == ('{"noted": "é"}', False)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (call("nothing", {}), "there is no tool 'nothing'"),
        (call(None, {}), "there is no tool None"),
        (call(["note"], {}), "there is no tool"),
        (call("note", "{broken"), "the arguments are not JSON"),
        (call("note", "[" * 100_000), "the arguments are not JSON"),
        (call("note", "[1]"), "not an object"),
        (call("note", {"text": 7}), "text is an integer (7), not a string"),
        (call("note", {"text": "x", "__class__": 1}), "__class__ is not known"),
        (call("fail", {}), "out of paper"),
        ("note", "a call is an object with id, name and args"),
        (None, "a call is an object with id, name and args"),
        ({}, "there is no tool None"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_whatever_is_wrong_is_told_to_the_model(made: Any, said: str) -> None:
    good = call("note", {"text": "good"})
    first, second = turn(made, good)
    assert first.is_error
    assert said in first.content
    assert not second.is_error
    assert ran == ["good"]


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def _waits_for_what_was_cancelled() -> None:
    waiting = asyncio.get_running_loop().create_future()
    waiting.cancel()
    await waiting


async def _raises_what_has_no_words() -> None:
    raise _Mute


def test_no_error_of_a_tool_leaves_its_turn() -> None:
    box = Toolbox({"waits": _waits_for_what_was_cancelled, "mute": _raises_what_has_no_words})
    results = turn(call("waits", {}), call("mute", {}), box=box)
    assert results == [
        ToolResult("the tool raised CancelledError", is_error=True),
        ToolResult("_Mute", is_error=True),
    ]
    with pytest.raises(RuntimeError, match="CancelledError"):
        asyncio.run(box.dispatch_parallel([["waits"]]))


def test_cancelling_a_turn_cancels_its_tools() -> None:
    async def main() -> bool:
        begun, seen = asyncio.Event(), []

        async def waits() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append(True)
                raise

        task = asyncio.create_task(run_tool_calls(Toolbox([waits]), [call("waits", {})]))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen == [True]

    assert asyncio.run(main())


def test_arguments_may_be_text_of_json_and_ids_may_be_missing() -> None:
    results = turn(call("note", '{"text": "a"}'), {"name": "note", "args": {"text": "b"}})
    assert [result.is_error for result in results] == [False, False]
    assert sorted(ran) == ["a", "b"]


def test_a_thousand_calls_run_and_the_next_is_told() -> None:
    results = turn(*[call("note", {"text": str(n)}) for n in range(1001)])
    assert [result.is_error for result in results] == [False] * 1000 + [True]
    assert "at most 1,000 calls" in results[-1].content


def test_what_is_denied_never_runs_and_what_is_wrong_is_not_asked_about() -> None:
    asked: list[list[str]] = []

    async def gate(calls: Any) -> list[Decision]:
        asked.append([each.name for each in calls])
        return [Decision(each.args.get("text") == "yes", "person", "no") for each in calls]

    results = turn(
        call("note", {"text": "yes"}),
        call("note", {"text": "no"}),
        call("nothing", {}),
        call("note", {"text": 3}),
        gate=gate,
    )
    assert [result.is_error for result in results] == [False, True, True, True]
    assert results[1].content == "no"
    assert asked == [["note", "note"]]
    assert ran == ["yes"]


@pytest.mark.parametrize("answer", [[], [True], ["allow"], None, RuntimeError("broken gate")])
def test_a_gate_that_fails_denies_everything(answer: Any) -> None:
    async def gate(calls: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    (result,) = turn(call("note", {"text": "x"}), gate=gate)
    assert result.is_error
    assert ran == []


@pytest.mark.parametrize("calls", [None, 5, "add", {"id": "1", "name": "add", "args": {}}])
def test_what_is_no_list_of_calls_is_refused(calls: Any) -> None:
    with pytest.raises(OptionError, match="calls are a list"):
        asyncio.run(run_tool_calls(BOX, calls))


def test_a_message_that_is_a_clients_own_object_says_what_to_write() -> None:
    with pytest.raises(OptionError, match=r"such as message.model_dump\(\), not object"):
        asyncio.run(answer_openai(object(), BOX))  # type: ignore[arg-type]  # wrong on purpose


def test_answers_in_openais_format() -> None:
    message = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "function": {"name": "note", "arguments": '{"text": "a"}'}},
            {"id": "c2", "function": {"name": "note", "arguments": "{"}},
            "nonsense",
        ],
    }
    answers = asyncio.run(answer_openai(message, BOX))
    assert [(a["role"], a["tool_call_id"]) for a in answers] == [
        ("tool", "c1"),
        ("tool", "c2"),
        ("tool", ""),
    ]
    assert json.loads(answers[0]["content"]) == {"noted": "a"}
    assert asyncio.run(answer_openai({"role": "assistant", "content": "hi"}, BOX)) == []


def test_the_steps_of_a_plan_pass_the_gate_of_their_turn_as_one_batch() -> None:
    class Person:
        def __init__(self) -> None:
            self.batches: list[list[str]] = []

        async def ask(self, batch: Any) -> list[Any]:
            from sandbox_kernel.permissions import ApprovalChoice

            self.batches.append([each.tool_call.function.name for each in batch])
            return [ApprovalChoice.ALLOW_ONCE, ApprovalChoice.DENY_ONCE][: len(batch)]

    person = Person()
    box = Toolbox([note, plan_execution_tool(BOX)])
    steps = [{"tool": "note", "args": {"text": text}} for text in "ab"]
    gate = permission_gate(InMemoryPermissionStore(), person)
    (result,) = turn(call("execute_plan", {"steps": steps}), gate=gate, box=box)
    first, second = json.loads(result.content)
    assert first == {"step": 1, "tool": "note", "status": "ok", "result": {"noted": "a"}}
    assert (second["step"], second["status"]) == (2, "error")
    assert person.batches == [["execute_plan"], ["note", "note"]]
    assert ran == ["a"]


@pytest.mark.parametrize("steps", [[], [{"tool": "note"}] * 101, "note", [{"args": {}}]])
def test_a_plan_that_is_none_is_refused(steps: Any) -> None:
    box = Toolbox([plan_execution_tool(BOX)])
    (result,) = turn(call("execute_plan", {"steps": steps}), box=box)
    assert result.is_error
