"""The four tools, as a client meets them in either era, without a transport between."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client
from mcp_types import ImageContent, TextContent

from sandbox_kernel.capabilities import display
from sandbox_kernel.explain.texts import TEXTS
from sandbox_kernel.mcp.server.cutting import MOST_BYTES
from sandbox_kernel.mcp.server.desk import Desk
from sandbox_kernel.mcp.server.lent import Lent
from sandbox_kernel.mcp.server.server import server_of
from tests.mcp.clients import ERAS, Heard, refusal, shape


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Entered and left in one task, as the SDK demands; pytest has two for a fixture."""
    desk = Desk()
    connected: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def own() -> None:
        async with Client(server_of(desk), mode=request.param) as client:
            connected.set_result(client)
            await done.wait()

    owner = asyncio.create_task(own())
    yield await connected
    done.set()
    await owner
    desk.close()


async def test_there_are_four_tools_with_schemas(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["run_code", "run_program", "wait", "stop"]
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None


async def test_code_answers_with_its_result_logs_and_handle(client: Client) -> None:
    given = await client.call_tool("run_code", {"code": "console.log('a', 1); [1, 2]"})
    answer = dict(shape(given))
    assert answer.pop("run")
    logs = [{"level": "log", "args": ["a", 1]}]
    assert answer == {"status": "success", "result": [1, 2], "logs": logs, "truncated": False}
    assert isinstance(given.content[0], TextContent)
    assert json.loads(given.content[0].text) == given.structured_content


async def test_arguments_reach_the_default_export(client: Client) -> None:
    code = "export default (a: number, b: number) => a + b"
    assert shape(await client.call_tool("run_code", {"code": code, "args": [1, 2]}))["result"] == 3


async def test_an_error_has_its_place_and_a_hint(client: Client) -> None:
    answer = shape(await client.call_tool("run_code", {"code": "\n  setTimeout(f, 1)"}))
    assert answer["status"] == "error"
    error = answer["error"]
    assert (error["name"], error["line"], error["column"]) == ("ReferenceError", 2, 3)
    assert "--lend timers" in error["hint"]


@pytest.mark.parametrize("key", TEXTS)
def test_no_hint_names_what_a_model_cannot_write(key: str) -> None:
    """It has code and arguments, but neither our options nor our functions in Python."""
    text = TEXTS[key]
    words = text if isinstance(text, str) else text.get("mcp", text["api"])
    assert not re.search(
        r"\b(imports|modules|globals|lend|report|\w+_bytes)=|evaluate|extract_", words
    )


async def test_a_misspelt_import_is_a_link_error(client: Client) -> None:
    answer = shape(await client.call_tool("run_code", {"code": "import 'fs'"}))
    assert answer["status"] == "link_error"


async def test_a_program_answers_with_what_it_wrote(client: Client) -> None:
    arguments = {
        "code": "import sys; print(input(), sys.argv[1:], open('a.txt').read()); sys.exit(3)",
        "language": "python",
        "stdin": "in\n",
        "args": ["x"],
        "files": {"a.txt": "text"},
    }
    answer = shape(await client.call_tool("run_program", arguments))
    assert answer["status"] == "error"
    assert answer["exit_code"] == 3
    assert answer["stdout"] == "in ['x'] text\n"
    assert answer["stderr"] == ""


async def test_a_program_that_takes_too_long_is_terminated(client: Client) -> None:
    arguments = {"code": "while True: pass", "language": "python", "timeout_ms": 300}
    answer = shape(await client.call_tool("run_program", arguments))
    assert answer["status"] == "terminated"
    assert "300" in answer["error"]["message"]


async def test_reports_are_progress(client: Client) -> None:
    heard = Heard()
    code = "report('one'); report({n: 2}); 3"
    answer = shape(await client.call_tool("run_code", {"code": code}, progress_callback=heard))
    assert heard.all == [(1, "one"), (2, '{"n": 2}')]
    assert answer["reports"] == ["one", {"n": 2}]


async def test_a_flood_of_reports_is_told_in_part(client: Client) -> None:
    heard = Heard()
    code = "for (let i = 0; i < 20000; i++) report(i); 1"
    arguments = {"code": code, "wait_ms": 60_000}
    await client.call_tool("run_code", arguments, progress_callback=heard)
    counts = [count for count, _ in heard.all]
    assert counts[-1] == 20_000
    assert counts == sorted(counts)
    assert len(counts) < 5_000


async def test_what_takes_longer_goes_on_and_can_be_waited_for(client: Client) -> None:
    begun = await client.call_tool("run_code", {"code": _COUNTING, "args": [300], "wait_ms": 0})
    answer = shape(begun)
    assert answer["status"] == "running"
    again = shape(await client.call_tool("wait", {"run": answer["run"], "wait_ms": 60_000}))
    assert (again["status"], again["run"]) == ("success", answer["run"])
    assert shape(await client.call_tool("wait", {"run": answer["run"]})) == again


async def test_a_run_can_be_stopped(client: Client) -> None:
    begun = shape(await client.call_tool("run_code", {"code": "while (true);", "wait_ms": 50}))
    stopped = shape(await client.call_tool("stop", {"run": begun["run"]}))
    assert stopped["status"] == "terminated"
    assert stopped["error"]["message"] == "stopped by the client"
    assert shape(await client.call_tool("stop", {"run": begun["run"]})) == stopped


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("run_code", {"code": "1", "lang": "ts"}, "lang is not known"),
        ("run_code", {}, "code is missing"),
        ("run_code", {"code": 1}, "code is an integer"),
        ("run_code", {"code": "1", "language": "python"}, "language is 'python'"),
        ("run_code", {"code": "1", "wait_ms": "10"}, "wait_ms is a string"),
        ("run_code", {"code": "1", "wait_ms": True}, "wait_ms is a boolean"),
        ("run_code", {"code": "1", "wait_ms": -1}, "below the minimum"),
        ("run_program", {"code": "1"}, "language is missing"),
        ("run_program", {"code": "1", "language": "cobol"}, "cobol"),
        ("run_program", {"code": "1", "language": "python", "args": [1]}, "args[0]"),
        ("run_program", {"code": "1", "language": "python", "files": {"../x": ""}}, "../x"),
        ("wait", {"run": "nobody"}, "there is no run 'nobody'"),
        ("stop", {"run": "nobody"}, "there is no run 'nobody'"),
        ("stop", {"run": "x", "wait_ms": 1}, "wait_ms is not known"),
        ("run_cod", {}, "did you mean run_code?"),
    ],
)
async def test_wrong_arguments_are_refused_and_named(
    client: Client, tool: str, arguments: dict[str, Any], named: str
) -> None:
    assert named in refusal(await client.call_tool(tool, arguments))


