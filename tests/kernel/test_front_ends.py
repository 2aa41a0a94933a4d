"""The kernel in the tools people use: nbclient, papermill, nbconvert, `jupyter console`."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pexpect
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter, ScriptExporter
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat.v4 import new_code_cell, new_notebook

from tests.waiting import until

CELLS = [
    "%%bridge shop\nimport asyncio\n\nasync def price(name):\n    await asyncio.sleep(0)\n"
    "    return {'apple': 3, 'pear': 4}[name]",
    "%%module ./sum.ts\nexport const sum = (items: number[]) => items.reduce((a, b) => a + b, 0)",
    "import { price } from 'shop'\nimport { sum } from './sum.ts'\n"
    "const names: string[] = ['apple', 'pear']\n"
    "const prices = await Promise.all(names.map((name) => price(name)))\n"
    "console.log('prices', prices)\nreport({ progress: 1, total: 1 })\nsum(prices)",
    "export default [{ id: 1, ok: true }, { id: 2, ok: false }]",
]


def notebook(*cells: str) -> nbformat.NotebookNode:
    spec = {"name": "sandbox", "display_name": "Sandbox (TypeScript)", "language": "typescript"}
    return new_notebook(cells=[new_code_cell(c) for c in cells], metadata={"kernelspec": spec})


def outputs(cell: Any, kind: str) -> list[Any]:
    return [output for output in cell.outputs if output.output_type == kind]


def check(cells: list[Any]) -> None:
    assert outputs(cells[2], "stream")[0].text == "prices [ 3, 4 ]\n"
    assert outputs(cells[2], "execute_result")[0].data["text/plain"] == "7"
    (table,) = outputs(cells[3], "execute_result")
    assert "│       1 │  2 │ false │" in table.data["text/plain"]
    assert "<td" in table.data["text/html"]


def test_nbclient_executes_a_notebook() -> None:
    nb = notebook(*CELLS)
    NotebookClient(nb, timeout=60).execute()
    nbformat.validate(nb)
    check(nb.cells)


def test_nbclient_stops_at_an_error_and_times_out_a_loop() -> None:
    nb = notebook("1", "throw new Error('stop here')", "2")
    with pytest.raises(CellExecutionError, match="stop here"):
        NotebookClient(nb, timeout=60).execute()
    assert nb.cells[2].outputs == []
    nb = notebook("for (;;) {}", "'went on'")
    NotebookClient(nb, timeout=1, interrupt_on_timeout=True, allow_errors=True).execute()
    assert outputs(nb.cells[0], "error")[0].ename == "terminated"
    assert outputs(nb.cells[1], "execute_result")[0].data["text/plain"] == "'went on'"


def test_papermill_executes_a_notebook(tmp_path: Path) -> None:
    source, target = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook(*CELLS), source)
    papermill.execute_notebook(source, target, progress_bar=False, log_output=False)
    check(nbformat.read(target, as_version=4).cells)


def test_nbconvert_executes_and_exports() -> None:
    nb = notebook(*CELLS, "export default '<script>alert(1)</script>'")
    ExecutePreprocessor(timeout=60).preprocess(nb, {})
    check(nb.cells)
    html, _ = HTMLExporter().from_notebook_node(nb)
    assert "prices [ 3, 4 ]" in html
    assert "<script>alert(1)</script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    script, resources = ScriptExporter().from_notebook_node(nb)
    assert "const names: string[]" in script
    assert resources["output_extension"] == ".ts"


_CODES = r"\x1b\[[0-9;?]*[A-Za-z]"


class Console:
    """`jupyter console` in a terminal of its own."""

    def __init__(self, cwd: Path, *options: str) -> None:
        runtime = cwd / "runtime"
        self._terminal = pexpect.spawn(
            sys.executable,
            ["-m", "jupyter_console", "--kernel", "sandbox", *options],
            cwd=str(cwd),
            encoding="utf-8",
            timeout=30,
            dimensions=(50, 200),
            env={
                **os.environ,
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "JUPYTER_RUNTIME_DIR": str(runtime),
            },
        )
        self.until(r"In \[\S*1\S*\]\S*: ")
        self._wait_until_it_hears(runtime)

    def _wait_until_it_hears(self, runtime: Path) -> None:
        """It prompts before it is connected to IOPub, and waits for ever for what it has missed."""
        (file,) = runtime.glob("kernel-*.json")
        port = json.loads(file.read_text())["iopub_port"]
        (kernel,) = psutil.Process(self._terminal.pid).children()

        def connected() -> bool:
            return any(
                each.laddr.port == port and each.status == psutil.CONN_ESTABLISHED
                for each in kernel.net_connections()
            )

        assert until(connected), "the console has not connected to IOPub"

    def type(self, keys: str) -> None:
        self._terminal.send(keys)

    def until(self, pattern: str) -> str:
        """What has appeared up to the pattern, without the terminal's own codes."""
        self._terminal.expect(pattern)
        return re.sub(_CODES, "", self._terminal.before + self._terminal.after)

    def until_shown(self, text: str) -> None:
        """A terminal that redraws what has changed writes a word in pieces, with codes between."""
        self._terminal.expect(f"(?:{_CODES})*".join(map(re.escape, text)))

    def interrupt(self) -> None:
        self._terminal.sendintr()

    def close(self) -> None:
        self._terminal.close(force=True)


def test_jupyter_console_runs_cells_shows_errors_and_is_interrupted(tmp_path: Path) -> None:
    console = Console(tmp_path, "--simple-prompt")
    try:
        console.type("console.log('hello'); [1, 2].map((x: number) => x * 2)\n")
        shown = console.until(r"In \[2\]: ")
        assert "hello" in shown
        assert re.search(r"Out\[1\]:\s+\[ 2, 4 \]", shown)
        console.type("const a = 1; nope(a)\n")
        shown = console.until(r"In \[3\]: ")
        assert "ReferenceError" in shown
        assert "^" in shown
        console.type("console.log('looping'); for (;;) {}\n")
        console.until("looping\r\n")
        console.interrupt()
        shown = console.until(r"In \[4\]: ")  # which it may print before the end of the cell
        console.type("export default '\\x1b[31mred'\n")
        shown += console.until(r"In \[5\]: ")
        assert "terminated" in shown
        assert r"'\x1B[31mred'" in shown
    finally:
        console.close()


def test_jupyter_console_asks_for_more_lines_completes_and_remembers(tmp_path: Path) -> None:
    console = Console(tmp_path)
    try:
        console.type("const double = (n: number) => {\r")
        console.until(r"\.\.\.")
        console.type("return 2 * n\r")
        console.type("}; double(21)\r")
        console.until(r"Out\[")
        console.until_shown("42")
        console.type("Math.flo\t")
        console.until_shown("floor")
        console.type("(2.7)\r")
        console.until(r"Out\[")
        console.until(r"In \[")
        console.type("\x1b[A")  # arrow up
        console.until_shown("floor")
    finally:
        console.close()
