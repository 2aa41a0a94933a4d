"""`sandbox-kernel run` for programs: stdin, arguments and an exit code, as if it ran by itself."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from ..errors import OptionError
from ..isolation.beneath import Directory
from ..programs.contract import ProgramResult
from ..programs.outputs import OutputFile
from ..run import run_program
from . import terminal
from .arguments import Arguments
from .sources import source_of

_STDIN_BYTES = 64 * 2**20
_OUTPUT_BYTES = 64 * 2**20
_NAMED = 20  # files that a note lists


def run_program_file(language: str, arguments: Arguments, file: str) -> int:
    """The exit code is the program's own."""
    arguments.only_for(
        "JavaScript and TypeScript", ("modules", "globals"), "a program has stdin and its arguments"
    )
    code = source_of(file)
    result = _result(code, language, b"" if file == "-" else _stdin(), arguments)
    if arguments.out is not None:
        _keep(result.output_files, arguments.out)
    if arguments.json:
        terminal.say(json.dumps(result.to_json()))
    else:
        for problem in _problems(result, is_kept=arguments.out is not None):
            terminal.complain(problem)
    return result.exit_code


def _result(code: str, language: str, stdin: bytes, arguments: Arguments) -> ProgramResult:
    """In a thread, so that Ctrl-C finds this one waiting rather than writing to a slow terminal."""
    done: Future[ProgramResult] = Future()

    def work() -> None:
        try:
            done.set_result(asyncio.run(_stream(code, language, stdin, arguments)))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return done.result()


async def _stream(code: str, language: str, stdin: bytes, arguments: Arguments) -> ProgramResult:
    deadline = arguments.deadline
    run = run_program(
        code,
        language,
        stdin=stdin,
        args=arguments.args,
        files=arguments.files,
        packages=arguments.packages,
        timeout_ms=math.inf,
        memory_limit_bytes=arguments.memory,
        output_bytes=_OUTPUT_BYTES,
        max_file_bytes=_OUTPUT_BYTES,
    )
    if deadline is not None:
        run.terminate_after(deadline.seconds, deadline.reason)
    async for stream, text in run.stream():
        if not arguments.json:
            terminal.pass_on(stream, text)
    return await run


def _stdin() -> bytes:
    """All of it, since a program is given it at once; of a terminal nothing."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    content = sys.stdin.buffer.read(_STDIN_BYTES + 1)
    if len(content) > _STDIN_BYTES:
        raise OptionError(f"stdin has more than {_STDIN_BYTES:,} bytes")
    return content


def _keep(files: Sequence[OutputFile], folder: str) -> None:
    """Beneath the folder, whatever names the program gave them; no link in there is followed."""
    try:
        os.makedirs(folder, exist_ok=True)
        with Directory.at(folder) as directory:
            for file in files:
                if file.data is not None:
                    if parent := os.path.dirname(file.name):
                        directory.mkdir(parent, mode=0o755, parents=True)
                    directory.write(file.name, file.data, mode=0o644)
    except OSError as error:
        raise OptionError(f"--out {folder}: {error.strerror}: {error.filename}", "out") from None


def _problems(result: ProgramResult, *, is_kept: bool) -> list[str]:
    problems = [f"the program was ended: {result.reason}"] if result.reason is not None else []
    if result.truncated:
        problems.append(f"what it wrote beyond {_OUTPUT_BYTES:,} bytes is not shown")
    lost = [file.name for file in result.output_files if not is_kept or file.data is None]
    if lost:
        more = ", …" if len(lost) > _NAMED else ""
        why = "are too large to be kept" if is_kept else "are not kept (--out DIR keeps them)"
        problems.append(f"files that it wrote {why}: {', '.join(lost[:_NAMED])}{more}")
    return problems
