"""Names in a program's directory for what it is lent from elsewhere."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from ...isolation.beneath import Directory
from ..protocol import Grant


def leave_room(box: Directory, grant: Grant, owner: int | None, *, by_link: bool) -> None:
    """An empty file or folder to mount it on, or a link to it; raises if something is there already.

    Whoever ended it before it could clean up may have left ours.
    """
    above, name = os.path.split(grant.name)
    if above:
        box.mkdir(above, parents=True, owner=owner)
    with suppress(FileNotFoundError):
        _check_ours(box, grant, by_link)
        box.remove(grant.name)
    if by_link:
        with box.sub(above) as folder:
            os.symlink(grant.source, name, dir_fd=folder.fileno())
    elif grant.is_folder:
        box.mkdir(grant.name, owner=owner)
    else:
        box.write(grant.name, b"", owner=owner)


def _check_ours(box: Directory, grant: Grant, by_link: bool) -> None:
    found = box.stat(grant.name)
    is_empty = stat.S_ISREG(found.st_mode) and not found.st_size
    is_link = stat.S_ISLNK(found.st_mode)
    if is_link if by_link else is_empty or stat.S_ISDIR(found.st_mode):
        return  # a folder that is not empty is not removed
    raise FileExistsError(f"{grant.name} is in the program's directory already")
