"""`allow=`: paths, hosts and variables of the caller's machine that one program may use.

Paths are looked at once, before anything runs, and lent by what they were then: a bind or a rule of
their own for each. Folders of the system's own, and those where other programs live, are never lent.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..brief import brief_text
from ..errors import OptionError
from ..spelling import suggestion
from .protocol import Grant, Grants
from .runtimes import DENO, Runtime

KINDS = ("read", "write", "net", "env")
_NEVER = (
    "/dev",
    "/proc",
    "/sys",
    "/box",
    "/packages",
    "/old",
)  # the machine's own, and the program's
_NOT_WHOLE = ("/run", "/tmp")  # noqa: S108  # what programs need of their own is in there, too
_MOST_PATHS, _MOST_BYTES = 100, 16_000
_EVERYBODY_READS, _EVERYBODY_WRITES = 0o4, 0o2
_EVERYBODY_ENTERS = 0o1
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


class Allowed(NamedTuple):
    """What `allow` says, checked."""

    grants: Grants = Grants()
    env: Mapping[str, str] = {}  # of a tuple, which never changes
    flags: Mapping[str, Any] = {}  # for Deno's own: a list each, or True

    @property
    def names(self) -> tuple[str, ...]:
        """In the program's directory."""
        return tuple(grant.name for grant in self.grants.paths if not os.path.isabs(grant.name))


NOTHING = Allowed()


def checked_allow(given: Any, runtime: Runtime) -> Allowed:
    """OptionError says which kind is wrong, and why."""
    if not isinstance(given, Mapping):
        raise _wrong(f"must be a mapping of {', '.join(KINDS)}, not {type(given).__name__}")
    for kind in given:
        if kind not in KINDS:
            raise _wrong(f"has an unknown kind {kind!r}; {suggestion(str(kind), KINDS)}")
    lists = {kind: _listed(kind, given.get(kind)) for kind in KINDS}
    if lists["net"] and runtime.name != DENO:
        raise _wrong(
            f"has net, which is for Deno programs only, not for {runtime.title};"
            " write run_program(code, 'deno', …)"
        )
    hosts = lists["net"]
    if hosts is not True:
        for host in hosts:
            _check_host(host)
    grants = [*_paths(lists["write"], writes=True), *_paths(lists["read"], writes=False)]
    if len(grants) > _MOST_PATHS or sum(map(_size, grants)) > _MOST_BYTES:
        raise _wrong(f"has {len(grants)} paths, or too long ones; lend the folders above them")
    flags = {kind: _flags(lists[kind]) for kind in KINDS}
    return Allowed(Grants(tuple(grants), bool(hosts)), _environment(lists["env"]), flags)


def check_reach(allowed: Allowed, has_own_user: bool, has_own_root: bool) -> None:
    """OptionError if a program with a user of its own could not use what it is lent."""
    if not has_own_user:
        return
    for grant in allowed.grants.paths:
        if grant.everything:
            continue
        if not _is_open(grant.source, writes=grant.writes):
            what = "written" if grant.writes else "read"
            raise _wrong(
                f"has {brief_text(grant.name)}, which cannot be {what} by other users than root, and a"
                " program of root has a user of its own; change its mode, or copy it"
            )
        if not has_own_root and (above := _closed_above(grant.source)):
            raise _wrong(
                f"has {brief_text(grant.name)}, but {brief_text(above)} is closed to other users than"
                " root, and a program of root has a user of its own"
            )


# ---------------------------------------------------------------------------- kinds


def _listed(kind: str, value: Any) -> Any:
    """True, or a list of text."""
    if value is True:
        return True
    if value is None or value is False:
        return []
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise _wrong(f"{kind} must be True or a list of text, not {type(value).__name__}")
    for each in value:
        if not isinstance(each, str):
            raise _wrong(f"{kind} must be a list of text, not with {type(each).__name__} in it")
        if not each or "\0" in each:
            raise _wrong(f"{kind} has {each!r}, which names nothing")
    return list(value)


def _flags(given: Any) -> Any:
    return True if given is True else [_normal(each) for each in given]


def _normal(path: str) -> str:
    return os.path.normpath(path) if "/" in path else path


def _check_host(host: str) -> None:
    if not _HOST.fullmatch(host):
        raise _wrong(
            f"net has {brief_text(host)}; write a host or host:port, as in api.example.com"
        )


def _environment(given: Any) -> dict[str, str]:
    """Names that the host does not have are left out."""
    names = list(os.environ) if given is True else given
    found = {name: os.environ[name] for name in names if name in os.environ}
    return {name: value for name, value in found.items() if _is_text(value)}


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------------------- paths


def _paths(given: Any, *, writes: bool) -> list[Grant]:
    if given is True:
        return [Grant(path, path, writes, True, True) for path in _everything()]
    return [_grant(path, writes) for path in given]


def _everything() -> list[str]:
    """The folders of the machine's root, but for what is never lent, or closed to programs of root."""
    found = [f"/{name}" for name in sorted(os.listdir("/"))]
    return [
        path
        for path in found
        if os.path.isdir(path) and not os.path.islink(path) and _why_never(path, path) is None
        if os.geteuid() or _is_open(path, writes=False)
    ]


def _grant(path: str, writes: bool) -> Grant:
    name, source = os.path.normpath(path), os.path.realpath(path)
    if not os.path.isabs(name) and name.split("/")[0] in ("..", "."):
        raise _wrong(
            f"has {brief_text(path)}, which cannot have the same name in the program's directory;"
            f" write it as {brief_text(os.path.abspath(path))}"
        )
    if name.startswith("//"):
        name = name[1:]
    if why := _why_never(name, source):
        raise _wrong(f"has {brief_text(path)}, {why}")
    try:
        kind = os.stat(source).st_mode
    except OSError as error:
        raise _wrong(f"has {brief_text(path)}: {error.strerror}") from None
    if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
        raise _wrong(f"has {brief_text(path)}, which is neither a file nor a folder")
    return Grant(name, source, writes, stat.S_ISDIR(kind), False)


def _why_never(name: str, source: str) -> str | None:
    for path in {name, source}:
        if any(_is_beneath(path, never) for never in _NEVER):
            return "which is the machine's own, or the program's, and is never lent"
        if path == "/":
            return "which is everything; write True"
        if path in _NOT_WHOLE:
            return "which programs have of their own; name what you mean in it"
    if _is_beneath(os.path.realpath(tempfile.gettempdir()), source):
        return "in which other programs have their files; name what you mean in it"
    return None


def _is_beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_open(path: str, *, writes: bool) -> bool:
    mode = os.stat(path).st_mode
    needed = _EVERYBODY_READS | (_EVERYBODY_WRITES if writes else 0)
    if stat.S_ISDIR(mode):
        needed |= _EVERYBODY_ENTERS
    return mode & needed == needed


def _closed_above(path: str) -> str | None:
    while path != "/":
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & _EVERYBODY_ENTERS:
            return path
    return None


def _size(grant: Grant) -> int:
    return len(grant.name) + len(grant.source)


def _wrong(what: str) -> OptionError:
    return OptionError(
        f"allow {what}" if what[:4] in ("must", "has ") else f"allow.{what}", "allow"
    )
