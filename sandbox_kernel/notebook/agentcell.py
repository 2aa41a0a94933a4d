"""One cell as a prompt of an agent, the same in the kernel and in the magic."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from .. import tools as toolkit
from ..agents import Model, OpenAICompatibleModel, ScriptedModel, SessionMemoryStore, run_agent
from ..contract import Status
from ..permissions import InMemoryPermissionStore
from .ask.desk import Desk
from .ask.prompter import NotebookPrompter
from .ask.rules import policy_for
from .ask.stdin import Line
from .interrupts import Guard
from .options.agent import AgentOptions
from .show.agent import EventText
from .show.linecap import Stream
from .stopping import StoppableCell
from .view.asked import AskedView

if TYPE_CHECKING:
    from .view.run_view import Publish

_BACKENDS = {
    "javascript": toolkit.QuickJSBackend,
    "python": toolkit.PythonBackend,
    "node": toolkit.NodeBackend,
    "deno": toolkit.DenoBackend,
}


class AgentOutput(Protocol):
    @property
    def display(self) -> Publish | None:
        """Shows questions; None where there is no page to show them."""

    def write(self, stream: Stream, text: str) -> None:
        """Text that is harmless to show."""

    def end(self) -> None:
        """The agent has answered."""

    def cut(self) -> None:
        """The cell was stopped: do not wait for output that is not sent yet. From any thread."""


class Conversations:
    """What a notebook keeps between its %%agent cells: conversations by id, and answers for good."""

    def __init__(self) -> None:
        self.memory = SessionMemoryStore()
        self.permissions = InMemoryPermissionStore()


class AgentCell(StoppableCell):
    """Made with everything that the agent needs, and run once."""

    def __init__(
        self,
        prompt: str,
        options: AgentOptions,
        *,
        model: Model,
        functions: Mapping[str, Any],
        kept: Conversations,
        line: Line | None,
        guard: Guard,
        output: AgentOutput,
        asks: Collection[str] = (),
    ) -> None:
        """`line` is the front end's `input()`. `asks` are patterns of names that a person is asked about
        in any case."""
        super().__init__(guard, output)
        self.options = options
        self._prompt = prompt
        self._model = model
        self._toolbox = _toolbox(options.code, functions)
        self._kept = kept
        self._output = output
        self._desk = Desk() if output.display is not None else None
        asked, prompter = ("*",) if options.ask else asks, NotebookPrompter(line, self._desk)
        policy = policy_for(asked, prompter, kept.permissions)
        self._gate = None if policy is None else policy.gate()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None

    async def run(self) -> str:
        """The answer; what happens until then is shown as it comes. Cancelled if it is stopped."""
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._answer())
        if self.stopped_by is not None:
            self._task.cancel()
        view, began = self._view(), perf_counter()
        status: Status = "terminated"
        try:
            answer = await self._task
            status = "success"
            return answer
        except Exception:
            status = "error"
            raise
        finally:
            if self._gate is not None:
                self._gate.close()
            if view is not None:
                view.finish(status, (perf_counter() - began) * 1000)
            self._output.end()

    def _view(self) -> AskedView | None:
        display = self._output.display
        if self._gate is None or self._desk is None or display is None:
            return None
        return AskedView(lambda reason: self.stop(reason or "stopped"), display, self._desk)

    async def _answer(self) -> str:
        options, shown = self.options, EventText()
        answer = await run_agent(
            self._model,
            self._prompt,
            memory=None if options.session is None else self._kept.memory,
            session_id=options.session,
            system=options.system,
            tools=self._toolbox,
            hooks={} if self._gate is None else {"gate_tool_calls": self._gate},
            on_event=lambda event: self._output.write("stdout", shown.of(event)),
            max_steps=options.steps,
        )
        self._output.write("stdout", shown.last())
        return answer

    def end(self, reason: str) -> None:
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


def scripted_or_remote(script: Any) -> Model:
    """A model that plays a script, or the one that the environment names."""
    return OpenAICompatibleModel() if script is None else ScriptedModel(script)


def _toolbox(code: str, functions: Mapping[str, Any]) -> toolkit.Toolbox:
    lent = toolkit.Toolbox(functions)
    if code not in _BACKENDS:
        return lent
    return toolkit.Toolbox([*lent, toolkit.code_execution_tool(_BACKENDS[code]())])
