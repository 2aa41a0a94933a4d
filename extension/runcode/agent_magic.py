"""The magic %%agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class, no_var_expand

from sandbox_kernel.errors import OptionError, SandboxError
from sandbox_kernel.notebook.interrupts import Guard
from sandbox_kernel.notebook.options.agent import (
    AGENT_OPTIONS,
    AgentOptions,
    parse_agent_options,
)
from sandbox_kernel.notebook.options.help import options_help
from sandbox_kernel.notebook.options.lines import continued
from sandbox_kernel.notebook.show.traceback import Traceback

from .background import awaited_in_a_thread
from .cell_error import cell_error, refusal
from .magic import body_of, line_of
from .program_magic import StreamOutput
from .sources import Namespace

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from sandbox_kernel.notebook.agentcell import AgentCell, Conversations

HELP = f"""%%agent OPTIONS: this cell is a prompt for a model, which may run code and call tools.

{options_help("magic", AGENT_OPTIONS)}

A SOURCE is a Python expression; without one the name itself is looked up.

    %%agent --tool search --ask
    Which of the last ten reports mention whales?

What the model says, the code that it writes and what came back appear as they come.
"""


@magics_class
class Agent(Magics):
    """One per shell; it keeps the conversations of its cells."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._kept: Conversations | None = None

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        prepared = self._prepared(line, body_of(cell, "agent"))
        future = awaited_in_a_thread(prepared.run())
        try:
            self._conclude(prepared, future.result())
        except KeyboardInterrupt:
            prepared.stop("interrupted")
            raise _stopped(prepared) from None
        except SandboxError as error:
            raise refusal(error) from None

    @no_var_expand
    @cell_magic
    def _agent(self, line: str, cell: str) -> Awaitable[None]:
        """What `awaiting.py` turns %%agent into; not meant to be typed."""
        return self._awaited(self._prepared(line, cell))

    agent.__doc__ = HELP

    def _prepared(self, line: str, body: str) -> AgentCell:
        from sandbox_kernel.notebook.agentcell import AgentCell, Conversations

        line, count = continued([line, *body.split("\n")])
        prompt = "\n".join(body.split("\n")[count - 1 :]).strip()
        self._kept = self._kept or Conversations()
        try:
            options = parse_agent_options(line, "magic")
            names = Namespace(self._shell.ev, self._shell.user_ns, {})
            cell = AgentCell(
                prompt,
                options,
                model=_model(options, names),
                functions=options.functions(names.resolve),
                kept=self._kept,
                line=line_of(self._shell),
                guard=Guard(lambda: cell.stop("interrupted")),
                output=StreamOutput(self._shell),
            )
        except SandboxError as error:
            raise refusal(error) from None
        return cell

    async def _awaited(self, cell: AgentCell) -> None:
        with cell.interruptible():
            try:
                self._conclude(cell, await cell.run())
            except asyncio.CancelledError:
                if cell.stopped_by is None:
                    raise
                raise _stopped(cell) from None
            except SandboxError as error:
                raise refusal(error) from None

    def _conclude(self, cell: AgentCell, answer: str) -> None:
        """The answer has been shown as it came."""
        if cell.options.into is not None:
            self._shell.user_ns[cell.options.into] = answer


def _model(options: AgentOptions, names: Namespace) -> Any:
    from sandbox_kernel.notebook.agentcell import scripted_or_remote

    if options.model is None:
        return scripted_or_remote(options.script and names.resolve(options.script))
    model = names.resolve(options.model)
    if not callable(getattr(model, "turn", None)):
        raise OptionError(
            f"--model {options.model.text} is not a model, which has a method turn", "model"
        )
    return model


def _stopped(cell: AgentCell) -> Exception:
    reason = cell.stopped_by or "cancelled"
    return cell_error(Traceback("terminated", reason, [f"terminated: {reason}"]))
