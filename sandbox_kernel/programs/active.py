"""One program as it runs: on the loop of its caller, from its place to its result."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic, perf_counter
from typing import Any, Protocol

from .. import loops
from ..errors import EngineError
from ..sessions import Workspaces
from . import ending, protocol
from .binaries import ran_out_of_memory
from .channel import Channel
from .contract import ProgramOptions, ProgramResult
from .ending import Ending, Times, result_of
from .feed import Feed
from .gathering import Left, gather
from .inputs import write_inputs
from .inside.paths import INSTALLED
from .installs import Installing
from .outputs import Snapshot, snapshot
from .pipes import Pipes
from .place import Place
from .protocol import End
from .runtimes import DENO, NODE
from .streams import Chunk, text_of
from .turn import Turn

BEGINNING_SECONDS = 0.05  # in which a program has the processors to itself
PATIENCE = 10.0  # seconds that a program waits for its place, or any other of the zygote's
_MOST_PATIENCE = 120.0  # for its own
_GRACE = 2.0  # seconds that a supervisor has to end its tree
_FOREVER = 2**53  # milliseconds
_LARGE = 2**20  # bytes of inputs, which are written by another thread
_MOST_NAMES = 100_000  # in a directory, which is never allowed so many
_ATTEMPTS = 3


class Listener(Protocol):
    """Is told when a program begins, what it says, and how it ended."""

    items: list[Chunk]
    isolation: str | None

    def on_start(self) -> None: ...
    def on_asking(self, asking: bool) -> None: ...
    def add(self, item: Chunk) -> None: ...
    def settled(self, result: ProgramResult | EngineError) -> None: ...


class Owner(Protocol):
    """The pool, seen from one of its programs."""

    @property
    def level(self) -> str | None:
        """Of isolation."""

    def another_place(self, program: ActiveProgram) -> None:
        """Its place was dead."""

    def distrust(self, program: ActiveProgram) -> None:
        """Its place does not get ready."""

    def release(self, program: ActiveProgram, place: Place | None) -> None:
        """It has ended."""

    def tidy_up(self) -> None:
        """To be called after that, and once a program has begun; waking a thread takes a while."""


class ActiveProgram:
    """All of it happens on the program's loop, but for `terminate`, which any thread may call."""

    def __init__(
        self,
        options: ProgramOptions,
        inputs: Mapping[str, bytes],
        listener: Listener,
        loop: asyncio.AbstractEventLoop,
        owner: Owner,
        workspaces: Workspaces | None = None,
    ) -> None:
        """`workspaces` are those of its session, if it has one."""
        self.options = options
        self.turn: Turn | None = None
        if options.session is not None and workspaces is not None:
            self.turn = Turn(workspaces, options.session, self._workspace_deleted)
        self.loop = loop
        self.place: Place | None = None
        self._inputs = inputs
        self._listener = listener
        self._owner = owner
        self._asked_at = perf_counter()
        self._began_at: float | None = None
        self._before: Snapshot = {}
        self._names = options.runtime.names({*inputs, *options.allowed.names})
        self._pipes = Pipes(options.output_bytes, loop, listener.add)
        self._channel = self._channel_to(options.tools)
        self._installing: Installing | None = None
        self._asked_since: float | None = None
        self._excused = 0.0  # seconds in which people were asked
        self._stdin: Feed | None = None
        self._stop: tuple[str | None] | None = None  # the reason, once it is to end
        self._timers: list[asyncio.TimerHandle] = []
        self._attempts = 0
        self._attached_at = 0.0
        self._is_placed = False  # its place is ready
        self._ended = False

    def _channel_to(self, toolbox: Any) -> Channel:
        policy = self.options.policy
        gate = None if policy is None else policy.gate()
        return Channel(toolbox, gate, self.loop, self._terminate, self._asking)

    def install_with(self, installing: Installing) -> None:
        """Before it begins: it may install packages, beside calling its tools."""
        self._installing = installing
        installing.toolbox = self.options.tools
        self._channel = self._channel_to(installing)

    @property
    def installed(self) -> str | None:
        """The name of the folder of what it installs."""
        return self._installing.name if self._installing is not None else None

    # -- from outside

    def terminate(self, reason: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed, and the pool ends what is left of it
            loops.on_loop(self.loop, self._terminate, reason)

    def memory_used_bytes(self) -> int | None:
        return None

    def processor_seconds(self) -> float | None:
        place = self.place
        return None if place is None else place.processor_seconds()

    def fail(self, error: EngineError) -> None:
        """No place can be had."""
        if not self._ended:
            self._settle(error)

    def abandon(self) -> None:
        """Its loop will not do anything any more."""
        if not self._ended:
            self._ended = True
            self._owner.release(self, self.place)
            self._owner.tidy_up()
            self._end_turn()

    # -- getting a place

    def attach(self, place: Place) -> None:
        """It may not be ready yet."""
        if self._ended:
            place.close()
            return
        self.place = place
        self._attached_at = monotonic()
        self._attempts += 1
        self.loop.add_reader(place.control.fileno(), self._on_control)
        self._later(PATIENCE, self._lose_patience)
        self._on_control()

    def _on_control(self) -> None:
        place = self.place
        assert place is not None
        if self._is_placed:
            self._read_end(place)
            return
        try:
            if place.read_ready():
                self._is_placed = True
                self._cancel_timers()
                place.check_alive()
                self._prepare(place)
        except EngineError as error:
            self._detach(place)
            if self._attempts < _ATTEMPTS and self._stop is None:
                self._owner.another_place(self)
            else:
                self._settle(error)

    def _detach(self, place: Place) -> None:
        self._cancel_timers()
        self.loop.remove_reader(place.control.fileno())
        place.close()
        self.place, self._is_placed = None, False

    def _lose_patience(self) -> None:
        """Not while others get theirs, as they do one after another on a machine with much to do."""
        place = self.place
        assert place is not None
        now = monotonic()
        left = place.signs.last + PATIENCE - now
        if left > 0 and now - self._attached_at < _MOST_PATIENCE:
            self._later(left, self._lose_patience)
            return
        self._detach(place)
        self._owner.distrust(self)
        if self._stop is not None:
            self._settle(self._result(ending.stopped(self._stop[0]), Left()))
        else:
            self._settle(EngineError(f"no process was ready for the program within {PATIENCE:g} s"))

    # -- beginning

    def _prepare(self, place: Place) -> None:
        if self._stop is not None:
            self._end_soon(place)  # its end is reported like any other
        elif not self._inputs and self.turn is None:
            self._begin(place)
        elif sum(map(len, self._inputs.values())) <= _LARGE:
            self._written(self._write_inputs(place))
        else:
            future = self.loop.run_in_executor(None, self._write_inputs, place)
            future.add_done_callback(lambda done: self._written(done.result()))

    def _write_inputs(self, place: Place) -> OSError | None:
        assert place.directory is not None
        try:
            write_inputs(place.directory, self._inputs, place.owner)
            self._before = snapshot(place.directory)
            taken = {*place.directory.names(most=_MOST_NAMES), *self.options.allowed.names}
            self._names = self.options.runtime.names(taken)
        except OSError as error:
            return error
        return None

    def _written(self, error: OSError | None) -> None:
        place = self.place
        if self._ended or place is None:
            return
        if error is not None:
            self._stop = (None,)
            place.kill()
            self._detach(place)
            self._settle(EngineError(f"the input files could not be written: {error.strerror}"))
        elif self._stop is not None:
            self._end_soon(place)
        else:
            self._begin(place)

    def _begin(self, place: Place) -> None:
        self._began_at = perf_counter()
        self._listener.on_start()
        limit = self.options.timeout_ms
        milliseconds = _FOREVER if limit == math.inf else math.ceil(limit)
        self._channel.open(place.channel, self._job(), self.options.source)
        with suppress(OSError):  # it is gone, and its end will tell
            place.control.send(protocol.pack_go(milliseconds))
        if place.stdin is not None:
            self._stdin = Feed(self.loop, place.stdin, self.options.stdin, place.close_stdin)
        self._pipes.open(place)
        if limit != math.inf:
            self._later(limit / 1000 + _GRACE, self._overdue)
        self._later(BEGINNING_SECONDS, self._owner.tidy_up)

    def _job(self) -> bytes:
        options = self.options
        job = {"args": options.args, "env": dict(options.env), "tools": options.tools is not None}
        job["allow"] = options.allowed.flags
        if self._installing is not None:
            has_root = self.place is not None and self.place.launch.folder is None
            job["installed"] = INSTALLED if has_root else self._installing.folder
        return json.dumps(job | self._names).encode()

    # -- while it runs

    def _asking(self, asking: bool) -> None:
        """Asking takes none of its time, but for what it computes meanwhile: its supervisor knows."""
        now = perf_counter()
        if self._asked_since is not None:
            self._excused += now - self._asked_since
        self._asked_since = now if asking else None
        self._listener.on_asking(asking)
        if self.place is not None and self._stop is None:
            with suppress(OSError):  # it is gone, and its end will tell
                self.place.control.send(protocol.ASKING if asking else protocol.ANSWERED)

    def _overdue(self) -> None:
        """Its supervisor, which should have ended it long ago, may be stopped."""
        late = perf_counter() - (self._began_at or 0.0) - self._excused
        left = self.options.timeout_ms / 1000 + _GRACE - late
        if self._asked_since is not None or left > 0:
            self._later(max(left, _GRACE), self._overdue)
        elif self._stop is None and self.place is not None:
            self._stop = (ending.over_time(self.options.timeout_ms),)
            self.place.kill()

    def _terminate(self, reason: str | None) -> None:
        if self._ended or self._stop is not None:
            return
        self._stop = (reason,)
        if self.place is None:
            self._settle(self._result(ending.stopped(reason), Left()))
        elif self._is_placed:
            self._end_soon(self.place)

    def _end_soon(self, place: Place) -> None:
        place.stop()
        self._later(_GRACE, place.kill)

    # -- ending

    def _read_end(self, place: Place) -> None:
        try:
            data = place.read_end()
        except BlockingIOError:
            return
        self.loop.remove_reader(place.control.fileno())
        if end := End.unpack(data):
            self._finish(place, end)
            return
        place.kill()
        self._wait_for_death(place, [each for each in (place.guest, place.supervisor) if each])

    def _wait_for_death(self, place: Place, processes: list[int]) -> None:
        """Only then nothing of it writes any more."""
        if not processes:
            self._finish(place, None)
            return
        first, *rest = processes

        def died() -> None:
            self.loop.remove_reader(first)
            self._wait_for_death(place, rest)

        self.loop.add_reader(first, died)

    def _finish(self, place: Place, end: End | None) -> None:
        self._cancel_timers()
        self._pipes.drain()
        self._channel.drain()
        how = self._ending(place, end)
        directory = place.directory
        assert directory is not None
        if self._channel.said is None and not self._inputs and _is_empty(directory.fileno()):
            self._conclude(how, Left())
            return
        most = self.options.max_file_bytes
        hidden = (*self._names.values(), *self.options.allowed.names)
        said = self._channel.said
        future = self.loop.run_in_executor(
            None, gather, directory, self._before, said, most, hidden
        )
        future.add_done_callback(lambda done: self._gathered(how, done))

    def _gathered(self, how: Ending, done: asyncio.Future[Left]) -> None:
        try:
            left = done.result()
        except OSError as error:
            self._settle(EngineError(f"the program's files could not be read: {error.strerror}"))
            return
        for problem in left.problems:
            self._pipes.complain(problem)
        self._conclude(how, left)

    def _conclude(self, how: Ending, left: Left) -> None:
        self._pipes.end()
        self._settle(self._result(how, left))

    def _ending(self, place: Place, end: End | None) -> Ending:
        asked = self._stop[0] if self._stop is not None else None
        if end is not None:
            limit = self.options.timeout_ms
            how = ending.of(end, place.limits, limit, asked, self._channel.out_of_memory)
            return how._replace(oom=True) if self._v8_ran_out_of_memory(how) else how
        return ending.stopped(asked) if self._stop is not None else ending.lost()

    def _v8_ran_out_of_memory(self, how: Ending) -> bool:
        if self.options.runtime.name not in (NODE, DENO) or how.killed or not how.exit_code:
            return False
        return ran_out_of_memory(how.exit_code, text_of("stderr", self._listener.items))

    def _disconnect(self, place: Place) -> None:
        """Before its descriptors are closed, whose numbers may be others' then."""
        if self._stdin is not None:
            self._stdin.cancel()
        self._channel.close()
        self._pipes.close()
        self.loop.remove_reader(place.control.fileno())
        for process in (place.guest, place.supervisor):
            if process is not None:
                self.loop.remove_reader(process)

    def _result(self, how: Ending, left: Left) -> ProgramResult:
        times = Times(self._asked_at, self._began_at, perf_counter())
        said, calls = self._listener.items, self._channel.calls
        return result_of(how, left, said, times, truncated=self._pipes.truncated, calls=calls)

    def _settle(self, result: ProgramResult | EngineError) -> None:
        self._ended = True
        self._end_turn()
        self._cancel_timers()
        place, self.place = self.place, None
        if place is not None:
            self._disconnect(place)
        self._owner.release(self, place)
        self._listener.isolation = self._owner.level
        self._listener.settled(result)
        self._owner.tidy_up()

    def _end_turn(self) -> None:
        if self._installing is not None:
            self._installing.end()
        if self.turn is not None:
            self.turn.end()

    def _workspace_deleted(self) -> None:
        """From any thread."""
        self.terminate(ending.DELETED)

    # -- timers

    def _later(self, seconds: float, call: Callable[[], Any]) -> None:
        self._timers.append(self.loop.call_later(seconds, call))

    def _cancel_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()


def _is_empty(folder: int) -> bool:
    with os.scandir(folder) as entries:
        return next(entries, None) is None
