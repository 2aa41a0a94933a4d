"""The files of workspaces, for requests. Nothing of what lies there is trusted or followed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..isolation.beneath import Directory
from ..sessions import Workspaces
from .refusals import refuse
from .shapes import ID, IN_WORDS, PATH

PIECE = 256 * 2**10


class WorkspaceFiles:
    """Blocking: call it on a thread."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def delete(self, session_id: str) -> None:
        self._workspaces.delete(_checked(session_id))

    def open(self, session_id: str, path: str) -> int:
        """A descriptor of a regular file, to be closed by the caller; a missing one is not made."""
        if _checked(session_id) not in self._workspaces:
            refuse("not_found", "there is no such file")
        with self._reached(path) as name, self._directory(session_id) as directory:
            return directory.open(name)

    def write(self, session_id: str, path: str, data: bytes) -> None:
        """Makes the session if it is not there."""
        _checked(session_id)
        with self._reached(path) as name:
            self._workspaces.open(session_id).write(name, data)

    def _directory(self, session_id: str) -> Directory:
        self._workspaces.open(session_id)
        return self._workspaces.directory_of(session_id)

    @contextmanager
    def _reached(self, path: str) -> Iterator[str]:
        """Whatever is wrong with a path is told without saying where it lies."""
        if not re.fullmatch(PATH, path):
            refuse("bad_request", "name must be a relative path without empty parts, . and ..")
        try:
            yield path
        except OSError as error:
            _translate(error)


def read_piece(descriptor: int) -> bytes:
    return os.read(descriptor, PIECE)


def _checked(session_id: str) -> str:
    if not re.fullmatch(ID, session_id):
        refuse("bad_request", f"session_id must be {IN_WORDS[ID]}")
    return session_id


_TOO_LARGE = (errno.EDQUOT, errno.EFBIG, errno.ENOSPC)


def _translate(error: OSError) -> None:
    if error.errno in _TOO_LARGE:
        refuse("too_large", "the workspace has no room for it")
    if error.errno in (errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY):
        refuse("conflict", "a folder has this name, or something that is none is on its way")
    if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ):
        refuse("bad_request", "name is too long, or has characters that no file can have")
    refuse("not_found", "there is no such file")
