"""Runners of code that calls tools, as seed 001 has them: the protocol, and the one without a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from ..errors import OptionError
from ..programs.handle import ProgramExecution
from ..run import run_program
from .backends import check_program_options
from .closing import Closing
from .recursion import is_name_of_one, refuse
from .requests import MAX_FILE_SIZE, MAX_OUTPUT, CodeRequest, CodeResult, check_size, check_timeout
from .toolbox import Toolbox

Dispatch = Callable[[str, Any], Any]  # sync or async; returns a value, or raises
_OURS = (
    "timeout_ms",
    "output_bytes",
    "max_file_bytes",
    "tools",
    "stdin",
    "args",
    "files",
    "session",
)


@runtime_checkable
class CodeRunner(Protocol):
    """Runs code; `dispatch` answers the calls of tools that the code makes."""

    async def run(self, request: Any, dispatch: Dispatch) -> CodeResult: ...


class FromCode:
    """`dispatch` as code reaches it: never to what runs code, however that was lent."""

    def __init__(self, dispatch: Dispatch) -> None:
        if not callable(dispatch):
            raise OptionError(
                f"dispatch is called with a name and arguments; {dispatch!r:.80} cannot be"
            )
        box = getattr(dispatch, "__self__", None)
        self._dispatch = box.dispatch_from_code if isinstance(box, Toolbox) else dispatch

    async def dispatch_from_code(self, name: str, args: Any = None) -> Any:
        if is_name_of_one(name):
            refuse(name)
        given = self._dispatch(name, {} if args is None else args)
        return await given if inspect.isawaitable(given) else given


class LocalRunner(Closing):
    """Runs code here, as isolated programs. `options` are those of `run_program`.

    `timeout` is in seconds; `max_output` bytes of logs are kept, and files of up to `max_file_size`.
    """

    runtimes = ("python", "node")

    def __init__(
        self,
        timeout: float = 30,
        max_output: int = MAX_OUTPUT,
        max_file_size: int = MAX_FILE_SIZE,
        **options: Any,
    ) -> None:
        for name in _OURS:
            if name in options:
                raise OptionError(
                    f"{name} is not an option of a runner; {_INSTEAD.get(name, _ASK)}"
                )
        limits = {
            "output_bytes": check_size("max_output", max_output),
            "max_file_bytes": check_size("max_file_size", max_file_size),
        }
        check_program_options("python", {**options, **limits})
        self._timeout = check_timeout(timeout)
        self._max_output = max_output
        self._options = {**options, **limits}
        self._running: set[ProgramExecution] = set()

    async def run(self, request: CodeRequest | Mapping[str, Any], dispatch: Dispatch) -> CodeResult:
        """Raises OptionError for a request that cannot be run; code that fails is a result."""
        self._check_open()
        asked = CodeRequest.of(request)
        run = run_program(
            asked.code,
            asked.runtime,
            stdin=asked.stdin,
            args=list(asked.args),
            files={file.name: file.data or b"" for file in asked.files},
            timeout_ms=(asked.timeout or self._timeout) * 1000,
            tools=FromCode(dispatch),
            session=asked.session_id,
            **self._options,
        )
        self._running.add(run)
        try:
            found = await run
        finally:
            self._running.discard(run)
        ids = {"execution_id": asked.execution_id, "session_id": asked.session_id}
        return CodeResult.of(found, self._max_output, **ids)

    async def close(self) -> None:
        """Ends what runs. Idempotent."""
        await super().close()
        for run in list(self._running):
            run.terminate("the runner was closed")


_ASK = "it is a field of each request"
_INSTEAD = {
    "timeout_ms": "write timeout, in seconds",
    "output_bytes": "write max_output",
    "max_file_bytes": "write max_file_size",
    "tools": "code calls what `dispatch` answers",
    "session": "session_id is a field of each request",
}
