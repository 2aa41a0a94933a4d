"""Interrupt terminates the run whatever it does; the kernel is at once ready."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.clients import Client

SLOW = (
    "%%bridge slow\nimport asyncio, time\n"
    "async def forever():\n    print('going')\n    await asyncio.sleep(600)\n"
    "def block():\n    print('going')\n    time.sleep(600)\n"
    "async def block_later():\n    await asyncio.sleep(0)\n    block()\n"
)

BUSY = {
    "tight loop": "console.log('going'); for (;;) {}",
    "regex": "console.log('going'); /(a+)+$/.test('a'.repeat(40) + 'b')",
    "bigint": "console.log('going'); let n = 3n ** 100000n; for (;;) n = n * n",
    "endless array": "console.log('going'); [].indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "awaiting a bridge": "import { forever } from 'slow'; await forever()",
    "a blocking bridge": "import { block } from 'slow'; block()",
    "a blocking async bridge": "import { block_later } from 'slow'; await block_later()",
    "microtasks": "console.log('going'); const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})",
    "flood": "for (;;) console.log('going')",
    "swallowing": "console.log('going'); for (;;) { try { for (;;) {} } catch {} finally { continue } }",
}


@pytest.mark.parametrize("what", BUSY)
def test_interrupt_terminates(kernel: Client, what: str) -> None:
    kernel.run(SLOW)
    msg_id = kernel.send("%%runcode --no-widget\n" + BUSY[what])  # its output is not held back
    kernel.wait_for_output(msg_id, "going")
    asked = kernel.interrupt()
    reply = kernel.reply(msg_id)
    took = time.monotonic() - asked
    print(f"{what}: reply {took * 1000:.1f} ms after the interrupt")
    content = reply["content"]
    assert (content["status"], content["ename"]) == ("error", "terminated")
    assert content["evalue"] == "interrupted"
    assert kernel.value("'ready'") == "'ready'"


def test_a_signal_interrupts_too(kernel: Client) -> None:
    msg_id = kernel.send("console.log('going'); for (;;) {}")
    kernel.wait_for(msg_id, "stream")
    os.killpg(os.getpgid(kernel.pid), signal.SIGINT)  # as front ends do: the whole group
    assert kernel.finish(msg_id).content["ename"] == "terminated"
    assert kernel.value("1") == "1"


def test_interrupt_reaches_into_the_python_of_a_bridge_cell(kernel: Client) -> None:
    msg_id = kernel.send("%%bridge b\nprint('going', flush=True)\nwhile True: pass")
    kernel.wait_for(msg_id, "stream")
    kernel.interrupt()
    assert kernel.finish(msg_id).content["ename"] == "terminated"
    msg_id = kernel.send("%%bridge b\nimport asyncio\nprint('going')\nawait asyncio.sleep(600)")
    kernel.wait_for(msg_id, "stream")
    kernel.interrupt()
    assert kernel.finish(msg_id).content["ename"] == "terminated"
    assert kernel.value("1") == "1"


def test_an_interrupt_with_nothing_to_interrupt_is_harmless(kernel: Client) -> None:
    kernel.interrupt()
    os.kill(kernel.pid, signal.SIGINT)
    assert kernel.value("2") == "2"


def test_queued_cells_are_aborted_as_jupyter_has_it(kernel: Client) -> None:
    running = kernel.send("console.log('going'); for (;;) {}")
    queued = [kernel.send("1"), kernel.send("2")]
    kernel.wait_for(running, "stream")
    kernel.interrupt()
    assert kernel.finish(running).content["ename"] == "terminated"
    assert [kernel.finish(each).status for each in queued] == ["aborted", "aborted"]
    assert kernel.value("3") == "3"


def test_without_stop_on_error_queued_cells_run(kernel: Client) -> None:
    running = kernel.send("console.log('going'); for (;;) {}", stop_on_error=False)
    queued = kernel.send("1 + 1")
    kernel.wait_for(running, "stream")
    kernel.interrupt()
    assert kernel.finish(running).status == "error"
    assert kernel.finish(queued).text == "2"


def test_many_interrupts_in_a_row_leave_a_working_kernel(kernel: Client) -> None:
    for _ in range(20):
        msg_id = kernel.send("console.log('x'); for (;;) {}")
        kernel.wait_for(msg_id, "stream")
        kernel.interrupt()
        assert kernel.finish(msg_id).content["ename"] == "terminated"
    assert kernel.value("1") == "1"
