"""The magic %%runprogram."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class, no_var_expand

from sandbox_kernel.errors import SandboxError
from sandbox_kernel.notebook.interrupts import Guard
from sandbox_kernel.notebook.options.help import options_help
from sandbox_kernel.notebook.options.lines import continued
from sandbox_kernel.notebook.options.program import PROGRAM_OPTIONS, parse_program_options
from sandbox_kernel.notebook.programcell import ProgramCell
from sandbox_kernel.notebook.show.linecap import LineCap, Stream
from sandbox_kernel.programs.contract import ProgramResult
from sandbox_kernel.values import Undefined

from .background import awaited_in_a_thread
from .cell_error import cell_error, refusal
from .magic import body_of, line_of
from .sources import Namespace

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

HELP = f"""%%runprogram LANGUAGE OPTIONS: run this cell as a program: python or node.

It has a process and a directory of its own, and reaches nothing else of this machine.

{options_help("magic", PROGRAM_OPTIONS)}

A SOURCE is a Python expression, or @PATH for a file; without one the name itself is looked up.

    %%runprogram python --packages pandas,matplotlib --file rows.csv --into run
    import pandas
    pandas.read_csv("rows.csv").plot().figure.savefig("rows.png")

What it prints appears as it comes; then its files are listed, and the pictures among them shown.
Interrupting the kernel ends the program and all that it started.
"""


@magics_class
class RunProgram(Magics):
    """One per shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell

    @no_var_expand
    @line_cell_magic
    def runprogram(self, line: str, cell: str | None = None) -> Any:
        prepared = self._prepared(line, body_of(cell, "runprogram"))
        future = awaited_in_a_thread(prepared.run())
        try:
            result = future.result()
        except KeyboardInterrupt:
            prepared.stop("interrupted")
            result = future.result()
        except SandboxError as error:
            raise refusal(error) from None
        return self._conclude(prepared, result)

    @no_var_expand
    @cell_magic
    def _runprogram(self, line: str, cell: str) -> Awaitable[Any]:
        """What `awaiting.py` turns %%runprogram into; not meant to be typed."""
        return self._awaited(self._prepared(line, cell))

    runprogram.__doc__ = HELP

    def _prepared(self, line: str, body: str) -> ProgramCell:
        shell = self._shell
        line, count = continued([line, *body.split("\n")])
        code = "\n" * count + "\n".join(body.split("\n")[count - 1 :])
        try:
            options = parse_program_options(line, "magic")
            given = options.run_options(Namespace(shell.ev, shell.user_ns, {}).resolve)
            cell = ProgramCell(
                code,
                options,
                given,
                guard=Guard(lambda: cell.stop("interrupted")),
                output=StreamOutput(shell),
                line=line_of(shell),
            )
        except SandboxError as error:
            raise refusal(error) from None
        return cell

    async def _awaited(self, cell: ProgramCell) -> Any:
        with cell.interruptible():
            try:
                result = await cell.run()
            except SandboxError as error:
                raise refusal(error) from None
        return self._conclude(cell, result)

    def _conclude(self, cell: ProgramCell, result: ProgramResult) -> Any:
        """What `set_result` gave is the cell's value."""
        traceback = cell.finish(result)
        if cell.options.into is not None:
            self._shell.user_ns[cell.options.into] = result
        if traceback is not None:
            raise cell_error(traceback, result)
        return None if isinstance(result.result, Undefined) else result.result


class StreamOutput:
    """The streams of the cell; in a page, not too many lines of them."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._cap = LineCap() if getattr(shell, "kernel", None) is not None else None
        self._publisher = shell.display_pub
        self.display = None if self._cap is None else self._publish
        self._lock = threading.Lock()

    def _publish(self, bundle: dict[str, Any], display_id: str, update: bool) -> None:
        self._publisher.publish(bundle, transient={"display_id": display_id}, update=update)

    def write(self, stream: Stream, text: str) -> None:
        with self._lock:
            shown = text if self._cap is None else self._cap.take(stream, text)
        _write(stream, shown)

    def picture(self, bundle: dict[str, Any]) -> None:
        self._publisher.publish(bundle)

    def cut(self) -> None:
        """Nothing to do: no output is held back here."""

    def end(self) -> None:
        cap, self._cap = self._cap, None
        for stream, text in cap.rest() if cap is not None else ():
            _write(stream, text)


def _write(stream: Stream, text: str) -> None:
    if text:
        (sys.stderr if stream == "stderr" else sys.stdout).write(text)
