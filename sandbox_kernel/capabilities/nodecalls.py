"""The calls of Node's `fs` on a folder, with Node's errors: what a guest of `files()` calls."""

from __future__ import annotations

import base64
import errno
import functools
import os
from collections.abc import Callable
from typing import Any

from ..brief import brief_start
from ..calls import mark
from ..values import GuestError
from .folder import Folder, Parts, place, spelled

_SYSTEM_CALLS = {
    "readFile": "open",
    "writeFile": "open",
    "appendFile": "open",
    "readdir": "scandir",
    "stat": "stat",
    "mkdir": "mkdir",
    "rm": "rm",
    "rename": "rename",
    "copyFile": "copyfile",
    "access": "access",
    "exists": "access",
    "unlink": "unlink",
}
_DECODERS: dict[str, Callable[[bytes], str]] = {
    "utf8": lambda data: data.decode("utf-8", "replace"),
    "utf-8": lambda data: data.decode("utf-8", "replace"),
    "latin1": lambda data: data.decode("latin-1"),
    "ascii": lambda data: bytes(byte & 127 for byte in data).decode("ascii"),
    "utf16le": lambda data: data.decode("utf-16-le", "replace"),
    "base64": lambda data: base64.b64encode(data).decode(),
    "hex": lambda data: data.hex(),
}
_WORDS = {
    errno.ENOENT: "no such file or directory",
    errno.EEXIST: "file already exists",
    errno.ENOTDIR: "not a directory",
    errno.EISDIR: "illegal operation on a directory",
    errno.ENOTEMPTY: "directory not empty",
    errno.EACCES: "permission denied",
    errno.EROFS: "read-only file system",
    errno.ELOOP: "links are not followed here",
    errno.ENXIO: "neither a file nor a folder",
    errno.EDQUOT: "this run may not put more here",
    errno.EFBIG: "the file is too large",
    errno.EBUSY: "the folder that was lent stays as it is",
    errno.EINVAL: "invalid argument",
}
_OUTSIDE = "the path leads out of the folder that was lent"


