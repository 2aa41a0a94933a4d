"""A Python notebook without a page: a real ipykernel, its messages gathered cell by cell."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

Message = dict[str, Any]
VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass
class Outcome:
    """What one cell gave."""

    reply: Message = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)

    def contents(self, kind: str) -> list[Message]:
        return [each["content"] for each in self.messages if each["msg_type"] == kind]

    def stream(self, name: str) -> str:
        return "".join(each["text"] for each in self.contents("stream") if each["name"] == name)

    @property
    def stdout(self) -> str:
        return self.stream("stdout")

    @property
    def stderr(self) -> str:
        return self.stream("stderr")

    @property
    def result(self) -> Message | None:
        """The MIME bundle of the cell's result."""
        found = self.contents("execute_result")
        return found[0]["data"] if found else None

    @property
    def text(self) -> str | None:
        return self.result["text/plain"] if self.result else None

    @property
    def displays(self) -> list[Message]:
        shown = self.contents("display_data") + self.contents("update_display_data")
        return [each["data"] for each in shown]

    @property
    def traceback(self) -> str:
        return "\n".join(self.reply["traceback"])

    def check(self) -> Outcome:
        assert self.reply["status"] == "ok", self.traceback
        return self


class PythonNotebook:
    """Runs cells in one kernel."""

    def __init__(self) -> None:
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel()
        self.client: BlockingKernelClient = self._manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def close(self) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def run(self, code: str, timeout: float = 30) -> Outcome:
        return self.finish(self.start(code), timeout)

    def start(self, code: str) -> str:
        """Send a cell; its message id."""
        return self.client.execute(code)

    def finish(
        self,
        sent: str,
        timeout: float = 30,
        seen: Callable[[Message], None] = lambda message: None,
    ) -> Outcome:
        """Gather what belongs to the cell until it is over; `seen` looks at each message live."""
        outcome = Outcome()
        deadline = time.monotonic() + timeout
        while True:
            message = self._next(deadline)
            if message["parent_header"].get("msg_id") != sent:
                continue
            outcome.messages.append(message)
            seen(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.client.get_shell_msg(timeout=max(0.1, deadline - time.monotonic()))
            if reply["parent_header"].get("msg_id") == sent:
                outcome.reply = reply["content"]
                return outcome

    def later(self, sent: str, seconds: float) -> Outcome:
        """What a cell that is over still shows in the time."""
        outcome = Outcome()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                break
            if message["parent_header"].get("msg_id") == sent:
                outcome.messages.append(message)
        return outcome

    def send_comm(self, comm_id: str, data: Message) -> None:
        """What the page's `model.send` does, on the channel that cells use."""
        content = {"comm_id": comm_id, "data": {"method": "custom", "content": data}}
        self.client.shell_channel.send(self.client.session.msg("comm_msg", content))

    def _next(self, deadline: float) -> Message:
        try:
            message: Message = self.client.get_iopub_msg(timeout=deadline - time.monotonic())
        except (queue.Empty, ValueError):
            raise TimeoutError("the cell is not over") from None
        return message
