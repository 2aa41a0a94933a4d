"""The JavaScript of the worker and of the page: names checked by the TypeScript compiler, one format.

The parts of either program share one scope, so the compiler sees them joined, as the engine and the
browser do. What it finds is reported with the part and the line where it stands.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox_kernel.capabilities import webbasics
from sandbox_kernel.notebook.view import widget
from sandbox_kernel.worker.entry import BOOTSTRAP
from tests.node.packages import NODE, installed

ROOT = Path(__file__).parent.parent
# Undefined, unused and doubly declared names, too many arguments, forgotten returns; no types beyond
# those that the compiler infers.
OPTIONS = (
    "--checkJs --allowJs --noEmit --skipLibCheck --pretty false --target esnext --module esnext --noUnusedLocals"
    " --noUnusedParameters --noImplicitReturns --noFallthroughCasesInSwitch"
    " --allowUnreachableCode false --allowUnusedLabels false"
).split()
_FINDING = re.compile(
    r"^(?P<file>[^(\n]+)\((?P<line>\d+),(?P<column>\d+)\): (?P<message>.*)$", re.M
)


class Program(NamedTuple):
    """A program in parts, and the names that exist around it."""

    parts: Sequence[Path]
    library: str
    head: str = ""
    tail: str = ""
    declarations: Path | None = None

    def text(self) -> str:
        return "\n".join([self.head, *(part.read_text("utf-8") for part in self.parts), self.tail])

    def place(self, line: int) -> tuple[Path, int]:
        """The part that a line of the text belongs to, and its number there."""
        line -= 1  # the head
        for part in self.parts:
            length = part.read_text("utf-8").count("\n") + 1
            if line <= length:
                return part, line
            line -= length
        raise AssertionError("behind the last part")


def parts(folder: str, names: Sequence[str]) -> list[Path]:
    return [ROOT / "sandbox_kernel" / folder / f"{name}.js" for name in names]


def shim(*names: str) -> Program:
    head = "(/** @param {any} host @param {any} kit */ function (host, kit) { void [host, kit];"
    return Program(parts("capabilities/shims", names), "esnext", head, "})")


PROGRAMS = {
    "timers": shim("timers"),
    "display": shim("display"),
    "files": shim("files"),
    "fetch": shim("fetch"),
    "web": shim(*webbasics._PARTS),
    "worker": Program(
        parts("worker/bootstrap", BOOTSTRAP),
        "esnext",
        "(/** @param {Native} native */ function (native) { 'use strict';",
        "})",
        NODE / "engine.d.ts",
    ),
    "colours": Program(parts("notebook/colours", ["cells"]), "esnext,dom,dom.iterable"),
    "loader": Program(parts("notebook/view", ["load"]), "esnext,dom,dom.iterable"),
    "page": Program(parts("notebook/view/page", widget._SCRIPTS), "esnext,dom,dom.iterable"),
}


def findings(program: Program, folder: Path) -> list[str]:
    """What the compiler finds, as `file:line:column: message`."""
    joined = folder / "joined.js"
    joined.write_text(program.text(), "utf-8")
    command = [str(installed() / ".bin" / "tsc"), *OPTIONS, "--lib", program.library, joined.name]
    if program.declarations is not None:
        command.append(str(program.declarations))
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    found = [_finding(program, match) for match in _FINDING.finditer(done.stdout)]
    return found if found or done.returncode == 0 else [done.stdout + done.stderr]


def _finding(program: Program, found: re.Match[str]) -> str:
    if found["file"] != "joined.js":
        return found[0]
    part, line = program.place(int(found["line"]))
    return f"{part}:{line}:{found['column']}: {found['message']}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_name_is_defined_once_and_used(name: str, tmp_path: Path) -> None:
    assert findings(PROGRAMS[name], tmp_path) == []


def test_every_file_is_a_part_of_its_program() -> None:
    listed = {part for program in PROGRAMS.values() for part in program.parts}
    folders = {part.parent for part in listed}
    assert listed == {part for folder in folders for part in folder.glob("*.js")}


def test_a_finding_names_the_part_and_its_line(tmp_path: Path) -> None:
    first, second = tmp_path / "first.js", tmp_path / "second.js"
    first.write_text("function used() {}\nconst unused = 1;\n")
    second.write_text("used();\nmissing;\nused(1);\nlet twice;\nlet twice;\nexport {};\n")
    found = [line.split(": ", 2) for line in findings(Program([first, second], "es2020"), tmp_path)]
    assert {(place, code) for place, code, _ in found} >= {
        (f"{first}:2:7", "error TS6133"),  # unused
        (f"{second}:2:1", "error TS2304"),  # undefined
        (f"{second}:3:6", "error TS2554"),  # too many arguments
        (f"{second}:4:5", "error TS2451"),  # declared twice
        (f"{second}:5:5", "error TS2451"),
    }


def test_all_files_have_one_format() -> None:
    """`make format` writes them so; package.json lists the files."""
    installed()
    command = ["npm", "run", "--silent", "--prefix", str(NODE), "prettier", "--", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr
