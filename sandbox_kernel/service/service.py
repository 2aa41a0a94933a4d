"""`Service`: executions, workspaces and their bounds, without a transport.

Requests come in as bytes and go out as jobs; whoever serves them over HTTP adds nothing but HTTP.
All of it happens on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import perf_counter
from typing import Any

from ..contract import CodeExecutionLog
from ..engine.pool import WorkerPool
from ..engine.settings import Settings as EngineSettings
from ..errors import EngineBusyError, EngineError, OptionError, SandboxError, SerializationError
from ..programs import Programs
from ..programs.binaries import is_installed
from ..programs.runtimes import runtime_of
from ..run import run_cell, run_program
from ..sessions import Workspaces
from .addresses import pattern_of_callbacks
from .answers import answer_of, event_of_log, event_of_report, outcome_of
from .book import Book
from .job import Job
from .logs import log_code
from .metrics import Metrics
from .refusals import Refusal, refuse
from .relays import LentWorker
from .requests import (
    Asked,
    ExecuteRequest,
    RunRequest,
    execute_request,
    run_request,
    stop_reason,
    tool_answer,
)
from .settings import Settings
from .toolcalls import CallbackLine, EventLine, LentTools, Line
from .workspaces import WorkspaceFiles

_log = logging.getLogger("sandbox_kernel.service")
_STOPPING = "the service is stopping"
_GONE = "the client went away"
_TOOLS = "tools"  # the module that a run imports them from
_NOT_STARTED = "no sandbox could be started for it; try again later"
_SPARES = 4
_BODIES = 4  # requests of the largest size that may be in memory together
_SECONDS_TO_END = 10.0  # for what was terminated


class Service:
    """`Service(Settings(max_concurrent=8, key="…"))`; made on the loop that it serves on."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.address = settings.address
        spares = min(self.settings.max_concurrent, _SPARES)
        self.programs = Programs(
            python=self.settings.python,
            node=self.settings.node,
            concurrency=self.settings.max_concurrent,
            spares=spares,
        )
        self.programs.workspaces = _workspaces(settings)
        self.engine = WorkerPool(
            EngineSettings(concurrency=self.settings.max_concurrent, spares=spares)
        )
        self.files = WorkspaceFiles(self.programs.workspaces)
        self.metrics = Metrics()
        self.is_draining = False
        self.problem: str | None = "the service is starting"
        self._book = Book()
        self._lines: dict[str, Line] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lent: set[LentWorker] = set()
        self._places = 0  # that are taken
        self._held = 0  # bytes of requests
        self._answers = 0  # that are waited for, or written
        self._idle = asyncio.Event()

    # -- executions

    def execute(self, body: bytes, requester: str, *, streams: bool = False) -> Job:
        """`requester` is an address, empty behind a unix socket; `streams` if calls can be events."""
        asked = execute_request(body, self.callbacks_for(requester))
        return self._job_of(asked, self._start_program, streams)

    def run(self, body: bytes, requester: str, *, streams: bool = False) -> Job:
        asked = run_request(body, self.callbacks_for(requester))
        return self._job_of(asked, self._start_run, streams)

    def callbacks_for(self, requester: str) -> str:
        """The pattern of URLs on which this requester's tools may be called."""
        return pattern_of_callbacks(requester, tuple(self.settings.callback_hosts))

    def _job_of(self, asked: Asked, start: Callable[[Job, Any], Any], streams: bool) -> Job:
        known = self._book.find(asked.execution_id) if asked.execution_id else None
        if known is not None:
            if known.digest != asked.digest:
                refuse("conflict", "execution_id: another request has this id")
            return known
        calls = asked.request.calls
        if calls.names and calls.url is None and not streams:
            refuse(
                "bad_request",
                "tools: nobody can answer their calls; give a callback_url, or ask for events with"
                " Accept: application/x-ndjson and answer them at /runs/{id}/results",
            )
        self.take_place()
        job = Job(asked.execution_id or _new_id(), asked.digest, asked.execution_id is not None)
        try:
            self._book.add(job)
            job.handle = _translated(partial(start, job, asked.request))
        except BaseException:
            self._book.forget(job)
            self._close_line(job)
            self.give_back_place()
            raise
        if self.settings.log_code:
            request = asked.request
            log_code(request.kind, request.language, request.code, self.settings.key)
        task = asyncio.create_task(self._conduct(job, asked.request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def _start_program(self, job: Job, request: ExecuteRequest) -> Any:
        runtime = runtime_of(request.language).name
        if not is_installed(runtime) and not getattr(self.settings, runtime, ""):
            refuse("bad_request", f"language: {runtime} is not installed here")
        return run_program(
            request.code,
            request.language,
            stdin=request.stdin,
            args=list(request.args),
            files=dict(request.files),
            timeout_ms=self._limit(request.timeout_ms),
            memory_limit_bytes=self.settings.max_memory,
            output_bytes=self.settings.max_output,
            install=self.settings.install_packages or None,
            tools=self._tools_for(job, request),
            session=request.session_id,
            engine=self.programs,
        )

    def _start_run(self, job: Job, request: RunRequest) -> Any:
        options = dict(request.options)
        tools = self._tools_for(job, request)
        if tools is not None:
            options["imports"] = {**(options.get("imports") or {}), _TOOLS: tools.exports()}
        if "memoryLimitBytes" in options:
            options["memoryLimitBytes"] = min(options["memoryLimitBytes"], self.settings.max_memory)
        milliseconds = self._limit(request.timeout_ms)
        run = run_cell(
            request.code,
            options,
            lenient=False,
            demand_export=True,
            on_log=partial(_tell_log, job),
            report=partial(_tell_report, job),
            engine=self.engine,
        )
        return run.terminate_after(milliseconds / 1000, f"time limit of {milliseconds:g} ms")

    def _tools_for(self, job: Job, request: ExecuteRequest | RunRequest) -> LentTools | None:
        calls = request.calls
        if not calls.allowed:
            return None
        if calls.url is None:
            line: Line = EventLine(job)
        else:
            line = CallbackLine(calls.url, job.id, self._limit(request.timeout_ms) / 1000)
        self._lines[job.id] = line
        return LentTools(calls, line, self._count_call)

    def _close_line(self, job: Job) -> None:
        line = self._lines.pop(job.id, None)
        if line is not None:
            line.close()

    def _count_call(self) -> None:
        self.metrics.tool_calls += 1

    def _limit(self, asked: float | None) -> float:
        limit = self.settings.default_timeout_ms if asked is None else asked
        return min(limit, self.settings.max_timeout_ms)

    async def _conduct(self, job: Job, request: ExecuteRequest | RunRequest) -> None:
        """Until it has ended; gives its place back and keeps its answer."""
        began, outcome = perf_counter(), "failed"
        try:
            assert job.handle is not None
            result = await job.handle
            answer = await answer_of(result, job.id, request.session_id)
            outcome = outcome_of(result)
            job.end(answer)
        except EngineError as error:
            _log.warning("an execution could not be started: %s", error)
            job.end(None, Refusal("busy", _NOT_STARTED))
        except BaseException:
            _log.exception("an execution was lost")
            job.end(None, Refusal("busy", _NOT_STARTED))
            raise
        finally:
            self._close_line(job)
            self.give_back_place()
            self._book.ended(job)
            self.metrics.ended(request.kind, outcome, perf_counter() - began)

    def give_up(self, job: Job) -> None:
        """Nobody came back for it. That end is not remembered: the same id may be executed again."""
        self._book.forget(job)
        job.terminate(_GONE)

    # -- workers for engines elsewhere

    def lend_worker(self, send: Callable[[bytes], None]) -> LentWorker:
        """It takes a place like any execution, until its connection is closed."""
        self.take_place()
        worker = LentWorker(self.engine, self.settings.max_memory, send, self._worker_ended)
        self._lent.add(worker)
        return worker

    def _worker_ended(self, worker: LentWorker) -> None:
        self._lent.discard(worker)
        self.give_back_place()

    # -- a run that goes on

    def answer_call(self, execution_id: str, body: bytes) -> None:
        """`POST /runs/{id}/results`."""
        answer = tool_answer(body)
        self._running(execution_id)
        line = self._lines.get(execution_id)
        if not isinstance(line, EventLine):
            refuse("not_found", "this run has no calls to be answered here")
        line.answered(answer)

    def stop(self, execution_id: str, body: bytes) -> None:
        """`POST /runs/{id}/stop`."""
        reason = stop_reason(body)
        self._running(execution_id).terminate(reason or "stopped by request")

    def _running(self, execution_id: str) -> Job:
        job = self._book.find(execution_id)
        if job is None or job.has_ended:
            refuse("not_found", "no run with this id is under way")
        return job

    # -- places

    def take_place(self) -> None:
        """For one execution; 503 at once if there is none."""
        if self.is_draining:
            refuse("draining", "the service is stopping; ask another one")
        if self._places >= self.settings.max_concurrent:
            refuse("busy", f"all {self.settings.max_concurrent} places are taken; try again later")
        self._places += 1

    def give_back_place(self) -> None:
        self._places -= 1
        self._tell_if_idle()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While somebody is waited for to read an answer, the service does not end."""
        self._answers += 1
        try:
            yield
        finally:
            self._answers -= 1
            self._tell_if_idle()

    def _tell_if_idle(self) -> None:
        if not self._places and not self._answers:
            self._idle.set()

    def hold(self, size: int) -> None:
        """Counts the bytes of requests that are in memory; 503 if they are too many together."""
        if size > 0 and self._held + size > _BODIES * self.settings.max_body:
            refuse("busy", "too many large requests at once; try again later")
        self._held += size

    # -- its state

    def examine(self) -> None:
        """Starts what executes, and finds out whether it can. Takes a while; on any thread."""
        try:
            self.engine.warm_up()
            self.programs.doctor()
        except SandboxError as error:
            _log.warning("programs cannot be run: %s", error)
            self.problem = "programs cannot be run here; the service's log says why"
        else:
            self.problem = None

    def check_ready(self) -> None:
        if self.is_draining:
            refuse("draining", "the service is stopping")
        if self.problem is not None:
            refuse("busy", self.problem)

    def metrics_text(self) -> str:
        return self.metrics.text(
            {
                "executions_running": ("Executions under way.", self._places),
                "executions_limit": (
                    "Executions that may be under way.",
                    self.settings.max_concurrent,
                ),
                "execution_ids": ("Ids that are remembered.", len(self._book)),
                "draining": ("1 while the service stops.", self.is_draining),
            }
        )

    async def drain(self) -> None:
        """Takes nothing more; what runs has the grace, then it is terminated and answered."""
        self.is_draining = True
        await self._emptied(self.settings.grace)
        for job in self._book.running():
            job.terminate(_STOPPING)
        for worker in list(self._lent):
            worker.end(_STOPPING)
        await self._emptied(_SECONDS_TO_END)

    async def _emptied(self, seconds: float) -> None:
        """Waits until every place is given back and every answer read, but not for longer."""
        self._idle.clear()
        self._tell_if_idle()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)

    def close(self) -> None:
        """Ends every process, and a private root of workspaces."""
        self.programs.close()
        self.engine.close()
        self.programs.workspaces.close()


def _workspaces(settings: Settings) -> Workspaces:
    try:
        return Workspaces(settings.root(), settings.session_ttl)
    except OptionError as error:
        message = str(error).removeprefix("root: ")
        raise OptionError(f"--workspaces (SANDBOX_WORKSPACE): {message}", "workspaces") from None


def _translated(start: Callable[[], Any]) -> Any:
    """What is wrong with a request is the requester's, and names the field."""
    try:
        return start()
    except (OptionError, SerializationError) as error:
        raise Refusal("bad_request", str(error)) from None
    except EngineBusyError:
        raise Refusal("busy", "all places are taken; try again later") from None
    except EngineError as error:
        _log.warning("an execution could not be started: %s", error)
        raise Refusal("busy", _NOT_STARTED) from None


def _tell_log(job: Job, log: CodeExecutionLog) -> None:
    job.tell(event_of_log(log))


def _tell_report(job: Job, value: Any) -> None:
    job.tell(event_of_report(value))


def _new_id() -> str:
    return secrets.token_hex(16)
