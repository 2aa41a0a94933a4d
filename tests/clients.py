"""A front end without a page: a real kernel, its messages gathered cell by cell."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

TIMEOUT = 60.0
VIEW = "application/vnd.jupyter.widget-view+json"
Message = dict[str, Any]


@dataclass
class Done:
    """One executed cell: its reply, and every IOPub message that names it as parent."""

    reply: Message
    messages: list[Message] = field(default_factory=list)

    @property
    def content(self) -> dict[str, Any]:
        return self.reply["content"]

    @property
    def status(self) -> str:
        return self.content["status"]

    def check(self) -> Done:
        assert self.status == "ok", self.traceback
        return self

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [m["content"] for m in self.messages if m["msg_type"] == kind]

    def stream(self, name: str) -> str:
        return "".join(c["text"] for c in self.all("stream") if c["name"] == name)

    @property
    def stdout(self) -> str:
        return self.stream("stdout")

    @property
    def stderr(self) -> str:
        return self.stream("stderr")

    @property
    def data(self) -> dict[str, Any] | None:
        """The MIME bundle of the cell's result."""
        results = self.all("execute_result")
        assert len(results) <= 1
        return results[0]["data"] if results else None

    @property
    def text(self) -> str | None:
        return self.data["text/plain"] if self.data else None

    @property
    def displays(self) -> list[dict[str, Any]]:
        """The MIME bundles that were displayed, and then those that updated them."""
        shown = self.all("display_data") + self.all("update_display_data")
        return [content["data"] for content in shown]

    @property
    def traceback(self) -> str:
        (error,) = self.all("error")
        for key in ("ename", "evalue", "traceback"):
            assert error[key] == self.content[key]
        return "\n".join(error["traceback"])


class Client:
    """Executes cells in one kernel and gathers what comes back, message by message."""

    def __init__(self, manager: KernelManager, channels: BlockingKernelClient) -> None:
        self.manager = manager
        self.channels = channels
        self._iopub: dict[str, list[Message]] = defaultdict(list)  # by the parent's id
        self._shell: dict[str, Message] = {}

    @classmethod
    def start(cls, kernel_name: str) -> Client:
        return cls(*start_new_kernel(kernel_name=kernel_name, startup_timeout=60))

    def close(self) -> None:
        self.channels.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=False)  # an end that coverage can see

    @property
    def pid(self) -> int:
        pid = self.manager.provisioner.pid  # type: ignore[union-attr]  # it is started
        assert pid is not None
        return pid

    # ---- cells ----

    def run(self, code: str, **options: Any) -> Done:
        return self.finish(self.send(code, **options))

    def value(self, code: str) -> str | None:
        done = self.run(code)
        while done.status == "aborted":  # it met the tail of an error before it: Jupyter's rule
            done = self.run(code)
        return done.check().text

    def send(self, code: str, **options: Any) -> str:
        return self.channels.execute(code, **options)

    def finish(self, msg_id: str) -> Done:
        """Wait for the reply and for idle, which comes after every output."""
        self.wait_for(msg_id, "status", lambda status: status["execution_state"] == "idle")
        return Done(self.reply(msg_id), list(self._iopub[msg_id]))

    def reply(self, msg_id: str) -> Message:
        while msg_id not in self._shell:
            message = self.channels.get_shell_msg(timeout=TIMEOUT)
            self._shell[_parent(message)] = message
        return self._shell[msg_id]

    def pump(self) -> None:
        """Take one message more."""
        message = self.channels.get_iopub_msg(timeout=TIMEOUT)
        self._iopub[_parent(message)].append(message)

    def seen(self, msg_id: str, kind: str) -> list[dict[str, Any]]:
        """What came under that cell so far."""
        return [m["content"] for m in self._iopub[msg_id] if m["msg_type"] == kind]

    def wait_for(
        self, msg_id: str, kind: str, where: Callable[[dict[str, Any]], bool] = lambda content: True
    ) -> dict[str, Any]:
        """The first such message under that cell, which may still be running or long be over."""
        looked_at = 0
        while True:
            messages = self._iopub[msg_id]
            for message in messages[looked_at:]:
                if message["msg_type"] == kind and where(message["content"]):
                    return message["content"]
            looked_at = len(messages)
            self.pump()

    def wait_for_output(self, msg_id: str, text: str) -> None:
        """Until a stream of that cell has said this, in one piece."""
        self.wait_for(msg_id, "stream", lambda stream: text in stream["text"])

    # ---- interrupts ----

    def interrupt(self) -> float:
        """Ask by a message, as front ends of the sandbox kernel do; the time it was asked."""
        asked = time.monotonic()
        message = self.channels.session.msg("interrupt_request", {})
        self.channels.control_channel.send(message)
        answer = self.channels.get_control_msg(timeout=TIMEOUT)
        assert answer["content"]["status"] == "ok"
        return asked

    def signal(self) -> None:
        """Interrupt with SIGINT, as front ends of a Python kernel do."""
        self.manager.interrupt_kernel()

    # ---- widgets ----

    def press_terminate(self, view: dict[str, Any]) -> None:
        """What the page's `model.send` does, for the view in this MIME bundle."""
        data = {"method": "custom", "content": {"kind": "terminate"}}
        self.tell("comm_msg", {"comm_id": view[VIEW]["model_id"], "data": data})

    def tell(
        self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> str:
        """Send a message that has no reply, on the channel that cells use; its id."""
        message = self.channels.session.msg(kind, content, metadata=metadata)
        self.channels.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    # ---- help while typing ----

    def complete(self, code: str, cursor: int | None = None) -> dict[str, Any]:
        """`|` in the code marks the cursor."""
        if cursor is None:
            cursor = code.index("|")
            code = code.replace("|", "", 1)
        content = self.reply(self.channels.complete(code, cursor))["content"]
        assert content["status"] == "ok"
        return content

    def inspect(self, code: str) -> str | None:
        cursor = code.index("|")
        msg_id = self.channels.inspect(code.replace("|", "", 1), cursor)
        content = self.reply(msg_id)["content"]
        assert content["status"] == "ok"
        return content["data"]["text/plain"] if content["found"] else None


def _parent(message: Message) -> str:
    return message["parent_header"].get("msg_id", "")
