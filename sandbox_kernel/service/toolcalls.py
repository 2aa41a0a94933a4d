"""Calls of tools that leave the service: to a callback URL, or as events that are answered by POST."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from ..brief import brief_start
from ..jsonable import to_jsonable
from ..jsonpieces import json_pieces
from ..spelling import suggestion
from ..tools.recursion import is_name_of_one
from ..tools.recursion import refuse as refuse_recursion
from ..tools.results import ToolContext
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox, UnknownToolError
from .answers import is_plain, joined
from .job import Event, Job
from .refusals import refuse
from .requests import Calls, ToolAnswer, value_of

MOST_BYTES = 16 * 2**20  # of one answer
_LONGEST_ERROR = 2_000
_AT_ONCE = 64  # calls of one execution that are POSTed; others wait behind them


class ToolFailed(Exception):
    """What the other side says went wrong; the guest reads it."""


class Line(Protocol):
    """How calls of one execution reach whoever answers them."""

    async def call(self, name: str, args: Any) -> Any: ...

    def close(self) -> None:
        """The execution has ended, and nobody waits for a call any more."""


class _Elsewhere:
    """A tool that is known by its name only."""

    description = ""
    parameters: Mapping[str, Any] = {}  # never written to
    runs_code = False
    tier: str | None = None

    def __init__(self, name: str, line: Line, count: Callable[[], None]) -> None:
        self.name = name
        self._line = line
        self._count = count

    def check(self, args: Any) -> None:
        """Whoever has the tool does."""

    async def value(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        self._count()
        plain = is_plain(args)
        spelled = to_jsonable(args) if plain else await asyncio.to_thread(to_jsonable, args)
        return await self._line.call(self.name, spelled)


class LentTools(Toolbox):
    """What code is lent in place of a toolbox: the tools are somewhere else."""

    def __init__(self, calls: Calls, line: Line, count: Callable[[], None]) -> None:
        super().__init__()
        self._names = calls.names
        self._line = line
        self._count = count

    def checked_for_code(self, name: str, args: Mapping[str, Any] | None) -> tuple[Tool, Any]:
        if is_name_of_one(name):
            refuse_recursion(name)
        if self._names is not None and name not in self._names:
            raise UnknownToolError(
                f"there is no tool {brief_start(name)}; {suggestion(name[:80], self._names)}"
            )
        return _Elsewhere(name, self._line, self._count), {} if args is None else args

    def exports(self) -> dict[str, Callable[..., Any]]:
        """For a run: also each tool by its name, where that is known and can be imported."""
        named = {name: self._bound(name) for name in self._names or () if name.isidentifier()}
        return {**named, **super().exports()}

    def _bound(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(args: Mapping[str, Any] | None = None) -> Any:
            return await self.dispatch_from_code(name, args)

        return call


class EventLine:
    """Calls are `call` events; `POST /runs/{id}/results` answers them, each once."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._waiting: dict[str, tuple[asyncio.Future[ToolAnswer], Event]] = {}

    async def call(self, name: str, args: Any) -> Any:
        number = secrets.token_urlsafe(16)
        future: asyncio.Future[ToolAnswer] = asyncio.get_running_loop().create_future()
        fields = {"execution_id": self._job.id, "id": number, "name": name, "args": args}
        event = Event("call", lambda: fields, is_small=is_plain(args))
        self._waiting[number] = future, event
        try:
            self._job.tell(event)
            answer = await future
        finally:
            event.settle()
            self._waiting.pop(number, None)
        if answer.error is not None:
            raise ToolFailed(answer.error[:_LONGEST_ERROR])
        return answer.value

    def answered(self, answer: ToolAnswer) -> None:
        """404 for an id that does not wait: unknown, forged, or answered before."""
        future, _ = self._waiting.pop(answer.id, (None, None))
        if future is None or future.done():
            refuse("not_found", "no call of this run with this id waits for an answer")
        future.set_result(answer)

    def close(self) -> None:
        """Whoever answers too late is told so: `answered` finds nobody."""


class CallbackLine:
    """Calls are POSTed to a URL, as it stands: without redirects, without a proxy.

    Its connections are its own, so that no execution waits for the tools of another one.
    """

    def __init__(self, url: str, execution_id: str, seconds: float) -> None:
        from ..http_client import HTTPClient

        self._url = url
        self._execution_id = execution_id
        self._client = HTTPClient(
            force_instance=True,
            max_clients=_AT_ONCE,
            max_body_size=MOST_BYTES,
            max_buffer_size=MOST_BYTES,
        )
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._seconds = seconds

    async def call(self, name: str, args: Any) -> Any:
        call = {"execution_id": self._execution_id, "name": name, "args": args}
        async with self._at_once:
            body = await asyncio.to_thread(joined, json_pieces(call))
            return _read(await self._post(body))

    def close(self) -> None:
        self._client.let_go()

    async def _post(self, body: bytes) -> bytes:
        from tornado.httpclient import HTTPClientError, HTTPRequest

        request = HTTPRequest(
            self._url,
            method="POST",
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            body=body,
            follow_redirects=False,
            decompress_response=False,
            connect_timeout=min(10.0, self._seconds),
            request_timeout=self._seconds,
        )
        try:
            response = await self._client.fetch(request, raise_error=False)
        except (HTTPClientError, OSError, ValueError):
            raise ToolFailed(
                f"the callback could not be reached, or its answer did not come whole (it may have"
                f" {MOST_BYTES >> 20} MiB)"
            ) from None
        if response.code != 200:
            raise ToolFailed(f"the callback answered {response.code}")
        return bytes(response.body or b"")


def _read(body: bytes) -> Any:
    """`{data}` or `{error}`; the other side is hostile, too."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise ToolFailed("the callback did not answer with JSON") from None
    if not isinstance(answer, dict) or ("data" in answer) == (answer.get("error") is not None):
        raise ToolFailed("the callback answered with neither data nor an error, or with both")
    if "data" in answer:
        return value_of(answer["data"])
    raise ToolFailed(str(answer["error"])[:_LONGEST_ERROR])
