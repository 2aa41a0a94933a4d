"""How a program's end looks under its cell: its files, the pictures among them, and its error."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from ...budget import capped
from ...clean import clean, clean_line
from ...pictures import picture_type
from ...programs.contract import ProgramResult
from ...programs.outputs import OutputFile
from ...sizes import about_size
from .traceback import Traceback

_LISTED = 20  # files
_LONGEST_NAME = 200
_PICTURES = 8
_PICTURE_BYTES = 1_800_000  # in all; Jupyter's server lets about 3 MB through at once, in base64
_LONGEST_ERROR = 20_000
# Where Python begins to say how a program failed; the last one has no header.
_BEGINS = re.compile(
    r'^(?: *\+ Exception Group )?Traceback \(most recent call last\):|^  File "program\.py", line ',
    re.MULTILINE,
)
_FRAME = re.compile(r'^ *File "', re.MULTILINE)
_GROUP = re.compile(r"^  \| ([A-Za-z_][\w.]*): (.*)", re.MULTILINE)


def traceback_begin(text: str) -> int | None:
    """Where in a program's stderr a traceback of Python begins, if one does."""
    found = _BEGINS.search(text)
    return found.start() if found is not None else None


def list_of_files(files: Sequence[OutputFile]) -> str:
    """A line for each; nothing if there are none."""
    lines = [f"{_name(file)}  {_size(file)}" for file in files[:_LISTED]]
    left = len(files) - len(lines)
    if left:
        lines.append(f"… {left:,} more file{'' if left == 1 else 's'}")
    return "".join(f"{line}\n" for line in lines)


def pictures_of(files: Sequence[OutputFile]) -> list[dict[str, Any]]:
    """MIME bundles of the pictures among the files, as many as a page takes at once."""
    bundles: list[dict[str, Any]] = []
    room = _PICTURE_BYTES
    for file in files:
        mime = picture_type(file.data) if file.data is not None else None
        if mime is None or file.data is None or len(file.data) > room:
            continue
        room -= len(file.data)
        data = base64.b64encode(file.data).decode("ascii")
        bundles.append({mime: data, "text/plain": _name(file)})
        if len(bundles) == _PICTURES:
            break
    return bundles


def notes_of(result: ProgramResult) -> str:
    """What a cell says of a result beside the output, on stderr."""
    return "… further output was dropped: a stream reached its limit\n" if result.truncated else ""


def error_of(result: ProgramResult, held: str) -> Traceback | None:
    """None if the program ended well. `held` is the end of its stderr, if that is a traceback."""
    text = clean(capped(held.rstrip("\n"), _LONGEST_ERROR))
    lines = text.split("\n") if text else []
    if result.reason is not None:
        name = "terminated" if result.killed else "ended"
        reason = clean(result.reason)
        return Traceback(name, reason, [*lines, f"{name}: {reason}"])
    if not result.exit_code:
        return None
    if lines:
        return Traceback(*_title(text), lines)
    return Traceback("ExitCode", str(result.exit_code), [f"exit code {result.exit_code}"])


def _title(text: str) -> tuple[str, str]:
    """Of the exception that stands behind the last frame, or of the outermost group."""
    if group := _GROUP.search(text):
        return group[1], group[2]
    at = 0
    for match in _FRAME.finditer(text):
        at = match.start()
    behind = [line for line in text[at:].split("\n")[1:] if line[:1].strip()]
    line = behind[0] if behind else text.rsplit("\n", 1)[-1]
    name, _, message = line.partition(": ")
    return (name, message) if name.replace(".", "_").isidentifier() else ("ExitCode", line)


def _name(file: OutputFile) -> str:
    return clean_line(capped(file.name, _LONGEST_NAME))


def _size(file: OutputFile) -> str:
    size = about_size(file.size)
    return f"{size}, too large to come back" if file.data is None else size