async def test_half_of_a_surrogate_pair_does_not_break_the_answer(client: Client) -> None:
    code = "console.log('\\udc00'); ({['k\\ud800']: 'a\\ud800b', whole: '\\ud83d\\ude00'})"
    answer = shape(await client.call_tool("run_code", {"code": code}))
    assert answer["result"] == {"k\ufffd": "a\ufffdb", "whole": "😀"}
    assert answer["logs"][0]["args"] == ["\ufffd"]


@pytest.mark.parametrize(
    "code",
    [
        "'x'.repeat(5_000_000)",
        "'é'.repeat(5_000_000)",
        "Array.from({length: 300_000}, (_, i) => 'item ' + i)",
        "Object.fromEntries(Array.from({length: 100_000}, (_, i) => ['key' + i, i]))",
        "new Uint8Array(5_000_000)",
        "let a: unknown[] = ['x'.repeat(100)]; for (let i = 0; i < 30; i++) a = [a, a]; a",
        "console.log('y'.repeat(5_000_000)); 1",
    ],
)
async def test_a_large_answer_is_cut_and_says_so(client: Client, code: str) -> None:
    given = await client.call_tool("run_code", {"code": code, "wait_ms": 60_000})
    answer = shape(given)
    assert answer["status"] == "success"
    assert answer["truncated"] is True
    assert isinstance(given.content[0], TextContent)
    assert len(given.content[0].text.encode()) < 1.2 * MOST_BYTES
    assert "more" in given.content[0].text


