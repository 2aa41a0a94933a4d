"""One sentence of help for errors that newcomers to a sandbox meet first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...budget import capped
from ...contract import CodeExecutionError
from ...spelling import nearest
from ..assist import names
from ..assist.scan import scan
from ..options.grammar import Face

# Both read a message of the guest's: cut, and in linear time, because no name starts inside another.
_NOT_DEFINED = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*)'? is not defined")
_NO_EXPORT = re.compile(r"export(?: named)? '([^']+)'")
_MAX_READ = 500  # characters of a message or of a specifier
_MAX_HINT = 4_000

_TIMER = "async def sleep(ms): await asyncio.sleep(ms / 1000)"
# One site, not any: urlopen reads file: URLs as well, and the guest chooses the argument.
_FETCH = """def _get(url): return urllib.request.urlopen(url).read().decode()
async def fetch_text(path):
    return await asyncio.to_thread(_get, "https://example.org/" + path)"""
_HOST_NAMES = {
    "setTimeout": ("no timers", "timers", "sleep", "asyncio", _TIMER),
    "setInterval": ("no timers", "timers", "sleep", "asyncio", _TIMER),
    "setImmediate": ("no timers", "timers", "sleep", "asyncio", _TIMER),
    "fetch": ("no network", "web", "fetch_text", "asyncio, urllib.request", _FETCH),
    "XMLHttpRequest": ("no network", "web", "fetch_text", "asyncio, urllib.request", _FETCH),
    "WebSocket": ("no network", "web", "fetch_text", "asyncio, urllib.request", _FETCH),
}
_ABSENT_NAMES = (
    "process global window self document Deno Bun Buffer Request Response Headers URL"
    " URLSearchParams WebAssembly crypto performance atob btoa TextEncoder TextDecoder"
    " localStorage navigator __dirname __filename SharedArrayBuffer Atomics"
)
_ABSENT = frozenset(_ABSENT_NAMES.split())


def hint_for(
    status: str,
    error: CodeExecutionError,
    imports: Mapping[str, Mapping[str, Any]],
    modules: Mapping[str, str],
    globals_: Mapping[str, Any],
    face: Face,
) -> str | None:
    """A hint where one helps, else None."""
    hint = _hint(status, error, imports, modules, globals_, face)
    return capped(hint, _MAX_HINT) if hint is not None else None


def _hint(
    status: str,
    error: CodeExecutionError,
    imports: Mapping[str, Mapping[str, Any]],
    modules: Mapping[str, str],
    globals_: Mapping[str, Any],
    face: Face,
) -> str | None:
    message = error.message[:_MAX_READ]
    if status == "memory":
        return "the heap reached its limit; --memory 256MiB would raise it for this cell"
    if status == "link_error" and error.specifier is not None:
        return _link_hint(error.specifier, message, imports, modules)
    missing = _NOT_DEFINED.search(message) if error.name == "ReferenceError" else None
    return _name_hint(missing[1], imports, globals_, face) if missing else None


def _link_hint(
    specifier: str,
    message: str,
    imports: Mapping[str, Mapping[str, Any]],
    modules: Mapping[str, str],
) -> str | None:
    if specifier in imports:
        return _export_hint(message, specifier, list(imports[specifier]))
    if specifier in modules:
        if not _NO_EXPORT.search(message):
            return None  # the module itself could not be put together
        return _export_hint(message, specifier, names.exports(scan(modules[specifier])))
    known = [*imports, *modules]
    if not known:
        return "nothing can be imported yet; %%bridge NAME or --import lends a module"
    close = nearest(specifier[:_MAX_READ], known, 0.6)
    listed = ", ".join(f"'{name}'" for name in known[:30])
    return f"{_did_you_mean(close)}what can be imported: {listed}"


def _export_hint(message: str, specifier: str, exports: list[str]) -> str:
    match = _NO_EXPORT.search(message)
    close = nearest(match[1], exports) if match else None
    listed = ", ".join(exports[:30]) or "nothing"
    return f"{_did_you_mean(close)}'{specifier}' exports {listed}"


def _did_you_mean(close: str | None) -> str:
    return f"did you mean '{close}'? " if close is not None else ""


def _name_hint(
    name: str, imports: Mapping[str, Mapping[str, Any]], globals_: Mapping[str, Any], face: Face
) -> str | None:
    if name in _HOST_NAMES:
        return _bridge_hint(name, face)
    if name == "require":
        return "this is an ES module: use import, of what was bridged"
    for specifier, exports in imports.items():
        if name in exports:
            return f"import {{ {name} }} from '{specifier}'"
        if name == specifier:
            return f"import * as {name} from '{name}'"
    if name in _ABSENT:
        return f"the sandbox has no {name}; lend it with --import or --global if a cell needs it"
    close = nearest(name, globals_, 0.75)
    return f"did you mean {close}?" if close is not None else None


def _bridge_hint(name: str, face: Face) -> str:
    lack, module, function, needs, code = _HOST_NAMES[name]
    if face == "kernel":
        how = f"bridge one in a cell of its own:\n%%bridge {module}\nimport {needs}\n{code}"
    else:
        how = f"bridge one: define it in Python\nimport {needs}\n{code}"
        how += f'\nand run with --import {module}={{"{function}": {function}}}'
    return (
        f"the sandbox has {lack}, so no {name}; {how}\n"
        f"then: import {{ {function} }} from '{module}'"
    )
