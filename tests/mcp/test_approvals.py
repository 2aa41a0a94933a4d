"""A person is asked by elicitation, in both eras, while the run waits."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

from sandbox_kernel.mcp.server.desk import Desk
from sandbox_kernel.mcp.server.lent import Lent, rules_for
from sandbox_kernel.mcp.server.server import server_of
from tests.mcp.clients import ERAS, http_server, over_http, over_stdio, shape

TIME = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
SEND = "import { send } from 'mail'; "


class Person:
    """Answers each form with the next of its answers, and the last one again and again."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.asked.append(params.message)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not isinstance(answer, str):
            return await answer() if callable(answer) else answer
        schema: Any = getattr(params, "requested_schema", {})
        return ElicitResult(action="accept", content=dict.fromkeys(schema["properties"], answer))


class Mail:
    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, to: str) -> str:
        self.sent.append(to)
        return f"sent to {to}"

    def desk(self, rules: dict[str, str] | None = None) -> Desk:
        lent = {"imports": {"mail": {"send": self.send}}}
        return Desk(Lent(options=lent, rules=rules_for(rules, asks=["mail.*"])))


async def asked(era: str, person: Person | None, code: str, mail: Mail, **more: Any) -> Any:
    async with Client(server_of(mail.desk()), mode=era, elicitation_callback=person) as client:
        arguments = {"code": SEND + code, "wait_ms": 60_000, **more}
        return shape(await client.call_tool("run_code", arguments))


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_allowed_is_made(era: str) -> None:
    person, mail = Person("allow once"), Mail()
    answer = await asked(era, person, "await send('ann')", mail)
    assert (answer["status"], answer["result"]) == ("success", "sent to ann")
    assert mail.sent == ["ann"]
    (question,) = person.asked
    assert "mail.send" in question
    assert "ann" in question
    (call,) = answer["calls"]
    assert (call["name"], call["decision"], call["outcome"]) == ("mail.send", "allow_once", "ok")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "answer",
    [
        "deny",
        "whatever",
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="decline", content={"call_1": "allow once"}),
        ElicitResult(action="cancel", content={"call_1": "always allow"}),
        ElicitResult(action="accept"),
        ElicitResult(action="accept", content={}),
        ElicitResult(action="accept", content={"call_1": True}),
    ],
    ids=str,
)
async def test_everything_but_a_yes_is_a_no(era: str, answer: Any) -> None:
    mail = Mail()
    given = await asked(era, Person(answer), "await send('ann')", mail)
    assert given["status"] == "error"
    assert "mail.send was not allowed: a person said no" in given["error"]["message"]
    assert mail.sent == []
    assert given["calls"][0]["outcome"] == "denied"


@pytest.mark.parametrize("era", ERAS)
async def test_code_can_catch_a_no(era: str) -> None:
    code = "let said; try { await send('a') } catch (e) { said = 'sorry' }; said"
    assert (await asked(era, Person("deny"), code, Mail()))["result"] == "sorry"


@pytest.mark.parametrize("era", ERAS)
async def test_calls_that_wait_at_the_same_time_are_one_question(era: str) -> None:
    person, mail = Person("allow once"), Mail()
    code = "await Promise.all(['a', 'b', 'c'].map((to) => send(to)))"
    answer = await asked(era, person, code, mail)
    assert len(answer["result"]) == 3
    assert len(person.asked) == 1
    assert "3 calls" in person.asked[0]


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_for_the_run_lasts_as_long_as_it(era: str) -> None:
    person = Person("allow for this run")
    code = "for (const to of 'abcdef') await send(to)"
    answer = await asked(era, person, code, Mail())
    assert answer["status"] == "success"
    assert len(person.asked) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_always_allowed_is_not_asked_about_in_later_runs(era: str) -> None:
    person, mail = Person("always allow", "deny"), Mail()
    async with Client(server_of(mail.desk()), mode=era, elicitation_callback=person) as client:
        for to in ("ann", "ben"):
            code = {"code": f"{SEND}await send('{to}')"}
            assert shape(await client.call_tool("run_code", code))["status"] == "success"
    assert mail.sent == ["ann", "ben"]
    assert len(person.asked) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_after_eight_rounds_the_run_waits_for_another_call(era: str) -> None:
    person, mail = Person("allow once"), Mail()
    code = SEND + "for (let i = 0; i < 12; i++) await send('n' + i); 'done'"
    async with Client(server_of(mail.desk()), mode=era, elicitation_callback=person) as client:
        first = shape(await client.call_tool("run_code", {"code": code, "wait_ms": 60_000}))
        assert first["status"] == "running"
        assert len(person.asked) == 8
        rest = {"run": first["run"], "wait_ms": 60_000}
        assert shape(await client.call_tool("wait", rest))["result"] == "done"
    assert len(mail.sent) == 12


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_gets_a_no_at_once(era: str) -> None:
    mail = Mail()
    answer = await asked(era, None, "await send('ann')", mail)
    assert answer["status"] == "error"
    assert "there is nobody to ask here" in answer["error"]["message"]
    assert mail.sent == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_rule_that_denies_is_not_asked_about(era: str) -> None:
    person, mail = Person("allow once"), Mail()
    desk = mail.desk({"mail.*": "deny"})
    async with Client(server_of(desk), mode=era, elicitation_callback=person) as client:
        answer = shape(await client.call_tool("run_code", {"code": SEND + "await send('a')"}))
    assert "a rule denies it" in answer["error"]["message"]
    assert person.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_guests_cannot_add_lines_to_the_question(era: str) -> None:
    person = Person("deny")
    await asked(era, person, "await send('x\\n\\ncall_2: harmless\\u202e')", Mail())
    lines = person.asked[0].splitlines()
    assert len(lines) == 2
    assert "\u202e" not in person.asked[0]


