"""The Python traceback of the bridge whose exception ended a run: for its author, not for the guest."""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

from ...clean import clean
from ...contract import CodeExecutionResult
from ...wire.failures import format_error
from ...wire.values import error_identity

_OURS = str(Path(__file__).resolve().parents[2])
_CELL = re.compile(r'File "[^"]{0,200}/ipykernel_\d+/\d+\.py"')
_MOST_LINES = 60
_MOST_CHARACTERS = 1_000  # of a line


def bridge_traceback(result: CodeExecutionResult) -> list[str]:
    """Lines that begin with the author's own frame; none if no bridge of an author's ended the run."""
    error = _that_ended(result)
    frames = None if error is None else _own_frames(error.__traceback__)
    if error is None or frames is None:  # of a capability, the message says all
        return []
    lines = format_error(error, frames).split("\n")[-_MOST_LINES:]
    return ["", "in the bridge:", *(f"  {_shown(line[:_MOST_CHARACTERS])}" for line in lines)]


def _shown(line: str) -> str:
    """A cell of IPython has the name of a file that does not exist."""
    return clean(_CELL.sub('File "<cell>"', line))


def _that_ended(result: CodeExecutionResult) -> BaseException | None:
    if result.status != "error" or result.error is None:
        return None
    told = result.error.name, result.error.message
    for error in reversed(result.bridge_errors):
        if error_identity(error) == told:
            return error
    return None


def _own_frames(frames: TracebackType | None) -> TracebackType | None:
    """Without those in front that call the bridge."""
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_OURS):
        frames = frames.tb_next
    return frames
