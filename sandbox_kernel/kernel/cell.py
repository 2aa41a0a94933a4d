"""Splits a cell's text: line magics at the top, at most one cell magic, and the rest.

Magic lines are left empty in the source that runs, so that positions in errors match the cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import OptionError
from ..notebook.options.lines import continued
from ..spelling import suggestion

CELL_MAGICS = {
    "runcode": "%%runcode OPTIONS: run this cell with these options",
    "runprogram": "%%runprogram LANGUAGE OPTIONS: run this cell as a program: python, node",
    "agent": "%%agent OPTIONS: this cell is a prompt for a model, which may run code and call tools",
    "bridge": "%%bridge NAME [--ask FUNCTIONS]: Python whose public functions and values later cells can import",
    "module": "%%module ./PATH: a relative ES module for later cells",
}
LINE_MAGICS = {
    "defaults": "%defaults OPTIONS: options for every later cell; without any, show them",
    "bridges": "%bridges: the bridges and their exports",
    "modules": "%modules: the modules",
    "mcp": "%mcp NAME COMMAND…|URL: cells import this MCP server's tools; without any, list them",
    "types": "%types [NAME]: what those tools are, in TypeScript",
    "kept": "%kept: the results that --keep has kept",
    "reset": "%reset [defaults|bridges|modules|kept|mcp]: forget these, or everything",
    "runs": "%runs [terminate]: the runs that execute or wait, or an end to all of them",
    "permissions": "%permissions [revoke NAME]: what is allowed or denied for good, and its last use",
    "doctor": "%doctor: versions, isolation, limits, and a self-test that tries to break out",
    "help": "%help: this page",
}
_INSTALLERS = frozenset("pip conda mamba micromamba uv npm".split())
_IPYTHON = frozenset(
    "alias autoreload bash cd capture cython debug edit env history html javascript js latex load"
    " load_ext ls matplotlib memit prun psource pwd pylab python python3 ruby run script sh store sx"
    " system time timeit writefile who whos".split()
)
_MAGIC = re.compile(r"(?P<mark>%%?)(?P<name>[A-Za-z_]\w*)?(?P<line>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Magic:
    """One magic: its name, the rest of its line, and whether it takes the whole cell."""

    name: str
    line: str
    whole_cell: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """`source` is what remains to run; its first `head` lines, those of the magics, are empty."""

    line_magics: tuple[Magic, ...]
    cell_magic: Magic | None
    source: str
    head: int = 0

    @property
    def body(self) -> str:
        """The text below the magics."""
        return "\n".join(self.source.split("\n")[self.head :])

    @property
    def has_source(self) -> bool:
        return bool(self.source.strip())


def parse_cell(text: str) -> Cell:
    """Raises `OptionError` for a magic that does not exist, before anything runs."""
    lines = text.replace("\r\n", "\n").split("\n")
    line_magics: list[Magic] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        if not lines[at].startswith("%"):
            break
        line, count = continued(lines[at:])
        magic = _magic(line)
        lines[at : at + count] = [""] * count
        at += count
        if magic.whole_cell:
            return Cell(tuple(line_magics), magic, "\n".join(lines), at)
        line_magics.append(magic)
    return Cell(tuple(line_magics), None, "\n".join(lines), at)


def _magic(text: str) -> Magic:
    match = _MAGIC.match(text)
    assert match is not None  # it starts with %
    mark, name = match["mark"], match["name"] or ""
    whole_cell = mark == "%%"
    known = CELL_MAGICS if whole_cell else LINE_MAGICS
    if name not in known:
        raise OptionError(f"unknown magic {mark}{name}; {_suggestion(name, mark)}", f"{mark}{name}")
    return Magic(name, match["line"].strip(), whole_cell)


def _suggestion(name: str, mark: str) -> str:
    other = LINE_MAGICS if mark == "%%" else CELL_MAGICS
    if name in _INSTALLERS:
        return "the sandbox has no packages; those of %%bridge cells are installed from a terminal"
    if name in _IPYTHON:
        return "it is a magic of IPython; %help lists those of this kernel"
    if name in other:
        return f"did you mean {'%' if mark == '%%' else '%%'}{name}?"
    return suggestion(name, CELL_MAGICS if mark == "%%" else LINE_MAGICS, mark)
