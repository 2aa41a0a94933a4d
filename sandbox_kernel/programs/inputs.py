"""Input files: plain names, checked before anything runs, and written where the program will."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..brief import brief, brief_text
from ..errors import OptionError
from ..isolation.beneath import Directory, Quota
from ..sizes import spell_size

_MOST_BYTES_OF_A_NAME = 255  # what file systems take


def checked_inputs(files: Any, quota: Quota) -> dict[str, bytes]:
    """The content of each file as bytes; OptionError names the file that is wrong, and why."""
    if not isinstance(files, Mapping):
        raise _wrong(f"must be a mapping of names to text or bytes, not {type(files).__name__}")
    if len(files) > quota.files:
        raise _wrong(f"has {len(files)} files; a program may have {quota.files}")
    inputs = {}
    for name, content in files.items():
        if problem := _problem_of(name):
            raise _wrong(f"{_spelled(name)} {problem}")
        inputs[name] = _as_bytes(name, content)
    size = sum(map(len, inputs.values()))
    if size > quota.bytes:
        raise _wrong(f"has {size} bytes in all; a program may have {spell_size(quota.bytes)}")
    return inputs


def write_inputs(directory: Directory, inputs: Mapping[str, bytes], owner: int | None) -> None:
    """Replaces whatever has such a name, also a link or a folder that an earlier program left."""
    for name, content in inputs.items():
        try:
            directory.write(name, content, owner=owner)
        except IsADirectoryError:
            directory.remove_tree(name)
            directory.write(name, content, owner=owner)


def _problem_of(name: object) -> str | None:
    """Why it is not a plain file name."""
    if not isinstance(name, str):
        return f"is not text but {type(name).__name__}; a name is a plain file name"
    if name == "":
        return "is empty; a name is a plain file name, such as data.csv"
    if "\0" in name:
        return "contains a NUL character"
    if name in (".", ".."):
        return "names a folder; a name is a plain file name, such as data.csv"
    if "/" in name or "\\" in name:
        return _problem_of_a_path(name)
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "cannot be written as UTF-8"
    if size > _MOST_BYTES_OF_A_NAME:
        return f"is {size} bytes long; a name has at most {_MOST_BYTES_OF_A_NAME}"
    return None


def _problem_of_a_path(name: str) -> str:
    kind = "is an absolute path" if os.path.isabs(name) else "contains a path separator"
    plain = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    hint = "" if _problem_of(plain) else f", such as {_spelled(plain)}"
    return f"{kind}; a name is a plain file name{hint}"


def _as_bytes(name: str, content: object) -> bytes:
    if isinstance(content, str):
        try:
            return content.encode()
        except UnicodeEncodeError as error:
            raise _wrong(
                f"{_spelled(name)} has a lone surrogate at character {error.start}; give bytes"
            ) from None
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    hint = "; read it first: .read_bytes()" if isinstance(content, os.PathLike) else ""
    raise _wrong(f"{_spelled(name)} must be text or bytes, not {type(content).__name__}{hint}")


def _spelled(name: object) -> str:
    return brief_text(name) if isinstance(name, (str, bytes)) else brief(name)


def _wrong(what: str) -> OptionError:
    return OptionError(f"files: {what}", "files")
