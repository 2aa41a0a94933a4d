"""The magics %%runcode, %%runmodule, %runs, %mcp and %types."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.errors import OptionError, SandboxError
from sandbox_kernel.execution import CodeExecution
from sandbox_kernel.notebook.ask.listing import answer_permissions
from sandbox_kernel.notebook.ask.rules import all_of
from sandbox_kernel.notebook.ask.stdin import KernelInput, Line, TerminalInput
from sandbox_kernel.notebook.cellrun import CellRun
from sandbox_kernel.notebook.earlier import EarlierCells
from sandbox_kernel.notebook.interrupts import Guard
from sandbox_kernel.notebook.modules import problem_in
from sandbox_kernel.notebook.options.grammar import parse_options
from sandbox_kernel.notebook.options.help import options_help
from sandbox_kernel.notebook.options.lines import continued
from sandbox_kernel.notebook.options.modules import check_module, module_text
from sandbox_kernel.notebook.runs import answer_runs
from sandbox_kernel.notebook.servers import NotebookServers

from .background import awaited_elsewhere, in_a_thread, on_this_loop
from .cell_error import cell_error, refusal
from .mapping import MappedCell, mapped_cell
from .output import CellOutput, is_shown
from .sources import Namespace, skipped_note

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

HELP = f"""%%runcode OPTIONS: run this cell as a TypeScript module in a fresh sandbox.

The default export is the result; without one it is the value of the last expression.

{options_help("magic")}

A SOURCE is a Python expression; without one the name itself is looked up. --import lends a dict,
a module or any object: its public functions and values. Functions may be plain or async, and
print to the cell.

    %%runcode --import fs=my_fs --global rows --global limit=10 --into answer
    import {{ readText }} from 'fs';
    export default rows.slice(0, limit).map((row) => readText(row.path).length);

`report(value)` shows a value during the run; console.log prints. Interrupting the kernel ends the
run. See %%runmodule for modules that later cells import.
"""

MODULE_HELP = """%%runmodule ./PATH: keep this cell as a relative ES module for later cells.

    %%runmodule ./math.ts
    export const add = (a: number, b: number) => a + b;

    %%runcode
    import { add } from './math.ts';
    add(1, 2)
