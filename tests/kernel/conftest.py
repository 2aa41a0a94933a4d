"""The real installed kernel, driven by a real client; one kernel serves a whole test module."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

TIMEOUT = 60.0
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
        results = self.all("execute_result")
        assert len(results) <= 1
        return results[0]["data"] if results else None

    @property
    def text(self) -> str | None:
        return self.data["text/plain"] if self.data else None

    @property
    def traceback(self) -> str:
        (error,) = self.all("error")
        assert error["traceback"] == self.content["traceback"]
        assert (error["ename"], error["evalue"]) == (self.content["ename"], self.content["evalue"])
        return "\n".join(error["traceback"])


class Client:
    """Execute cells and gather what comes back, message by message."""

    def __init__(self, manager: KernelManager, channels: BlockingKernelClient) -> None:
        self.manager = manager
        self.channels = channels
        self._iopub: list[Message] = []
        self._shell: dict[str, Message] = {}

    @property
    def pid(self) -> int:
        pid = self.manager.provisioner.pid  # type: ignore[union-attr]  # it is started
        assert pid is not None
        return pid

    def send(self, code: str, **options: Any) -> str:
        return self.channels.execute(code, **options)

    def finish(self, msg_id: str) -> Done:
        """Wait for the reply and for idle, which comes after every output."""
        reply = self.reply(msg_id)
        while not any(_is_idle(m, msg_id) for m in self._iopub):
            self.pump()
        return Done(reply, [m for m in self._iopub if _parent(m) == msg_id])

    def reply(self, msg_id: str) -> Message:
        while msg_id not in self._shell:
            message = self.channels.get_shell_msg(timeout=TIMEOUT)
            self._shell[_parent(message)] = message
        return self._shell[msg_id]

    def pump(self, timeout: float = TIMEOUT) -> Message:
        message = self.channels.get_iopub_msg(timeout=timeout)
        self._iopub.append(message)
        return message

    def wait_for(self, msg_id: str, kind: str) -> dict[str, Any]:
        """The first message of that kind under that cell, which may still be running."""
        while True:
            for message in self._iopub:
                if _parent(message) == msg_id and message["msg_type"] == kind:
                    return message["content"]
            self.pump()

    def run(self, code: str, **options: Any) -> Done:
        return self.finish(self.send(code, **options))

    def value(self, code: str) -> str | None:
        done = self.run(code)
        while done.status == "aborted":  # it met the tail of an error before it: Jupyter's rule
            done = self.run(code)
        assert done.status == "ok", done.traceback
        return done.text

    def interrupt(self) -> float:
        """Ask for it as a front end does; the time it was asked."""
        asked = time.monotonic()
        message = self.channels.session.msg("interrupt_request", {})
        self.channels.control_channel.send(message)
        answer = self.channels.get_control_msg(timeout=TIMEOUT)
        assert answer["content"]["status"] == "ok"
        return asked

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


def _is_idle(message: Message, msg_id: str) -> bool:
    return (
        message["msg_type"] == "status"
        and message["content"]["execution_state"] == "idle"
        and _parent(message) == msg_id
    )


def _start() -> Client:
    manager, channels = start_new_kernel(kernel_name="sandbox", startup_timeout=60)
    return Client(manager, channels)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Client]:
    client = _start()
    yield client
    client.channels.stop_channels()
    client.manager.shutdown_kernel(now=True)


@pytest.fixture
def fresh_kernel() -> Iterator[Client]:
    """For tests that end it."""
    client = _start()
    yield client
    client.channels.stop_channels()
    if client.manager.has_kernel:
        client.manager.shutdown_kernel(now=True)
