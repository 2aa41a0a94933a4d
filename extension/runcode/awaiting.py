"""Cells that begin with %%runcode, %%runprogram or %%agent are awaited, as if their author had written `await`.

IPython calls a cell magic as a plain function, which would block the notebook's loop for as long as
the run takes: bridged coroutines could not use that loop, and no widget message (the Terminate
button) would be handled. A cell with an `await` at its top level is run by ipykernel, and by a
terminal IPython, with the loop going on; so that is what such a cell is rewritten to.

It stays a plain blocking call where nothing can await it: with `%autoawait False`, under a loop
that is not asyncio's, inside another cell magic (%%time, %%capture), and when Python code calls it.
"""

from __future__ import annotations

import ast
import re
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_CALL = re.compile(r"get_ipython\(\)\.run_cell_magic\('(?=(?:runcode|runprogram|agent)',)")


class Awaiting(threading.local):
    """The hooks into IPython. Each thread (ipykernel has subshells) runs cells of its own."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._depth = 0

    def install(self) -> None:
        self._shell.input_transformers_post.append(self.transform)
        self._shell.events.register("pre_execute", self.enter)
        self._shell.events.register("post_execute", self.leave)

    def uninstall(self) -> None:
        self._shell.input_transformers_post.remove(self.transform)
        self._shell.events.unregister("pre_execute", self.enter)
        self._shell.events.unregister("post_execute", self.leave)

    def enter(self, *_: Any) -> None:
        self._depth += 1

    def leave(self, *_: Any) -> None:
        self._depth = max(
            0, self._depth - 1
        )  # the cell that loaded the extension ends, but was not entered

    def transform(self, lines: list[str]) -> list[str]:
        """Called after IPython has turned the magic into a call."""
        if not lines or not _CALL.match(lines[0]) or not self._would_be_awaited():
            return lines
        if not _is_whole_cell(lines):
            return lines
        return [_CALL.sub(r"await \g<0>_", lines[0], count=1)]

    def _would_be_awaited(self) -> bool:
        shell = self._shell
        return self._depth == 0 and shell.autoawait and str(shell.loop_runner) == "asyncio"


def _is_whole_cell(lines: list[str]) -> bool:
    """Whether the cell is just that call, with a body; IPython itself rejects an empty one."""
    try:
        program = ast.parse("".join(lines))
    except SyntaxError:
        return False
    match program.body:
        case [ast.Expr(ast.Call(ast.Attribute(), [_, _, ast.Constant(value=body)], []))]:
            return bool(body)
    return False
