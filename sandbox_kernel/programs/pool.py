"""ProgramPool: which program gets a place, how many run at once, and that nothing is left behind.

A thread of its own asks zygotes for places and tidies up after programs, because that may take a
while; a program whose place waits as a spare does not wait for it. Where a zygote has to be started
first, which takes seconds if packages are to be loaded, the program gets a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import lifetimes, loops
from ..backend import ActiveRun
from ..errors import EngineBusyError, EngineClosedError, EngineError, OptionError
from ..isolation.beneath import Quota
from ..sessions import Workspaces
from .active import BEGINNING_SECONDS, ActiveProgram, Listener
from .checkup import advice, runtimes
from .contract import DEFAULT_MEMORY_BYTES, ProgramOptions
from .families import Families, Key
from .grants import check_reach
from .inputs import checked_inputs
from .installs import Installs
from .place import Place
from .protocol import LANDLOCK, Limits
from .runtimes import PYTHON
from .settings import Settings
from .spares import Spare, Spares
from .starters import Starters
from .users import next_user
from .zygote import ZygoteProcess

if TYPE_CHECKING:
    from .scripts import Scripts


_ENDING_SECONDS = 0.003  # in which whoever waits for a result is woken


class Processes(NamedTuple):
    """Process numbers of guardians of zygotes, and how many places wait; for diagnostics."""

    zygotes: tuple[int, ...]
    spares: int


class ProgramPool:
    """All of it may be called from any thread."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._changed = threading.Condition(threading.RLock())
        self._thread: threading.Thread | None = None
        self._starters = Starters(self._notify)
        self._zygotes = Families()
        self._spares = Spares()
        self._executing: dict[ActiveProgram, ZygoteProcess | None] = {}
        self._queue: deque[ActiveProgram] = deque()  # until others have ended
        self._in_line: set[ActiveProgram] = set()  # for their session
        self._waiting: deque[ActiveProgram] = deque()  # executing, but without a place yet
        self._left: deque[Spare] = deque()  # of programs that have ended, to be tidied up
        self._asks = False  # somebody, which level there is
        self._problem: EngineError | None = None  # why there is none
        self._calm_at = 0.0  # when programs that have just begun no longer need all processors
        self._told_at = 0.0  # when the result of the last one has been told
        self._closed = False
        lifetimes.opened(self)

    # -- settings and diagnostics

    @cached_property
    def workspaces(self) -> Workspaces:
        """Of sessions for which the caller names none; private, and gone with the process."""
        return Workspaces()

    @cached_property
    def _scripts(self) -> Scripts:
        """Loaded late, because most who run programs run none of these."""
        from .scripts import Scripts

        return Scripts()

    @cached_property
    def _installs(self) -> Installs:
        """Folders of what programs install."""
        return Installs()

    @property
    def settings(self) -> Settings:
        return self._settings

    def configure(self, settings: Settings) -> None:
        """For programs from now on; what was made by other settings is let go of."""
        with self._changed:
            before, self._settings = self._settings, settings
            if before[2:] != settings[2:]:
                self._left += self._spares.drop()
                self._zygotes.retire()
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def executing(self) -> int:
        return len(self._executing)

    @property
    def queued(self) -> int:
        return len(self._queue)

    @property
    def level(self) -> str | None:
        """The level of isolation; None until it was tried."""
        return self._zygotes.level

    @property
    def refused(self) -> dict[str, str]:
        """Why better levels are not there."""
        return dict(self._zygotes.refused)

    def processes(self) -> Processes:
        with self._changed:
            return Processes(self._zygotes.pids(), len(self._spares))

    def examine(self) -> dict[str, Any]:
        """The level of isolation, tried now if it was not yet. Raises EngineError if there is none."""
        with self._changed:
            self._refuse_if_closed()
            if self._zygotes.level is None:
                self._asks, self._problem = True, None
                self._wake()
                self._changed.wait_for(lambda: not self._asks or self._closed)
                if self._problem is not None:
                    raise self._problem
        return {
            "isolation": self._zygotes.level,
            "refused": self.refused,
            "advice": advice(self.refused),
            "runtimes": runtimes(self._settings),
        }

    # -- programs come

    def start(
        self, options: ProgramOptions, listener: Listener, loop: asyncio.AbstractEventLoop
    ) -> ActiveRun:
        """The program is held on `loop`. OptionError if its files are wrong."""
        with self._changed:
            self._refuse_if_closed()
        workspaces = (options.workspaces or self.workspaces) if options.session else None
        inputs = checked_inputs(options.files, self._quota(workspaces))
        self._check_grants(options, inputs)
        if options.runtime.is_script:
            return self._scripts.start(options, inputs, listener, loop, workspaces)
        program = ActiveProgram(options, inputs, listener, loop, self, workspaces)
        if options.install:
            program.install_with(self._installs.open(options.runtime.name, program.turn))
        if program.turn is None:
            self._admit(program)
        else:
            with self._changed:
                self._in_line.add(program)
            loops.on_loop(
                loop, program.turn.wait, loop, partial(self._let_in, program), program.fail
            )
        return program

    def _check_grants(self, options: ProgramOptions, inputs: Mapping[str, bytes]) -> None:
        if taken := set(inputs).intersection(options.allowed.names):
            raise OptionError(f"allow and files both have {sorted(taken)[0]!r}", "allow")
        if options.allowed.grants.paths and not options.runtime.is_script:
            level = self.level or self._settings.isolation
            check_reach(options.allowed, next_user() is not None, level != LANDLOCK)

    def _quota(self, workspaces: Workspaces | None) -> Quota:
        settings = self._settings
        own = Quota(settings.directory_bytes, settings.directory_files)
        return own if workspaces is None else workspaces.quota

    def _let_in(self, program: ActiveProgram) -> None:
        """Its turn in its session has come."""
        with self._changed:
            self._in_line.discard(program)
        try:
            self._admit(program)
        except EngineError as error:
            program.fail(error)

    def _admit(self, program: ActiveProgram) -> None:
        """Executes it, or puts it into the queue of those that will be."""
        with self._changed:
            self._refuse_if_closed()
            self._drop_orphans()
            if len(self._executing) >= self._settings.concurrency:
                self._refuse_if_full()
                self._queue.append(program)
                return
            self._executing[program] = None
        self._assign(program)

    def warm_up(self) -> None:
        """Starts the zygote and its spares now rather than at the first program."""
        with self._changed:
            self._refuse_if_closed()
            self._wake()

    def tidy_up(self) -> None:
        """There may be something to do that nobody waits for."""
        with self._changed:
            self._wake()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise EngineClosedError("these programs were closed; make another Programs()")

    def _refuse_if_full(self) -> None:
        executing, queued = len(self._executing), len(self._queue)
        if queued >= self._settings.max_queued:
            raise EngineBusyError(
                f"{executing:,} programs execute and {queued:,} wait, which is as many as may;"
                " try again later, or raise Programs.max_queued"
            )

    def _drop_orphans(self) -> None:
        """Programs whose event loop was closed under them will never end by themselves."""
        for program in [*self._executing, *self._queue, *self._in_line]:
            if program.loop.is_closed():
                program.abandon()

    def _assign(self, program: ActiveProgram) -> None:
        """A spare, if one fits."""
        with self._changed:
            spare = self._fitting_spare(program)
            if spare is None:
                self._waiting.append(program)
            else:
                self._executing[program] = spare.zygote
        if spare is not None:
            self._hand_over(program, spare.place)
        with self._changed:
            self._calm_at = monotonic() + BEGINNING_SECONDS
            if self._has_work():
                self._wake()

    def _fitting_spare(self, program: ActiveProgram) -> Spare | None:
        """They have the limits that most programs have, no workspace, and nothing else."""
        options = program.options
        more = options.packages is not None or options.install or options.allowed.grants
        if program.turn is not None or more:
            return None
        return self._spares.take(program.options.runtime.name, self._limits(program))

    def _limits(self, program: ActiveProgram | None) -> Limits:
        size = DEFAULT_MEMORY_BYTES if program is None else program.options.memory_limit_bytes
        limits = self._settings.limits(size)
        if program is not None and program.turn is not None:
            quota = program.turn.quota
            limits = limits._replace(directory_bytes=quota.bytes, directory_files=quota.files)
        return limits

    def _hand_over(self, program: ActiveProgram, place: Place) -> None:
        try:
            loops.on_loop(program.loop, program.attach, place)
        except RuntimeError:  # its loop is closed
            place.close()
            program.abandon()

    # -- programs go

    def release(self, program: ActiveProgram, place: Place | None) -> None:
        """It has ended: who has waited longest executes instead."""
        with self._changed:
            zygote = self._forget(program)
            if place is not None and zygote is not None:
                self._left.append(Spare(place, zygote))
            self._told_at = monotonic() + _ENDING_SECONDS
            following = self._next()
        if following is not None:
            self._assign(following)

    def _forget(self, program: ActiveProgram) -> ZygoteProcess | None:
        self._in_line.discard(program)
        for line in (self._queue, self._waiting):
            if program in line:
                line.remove(program)
        return self._executing.pop(program, None)

    def _next(self) -> ActiveProgram | None:
        if self._closed or not self._queue:
            return None
        if len(self._executing) >= self._settings.concurrency:
            return None
        following = self._queue.popleft()
        self._executing[following] = None
        return following

    def another_place(self, program: ActiveProgram) -> None:
        """Its place was dead: so may be all others of that zygote."""
        with self._changed:
            self._distrust(self._executing.get(program))
            self._executing[program] = None
        self._assign(program)

    def distrust(self, program: ActiveProgram) -> None:
        """It waited for its place in vain."""
        with self._changed:
            self._distrust(self._executing.get(program))

    def _distrust(self, zygote: ZygoteProcess | None) -> None:
        if zygote is not None and self._zygotes.distrust(zygote):
            self._left += self._spares.drop(zygote)

    # -- the thread

    def _wake(self) -> None:
        if self._thread is None and not self._closed:
            thread = threading.Thread(target=self._work, name="sandbox-programs", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                self._tell_those_who_wait(error)
                return
            self._thread = thread
        self._changed.notify_all()

    def _tell_those_who_wait(self, error: RuntimeError) -> None:
        """There is no thread that could do something for them."""
        problem = EngineError(f"no process for the program could be started: {error}")
        self._asks, self._problem = False, problem
        for program in self._waiting:
            with suppress(RuntimeError):  # its loop is closed
                program.loop.call_soon_threadsafe(program.fail, problem)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._has_work():
                    self._changed.wait(self._seconds_of_rest())
                if self._closed:
                    return
            self._do_some_work()

    def _has_work(self) -> bool:
        if self._closed or self._waiting or self._asks:
            return True
        if self._told_at > monotonic():
            return False
        return bool(self._left or self._missing_spare() is not None or self._idle())

    def _seconds_of_rest(self) -> float | None:
        """Until there may be work that nobody waits for; None if somebody has to come first."""
        until_told = self._told_at - monotonic()
        return until_told if until_told > 0 else self._seconds_until_calm()

    def _missing_spare(self) -> str | None:
        """While a program has just begun, only the last of Python's is replaced.

        Making a place takes longer than most programs, and would take a processor from them.
        """
        wanted, is_failing = self._settings.spares, self._zygotes.is_failing
        if self._seconds_until_calm() is None:
            return self._spares.missing(wanted, is_failing)
        return self._spares.missing(min(wanted, 1), is_failing, (PYTHON,))

    def _seconds_until_calm(self) -> float | None:
        """None if it is."""
        left = self._calm_at - monotonic() if self._executing else 0.0
        return left if left > 0 else None

    def _idle(self) -> ZygoteProcess | None:
        """A zygote that nobody needs; not while places are opened that are nobody's yet."""
        return None if self._starters else self._zygotes.idle(self._used())

    def _used(self) -> set[ZygoteProcess]:
        """Zygotes of programs that execute, or of places that are not tidied up."""
        return {each for each in self._executing.values() if each} | {e.zygote for e in self._left}

    def _do_some_work(self) -> None:
        """One thing, what is waited for first. Nothing here happens under the lock."""
        with self._changed:
            program = self._waiting.popleft() if self._waiting else None
            left = self._left.popleft() if program is None and self._left else None
            idle = self._idle()
        if program is not None:
            self._find_place_for(program)
        elif left is not None:
            left.place.close()
            left.zygote.remove(left.place)
        elif idle is not None:
            self._zygotes.end(idle)
        else:
            self._open_spare()

    def _find_place_for(self, program: ActiveProgram) -> None:
        if self._zygotes.is_ready(self._kind(program)[0]):
            self._open_place_for(program)
        else:
            self._starters.begin(partial(self._open_place_for, program))

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _open_place_for(self, program: ActiveProgram) -> None:
        try:
            place, zygote = self._zygotes.open_place(
                self._settings, self._limits(program), *self._kind(program)
            )
        except EngineError as error:
            with suppress(RuntimeError):
                loops.on_loop(program.loop, program.fail, error)
            return
        with self._changed:
            wanted = program in self._executing and not self._closed
            if wanted:
                self._executing[program] = zygote
            else:
                self._left.append(Spare(place, zygote))
        if wanted:
            self._hand_over(program, place)

    def _kind(self, program: ActiveProgram) -> tuple[Key, str | None, str | None]:
        options, turn = program.options, program.turn
        installed = program.installed
        key = Key(
            options.runtime.name,
            turn.root if turn else None,
            options.packages,
            options.allowed.grants,
            self._installs.root if installed else None,
        )
        return key, turn.session if turn else None, installed

    def _open_spare(self) -> None:
        with self._changed:
            runtime = self._missing_spare() or PYTHON  # somebody asks what Python's level is
        opened: Spare | None = None
        problem: EngineError | None = None
        try:
            limits = self._limits(None)
            opened = Spare(*self._zygotes.open_place(self._settings, limits, Key(runtime)))
        except EngineError as error:
            problem = error
        with self._changed:
            if opened is not None and not self._closed and self._missing_spare() == runtime:
                self._spares.add(runtime, opened)
            elif opened is not None:
                self._left.append(opened)
            if runtime == PYTHON:
                self._asks, self._problem = False, problem
            self._changed.notify_all()

    # -- the end

    def close(self) -> None:
        """Ends every program and every process; leaves no zombie and no descriptor. Idempotent."""
        with self._changed:
            self._closed = True
            programs = [*self._executing, *self._queue, *self._in_line]
            self._changed.notify_all()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(30)
        self._starters.join(30)
        for program in programs:
            with suppress(RuntimeError):
                error = EngineClosedError("the program's Programs() was closed")
                loops.on_loop(program.loop, program.fail, error)
        if "_scripts" in vars(self):
            self._scripts.close()
        self._zygotes.close()
        if "_installs" in vars(self):
            self._installs.close()
        for spare in (*self._spares.drop(), *self._left):
            spare.place.close()
        lifetimes.closed(self)

    def forget(self) -> None:
        """In a fork of the host: processes and locks are the parent's."""
        self._changed = threading.Condition(threading.RLock())
        self._thread = None
        self._starters.forget()
        self._spares.drop()
        for line in (self._left, self._waiting, self._queue):
            line.clear()
        self._executing.clear()
        self._in_line.clear()
        vars(self).pop("_installs", None)
        self._zygotes.forget()