async def test_a_picture_of_a_program_is_image_content(client: Client) -> None:
    code = "open('plot.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(10))"
    given = await client.call_tool("run_program", {"code": code, "language": "python"})
    assert shape(given)["files"] == [{"name": "plot.png", "size": 18}]
    image = given.content[1]
    assert isinstance(image, ImageContent)
    assert image.mime_type == "image/png"


async def test_bytes_that_are_a_picture_are_image_content(client: Client) -> None:
    code = "new Uint8Array([0x89, 80, 78, 71, 13, 10, 26, 10, 0])"
    given = await client.call_tool("run_code", {"code": code})
    assert shape(given)["result"] == "[image/png, 9 bytes]"
    assert isinstance(given.content[1], ImageContent)


@pytest.mark.parametrize("era", ERAS)
async def test_what_code_displays_is_text_or_image_content(era: str) -> None:
    webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0" + bytes(10)
    lent = Lent(options={"lend": [display()], "globals": {"webp": webp}})
    code = """
        table([{ name: '<b>' }]);
        chart({ data: [3, 1, 4], title: 'Pi' });
        image({ width: 1, height: 1, data: new Uint8Array(4) }, { alt: 'a dot' });
        image(webp);
    """
    async with Client(server_of(Desk(lent)), mode=era) as client:
        given = await client.call_tool("run_code", {"code": code, "wait_ms": 60_000})
    texts = [each.text for each in given.content[1:] if isinstance(each, TextContent)]
    assert ["<b>" in texts[0], texts[1]] == [True, "Pi (line chart, 3 points)"]
    images = [each.mime_type for each in given.content if isinstance(each, ImageContent)]
    assert images == ["image/png", "image/webp"]


async def test_what_only_claims_to_be_a_picture_is_none(client: Client) -> None:
    code = "open('plot.png', 'w').write('<svg onload=1>')"
    given = await client.call_tool("run_program", {"code": code, "language": "python"})
    assert [each.type for each in given.content] == ["text"]


@pytest.mark.parametrize("era", ERAS)
async def test_cancelling_a_run_terminates_it(era: str) -> None:
    desk = Desk()
    async with Client(server_of(desk), mode=era) as client:
        heard = Heard()
        arguments = {"code": "report(1); while (true);", "wait_ms": 60_000}
        call = asyncio.create_task(client.call_tool("run_code", arguments, progress_callback=heard))
        await asyncio.wait_for(heard.something.wait(), 60)
        call.cancel()
        await asyncio.wait({call})
        (kept,) = desk.runs
        with kept.watched() as changed:
            while not kept.has_ended:
                await asyncio.wait_for(changed.wait(), 60)
        assert kept.answer.shape["error"]["message"] == "cancelled by the client"


@pytest.mark.parametrize("era", ERAS)
async def test_cancelling_wait_leaves_the_run_alone(era: str) -> None:
    desk = Desk()
    async with Client(server_of(desk), mode=era) as client:
        begun = shape(await client.call_tool("run_code", {"code": "while (1);", "wait_ms": 0}))
        waiting = asyncio.create_task(
            client.call_tool("wait", {"run": begun["run"], "wait_ms": 60_000})
        )
        await asyncio.sleep(0.1)
        waiting.cancel()
        await asyncio.wait({waiting})
        again = shape(await client.call_tool("wait", {"run": begun["run"], "wait_ms": 0}))
        assert again["status"] == "running"
    desk.close()


async def test_a_handle_is_good_on_another_connection() -> None:
    desk = Desk()
    server = server_of(desk)
    async with Client(server, mode="legacy") as first:
        begun = shape(await first.call_tool("run_code", {"code": _COUNTING, "wait_ms": 0}))
    async with Client(server, mode="2026-07-28") as second:
        ended = shape(await second.call_tool("wait", {"run": begun["run"], "wait_ms": 60_000}))
    assert ended["status"] == "success"


async def test_only_the_last_answers_are_kept() -> None:
    desk = Desk()
    async with Client(server_of(desk), mode="2026-07-28") as client:
        for _ in range(55):
            await client.call_tool("run_code", {"code": "1"})
        assert len(list(desk.runs)) <= 51


_COUNTING = """
export default (milliseconds = 50) => {
  const until = Date.now() + milliseconds;
  while (Date.now() < until);
  return 'done';
}"""
