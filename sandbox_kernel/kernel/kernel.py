"""The Jupyter kernel: requests become runs, and what runs say becomes Jupyter messages.

Three threads matter. The main one has the shell channel and the runs: bridged functions are called
there. The control thread takes interrupts and terminates runs directly, so that nothing on the
main thread can delay it. ipykernel's IOPub thread sends output, in the order it was handed over.
"""

# ipykernel has few annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import asyncio
import sys
from contextvars import copy_context
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import comm
import ipykernel.ipkernel  # noqa: F401  # makes `comm` speak through ipykernel
from ipykernel._version import kernel_protocol_version
from ipykernel.kernelbase import Kernel

from .. import __version__
from ..clean import clean
from ..errors import SandboxError
from ..notebook.ask.stdin import KernelInput
from ..notebook.assist.intrinsics import Intrinsics
from ..notebook.colours import colour_cells
from ..notebook.interrupts import Guard
from ..notebook.show.traceback import Traceback, refusal_of
from .console import CellStream, Console
from .execute import CellFailed, Executor
from .history import History
from .notebook_state import NotebookState
from .running import RunningCell, current_cell
from .shell import provide_shell

if TYPE_CHECKING:
    from .assist import Assistant

_TRIES = 5
# Answered while a cell runs: they touch nothing that the cell uses.
_MEANWHILE = frozenset(
    (
        *("complete_request", "inspect_request", "is_complete_request", "history_request"),
        *("kernel_info_request", "comm_info_request"),  # a reloaded page asks for these
    )
)