class NodeCalls:
    """Of one run. Every function checks its arguments: a guest may pass anything."""

    def __init__(self, folder: Folder, place: Callable[[object], Parts] = place) -> None:
        """`place` says what a path of the guest's means."""
        self._folder = folder
        self._place = place

    def functions(self, module: str) -> dict[str, Callable[..., Any]]:
        """Each as an async function and, with `Sync` at the end, as a plain one."""
        made: dict[str, Callable[..., Any]] = {}
        for name in _SYSTEM_CALLS:
            call = self._wrapped(name, getattr(self, name))
            made[name] = self._marked(_awaitable(call), module, name)
            made[f"{name}Sync"] = self._marked(call, module, name)
        return made

    def _marked(self, function: Callable[..., Any], module: str, name: str) -> Callable[..., Any]:
        """What a person is asked, and the names for rules: with or without `Sync`, and its paths."""
        count = 2 if name in ("rename", "copyFile") else 1

        def paths(*args: Any) -> list[str]:
            try:
                return [spelled(self._place(each)) for each in args[:count]]
            except OSError as error:
                raise _node_error(error, name, args) from None

        def will(*args: Any) -> str:
            writes = name in ("writeFile", "appendFile")
            size = f" ({len(_bytes(args[1])):,} bytes)" if writes else ""
            return f"{name} {' to '.join(paths(*args))}{size}"

        def rule(*args: Any) -> list[str]:
            return [f"{module}.{name}:{path}" for path in paths(*args)]

        mark(function, will=will, rule=rule, also=f"{module}.{name}")
        return function

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            try:
                return function(*args)
            except OSError as error:
                raise _node_error(error, name, args) from None

        return call

    def readFile(self, path: str, encoding: str | None = None) -> bytes | str:  # Node's name
        decode = None
        if encoding is not None:
            decode = _DECODERS.get(encoding.lower()) if isinstance(encoding, str) else None
            if decode is None:
                raise ValueError(
                    f"unknown encoding {brief_start(encoding, 40)}; known: {', '.join(_DECODERS)}"
                )
        data = self._folder.read(self._place(path))
        return data if decode is None else decode(data)

    def writeFile(self, path: str, data: str | bytes, exclusive: bool = False) -> None:
        parts = self._place(path)
        if exclusive is True and self._is_there(parts):
            raise OSError(errno.EEXIST, "", path)
        self._folder.write(parts, _bytes(data))

    def appendFile(self, path: str, data: str | bytes) -> None:
        parts = self._place(path)
        before = self._folder.read(parts) if self._is_there(parts) else b""
        self._folder.write(parts, before + _bytes(data))

    def readdir(self, path: str) -> list[list[str]]:
        """Names, each with its kind."""
        parts = self._place(path)
        found = []
        for name in self._folder.names(parts):
            if any("\ud800" <= character <= "\udfff" for character in name):
                continue  # not UTF-8, so no guest can spell it
            try:
                found.append([name, self._folder.stat((*parts, os.fsencode(name))).kind])
            except FileNotFoundError:
                continue  # it went away meanwhile
        return found

    def stat(self, path: str) -> list[Any]:
        found = self._folder.stat(self._place(path))
        if found.kind == "link":
            raise OSError(errno.ELOOP, "", path)
        return list(found)

    def mkdir(self, path: str, recursive: bool = False) -> None:
        parts = self._place(path)
        if recursive is not True:
            self._folder.mkdir(parts)
            return
        for length in range(1, len(parts) + 1):
            try:
                self._folder.mkdir(parts[:length])
            except FileExistsError:
                if self._folder.stat(parts[:length]).kind != "folder":
                    raise

    def rm(self, path: str, recursive: bool = False, force: bool = False) -> None:
        parts = self._place(path)
        try:
            is_folder = self._folder.stat(parts).kind == "folder"
        except FileNotFoundError:
            if force is True:
                return
            raise
        if is_folder and recursive is not True:
            raise OSError(errno.EISDIR, "", path)
        remove = self._folder.remove_tree if is_folder else self._folder.remove
        remove(parts)

    def unlink(self, path: str) -> None:
        self.rm(path)

    def rename(self, old: str, new: str) -> None:
        self._folder.rename(self._place(old), self._place(new))

    def copyFile(self, old: str, new: str) -> None:
        self._folder.write(self._place(new), self._folder.read(self._place(old)))

    def exists(self, path: str) -> bool:
        try:
            return self._is_there(self._place(path))
        except (OSError, TypeError):
            return False

    def access(self, path: str) -> None:
        self.stat(path)

    def _is_there(self, parts: Parts) -> bool:
        try:
            return self._folder.stat(parts).kind != "link"
        except FileNotFoundError:
            return False


def _bytes(data: object) -> bytes:
    if isinstance(data, str):
        return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError(f"the data must be a string or bytes, not {type(data).__name__}")


def _awaitable(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    async def later(*args: Any) -> Any:
        return call(*args)

    return later


def _node_error(error: OSError, name: str, args: tuple[Any, ...]) -> GuestError:
    number = error.errno or errno.EIO
    leads_out = number == errno.EXDEV
    number = errno.EACCES if leads_out else number
    code = errno.errorcode.get(number, "EIO")
    words = _OUTSIDE if leads_out else _WORDS.get(number) or os.strerror(number)
    shown = " -> ".join(f"'{path:.200}'" for path in args[:2] if isinstance(path, str))
    shown = shown if name in ("rename", "copyFile") else f"'{args[0]!s:.200}'"
    made = GuestError("Error", f"{code}: {words}, {_SYSTEM_CALLS[name]} {shown}")
    made.code = code  # type: ignore[attr-defined]  # which crosses
    return made
