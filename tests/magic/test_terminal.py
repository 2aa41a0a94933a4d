"""The magic in a terminal: plain `ipython`, text instead of the widget."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """IPython behind a pseudo-terminal."""

    def __init__(self, home: Path) -> None:
        flags = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
        environment = {
            **os.environ,
            "IPYTHONDIR": str(home),
            "XDG_CONFIG_HOME": str(home),
            "TERM": "dumb",
        }
        self._process: pexpect.spawn[str] = pexpect.spawn(
            sys.executable, flags, env=environment, encoding="utf-8", timeout=30, echo=False
        )
        self._process.setwinsize(50, 200)
        self._number = 1
        self._prompt()

    def _prompt(self) -> str:
        self._process.expect(rf"In \[{self._number}\]: ")
        self._number += 1
        return _ESCAPES.sub("", self._process.before or "")

    def start(self, cell: str) -> None:
        """Type a cell; a magic's cell ends with two empty lines."""
        for line in cell.split("\n"):
            self._process.sendline(line)
        if cell.startswith("%%"):
            self._process.sendline("\n")

    def run(self, cell: str) -> str:
        """Type a cell; what it printed."""
        self.start(cell)
        return self._prompt()

    def wait_for(self, text: str) -> None:
        self._process.expect_exact(text)

    def interrupt(self) -> str:
        self._process.sendintr()
        return self._prompt()

    def close(self) -> None:
        self._process.close(force=True)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("ipython"))
    try:
        terminal.run("%load_ext runcode")
        terminal.run("import asyncio")
        terminal.run("async def sleep(ms): await asyncio.sleep(ms / 1000)\n")
        terminal.run("import threading; door = threading.Event()")
        terminal.run("async def enter(): await asyncio.to_thread(door.wait)\n")
        yield terminal
    finally:
        terminal.close()


def test_results_and_the_console_print(terminal: Terminal) -> None:
    said = terminal.run("%%runcode\nconsole.log('hello')\nexport default { a: [1, 2] }")
    assert "hello\n" in said
    assert re.search(r"Out\[\d+\]: \{ a: \[ 1, 2 \] \}", said)


def test_reports_are_lines_instead_of_a_widget(terminal: Terminal) -> None:
    said = terminal.run("%%runcode --global sleep\nreport({a: 1}); await sleep(10); report('two')")
    assert "report 0: { a: 1 }\nreport 1: 'two'\n" in said
    assert "RunWidget" not in said


def test_an_error_is_told_with_its_place(terminal: Terminal) -> None:
    said = terminal.run("%%runcode\nconst a = 1;\nmissing(a)")
    assert "ReferenceError: missing is not defined" in said
    assert "3 | missing(a)" in said
    assert "Traceback" not in said


def test_ctrl_c_terminates_the_run_and_nothing_else(terminal: Terminal) -> None:
    terminal.start("%%runcode --into r\nreport('on'); for (;;) {}")
    terminal.wait_for("report 0: 'on'")
    assert "terminated: interrupted" in terminal.interrupt()
    assert "'terminated'" in terminal.run("r.status")
    assert "2" in terminal.run("%%runcode\n1 + 1")


def test_a_background_run_goes_on_between_the_cells(terminal: Terminal) -> None:
    body = "await enter()\nexport default 'done'"
    terminal.run(f"%%runcode --background --into handle --global enter\n{body}")
    assert "True" in terminal.run("handle.running")
    assert "'done'" in terminal.run("door.set(); handle.wait(20).result")


def test_help_is_real(terminal: Terminal) -> None:
    assert "--background" in terminal.run("%runcode?")


def test_no_terminal_escape_of_the_guest_gets_through(terminal: Terminal) -> None:
    terminal.start("%%runcode\nconsole.log('\\u001b[31mred'); report('\\u009b2J'); '\\u001bc'")
    terminal.wait_for("\\x1B[31mred")
    terminal.wait_for("\\x9B2J")
    terminal.wait_for("\\x1Bc")
    terminal._prompt()


def test_a_question_is_typed_and_answered(terminal: Terminal) -> None:
    terminal.run("def send(to): return f'sent to {to}'\n")
    for answer, said in (("y", "'sent to a'"), ("", "send was not allowed: a person said no")):
        terminal.start("%%runcode --global send --ask\nsend('a')")
        terminal.wait_for("send asks for permission: send('a')")
        terminal.wait_for("anything else: no")
        assert said in terminal.run(answer)