class SandboxKernel(Kernel):
    """The kernel `sandbox`."""

    implementation = "sandbox-kernel"
    implementation_version = __version__
    banner = (
        f"Sandbox kernel {__version__}: each cell is an ES module in a fresh sandbox.\n"
        "%help lists the magics and options."
    )
    language_info = {  # noqa: RUF012  # how kernels declare it
        "name": "typescript",
        "version": "ES2023",
        "mimetype": "application/typescript",
        "file_extension": ".ts",
        "pygments_lexer": "typescript",
        "codemirror_mode": "typescript",
        "nbconvert_exporter": "script",
    }
    _execute_sleep = 0.0  # all output is handed over before the reply is

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.state = NotebookState()
        self.history = History()
        self.guard = Guard(self.interrupt)
        self.intrinsics = Intrinsics()
        self.executor = Executor(
            self.state,
            self.guard,
            self.intrinsics,
            partial(provide_shell, self._current_cell),
        )
        self._cells: list[RunningCell] = []
        self._open_comms()
        sys.stdout = CellStream("stdout", sys.__stdout__ or sys.stdout, self._current_console)
        sys.stderr = CellStream("stderr", sys.__stderr__ or sys.stderr, self._current_console)

    def start(self) -> None:
        super().start()
        self.guard.install()

    # ---- cells ----

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict[str, str] | None = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: str | None = None,
    ) -> dict[str, Any]:
        if store_history and not silent:
            self.history.add(self.execution_count, code)
        parent = self.get_parent("shell")
        cell = RunningCell(parent, partial(self._publish, parent, silent), self.guard, silent)
        cell.line = KernelInput(self, allow_stdin)
        self._cells.append(cell)
        cell.enter()
        try:
            await self.executor.execute(code, cell, self.execution_count)
            await cell.console.drain()
            return {
                "status": "ok",
                "execution_count": self.execution_count,
                "payload": [],
                "user_expressions": {},
            }
        except Exception as error:
            if not isinstance(error, CellFailed | SandboxError):
                self.log.exception("a cell failed because of an error in the kernel itself")
            await cell.console.drain()
            return self._failed(cell, _traceback(error))
        finally:
            self._cells.remove(cell)
            current_cell.set(None)

    def _failed(self, cell: RunningCell, traceback: Traceback) -> dict[str, Any]:
        cell.fail(traceback)
        return {
            "status": "error",
            "execution_count": self.execution_count,
            "ename": traceback.name,
            "evalue": traceback.message,
            "traceback": traceback.lines,
        }

    def _publish(
        self, parent: dict[str, Any], silent: bool, kind: str, content: dict[str, Any]
    ) -> None:
        if silent or self.session is None:
            return
        self.session.send(self.iopub_socket, kind, content, parent=parent, ident=self._topic(kind))

    def _current_cell(self) -> RunningCell | None:
        """The cell that the calling code serves; threads start without that context."""
        return current_cell.get() or (self._cells[-1] if self._cells else None)

    def _current_console(self) -> Console | None:
        cell = self._current_cell()
        return cell.console if cell is not None else None

    # ---- interrupt, shutdown ----

    def interrupt(self) -> None:
        """Terminates every running cell. Called on the control thread or in a signal handler."""
        for cell in tuple(self._cells):
            cell.stop("interrupted")

    async def interrupt_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        self.interrupt()
        if self.session is not None:
            self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        self.interrupt()
        self.executor.close()
        return {"status": "ok", "restart": restart}

    def pre_handler_hook(self) -> None:
        """ipykernel would let SIGINT raise anywhere; the guard lets it raise in bridges only."""

    def post_handler_hook(self) -> None:
        """See `pre_handler_hook`."""

    # ---- help while typing ----

    @cached_property
    def assistant(self) -> Assistant:
        """Loaded on first use, so that the kernel starts faster."""
        from .assist import Assistant

        return Assistant(self.state, self.intrinsics)

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        completion = await self.assistant.complete(code, cursor_pos)
        return {"status": "ok", **completion}

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> dict[str, Any]:
        text = await self.assistant.inspect(code, cursor_pos, detail_level)
        data = {"text/plain": clean(text)} if text else {}
        return {"status": "ok", "found": bool(text), "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> dict[str, Any]:
        return self.assistant.is_complete(code)

    async def do_history(self, **request: Any) -> dict[str, Any]:  # type: ignore[override]  # all by name
        return {"status": "ok", "history": self.history.answer(request)}

    @property
    def kernel_info(self) -> dict[str, Any]:
        """Overridden: ipykernel would announce a debugger and subshells, and import the debugger."""
        return {
            "protocol_version": kernel_protocol_version,
            "implementation": self.implementation,
            "implementation_version": self.implementation_version,
            "language_info": self.language_info,
            "banner": self.banner,
            "help_links": [],
            "supported_features": [],
        }

    # ---- dispatch ----

    def _open_comms(self) -> None:
        """Widgets talk through comms; ipykernel delivers those even while a cell runs."""
        self.comm_manager = comm.get_comm_manager()
        for kind in ("comm_open", "comm_msg", "comm_close"):
            self.shell_handlers[kind] = getattr(self.comm_manager, kind)
        # ipywidgets registers this only under IPython.
        self.comm_manager.register_target("jupyter.widget.control", _send_states)

    async def shell_main(self, subshell_id: str | None, msg: Any) -> None:
        """Answers help requests at once; everything else waits for the running cell, as usual."""
        header = self._header(msg) if self._cells and subshell_id is None else None
        if header is None or header["msg_type"] not in _MEANWHILE:
            await super().shell_main(subshell_id, msg)
            return
        request = {"header": header}
        self._publish_status("busy", "shell", parent=request)
        ident, parent = self._parent_ident["shell"], self.get_parent("shell")
        try:
            await asyncio.create_task(
                self.dispatch_shell(msg, concurrent=True), context=copy_context()
            )
        finally:
            self.set_parent(ident, parent, channel="shell")
        self._publish_status("idle", "shell", parent=request)
        for cell in self._cells:  # front ends show the latest status, whichever request it is for
            self._publish_status("busy", "shell", parent=cell.parent)

    def _header(self, msg: Any) -> dict[str, Any] | None:
        if self.session is None:
            return None
        try:
            _, frames = self.session.feed_identities(msg, copy=False)
            return self.session.deserialize(frames, content=False, copy=False)["header"]  # type: ignore[no-any-return]  # as Jupyter's messages are
        except Exception:
            return None  # not a valid message; ipykernel logs it


def _send_states(channel: Any, opened: dict[str, Any]) -> None:
    """Sends a page that was loaded the state of every widget."""
    # Slow to import, and only pages with widgets ask for it.
    from ipywidgets import Widget  # type: ignore[import-untyped]  # it has no types

    Widget.handle_control_comm_opened(channel, opened)
    channel.on_msg(_states_asked)


def _states_asked(message: dict[str, Any]) -> None:
    """ipywidgets goes through a live dict, to which the threads of views add their widgets."""
    from ipywidgets import Widget

    for left in reversed(range(_TRIES)):
        try:
            Widget._handle_control_comm_msg(message)
            break
        except RuntimeError:
            if not left:
                raise
    colour_cells()  # not sooner, since its thread makes a widget too


def _traceback(error: Exception) -> Traceback:
    return error.traceback if isinstance(error, CellFailed) else refusal_of(error)
