"""Seed 001: HTTPRunner, and the table of its options."""

from __future__ import annotations

import base64
import inspect
import json
import threading
import time
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from tornado.web import Application

from tests.contract.parts import part
from tests.contract.scripted_service import FINISHED, scripted
from tests.contract.serving import ask, free_port


def _nothing(name: str, args: dict[str, Any]) -> Any:
    raise LookupError(name)


def calling(name: str, args: dict[str, Any], then: list[Any]) -> Any:
    """A service whose program calls one tool at the callback URL, and gives its answer as output."""

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        call = {"execution_id": body["execution_id"], "name": name, "args": args}
        headers = {"Content-Type": "application/json"}
        reply = ask("POST", body["callback_url"], json.dumps(call).encode(), headers)
        then.append(reply)
        return 200, FINISHED | {"output": reply.json.get("data"), "error": reply.json.get("error")}

    return answer


def failing(times: int, status: int) -> Any:
    counter = count()

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if next(counter) < times:
            return status, {"error": {"code": "busy", "message": "later"}}
        return 200, FINISHED | {"output": "at last"}

    return answer


async def run(url: str, dispatch: Any = _nothing, request: Any = None, **options: Any) -> Any:
    async with part("service").HttpRunner(url, **options) as runner:
        return await runner.run(request or {"code": "print(1)", "runtime": "python"}, dispatch)


# ---------------------------------------------------------------------------- how it works


async def test_it_starts_a_callback_server_on_a_random_port() -> None:
    """on first `Run()`, HTTPRunner auto-starts an HTTP server on a random port. The sandbox POSTs tool call requests to `/_oasis/dispatch` on this server."""
    replies: list[Any] = []
    with scripted(calling("add", {"a": 1}, replies)) as service:
        await run(service.url, lambda name, args: args["a"] + 1)
    address = urlsplit(service.requests[0]["callback_url"])
    assert address.path == "/_oasis/dispatch"
    assert address.hostname == "127.0.0.1"
    assert address.port


async def test_it_posts_code_runtime_callback_url_and_execution_id() -> None:
    """HTTPRunner sends the code, runtime, callback URL, and execution ID to the sandbox's `/execute` endpoint."""
    with scripted(failing(0, 500)) as service:
        await run(service.url)
    (request,) = service.requests
    assert request["path"] == "/execute"
    assert (request["code"], request["runtime"]) == ("print(1)", "python")
    assert len(request["execution_id"]) >= 22  # 128 random bits
    assert request["callback_url"]


async def test_tool_calls_are_dispatched_by_correlation_id() -> None:
    """the callback server routes incoming tool calls to the correct execution via correlation ID, dispatches through the agent's `DispatchFunc`, and returns results"""
    replies: list[Any] = []
    with scripted(calling("add", {"a": 1}, replies)) as service:
        result = await run(service.url, lambda name, args: {name: args["a"] + 1})
    assert json.loads(replies[0].json["data"]) == {"add": 2}
    assert result.output == replies[0].json["data"]


async def test_a_failing_tool_is_an_error_of_the_call() -> None:
    """Returns the result over HTTP"""
    replies: list[Any] = []
    with scripted(calling("missing", {}, replies)) as service:
        await run(service.url)
    assert "missing" in replies[0].json["error"]


async def test_an_unknown_execution_is_not_found() -> None:
    """routes incoming tool calls to the correct execution via correlation ID"""
    statuses = []

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        call = {"execution_id": "guessed", "name": "add", "args": {}}
        headers = {"Content-Type": "application/json"}
        statuses.append(
            ask("POST", body["callback_url"], json.dumps(call).encode(), headers).status
        )
        return 200, FINISHED

    with scripted(answer) as service:
        await run(service.url)
    assert statuses == [404]


async def test_files_are_base64_on_the_wire_both_ways() -> None:
    """input files are base64-encoded on the wire; output files declared via `set_result(files=[...])` are returned base64-encoded and decoded into `CodeResult.Files`"""
    file = {"name": "a.bin", "size": 2, "truncated": False, "mime": "x/y"}
    data = base64.b64encode(b"\xff\x00").decode()

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, FINISHED | {"files": [{**file, "data": data}]}

    tools = part("tools")
    request = tools.CodeRequest("", files=[tools.CodeFile("in.bin", b"\xff\x00")])
    with scripted(answer) as service:
        result = await run(service.url, request=request)
    assert service.requests[0]["files"] == [{"name": "in.bin", "data": data}]
    assert [(each.name, each.data) for each in result.files] == [("a.bin", b"\xff\x00")]


async def test_transient_failures_are_retried_with_the_same_execution_id() -> None:
    """transient failures (5xx, timeout, connection refused) are retried with exponential backoff"""
    with scripted(failing(1, 503)) as service:
        result = await run(service.url, retry_delay=0.01)
    assert result.output == "at last"
    assert len({request["execution_id"] for request in service.requests}) == 1
    assert len(service.requests) == 2


async def test_an_answer_that_does_not_come_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """transient failures (5xx, timeout, connection refused) are retried with exponential backoff"""
    monkeypatch.setattr("sandbox_kernel.service.runner._MORE_SECONDS", 0.0)
    counter, given_up = count(), threading.Event()

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if next(counter):
            given_up.set()
        else:
            given_up.wait(60)
        return 200, FINISHED | {"output": "at last"}

    with scripted(answer) as service:
        result = await run(service.url, timeout=1, retry_delay=0.01)
    assert result.output == "at last"
    assert len({request["execution_id"] for request in service.requests}) == 1


