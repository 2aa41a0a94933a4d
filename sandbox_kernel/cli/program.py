"""`sandbox-kernel run` for programs: stdin, arguments and an exit code, as if it ran by itself."""

from __future__ import annotations

import asyncio
import json
import math
import sys
import threading
from concurrent.futures import Future

from ..errors import OptionError
from ..programs.contract import ProgramResult
from ..run import run_program
from . import terminal
from .arguments import Arguments
from .sources import source_of

_STDIN_BYTES = 64 * 2**20
_OUTPUT_BYTES = 64 * 2**20
_NAMED = 20  # files that a note lists


def run_program_file(language: str, arguments: Arguments, file: str) -> int:
    """The exit code is the program's own."""
    _check(arguments)
    result = _result(source_of(file), language, arguments)
    if arguments.json:
        terminal.say(json.dumps(result.to_json()))
    else:
        for problem in _problems(result):
            terminal.complain(problem)
    return result.exit_code


def _check(arguments: Arguments) -> None:
    lent = [*arguments.modules, *(name for name in arguments.globals if name != "args")]
    if lent:
        option = "--module" if arguments.modules else "--global"
        raise OptionError(
            f"{option} is for JavaScript and TypeScript; a program has stdin and its arguments"
        )


def _result(code: str, language: str, arguments: Arguments) -> ProgramResult:
    """In a thread, so that Ctrl-C finds this one waiting rather than writing to a slow terminal."""
    done: Future[ProgramResult] = Future()
    stdin = _stdin()

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
        timeout_ms=math.inf,
        memory_limit_bytes=arguments.memory,
        output_bytes=_OUTPUT_BYTES,
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


def _problems(result: ProgramResult) -> list[str]:
    problems = [f"the program was ended: {result.reason}"] if result.reason is not None else []
    if result.truncated:
        problems.append(f"what it wrote beyond {_OUTPUT_BYTES:,} bytes is not shown")
    if result.output_files:
        names = [file.name for file in result.output_files[:_NAMED]]
        more = ", …" if len(result.output_files) > _NAMED else ""
        problems.append(f"files that it wrote are not kept: {', '.join(names)}{more}")
    return problems
