"""Seed 003: the loop, its events, its memory, and the gate before a turn's calls."""

from __future__ import annotations

from typing import Any

from tests.contract.parts import part
from tests.contract.speaking import speaking

CALL = [
    {"name": "code_execution", "args": {"language": "javascript", "code": "console.log(6 * 7)"}}
]


class Prompter:
    """A person who gives the same answer to everything."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.batches: list[list[tuple[str, Any]]] = []

    async def ask(self, batch: Any) -> list[Any]:
        self.batches.append([(item.tool_call.function.name, item.args) for item in batch])
        return [getattr(part("permissions").ApprovalChoice, self.choice) for _ in batch]


async def run(turns: list[Any], **options: Any) -> tuple[str, list[Any], Any]:
    """The answer, the events, and the model."""
    agents, tools = part("agents"), part("tools")
    events: list[Any] = []
    model = agents.ScriptedModel(turns)
    options.setdefault("tools", [tools.code_execution_tool(tools.QuickJSBackend())])
    answer = await agents.run_agent(model, "compute it", on_event=events.append, **options)
    return answer, events, model


def gate(choice: str) -> tuple[Any, Prompter]:
    permissions = part("permissions")
    prompter = Prompter(choice)
    store = permissions.InMemoryPermissionStore(fallback=permissions.PermissionPolicy.ASK)
    return permissions.permission_gate(store, prompter), prompter


async def test_the_loop_hands_code_to_the_backend_and_the_result_to_the_model() -> None:
    """the loop validates the args and hands them to your backend"""
    answer, events, _ = await run([CALL, "It is 42."])
    assert answer == "It is 42."
    (end,) = [event for event in events if event.type == "tool_end"]
    assert (end.tool_name, end.result, end.is_error) == (
        "code_execution",
        "42\n[exit 0: ok]",
        False,
    )


async def test_every_event_can_be_rendered() -> None:
    """Render every event the loop emits. ToolStart shows the code the model wrote"""
    _, events, _ = await run([CALL, "It is 42."])
    start = next(event for event in events if event.type == "tool_start")
    assert (start.tool_name, start.args) == ("code_execution", CALL[0]["args"])
    assert "".join(event.text for event in events if event.type == "text_delta") == "It is 42."


async def test_one_memory_and_one_session_are_reused_every_turn() -> None:
    """Multi-turn: one memory + one sessionId, reused every turn."""
    agents = part("agents")
    memory = agents.SessionMemoryStore()
    for prompt in ("first", "second"):
        await agents.run_agent(agents.ScriptedModel(["ok"]), prompt, memory=memory, session_id="s")
    with speaking("third answer") as (url, requests):
        model = agents.OpenAICompatibleModel(base_url=url, api_key="key", model="any")
        answer = await agents.run_agent(model, "third", memory=memory, session_id="s")
    assert answer == "third answer"
    asked = [each["content"] for each in requests[0]["messages"] if each["role"] == "user"]
    assert asked == ["first", "second", "third"]


async def test_an_error_of_a_tool_never_crashes_the_loop() -> None:
    """Errors always come back as a string the model can retry from — the run never crashes"""
    wrong = [{"name": "code_execution", "args": {"language": "cobol", "code": "1"}}]
    answer, events, _ = await run([wrong, "I see."])
    assert answer == "I see."
    assert [event.is_error for event in events if event.type == "tool_end"] == [True]


async def test_every_call_prompts_first() -> None:
    """fallback is Ask, so every `code_execution` prompts"""
    made, prompter = gate("ALLOW_ONCE")
    answer, _, _ = await run([CALL, CALL, "42"], hooks={"gate_tool_calls": made})
    assert answer == "42"
    assert prompter.batches == [[("code_execution", CALL[0]["args"])]] * 2


async def test_a_denied_call_never_runs() -> None:
    """A denied call never runs — it comes back as an error tool-result the model can react to."""
    ran = []

    def dangerous() -> str:
        """Does something."""
        ran.append(1)
        return "done"

    made, _ = gate("DENY_ONCE")
    turns = [[{"name": "dangerous", "args": {}}], "Then not."]
    answer, events, _ = await run(turns, tools=[dangerous], hooks={"gate_tool_calls": made})
    assert (answer, ran) == ("Then not.", [])
    assert [event.is_error for event in events if event.type == "tool_end"] == [True]


async def test_the_gate_runs_once_per_turn_ahead_of_the_parallel_phase() -> None:
    """The gate runs once per turn, ahead of the parallel execution phase, so the prompt never races a running tool."""
    order: list[str] = []

    def work(name: str) -> str:
        """Works."""
        order.append(name)
        return name

    made, prompter = gate("ALLOW_ONCE")

    async def watched(calls: Any, *args: Any) -> Any:
        decisions = await made(calls, *args)
        order.append("gate")
        return decisions

    turn = [{"name": "work", "args": {"name": name}} for name in "ab"]
    await run([turn, "done"], tools=[work], hooks={"gate_tool_calls": watched})
    assert order[0] == "gate"
    assert sorted(order[1:]) == ["a", "b"]
    assert [len(batch) for batch in prompter.batches] == [2]
