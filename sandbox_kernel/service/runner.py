"""`HttpRunner`: seed 001's runner of code, which has it run by a service and answers its calls."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tornado.web import Application

from ..errors import EngineBusyError, EngineError, OptionError
from ..tools.closing import Closing
from ..tools.code_execution import CodeExecutionRequest
from ..tools.posting import http_address
from ..tools.requests import (
    MAX_FILE_SIZE,
    MAX_OUTPUT,
    CodeFile,
    CodeRequest,
    CodeResult,
    beginning,
    check_timeout,
)
from ..tools.results import ToolContext
from ..tools.runner import Dispatch
from .addresses import Address, address_of
from .asking import Server, Unreachable
from .listener import PATH, DispatchHandler, Listener, Runs

_MORE_SECONDS = 5.0  # for the request, on top of the program's time limit
_SECONDS_TO_STOP = 5.0


class HttpRunner(Closing):
    """`await HttpRunner("http://sandbox:9000", key).run(request, dispatch)`.

    `timeout` is the program's limit in seconds. `max_retries` counts attempts in all; an attempt is
    repeated after a 5xx, a timeout or a refused connection, with a doubling delay and the same id, so
    that nothing runs twice.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        timeout: float = 30,
        max_output: int = MAX_OUTPUT,
        max_file_size: int = MAX_FILE_SIZE,
        max_retries: int = 2,
        retry_delay: float = 0.5,
        callback_addr: str = "127.0.0.1:0",
        callback_external: str | None = None,
    ) -> None:
        self._server = Server.of(url, key)
        self._timeout = check_timeout(timeout)
        self._max_output = _whole("max_output", max_output, 0)
        self._max_file_size = _whole("max_file_size", max_file_size, 0)
        self._attempts = _whole("max_retries", max_retries, 1)
        self._delay = _delay(retry_delay)
        self._address = _reachable(callback_addr, callback_external)
        self._external = _external(callback_external)
        self._runs = Runs()
        self._listener: Listener | None = None

    def handlers(self) -> list[Any]:
        """To be mounted on a tornado application of the caller's, with `callback_external`."""
        return [(PATH, DispatchHandler, {"runs": self._runs})]

    async def run(
        self, request: CodeRequest | Mapping[str, Any], dispatch: Dispatch | None = None
    ) -> CodeResult:
        """Without `dispatch` the code has no tools. Code that fails is a result; OptionError is raised
        for what the service refuses, EngineError if it could not run it."""
        self._check_open()
        asked = CodeRequest.of(request)
        execution_id = asked.execution_id or secrets.token_hex(16)  # a callback's only secret
        body = self._body(asked, execution_id)
        if dispatch is not None:
            body["callback_url"] = (self._external or await self._listen()) + PATH
            self._runs.add(execution_id, dispatch)
        seconds = (asked.timeout or self._timeout) + _MORE_SECONDS
        asking = asyncio.ensure_future(self._ask(body, seconds))
        try:
            answer = await asyncio.shield(asking)
        except asyncio.CancelledError:
            await self._stop(execution_id, asking)
            raise
        finally:
            self._runs.remove(execution_id)
        return _result(answer, self._max_output, self._max_file_size)

    def _body(self, asked: CodeRequest, execution_id: str) -> dict[str, Any]:
        seconds = asked.timeout or self._timeout
        body = {
            "code": asked.code,
            "runtime": asked.runtime,
            "stdin": asked.stdin,
            "args": list(asked.args),
            "timeout_ms": seconds * 1000,
            "files": [_sent(file) for file in asked.files],
            "session_id": asked.session_id,
            "execution_id": execution_id,
        }
        return {name: value for name, value in body.items() if value not in ("", [], None)} | {
            "code": asked.code
        }

    async def _ask(self, body: dict[str, Any], seconds: float) -> dict[str, Any]:
        for attempt in range(self._attempts):
            if attempt:
                await asyncio.sleep(self._delay * 2 ** (attempt - 1))
            try:
                return await self._server.post("/execute", body, seconds)
            except (EngineBusyError, Unreachable):
                if attempt + 1 == self._attempts:
                    raise
        raise AssertionError("there is at least one attempt")

    async def _stop(self, execution_id: str, asking: asyncio.Future[Any]) -> None:
        """Ends the run there; its answer comes soon then, and the connection is free."""
        with suppress(EngineError, OptionError):
            await self._server.post(f"/runs/{execution_id}/stop", {}, _SECONDS_TO_STOP)
        await asyncio.wait([asking], timeout=_SECONDS_TO_STOP)
        asking.cancel()
        with suppress(asyncio.CancelledError, EngineError, OptionError):
            await asking

    async def _listen(self) -> str:
        """Starts the listener at the first run; again, if the loop has changed since."""
        if self._listener is None or self._listener.loop is not asyncio.get_running_loop():
            self._listener = Listener(self._address, Application(self.handlers()))
        return self._listener.url

    async def close(self) -> None:
        """Idempotent."""
        await super().close()
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.close()


