"""Our server in a process of its own: over stdio and HTTP, in both eras."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import httpx2
import psutil
import pytest

from sandbox_kernel.cli import main
from tests.mcp.clients import COMMAND, ERAS, Heard, http_server, over_http, over_stdio, shape
from tests.processes import gone, processor_seconds
from tests.waiting import eventually


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_server() as found:
        yield found


@pytest.mark.parametrize("era", ERAS)
async def test_code_runs_over_stdio_and_nothing_is_left_when_the_client_goes(era: str) -> None:
    async with over_stdio(era) as client:
        assert shape(await client.call_tool("run_code", {"code": "1 + 1"}))["result"] == 2
        program = {"code": "print(1)", "language": "python", "wait_ms": 60_000}
        assert shape(await client.call_tool("run_program", program))["stdout"] == "1\n"
        await client.call_tool("run_code", {"code": "while (true);", "wait_ms": 0})
        started = next(each for each in psutil.Process().children() if _is_ours(each.cmdline()))
        server = [started, *started.children(recursive=True)]
        assert len(server) > 1  # and its zygotes
    _, alive = psutil.wait_procs(server, timeout=60)
    assert not alive


def _is_ours(words: list[str]) -> bool:
    return words[-1:] == ["mcp"]


@pytest.mark.parametrize("era", ERAS)
async def test_code_runs_over_http(url: str, era: str) -> None:
    async with over_http(url, era) as client:
        assert client.protocol_version == ("2025-11-25" if era == "legacy" else era)
        assert shape(await client.call_tool("run_code", {"code": "1 + 1"}))["result"] == 2


@pytest.mark.parametrize("era", ERAS)
async def test_a_hundred_calls_run_in_parallel(url: str, era: str) -> None:
    async with over_http(url, era) as client:
        calls = [
            client.call_tool("run_code", {"code": f"{n} * 2", "wait_ms": 120_000})
            for n in range(100)
        ]
        answers = await asyncio.gather(*calls)
    assert [shape(each)["result"] for each in answers] == [n * 2 for n in range(100)]


@pytest.mark.parametrize("era", ERAS)
async def test_a_handle_outlives_its_connection_over_http(url: str, era: str) -> None:
    async with over_http(url, era) as first:
        loop = {"code": "while (true);", "wait_ms": 0}
        begun = shape(await first.call_tool("run_code", loop))
    async with over_http(url, ERAS[0]) as second:
        stopped = shape(await second.call_tool("stop", {"run": begun["run"]}))
    assert stopped["status"] == "terminated"


@pytest.mark.parametrize("era", ERAS)
async def test_cancelling_terminates_over_http(url: str, era: str) -> None:
    heard = Heard()
    async with over_http(url, era) as client:
        loop = {"code": "report(1); while (true);", "wait_ms": 60_000}
        call = asyncio.create_task(client.call_tool("run_code", loop, progress_callback=heard))
        await asyncio.wait_for(heard.something.wait(), 60)
        worker = await _busy_below(_server())
        call.cancel()
        await asyncio.wait({call})
        assert await eventually(lambda: gone(worker), 60)


def _server() -> psutil.Process:
    return next(each for each in psutil.Process().children() if "--http" in each.cmdline())


async def _busy_below(process: psutil.Process) -> int:
    """The one that does not stop computing; others may end meanwhile."""
    before: dict[int, float] = {}

    def busy() -> list[int]:
        used = {each.pid: processor_seconds(each.pid) for each in process.children(recursive=True)}
        return [pid for pid, now in used.items() if now - before.setdefault(pid, now) > 0.3]

    assert await eventually(busy, 60)
    return busy()[0]


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"Origin": "https://evil.example"}, "pages of a browser are not served"),
        ({"Origin": "http://127.0.0.1"}, "pages of a browser are not served"),
        ({"Host": "evil.example"}, "the service is not addressed by this name"),
        ({"Host": "127.0.0.1.evil.example"}, "the service is not addressed by this name"),
    ],
)
def test_pages_of_a_browser_are_kept_out(url: str, headers: dict[str, str], why: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    answer = httpx2.post(url, json=body, headers={**accept, **headers})
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]


async def test_with_a_key_only_its_owner_comes_in() -> None:
    with http_server(SANDBOX_MCP_KEY="secret") as found:
        for wrong in ("x", "secre", "secret2", "Bearer secret"):
            given = {"Authorization": f"Bearer {wrong}"}
            assert httpx2.post(found, json={}, headers=given).status_code == 401
        assert httpx2.post(found, json={}).status_code == 401
        async with over_http(found, ERAS[1], key="secret") as client:
            assert shape(await client.call_tool("run_code", {"code": "1"}))["result"] == 1


def test_an_address_for_everybody_demands_a_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SANDBOX_MCP_KEY", raising=False)
    assert main(["mcp", "--http", ":9000"]) == 2
    assert "SANDBOX_MCP_KEY" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--htp", "x"], "did you mean --http?"),
        (["--http"], "--http needs a value"),
        (["--http", "nowhere"], "write 127.0.0.1:9000"),
        (["--deadline", "soon"], "is not a time"),
        (["extra"], "does not take extra"),
        (["--lend", "timer"], "is not a capability"),
        (["--ask"], "--ask goes after a --lend"),
    ],
)
def test_a_wrong_command_says_what_to_write(
    words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *words]) == 2
    assert named in capsys.readouterr().err


def test_the_configuration_for_clients_starts_this_very_server_from_anywhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    words = ["--lend", "fs=files:./data:write", "--policy=p.json", "--print-config"]
    printed = run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    )
    entry = json.loads(printed.stdout)["mcpServers"]["sandbox"]
    lent = ["--lend", f"fs=files:{tmp_path}/data:write", "--policy", f"{tmp_path}/p.json"]
    assert entry == {
        "command": sys.executable,
        "args": ["-m", "sandbox_kernel", "mcp", *lent],
    }


async def test_a_deadline_ends_code_that_nobody_waits_for() -> None:
    async with over_stdio(ERAS[1], "--deadline", "200ms") as client:
        begun = shape(await client.call_tool("run_code", {"code": "while (1);", "wait_ms": 0}))
        ended = shape(await client.call_tool("wait", {"run": begun["run"], "wait_ms": 60_000}))
    assert ended["status"] == "terminated"
