"""The other end of `callback_url`: calls of tools come in here, and reach the run that they belong to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from ..errors import OptionError
from ..jsonable import to_jsonable
from ..tools.runner import Dispatch, FromCode
from .addresses import Address

PATH = "/_oasis/dispatch"
_MOST_BYTES = 64 * 2**20  # of one call
_LONGEST_ERROR = 2_000


class Runs:
    """Those under way, by id. An id is a secret: whoever knows it may call the run's tools."""

    def __init__(self) -> None:
        self._by_id: dict[str, FromCode] = {}

    def add(self, execution_id: str, dispatch: Dispatch) -> None:
        self._by_id[execution_id] = FromCode(dispatch)

    def remove(self, execution_id: str) -> None:
        self._by_id.pop(execution_id, None)

    def find(self, execution_id: object) -> FromCode | None:
        return self._by_id.get(execution_id) if isinstance(execution_id, str) else None


class DispatchHandler(RequestHandler):
    """`POST {execution_id, name, args}` → `{data}` or `{error}`; 404 for an id that is not known."""

    def initialize(self, runs: Runs) -> None:
        self._runs = runs
        self._call: asyncio.Future[Any] | None = None

    def check_xsrf_cookie(self) -> None:
        """The id in the body is the secret; an application's own cookies have no part in it."""

    async def post(self) -> None:
        call = _call_of(self.request.body)
        run = self._runs.find(call.get("execution_id"))
        if run is None:
            self.set_status(404)
            self.finish({"error": "no run with this execution_id is under way"})
            return
        self._call = asyncio.ensure_future(
            run.dispatch_from_code(str(call.get("name")), call.get("args"))
        )
        try:
            self.finish({"data": json.dumps(to_jsonable(await self._call))})
        except asyncio.CancelledError:
            pass  # the program has ended, and nobody reads the answer
        except Exception as error:
            text = str(error) or type(error).__name__
            self.finish({"error": text[:_LONGEST_ERROR]})

    def on_connection_close(self) -> None:
        if self._call is not None:
            self._call.cancel()


def _call_of(body: bytes) -> Mapping[str, Any]:
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return call if isinstance(call, dict) else {}


class Listener:
    """A server of its own for callbacks, on the loop that it was started on."""

    def __init__(self, address: Address, application: Application) -> None:
        try:
            sockets = bind_sockets(address.port, address.host)
        except OSError as error:
            raise OptionError(
                f"callback_addr: {address.host}:{address.port} cannot be listened on: {error.strerror}"
            ) from None
        self._server = HTTPServer(
            application, max_body_size=_MOST_BYTES, idle_connection_timeout=60, body_timeout=60
        )
        self._server.add_sockets(sockets)
        self.loop = asyncio.get_running_loop()
        host, port = sockets[0].getsockname()[:2]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def close(self) -> None:
        self._server.stop()
        await self._server.close_all_connections()
