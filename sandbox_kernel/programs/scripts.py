"""JavaScript and TypeScript programs: a module on the engine, with the face of a program.

The engine's sandbox has no files, streams or processes; what a program has of them is lent to it.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from time import perf_counter

from .. import loops
from ..contract import CodeExecutionError, CodeExecutionLog, CodeExecutionResult
from ..engine.default import pool_for_a_run
from ..errors import EngineClosedError, EngineError
from ..execution import CodeExecution, note_asking, processor_seconds, start_code
from ..explain.scene import Scene
from ..isolation.beneath import Directory
from ..lending import lend
from ..options import CodeExecutionOptions
from ..sessions import Workspaces
from ..sizes import spell_size
from ..wire.messages import UNCAUGHT
from . import ending
from .active import Listener
from .contract import ProgramOptions, ProgramResult
from .ending import Ending, Times, result_of
from .gathering import Left, gather
from .inputs import write_inputs
from .outputs import snapshot
from .script_files import ScriptFiles, ScriptFolder
from .script_tools import ScriptTools
from .streams import Stream
from .turn import Turn

_IMPORTABLE = (".js", ".mjs", ".ts", ".mts")
_MOST_MODULES, _LARGEST_MODULE = 200, 2**20
_ON_STDERR = frozenset({"warn", "error"})


class ScriptProgram:
    """All of it happens on the program's loop, but for `terminate`, which any thread may call."""

    def __init__(
        self,
        options: ProgramOptions,
        inputs: Mapping[str, bytes],
        listener: Listener,
        loop: asyncio.AbstractEventLoop,
        workspaces: Workspaces,
    ) -> None:
        """`workspaces` have its directory, which is gone at its end unless it names a session."""
        self.loop = loop
        self._options = options
        self._inputs = inputs
        self._listener = listener
        self._workspaces = workspaces
        self._session = options.session or f"script-{secrets.token_hex(12)}"
        self._turn = Turn(workspaces, self._session, partial(self.terminate, ending.DELETED))
        gate = None if options.policy is None else options.policy.gate()
        self._tools = ScriptTools(options.tools, gate, loop, self._asking)
        self._streams = {
            name: Stream(name, options.output_bytes, listener.add) for name in ("stdout", "stderr")
        }
        self._asked_at = perf_counter()
        self._began_at: float | None = None
        self._run: CodeExecution | None = None
        self._stop: tuple[str | None] | None = None  # the reason, once it is to end
        self._task: asyncio.Task[None] | None = None
        self._exit_code = 0  # if nothing else ends it

    def start(self, done: Callable[[ScriptProgram], None]) -> None:
        """When its turn has come; `done` is told when it has ended."""
        self._done = done
        loops.on_loop(self.loop, self._turn.wait, self.loop, self._begin, self.fail)

    def terminate(self, reason: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed, and the engine ends what is left of it
            loops.on_loop(self.loop, self._terminate, reason)

    def memory_used_bytes(self) -> int | None:
        return None if self._run is None else self._run.memory_used_bytes

    def processor_seconds(self) -> float | None:
        return None if self._run is None else processor_seconds(self._run)

    def fail(self, error: EngineError) -> None:
        if self._task is not None:
            self._task.cancel()
        self._settle(error)

    def abandon(self) -> None:
        """Its loop will not do anything any more."""
        self._end_turn()

    # -- its life

    def _begin(self) -> None:
        self._task = self.loop.create_task(self._live())

    async def _live(self) -> None:
        try:
            with self._workspaces.directory_of(self._session) as directory:
                outcome: ProgramResult | EngineError = await self._result(directory)
        except EngineError as error:
            outcome = error
        except OSError as error:
            outcome = EngineError(f"the program's files cannot be used: {error.strerror}")
        self._settle(outcome)

    async def _result(self, directory: Directory) -> ProgramResult:
        write = partial(write_inputs, directory, self._inputs, None)
        await self.loop.run_in_executor(None, write)
        before = await self.loop.run_in_executor(None, snapshot, directory)
        how = await self._execute(directory)
        most = self._options.max_file_bytes
        left = await self.loop.run_in_executor(
            None, gather, directory, before, self._tools.said, most
        )
        for problem in left.problems:
            self._say("stderr", f"{problem}\n")
        return self._made(how, left)

    async def _execute(self, directory: Directory) -> Ending:
        options = self._options
        if self._stop is not None:
            return ending.stopped(self._stop[0])
        given = CodeExecutionOptions.of(
            language=options.runtime.name,
            filename=f"program{options.runtime.suffixes[0]}",
            memory_limit_bytes=options.memory_limit_bytes,
            modules=_modules_in(directory),
            lend=[self._files()],
            globals={
                "args": list(options.args),
                "stdin": options.stdin.decode("utf-8", "replace"),
                "env": dict(options.env),
                **self._tools.functions(),
            },
        )
        order, lent = lend(options.source.decode(), given, lenient=True, demand_export=False)
        self._began_at = perf_counter()
        self._listener.on_start()
        self._run = start_code(pool_for_a_run(), order, lent, self._on_log)
        if options.timeout_ms != math.inf:
            reason = ending.over_time(options.timeout_ms)
            self._run.terminate_after(options.timeout_ms / 1000, reason)
        return self._ending(await self._run)

    def _files(self) -> ScriptFiles:
        own = self._workspaces.directory_of(self._session)
        grants = self._options.allowed.grants.paths
        return ScriptFiles(ScriptFolder(own, grants, self._turn.quota))

    def _terminate(self, reason: str | None) -> None:
        if self._stop is not None:
            return
        self._stop = (reason,)
        if self._run is not None:
            self._run.terminate(reason)
        elif self._task is None:  # its turn has not come
            self._settle(self._made(ending.stopped(reason), Left()))

    def _asking(self, asking: bool) -> None:
        """Asking takes none of its time: of its limit, which the run has, and of its handle's."""
        self._listener.on_asking(asking)
        if self._run is not None:
            note_asking(self._run, asking)

    # -- what it says

    def _on_log(self, log: CodeExecutionLog) -> None:
        if log.method == UNCAUGHT:
            self._exit_code = 1
        self._say("stderr" if log.level in _ON_STDERR else "stdout", _console_line(log))

    def _say(self, name: str, text: str) -> None:
        self._streams[name].feed(text.encode("utf-8", "backslashreplace"))

    def _ending(self, result: CodeExecutionResult) -> Ending:
        error = result.error
        if error is None:
            return Ending(self._exit_code)
        if result.status == "memory":
            limit = spell_size(self._options.memory_limit_bytes)
            return Ending(ending.KILLED, oom=True, reason=f"memory limit of {limit}")
        if result.status == "terminated":
            return ending.stopped(error.message)
        self._say("stderr", f"{_rendered(error)}\n")
        return Ending(1)

    def _made(self, how: Ending, left: Left) -> ProgramResult:
        for stream in self._streams.values():
            stream.end()
        times = Times(self._asked_at, self._began_at, perf_counter())
        truncated = any(stream.truncated for stream in self._streams.values())
        calls = self._tools.records
        return result_of(how, left, self._listener.items, times, truncated=truncated, calls=calls)

    def _settle(self, result: ProgramResult | EngineError) -> None:
        self._end_turn()
        self._listener.settled(result)

    def _end_turn(self) -> None:
        self._tools.close()
        self._turn.end()
        if self._options.session is None:
            self._workspaces.delete(self._session)
        self._done(self)


class Scripts:
    """Those of one pool; each begins at once, and waits in the engine's queue if that is full."""

    def __init__(self) -> None:
        self._folders = Workspaces()  # of programs without a session
        self._active: set[ScriptProgram] = set()

    def start(
        self,
        options: ProgramOptions,
        inputs: Mapping[str, bytes],
        listener: Listener,
        loop: asyncio.AbstractEventLoop,
        workspaces: Workspaces | None,
    ) -> ScriptProgram:
        for other in [each for each in list(self._active) if each.loop.is_closed()]:
            other.abandon()
        program = ScriptProgram(options, inputs, listener, loop, workspaces or self._folders)
        self._active.add(program)
        program.start(self._active.discard)
        return program

    def close(self) -> None:
        for program in list(self._active):
            error = EngineClosedError("the program's Programs() was closed")
            try:
                loops.on_loop(program.loop, program.fail, error)
            except RuntimeError:
                program.abandon()


def _modules_in(directory: Directory) -> dict[str, str]:
    """The sources beside the program, which it may import."""
    names = [name for name in directory.names() if name.endswith(_IMPORTABLE)][:_MOST_MODULES]
    found = {}
    for name in names:
        try:
            found[f"./{name}"] = directory.read(name, _LARGEST_MODULE).decode()
        except (OSError, UnicodeDecodeError):
            continue  # not a source
    return found


def _rendered(error: CodeExecutionError) -> str:
    """With hints in the words of programs, which lack options that other runs have."""
    from ..explain.render import render  # only for errors

    return "\n".join(render(error, (error.scene or Scene())._replace(face="program")))


def _console_line(log: CodeExecutionLog) -> str:
    """As consoles show it. What shows values stands above this part: loaded like a plug-in."""
    line: str = import_module("..notebook.show.output", __package__).console_line(log)
    return line
