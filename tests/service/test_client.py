"""`HttpRunner`, `ServiceBackend` and `ServiceEngine` with a real service."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tornado.web import Application

from sandbox_kernel import run_code, run_many
from sandbox_kernel.errors import EngineClosedError, EngineError, OptionError
from sandbox_kernel.service import HttpRunner, ServiceBackend, ServiceEngine
from sandbox_kernel.tools import CodeFile, CodeRequest, Toolbox, code_execution_tool
from sandbox_kernel.tools.results import ToolContext
from tests.contract.serving import KEY, Service, free_port
from tests.service.talking import Small
from tests.waiting import eventually


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


async def later(text: str) -> str:
    """The same, a moment later."""
    await asyncio.sleep(0.01)
    return text


async def test_code_calls_the_tools_of_its_runner(service: Service) -> None:
    code = """
print('logged')
open('out.txt', 'w').write(open('in.txt').read() * 2)
set_result([call_tool('add', {'a': 1, 'b': 2}), call_tool('later', {'text': 'é'})], files=['out.txt'])
"""
    toolbox = Toolbox([add, later])
    request = CodeRequest(code, files=[CodeFile("in.txt", b"ab")], stdin="x", session_id="runner")
    async with HttpRunner(service.url, KEY) as runner:
        found = await runner.run(request, toolbox.dispatch)
    assert (found.output, found.logs, found.error) == ([3, "é"], "logged\n", None)
    assert [(file.name, file.data) for file in found.files] == [("out.txt", b"abab")]
    assert [(file.name, file.data) for file in found.output_files] == [("out.txt", None)]
    assert found.session_id == "runner"


async def test_node_does_too(service: Service) -> None:
    async with HttpRunner(service.url, KEY) as runner:
        code = "setResult(await callToolsParallel([['add', {a: 1, b: 2}], ['add', {a: 3, b: 4}]]))"
        found = await runner.run(CodeRequest(code, "node"), Toolbox([add]).dispatch)
    assert found.output == [3, 7]


async def test_a_tool_that_runs_code_is_refused_on_both_sides(service: Service) -> None:
    code = """
try:
    call_tool('execute_code', {})
except RuntimeError as error:
    set_result(str(error))