async def test_other_failures_are_not_retried() -> None:
    """transient failures (5xx, timeout, connection refused)"""
    with scripted(failing(9, 400)) as service:
        with pytest.raises(Exception, match=r"later|400"):
            await run(service.url, retry_delay=0.01)
        assert len(service.requests) == 1


async def test_a_refused_connection_is_an_error_after_the_attempts() -> None:
    """transient failures (5xx, timeout, connection refused)"""
    with pytest.raises(Exception, match=r"refused|connect"):
        await run(f"http://127.0.0.1:{free_port()}", retry_delay=0.01)


async def test_the_callback_can_be_mounted_on_a_server_of_ones_own() -> None:
    """For apps that already run an HTTP server, mount the callback handler instead of auto-starting a listener"""
    replies: list[Any] = []
    port = free_port()
    own = f"http://127.0.0.1:{port}"
    with scripted(calling("add", {"a": 1}, replies)) as service:
        async with part("service").HttpRunner(service.url, callback_external=own) as runner:
            server = Application(runner.handlers()).listen(port, "127.0.0.1")
            await runner.run({"code": "", "runtime": "python"}, lambda name, args: args["a"] + 1)
            server.stop()
    assert service.requests[0]["callback_url"] == f"{own}/_oasis/dispatch"
    assert json.loads(replies[0].json["data"]) == 2


async def test_the_delay_doubles_with_each_retry() -> None:
    """Initial backoff delay between retries (doubles each retry)"""
    moments: list[float] = []
    refuse = failing(3, 503)

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        moments.append(time.monotonic())
        return cast(tuple[int, dict[str, Any]], refuse(body))

    with scripted(answer) as service:
        await run(service.url, max_retries=4, retry_delay=0.1)
    waited = [later - earlier for earlier, later in pairwise(moments)]
    assert all(seconds >= least for seconds, least in zip(waited, (0.1, 0.2, 0.4), strict=True))


# ---------------------------------------------------------------------------- options


OPTIONS = [
    ("timeout", 30),  # WithTimeout(d time.Duration) | 30s | Maximum execution duration
    ("max_output", 64 * 1024),  # WithMaxOutput(bytes int) | 64KB | Maximum output size
    ("callback_addr", "127.0.0.1:0"),  # WithCallbackAddr(addr string)
    ("callback_external", None),  # WithCallbackExternal(addr string)
    ("max_file_size", 10 * 2**20),  # WithMaxFileSize(bytes int64) | 10MB
    ("max_retries", 2),  # WithMaxRetries(n int) | 2 | Total POST attempts (1 = no retry)
    ("retry_delay", 0.5),  # WithRetryDelay(d time.Duration) | 500ms
]


@pytest.mark.parametrize(("name", "default"), OPTIONS)
def test_the_options_of_the_table_have_its_defaults(name: str, default: Any) -> None:
    """| Option | Default | Description |"""
    parameters = inspect.signature(part("service").HttpRunner).parameters
    assert parameters[name].default == default


async def test_the_time_limit_is_sent() -> None:
    """Maximum execution duration"""
    with scripted(failing(0, 500)) as service:
        await run(service.url, timeout=7)
    request = service.requests[0]
    assert request.get("timeout_ms", request.get("timeout", 0) * 1000) == 7000


async def test_output_beyond_the_maximum_is_truncated() -> None:
    """Maximum output size. Output beyond this is truncated"""

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, FINISHED | {"logs": "x" * 10_000, "output": "y" * 10_000}

    with scripted(answer) as service:
        result = await run(service.url, max_output=100)
    assert len(result.logs.encode()) <= 200
    assert result.output == "y" * 10_000  # never cut


async def test_oversized_files_degrade_to_metadata_only() -> None:
    """Max bytes per returned file. Oversized files degrade to metadata only"""
    data = base64.b64encode(b"x" * 1000).decode()
    file = {"name": "a", "size": 1000, "truncated": False, "mime": "x/y", "data": data}

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, FINISHED | {"files": [file]}

    with scripted(answer) as service:
        result = await run(service.url, max_file_size=100)
    assert [(each.name, each.size, each.data) for each in result.files] == [("a", 1000, None)]


@pytest.mark.parametrize(("attempts", "sent"), [(1, 1), (2, 2), (4, 4)])
async def test_max_retries_counts_attempts_in_all(attempts: int, sent: int) -> None:
    """Total POST attempts (1 = no retry)"""
    with scripted(failing(99, 500)) as service:
        with pytest.raises(Exception, match=r"later|500"):
            await run(service.url, max_retries=attempts, retry_delay=0.01)
        assert len(service.requests) == sent


def _addresses() -> Iterator[str]:
    yield f"127.0.0.1:{free_port()}"


async def test_the_callback_address_can_be_chosen() -> None:
    """Listen address for auto-started callback server"""
    replies: list[Any] = []
    address = next(_addresses())
    with scripted(calling("add", {}, replies)) as service:
        await run(service.url, lambda name, args: 1, callback_addr=address)
    assert urlsplit(service.requests[0]["callback_url"]).netloc == address
