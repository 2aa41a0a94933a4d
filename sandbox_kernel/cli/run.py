"""`sandbox-kernel run`: what runs a file is decided by its suffix, here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..errors import OptionError
from ..programs.runtimes import RUNTIMES
from .arguments import Arguments, parse
from .module import LANGUAGES, run_module
from .program import run_program_file

Runner = Callable[[Arguments, str], int]

_RUNNERS: dict[str, Runner] = {
    suffix: run_module if runtime.is_script else partial(run_program_file, runtime.name)
    for runtime in RUNTIMES
    for suffix in runtime.suffixes
}
_NOT_RUN = {
    ".tsx": "JSX is not supported",
    ".jsx": "JSX is not supported",
}


def run(words: list[str]) -> int:
    arguments, file = parse(words)
    if arguments.language is not None:
        return run_program_file(arguments.language, arguments, file)
    return _runner(file)(arguments, file)


def can_run(name: str) -> bool:
    """Whether this is a file that `run` takes."""
    return Path(name).suffix in _RUNNERS and Path(name).is_file()


def _runner(file: str) -> Runner:
    if file == "-":
        return run_module
    suffix = Path(file).suffix.lower()
    if suffix in _RUNNERS:
        return _RUNNERS[suffix]
    why = _NOT_RUN.get(suffix, f"{suffix} is unknown" if suffix else "its name has no suffix")
    known = ", ".join([*LANGUAGES, *(each for each in _RUNNERS if each not in LANGUAGES)])
    raise OptionError(
        f"cannot run {file}: {why}; run takes {known}, or - for TypeScript from stdin"
    )