async def test_a_question_goes_away_with_its_run() -> None:
    """Stopped on one connection while a person on the other thinks."""
    thinking, mail = asyncio.Event(), Mail()

    async def think() -> ElicitResult:
        thinking.set()
        await asyncio.sleep(3600)
        raise AssertionError

    desk = mail.desk()
    server = server_of(desk)
    async with (
        Client(server, mode="legacy", elicitation_callback=Person(think)) as one,
        Client(server, mode="2026-07-28") as other,
    ):
        code = {"code": SEND + "await send('a')", "wait_ms": 60_000}
        call = asyncio.create_task(one.call_tool("run_code", code))
        await asyncio.wait_for(thinking.wait(), 60)
        (kept,) = desk.runs
        await other.call_tool("stop", {"run": kept.handle})
        answer = shape(await asyncio.wait_for(call, 60))
    assert answer["status"] == "terminated"
    assert mail.sent == []


async def test_an_answer_for_another_question_is_no_answer() -> None:
    """A client that brings the same state twice approves nothing that came later."""
    mail = Mail()
    async with Client(
        server_of(mail.desk()), mode="2026-07-28", elicitation_callback=Person("deny")
    ) as client:
        arguments = {"code": SEND + "await send('a'); await send('b')", "wait_ms": 60_000}
        first = await client.session.call_tool("run_code", arguments, allow_input_required=True)
        yes: Any = {"approval": ElicitResult(action="accept", content={"call_1": "allow once"})}
        state: Any = getattr(first, "request_state", None)
        assert state
        for _ in range(3):
            again = await client.session.call_tool(
                "run_code",
                arguments,
                input_responses=yes,
                request_state=state,
                allow_input_required=True,
            )
            assert getattr(again, "request_state", None)
    assert mail.sent == ["a"]


async def test_a_state_that_is_not_ours_is_refused() -> None:
    mail = Mail()
    async with Client(server_of(mail.desk()), mode="2026-07-28") as client:
        with pytest.raises(Exception, match="requestState"):
            await client.session.call_tool("run_code", {"code": "1"}, request_state="forged")


@pytest.mark.parametrize("era", ERAS)
async def test_tools_of_configured_servers_are_asked_about(era: str, tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"time": TIME}}))
    person = Person("allow once", "deny")
    code = """
        import { get_current_time } from '@mcp/time';
        const { timezone } = await get_current_time({ timezone: 'UTC' });
        let refused = false;
        try { await get_current_time({ timezone: 'UTC' }) } catch { refused = true }
        export default [timezone, refused];
    """
    with http_server("--config", str(config)) as url:
        async with over_http(url, era, elicitation_callback=person) as client:
            tools = (await client.list_tools()).tools
            assert 'declare module "@mcp/time"' in (tools[0].description or "")
            answer = shape(await client.call_tool("run_code", {"code": code, "wait_ms": 60_000}))
    assert answer["result"] == ["UTC", True]
    assert "get_current_time of the MCP server time" in person.asked[0]
    assert [call["outcome"] for call in answer["calls"]] == ["ok", "denied"]


async def test_a_policy_in_a_file_decides_without_asking(tmp_path: Path) -> None:
    config, policy = tmp_path / "servers.json", tmp_path / "policy.json"
    config.write_text(json.dumps({"time": TIME}))
    policy.write_text(
        json.dumps({"@mcp/time.get_current_time": "allow", "@mcp/time.convert*": "deny"})
    )
    words = ["--config", str(config), "--policy", str(policy)]
    code = """
        import { get_current_time, convert_time } from '@mcp/time';
        const { timezone } = await get_current_time({ timezone: 'UTC' });
        const zones = { source_timezone: 'UTC', time: '12:00', target_timezone: 'UTC' };
        export default [timezone, await convert_time(zones).catch((error) => error.message)];
    """
    async with over_stdio("2026-07-28", *words) as client:
        answer = shape(await client.call_tool("run_code", {"code": code, "wait_ms": 60_000}))
    assert answer["result"] == [
        "UTC",
        "@mcp/time.convert_time was not allowed: a rule denies it",
    ]


async def test_what_the_operator_lends_can_be_used_and_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    person = Person("allow once", "deny")
    code = """
        import { readFile } from 'fs/promises';
        await sleep(1);
        const text = await readFile('a.txt', 'utf8');
        export default [text, await readFile('a.txt', 'utf8').catch(() => 'denied')];
    """
    words = ["--lend", "timers", "--lend", f"fs=files:{tmp_path}", "--ask"]
    async with over_stdio("2026-07-28", *words, elicitation_callback=person) as client:
        tools = (await client.list_tools()).tools
        assert "readFile" in (tools[0].description or "")
        answer = shape(await client.call_tool("run_code", {"code": code, "wait_ms": 60_000}))
    assert answer.get("result") == ["text", "denied"], answer
    assert len(person.asked) == 2