"""


@magics_class
class RunCode(Magics):
    """One per shell; it holds the modules of the %%runmodule cells."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.modules: dict[str, str] = {}
        self.servers = NotebookServers()
        self._earlier = EarlierCells()
        self._told: dict[str, list[str]] = {}  # what was left out of imports, as last said

    # Line magics as well, so that `%runcode?` finds its help.
    @no_var_expand
    @line_cell_magic
    def runcode(
        self, line: str, cell: str | None = None
    ) -> CodeExecutionResult | CodeExecution | None:
        mapped = self._mapped(line, body_of(cell, "runcode"))
        if mapped is not None:
            self._keep_all(mapped, mapped.wait())
            return None
        prepared = self._prepared(line, body_of(cell, "runcode"))
        if prepared.options.background:
            return self._leave(prepared)
        return self._conclude(prepared, self._wait(prepared))

    @no_var_expand
    @cell_magic
    def _runcode(self, line: str, cell: str) -> Awaitable[Any]:
        """What `awaiting.py` turns %%runcode into; not meant to be typed."""
        mapped = self._mapped(line, cell)
        if mapped is not None:
            return self._awaited_map(mapped)
        return self._awaited(self._prepared(line, cell))

    @no_var_expand
    @line_cell_magic
    def runmodule(self, line: str, cell: str | None = None) -> None:
        path, source = line.strip(), body_of(cell, "runmodule")
        try:
            check_module("%%runmodule", path, source)
            text = module_text(path, source)
        except SandboxError as error:
            raise refusal(error) from None
        problem = awaited_elsewhere(problem_in(path, text, "magic"))
        if problem is not None:
            raise cell_error(problem)
        self.modules[path] = text

    @no_var_expand
    @line_magic
    def runs(self, line: str) -> None:
        """%runs: the runs that execute or wait, oldest first. %runs terminate: ends all of them."""
        self._say(lambda: answer_runs(line.strip()))

    @line_magic
    def mcp(self, line: str) -> None:
        """%mcp NAME COMMAND…|URL: cells import this MCP server's tools. %mcp: lists them."""
        self._say(lambda: self.servers.answer_mcp(line))

    @no_var_expand
    @line_magic
    def types(self, line: str) -> None:
        """%types [NAME]: the tools of MCP servers, in TypeScript."""
        self._say(lambda: self.servers.answer_types(line))

    @no_var_expand
    @line_magic
    def permissions(self, line: str) -> None:
        """%permissions: what is allowed or denied for good, and its last use. %permissions revoke NAME"""
        try:
            sys.stdout.write(answer_permissions(line.strip()) + "\n")
        except SandboxError as error:
            raise refusal(error) from None

    runcode.__doc__ = HELP
    runmodule.__doc__ = MODULE_HELP

    def _prepared(self, line: str, body: str) -> CellRun:
        shell = self._shell
        line, count = continued([line, *body.split("\n")])
        body = "\n" * (count - 1) + "\n".join(body.split("\n")[count - 1 :])
        try:
            options = parse_options(line, "magic")
            names = Namespace(shell.ev, variables_of(shell), self.modules)
            given = options.run_options(names.resolve)
        except SandboxError as error:
            raise refusal(error) from None
        if not options.raw:
            self._tell_skipped(names.skipped)
        given["modules"] = {**self.modules, **given["modules"]}
        given["imports"] = {**self.servers.imports, **given["imports"]}
        cell = CellRun(
            "\n" + body,  # stands for the magic's line, so that positions match the cell
            options,
            given,
            number=_number(shell),
            face="magic",
            guard=Guard(lambda: cell.stop("interrupted")),
            output=CellOutput(shell, options),
            earlier=self._earlier,
            classes=names.classes,
            is_outside=names.has,
            asks=[
                *self.servers.asked,
                *(each for name in options.asks for each in all_of(name)),
            ],
            line=line_of(shell),
        )
        return cell

    def _say(self, answer: Callable[[], str]) -> None:
        try:
            sys.stdout.write(answer() + "\n")
        except SandboxError as error:
            raise refusal(error) from None

    def _tell_skipped(self, skipped: Mapping[str, list[str]]) -> None:
        """Says once what of an import could not be lent."""
        for specifier, names in skipped.items():
            if names and self._told.get(specifier) != names:
                sys.stdout.write(skipped_note(specifier, names) + "\n")
            self._told[specifier] = names

    def _mapped(self, line: str, body: str) -> MappedCell | None:
        """What `--map` asks for; None without it."""
        text, count = continued([line, *body.split("\n")])
        try:
            options = parse_options(text, "magic")
            if options.map is None:
                return None
            names = Namespace(self._shell.ev, variables_of(self._shell), self.modules)
            source = "\n" * count + "\n".join(body.split("\n")[count - 1 :])
            has_page = getattr(self._shell, "kernel", None) is not None
            return mapped_cell(source, options, names, self.modules, has_page=has_page)
        except SandboxError as error:
            raise refusal(error) from None

    async def _awaited_map(self, mapped: MappedCell) -> None:
        with Guard(mapped.stop).installed():
            results = await mapped.run()
        self._keep_all(mapped, results)

    def _keep_all(self, mapped: MappedCell, results: list[CodeExecutionResult]) -> None:
        self._shell.user_ns[mapped.into] = results

    async def _awaited(self, cell: CellRun) -> CodeExecutionResult | CodeExecution | None:
        if cell.options.background:
            return self._leave(cell)
        with cell.interruptible():
            try:
                result = await cell.run()
            except SandboxError as error:
                raise refusal(error) from None
        return self._conclude(cell, result)

    def _wait(self, cell: CellRun) -> CodeExecutionResult:
        """Blocks; the run has a thread of its own, since the loop of this one may be running."""
        _, future = in_a_thread(cell)
        try:
            return future.result()
        except KeyboardInterrupt:
            cell.stop("interrupted")
            return future.result()

    def _leave(self, cell: CellRun) -> CodeExecution | None:
        """Returns at once; the run continues, on the notebook's loop if that runs between cells."""
        has_loop = getattr(self._shell, "kernel", None) is not None
        run = on_this_loop(cell) if has_loop else in_a_thread(cell, conclude=True)[0]
        if cell.options.into is None:
            return run
        self._shell.user_ns[cell.options.into] = run
        return None

    def _conclude(self, cell: CellRun, result: CodeExecutionResult) -> CodeExecutionResult | None:
        traceback = cell.finish(result)
        if cell.options.into is not None:
            self._shell.user_ns[cell.options.into] = result
        if traceback is not None:
            raise cell_error(traceback, result)
        if cell.options.raw or not is_shown(result):
            return None
        return result


def variables_of(shell: InteractiveShell) -> dict[str, Any]:
    """What the user has defined, without the names that IPython gives everybody."""
    hidden = shell.user_ns_hidden
    return {name: value for name, value in shell.user_ns.items() if name not in hidden}


def line_of(shell: InteractiveShell) -> Line:
    """The front end's `input()`."""
    kernel = getattr(shell, "kernel", None)
    return TerminalInput() if kernel is None else KernelInput(kernel, kernel._allow_stdin)


def _number(shell: InteractiveShell) -> int:
    """The number beside the cell; `execution_count` may already be that of the next one."""
    running = getattr(shell.displayhook, "exec_result", None)
    number = getattr(running, "execution_count", None)
    return shell.execution_count if number is None else int(number)


def body_of(cell: str | None, name: str) -> str:
    """The cell below the magic's line; it has none if it was called as a line magic."""
    if cell is None:
        error = OptionError(f"%{name} is not a line magic; start a cell with %%{name}", name)
        raise refusal(error)
    return cell
