"""What a program left when it had ended: its structured result and its files, all of it hostile."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from ..isolation.beneath import Directory
from ..values import undefined
from ..wire.weight import weight_of_text
from .outputs import OutputFile, Snapshot, collect, declared

_HEAVIEST = 128 * 2**20  # bytes of host memory that a decoded result may take
_MOST_DECLARED = 1_000


class Left(NamedTuple):
    """`problems` are for the program's stderr."""

    result: Any = undefined
    files: list[OutputFile] = []  # noqa: RUF012  # of a tuple, which never changes
    output_files: list[OutputFile] = []  # noqa: RUF012  # likewise
    problems: tuple[str, ...] = ()


def gather(
    directory: Directory,
    before: Snapshot,
    said: bytes | None,
    max_file_bytes: int,
    hidden: tuple[str, ...] = (),
) -> Left:
    """`said` is the text of the last `set_result`; `hidden` are files that the runtime needed.

    May take a while: not for an event loop.
    """
    outputs = collect(directory, before, max_file_bytes, hidden)
    for name in hidden:
        with suppress(OSError):  # it needed none, or removed it
            directory.remove(name)
    if said is None:
        return Left(output_files=outputs)
    try:
        data, names = _decoded(said)
    except (ValueError, RecursionError) as error:
        return Left(output_files=outputs, problems=(f"set_result: {error}",))
    found = declared(directory, names, max_file_bytes)
    problems = tuple(f"set_result: {problem}" for problem in found.problems)
    return Left(data, found.files, outputs, problems)


def _decoded(said: bytes) -> tuple[Any, list[str]]:
    if weight_of_text(said) > _HEAVIEST:
        raise ValueError("the result has too many parts")
    message = json.loads(said, parse_constant=_refuse)
    if not isinstance(message, dict) or not {"data", "files"} <= message.keys():
        raise ValueError("the result is malformed")
    names = message["files"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("files must be a list of paths")
    if len(names) > _MOST_DECLARED:
        raise ValueError(f"{len(names)} files were declared; at most {_MOST_DECLARED} come back")
    return message["data"], names


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
