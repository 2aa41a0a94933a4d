"""Where answers that hold for good are kept: in memory, or in a file of the user's."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..errors import OptionError
from .effects import PermissionPolicy
from .rules import Rule, check_pattern, strictest

DAYS_KEPT = 30  # of an answer; a rule that was set by hand is kept until it is revoked
_LARGEST = 1 << 20  # bytes of a file
_DAY = 86_400.0
_FRESH = 3_600.0  # seconds in which a second use is not written down


class PermissionStore(Protocol):
    """One's own store has these two."""

    def get(self, name: str, args: Any) -> PermissionPolicy: ...
    def set(self, name: str, policy: PermissionPolicy) -> None: ...


class Entry(NamedTuple):
    """What is kept about a name. Times are seconds since 1970."""

    effect: PermissionPolicy
    until: float | None = None
    used: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {"effect": self.effect.value, "until": self.until, "used": self.used}

    @classmethod
    def from_json(cls, data: Any) -> Entry:
        return cls(PermissionPolicy(data["effect"]), _time(data["until"]), _time(data["used"]))


class InMemoryPermissionStore:
    """Forgets when it goes. `fallback` is for names about which nothing is kept."""

    def __init__(self, fallback: PermissionPolicy | str = PermissionPolicy.ASK) -> None:
        self.fallback = PermissionPolicy.of(fallback)
        self._entries: dict[str, Entry] = {}

    def get(self, name: str, args: Any = None) -> PermissionPolicy:
        return self.stored(name, args) or self.fallback

    def stored(self, name: str, args: Any = None) -> PermissionPolicy | None:
        """What is kept about the name, and not the fallback."""
        return _effect_on(name, self._entries)

    def set(self, name: str, policy: PermissionPolicy | str) -> None:
        self._entries[check_pattern(name)] = Entry(PermissionPolicy.of(policy))

    def revoke(self, name: str) -> bool:
        """Whether there was anything to forget about this name or pattern."""
        return self._entries.pop(name, None) is not None

    def entries(self) -> dict[str, Entry]:
        return dict(self._entries)


class FilePermissionStore:
    """A file that only its owner can read or write; several processes may use it at once.

    It is read again whenever it has changed. One that is damaged, or that others can write, is never
    believed: it is kept aside or left, told of in a warning, and this store then denies everything.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fallback: PermissionPolicy | str = PermissionPolicy.ASK,
    ) -> None:
        self.path = Path(path) if path is not None else _usual_path()
        self.fallback = PermissionPolicy.of(fallback)
        if self.path.is_dir():
            raise OptionError(f"the store {str(self.path)!r} is a folder; name a file in it")
        self._entries: dict[str, Entry] = {}
        self._seen: tuple[int, int, int] | None = None  # which version of the file they are from
        self._broken = False

    def get(self, name: str, args: Any = None) -> PermissionPolicy:
        return self.stored(name, args) or self.fallback

    def stored(self, name: str, args: Any = None) -> PermissionPolicy | None:
        """What is kept about the name, and not the fallback."""
        self._read_if_changed()
        return PermissionPolicy.DENY if self._broken else _effect_on(name, self._entries)

    def set(self, name: str, policy: PermissionPolicy | str) -> None:
        """A rule set by hand: it is kept until it is revoked."""
        self._put(check_pattern(name), Entry(PermissionPolicy.of(policy)))

    def remember(self, name: str, policy: PermissionPolicy) -> None:
        """A person's answer, which is asked for again after a month."""
        now = time.time()
        self._put(check_pattern(name), Entry(policy, now + DAYS_KEPT * _DAY, now))

    def touch(self, names: Iterable[str]) -> None:
        """Calls of these names were decided by what is kept."""
        names, now = list(names), time.time()
        self._read_if_changed()
        used = [pattern for pattern in self._entries if _is_used(pattern, names)]
        if all(now - (self._entries[each].used or 0) < _FRESH for each in used):
            return
        with self._locked() as entries:
            for pattern in used:
                if pattern in entries:
                    entries[pattern] = entries[pattern]._replace(used=now)

    def revoke(self, name: str) -> bool:
        """Whether there was anything to forget about this name or pattern."""
        with self._locked() as entries:
            return entries.pop(name, None) is not None

    def entries(self) -> dict[str, Entry]:
        self._read_if_changed()
        return {name: entry for name, entry in self._entries.items() if _holds(entry)}

    def _put(self, name: str, entry: Entry) -> None:
        with self._locked() as entries:
            entries[name] = entry

    # -- the file

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Entry]]:
        """The entries, to be changed by nobody else meanwhile; written when the block ends."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read_if_changed()
            if self._broken:
                raise PermissionError(f"the store {self.path} cannot be trusted; see the warning")
            entries = self.entries()
            yield entries
            self._write(entries)
        finally:
            os.close(lock)

    def _write(self, entries: dict[str, Entry]) -> None:
        text = json.dumps({name: entry.to_json() for name, entry in entries.items()}, indent=1)
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".permissions-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        self._entries, self._seen = entries, self._version(os.stat(self.path))

    def _read_if_changed(self) -> None:
        try:
            descriptor = os.open(
                self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            )
        except FileNotFoundError:
            self._entries, self._seen = {}, None
            return
        except OSError as error:
            self._distrust(f"it cannot be opened: {error.strerror}")
            return
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            version = self._version(found)
            if version != self._seen and not self._broken:
                self._seen = version
                self._read(file.read(_LARGEST + 1), found)

    def _read(self, text: bytes, found: os.stat_result) -> None:
        problem = _untrustworthy(found)
        if problem is not None:
            self._distrust(problem)
            return
        try:
            self._entries = _parse(text)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OptionError):
            aside = f"{self.path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
            with suppress(OSError):
                os.replace(self.path, aside)
            self._distrust(f"it is damaged, and now kept as {aside}")

    def _distrust(self, why: str) -> None:
        self._entries = {}
        if not self._broken:
            self._broken = True
            warnings.warn(
                f"the permissions in {self.path} are not used, and everything that would be looked"
                f" up there is denied: {why}",
                stacklevel=2,
            )

    @staticmethod
    def _version(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_ino, found.st_mtime_ns, found.st_size


def _effect_on(name: str, entries: dict[str, Entry]) -> PermissionPolicy | None:
    """A denial always holds; else what is kept about this very name beats what a pattern says."""
    held = [
        (pattern, entry.effect)
        for pattern, entry in entries.items()
        if _holds(entry) and Rule(pattern, entry.effect).covers(name)
    ]
    if any(effect is PermissionPolicy.DENY for _, effect in held):
        return PermissionPolicy.DENY
    exact = [effect for pattern, effect in held if pattern == name]
    return exact[0] if exact else strictest(effect for _, effect in held)


def _is_used(pattern: str, names: Iterable[str]) -> bool:
    return any(Rule(pattern, PermissionPolicy.ALLOW).covers(name) for name in names)


def _holds(entry: Entry) -> bool:
    return entry.until is None or time.time() < entry.until


def _parse(text: bytes) -> dict[str, Entry]:
    if len(text) > _LARGEST:
        raise ValueError("too large")
    data = json.loads(text.decode("utf-8"))
    return {check_pattern(name): Entry.from_json(entry) for name, entry in data.items()}


def _time(value: Any) -> float | None:
    if value is None or type(value) in (int, float):
        return None if value is None else float(value)
    raise ValueError("not a time")


def _untrustworthy(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if found.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    if found.st_mode & 0o022:
        return "others can write it; chmod 600 makes it yours alone"
    return None


def _usual_path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(base) / "sandbox-kernel" / "permissions.json"