"""
    async with HttpRunner(service.url, KEY) as runner:
        found = await runner.run(CodeRequest(code), lambda name, args: "ran")
    assert "runs code" in found.output


async def test_a_runner_serves_many_at_once(service: Service) -> None:
    async def one(runner: HttpRunner, number: int) -> Any:
        code = f"set_result(call_tool('who', {{}}) == {number})"
        return (await runner.run(CodeRequest(code), lambda name, args: number)).output

    async with HttpRunner(service.url, KEY, max_retries=20, retry_delay=0.05) as runner:
        assert await asyncio.gather(*(one(runner, n) for n in range(12))) == [True] * 12


async def test_its_handlers_can_be_mounted(service: Service) -> None:
    port = free_port()
    runner = HttpRunner(service.url, KEY, callback_external=f"http://127.0.0.1:{port}/")
    server = Application(runner.handlers()).listen(port, "127.0.0.1")
    found = await runner.run(CodeRequest("set_result(call_tool('x'))"), lambda name, args: name)
    server.stop()
    await runner.close()
    assert found.output == "x"


async def test_what_is_refused_is_an_option_error(service: Service) -> None:
    async with HttpRunner(service.url, KEY) as runner:
        with pytest.raises(OptionError, match="cobol"):
            await runner.run({"code": "", "runtime": "cobol"}, None)
    async with HttpRunner(service.url, "another key") as runner:
        with pytest.raises(EngineError, match="401"):
            await runner.run({"code": ""}, None)
    with pytest.raises(EngineClosedError):
        await runner.run({"code": ""}, None)


@pytest.mark.parametrize(
    "field",
    [{"args": "abc"}, {"args": [1]}, {"session_id": 5}, {"execution_id": 5}, {"timeout": 0}],
)
async def test_a_wrong_request_is_refused_before_it_is_sent(field: dict[str, Any]) -> None:
    async with HttpRunner("http://127.0.0.1:1") as runner:
        with pytest.raises(OptionError, match=next(iter(field))):
            await runner.run({"code": "", **field})


async def test_cancelling_ends_the_run_there(service: Service) -> None:
    async with HttpRunner(service.url, KEY) as runner:
        request = {"code": "while True: pass", "execution_id": "cancelled-here"}
        running = asyncio.create_task(runner.run(request, None))
        metrics = lambda: service.ask("GET", "/metrics").body  # noqa: E731  # a name for what is asked again
        assert await eventually(lambda: b"executions_running 1\n" in metrics())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await eventually(lambda: b"executions_running 0\n" in metrics())


@pytest.mark.parametrize(
    "options",
    [
        {"url": "ftp://x"},
        {"url": "http://user:word@x"},
        {"url": "http://[::1"},
        {"url": "http://x:99999"},
        {"url": None},
        {"key": "line\nbreak"},
        {"timeout": 0},
        {"timeout": 301},
        {"max_retries": 0},
        {"retry_delay": -1},
        {"max_output": -1},
        {"callback_addr": "0.0.0.0:0"},
        {"callback_addr": "unix:/x"},
        {"callback_addr": None},
        {"callback_external": "nowhere"},
        {"callback_external": 5},
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        HttpRunner(**{"url": "http://127.0.0.1:1", **options})


# ---------------------------------------------------------------------------- code_execution


async def test_a_service_is_a_backend_of_code_execution(service: Service) -> None:
    tool = code_execution_tool(ServiceBackend(service.url, KEY))
    found = await tool.call({"language": "Python", "code": "print(6 * 7)"})
    assert (found.content, found.is_error) == ("42\n[exit 0: ok]", False)
    failed = await tool.call({"language": "node", "code": "throw new Error('x')"})
    assert failed.content.endswith("[exit 1: error]")
    refused = await tool.call({"language": "cobol", "code": "x"})
    assert refused.is_error
    assert "python" in refused.content


async def test_its_signal_ends_the_run_there(service: Service) -> None:
    context = ToolContext(tool_call_id="1", signal=asyncio.Event())
    tool = code_execution_tool(ServiceBackend(service.url, KEY))
    call = asyncio.create_task(tool.call({"language": "python", "code": "while 1: 1"}, context))
    metrics = lambda: service.ask("GET", "/metrics").body  # noqa: E731  # a name for what is asked again
    assert await eventually(lambda: b"executions_running 1\n" in metrics())
    context.signal.set()
    await asyncio.wait([call], timeout=30)
    assert await eventually(lambda: b"executions_running 0\n" in metrics())


# ---------------------------------------------------------------------------- ServiceEngine


async def test_while_the_service_is_busy_runs_wait(small: Small) -> None:
    with ServiceEngine(small.service.url, KEY) as engine:
        source = "export default async (n) => { await wait(); return n }"
        runs = [
            run_code(
                source,
                execute={"args": [n]},
                globals={"wait": lambda: asyncio.sleep(0.05)},
                engine=engine,
            )
            for n in range(6)
        ]
        found = await asyncio.gather(*runs)
    assert [each.result for each in found] == list(range(6))


async def test_many_runs_work_through_a_service_of_any_size(small: Small) -> None:
    with ServiceEngine(small.service.url, KEY) as engine:
        many = run_many("export default (n) => n * n", range(12), engine=engine)
        assert [each.result async for each in many] == [n * n for n in range(12)]


async def test_a_run_that_waits_can_be_terminated(small: Small) -> None:
    with ServiceEngine(small.service.url, KEY) as engine:
        first = run_code("for (;;);", engine=engine)
        assert await eventually(lambda: first.started)
        second = run_code("export default 1", engine=engine)
        second.terminate("no longer")
        assert (await second).status == "terminated"
        first.terminate("enough")
        assert (await first).status == "terminated"
        assert (await run_code("export default 1", engine=engine)).result == 1


async def test_nested_runs_get_a_worker_too(service: Service) -> None:
    with ServiceEngine(service.url, KEY) as engine:

        async def inner(n: int) -> Any:
            return (await run_code(f"export default {n} + 1", engine=engine)).result

        found = await run_code(
            "export default await inner(1)", globals={"inner": inner}, engine=engine
        )
    assert found.result == 2


async def test_a_wrong_key_is_an_error_of_the_run(service: Service) -> None:
    with ServiceEngine(service.url, "wrong") as engine:
        found = await run_code("export default 1", engine=engine)
    assert found.status == "error"
    assert found.error is not None
    assert "key" in found.error.message


async def test_nobody_there_is_an_error_of_the_run() -> None:
    with ServiceEngine(f"http://127.0.0.1:{free_port()}") as engine:
        found = await run_code("export default 1", engine=engine)
    assert found.status == "error"


async def test_a_client_that_goes_takes_its_workers_along(service: Service) -> None:
    metrics = lambda: service.ask("GET", "/metrics").body  # noqa: E731  # a name for what is asked again
    with ServiceEngine(service.url, KEY) as engine:
        run = run_code("for (;;);", engine=engine)
        assert await eventually(lambda: b"executions_running 1\n" in metrics())
    assert (await run).status == "terminated"
    assert await eventually(lambda: b"executions_running 0\n" in metrics())
    with pytest.raises(EngineClosedError):
        run_code("export default 1", engine=engine)
