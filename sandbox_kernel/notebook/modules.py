"""Whether a module's text can be compiled, asked when its cell runs and not when it is imported.

A worker answers, since the host never parses guest source. Nothing of the module is evaluated: the
entry imports it first and then something that nobody lends, so that linking always fails.
"""

from __future__ import annotations

import asyncio
import json

from ..contract import CodeExecutionError
from ..errors import EngineError
from ..explain.scene import Scene
from ..run import run_code
from .options.grammar import Face
from .show.traceback import Traceback, traceback_of

_ENTRY = "check.ts"
_NOBODY_LENDS = "nothing"
_PATIENCE = 5.0  # seconds; a text that takes longer is told about by the cell that imports it


async def problem_in(path: str, source: str, face: Face) -> Traceback | None:
    """How to show what is wrong with the module; None if it compiles, or if nobody can tell."""
    entry = f"import {json.dumps(path)};\nimport '{_NOBODY_LENDS}';"
    try:
        run = run_code(entry, modules={path: source}, filename=_ENTRY)
        alarm = asyncio.get_running_loop().call_later(_PATIENCE, run.terminate)
        result = await run
        alarm.cancel()
    except EngineError:
        return None
    if result.error is None or not _is_about_the_text(result.error):
        return None
    return traceback_of(result, Scene(_ENTRY, entry, modules={path: source}, face=face))


def _is_about_the_text(error: CodeExecutionError) -> bool:
    """Not about what the module imports: later cells may declare that."""
    return error.specifier is None and error.name == "SyntaxError"
