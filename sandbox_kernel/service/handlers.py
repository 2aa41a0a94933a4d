"""HTTP on a `Service`: each handler reads a request, asks the service, writes what it says."""

from __future__ import annotations

import asyncio
import json
import os

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

from .answers import line_of
from .guard import Guard
from .handler import Handler
from .job import Job
from .openapi import document
from .refusals import refuse
from .relays import LONGEST_PACKET
from .service import Service
from .websocket import WorkerSocket, keyword_settings
from .workspaces import read_piece

NDJSON = "application/x-ndjson"
_PIECE = 1 << 18  # bytes that are written at a time
_IN_A_TURN = 100  # events


class Unknown(Handler):
    route = "unknown"
    methods = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
    body_is_json = False

    async def serve(self, *path: str) -> None:
        refuse("not_found", "there is nothing here; /openapi.json says what there is")


class Health(Handler):
    """The process lives; whether it takes work is /readyz's."""

    route = "/health"
    needs_key = False

    async def serve(self, *path: str) -> None:
        self.write_json({"status": "ready"})


class Ready(Handler):
    route = "/readyz"
    needs_key = False

    async def serve(self, *path: str) -> None:
        self.service.check_ready()
        self.write_json({"status": "ready"})


class Metrics(Handler):
    route = "/metrics"

    async def serve(self, *path: str) -> None:
        text = self.service.metrics_text().encode()
        self.write_bytes(text, "text/plain; version=0.0.4; charset=utf-8")


class OpenAPI(Handler):
    route = "/openapi.json"

    async def serve(self, *path: str) -> None:
        self.write_json(document(self.service, self.requester))


class Executing(Handler):
    """The answer at the end, or events as they come."""

    methods = ("POST",)
    _job: Job | None = None

    def job(self, *, streams: bool) -> Job:
        raise NotImplementedError

    async def serve(self, *path: str) -> None:
        streams = NDJSON in self.request.headers.get("Accept", "")
        job = self._job = self.job(streams=streams)
        job.watch()
        with self.service.answering():
            try:
                if streams:
                    await self._write_events(job)
                else:
                    await self._write_answer(await job.settled())
            finally:
                self._let_go()

    async def _write_answer(self, answer: bytes) -> None:
        self.set_header("Content-Type", "application/json")
        self.set_header("Content-Length", str(len(answer)))
        await self._write_all(answer)
        await self.read_in_time(self.finish())

    async def _write_all(self, data: bytes) -> None:
        """In pieces: each is copied more than once, which would keep the loop. The last is not sent yet."""
        for at in range(0, len(data), _PIECE):
            self.write(data[at : at + _PIECE])
            if at + _PIECE < len(data):
                await self.read_in_time(self.flush())

    async def _write_events(self, job: Job) -> None:
        self.set_header("Content-Type", NDJSON)
        told = 0
        async for event in job.events():
            await self._write_all(await line_of(event))
            await self.read_in_time(self.flush())
            told += 1
            if told % _IN_A_TURN == 0:  # what is written at once leaves the loop to nobody
                await asyncio.sleep(0)
        if job.refusal is not None and self._headers_written:
            self.write(json.dumps({"event": "result", **job.refusal.to_json()}))
        else:
            answer = await job.settled()
            self.write(b'{"event": "result", ')
            await self._write_all(answer[1:])
        self.write(b"\n")
        await self.read_in_time(self.flush())
        self.finish()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._let_go()

    def _let_go(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.unwatch(self.service.give_up)


class Execute(Executing):
    route = "/execute"

    def job(self, *, streams: bool) -> Job:
        return self.service.execute(self.body, self.requester, streams=streams)


class Run(Executing):
    route = "/run"

    def job(self, *, streams: bool) -> Job:
        return self.service.run(self.body, self.requester, streams=streams)


class Results(Handler):
    route = "/runs/{id}/results"
    methods = ("POST",)

    async def serve(self, *path: str) -> None:
        self.service.answer_call(path[0], self.body)
        self.set_status(204)
        self.finish()


class Stop(Handler):
    route = "/runs/{id}/stop"
    methods = ("POST",)

    async def serve(self, *path: str) -> None:
        self.service.stop(path[0], self.body)
        self.set_status(204)
        self.finish()


class Workspace(Handler):
    route = "/workspace/{session_id}"
    methods = ("DELETE",)

    async def serve(self, *path: str) -> None:
        await asyncio.to_thread(self.service.files.delete, path[0])
        self.set_status(204)
        self.finish()


class WorkspaceFile(Handler):
    route = "/workspace/{session_id}/{name}"
    methods = ("GET", "PUT")
    body_is_json = False

    async def serve(self, *path: str) -> None:
        session_id, name = path
        if self.request.method == "PUT":
            await asyncio.to_thread(self.service.files.write, session_id, name, self.body)
            self.set_status(204)
            self.finish()
        else:
            descriptor = await asyncio.to_thread(self.service.files.open, session_id, name)
            try:
                await self._write_file(descriptor)
            finally:
                os.close(descriptor)

    async def _write_file(self, descriptor: int) -> None:
        """As bytes to be kept, never as something that a browser would show."""
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Disposition", "attachment")
        while piece := await asyncio.to_thread(read_piece, descriptor):
            self.write(piece)
            await self.read_in_time(self.flush())
        self.finish()


_ID = r"([^/]+)"
ROUTES: list[tuple[str, type[Handler]]] = [
    (r"/execute", Execute),
    (r"/run", Run),
    (r"/health", Health),
    (r"/healthz", Health),
    (r"/readyz", Ready),
    (r"/metrics", Metrics),
    (r"/openapi\.json", OpenAPI),
    (rf"/runs/{_ID}/results", Results),
    (rf"/runs/{_ID}/stop", Stop),
    (rf"/workspace/{_ID}", Workspace),
    (rf"/workspace/{_ID}/(.+)", WorkspaceFile),
]


WORKER = (r"/worker", WorkerSocket)


def application(service: Service) -> Application:
    given = {"service": service, "guard": Guard(service.settings)}
    return Application(
        [(pattern, handler, given) for pattern, handler in [*ROUTES, WORKER]],
        default_handler_class=Unknown,
        default_handler_args=given,
        log_function=_quiet,
        **keyword_settings(LONGEST_PACKET),
    )


def _quiet(_: HTTPServerRequest | RequestHandler) -> None:
    """`on_finish` has the log, without the paths, which hold names of others."""