class ServiceBackend:
    """For `code_execution_tool`: has a service run the code, in any language that it knows."""

    def __init__(self, url: str, key: str | None = None, timeout: float = 30) -> None:
        self._runner = HttpRunner(url, key, timeout, max_output=2**20)

    async def exec(self, request: CodeExecutionRequest, context: ToolContext) -> CodeResult:
        """Raises what the service refuses, such as a language, of which it names those it knows."""
        run = asyncio.ensure_future(self._runner.run(CodeRequest(request.code, request.language)))
        stop = asyncio.ensure_future(context.signal.wait())
        try:
            await asyncio.wait([run, stop], return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                run.cancel()
            return await run
        finally:
            stop.cancel()
            run.cancel()


def _sent(file: CodeFile) -> dict[str, str]:
    return {"name": file.name, "data": base64.b64encode(file.data or b"").decode("ascii")}


def _result(answer: Mapping[str, Any], most: int, most_of_a_file: int) -> CodeResult:
    """Every field is of its kind, or the service is none of ours."""
    for name, kinds in _KINDS.items():
        if not isinstance(answer.get(name), kinds):
            raise EngineError(f"the service's answer has no {name} as it should be")
    logs = beginning(answer["logs"], most)
    return CodeResult(
        output=answer.get("output"),
        logs=logs,
        exit_code=answer["exit_code"],
        error=answer["error"],
        files=tuple(_received(each, most_of_a_file) for each in answer["files"]),
        stdout=answer["stdout"],
        stderr=answer["stderr"],
        duration_ms=answer["duration_ms"],
        killed=answer["killed"],
        oom=answer["oom"],
        truncated=answer["truncated"] or logs != answer["logs"],
        output_files=tuple(_received(each, 0) for each in answer["output_files"]),
        execution_id=answer.get("execution_id"),
        session_id=answer.get("session_id"),
    )


_KINDS: dict[str, Any] = {
    "stdout": str,
    "stderr": str,
    "logs": str,
    "exit_code": int,
    "duration_ms": (int, float),
    "killed": bool,
    "oom": bool,
    "truncated": bool,
    "files": list,
    "output_files": list,
    "error": (str, type(None)),
}


def _received(given: Any, most: int) -> CodeFile:
    try:
        file = CodeFile.of(given)
    except OptionError:
        raise EngineError("the service's answer has a file that is none") from None
    if file.data is None or len(file.data) <= most:
        return file
    return CodeFile(file.name, None, file.mime, max(file.size, len(file.data)), truncated=True)


def _whole(name: str, value: Any, least: int) -> int:
    if type(value) is not int or value < least:
        raise OptionError(f"{name} is a whole number of at least {least}, not {value!r:.80}", name)
    return value


def _delay(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 60:
        raise OptionError(f"retry_delay is 0 to 60 seconds, not {value!r:.80}", "retry_delay")
    return float(value)


def _reachable(text: str, external: str | None) -> Address:
    address = address_of(text)
    if address.path or (address.host in ("", "0.0.0.0", "::") and external is None):  # noqa: S104 (refused)
        raise OptionError(
            f"callback_addr {text!r:.80} is nothing that a service can call; name the address that"
            " it reaches, or say where it does with callback_external",
            "callback_addr",
        )
    return address


def _external(url: str | None) -> str | None:
    if url is None:
        return None
    parts = http_address("callback_external", url)
    if parts.query or parts.fragment:
        raise OptionError("callback_external has no query or fragment", "callback_external")
    return url.rstrip("/").removesuffix(PATH)
