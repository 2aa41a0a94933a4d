"""Names that code for browsers, Node and Python uses and the sandbox lacks, and which text helps."""

from __future__ import annotations

from typing import Final

_LEND = ("function_instead", "")
_PAGE = ("no_page", "")
_TIMERS, _NETWORK, _WEB = ("timers", ""), ("network", ""), ("web", "")

# The key of a text, and what to use instead where the text says so.
ABSENT: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(("setTimeout", "setInterval", "clearTimeout", "clearInterval"), _TIMERS),
    "sleep": _TIMERS,
    **dict.fromkeys(("fetch", "XMLHttpRequest", "Request", "Response", "Headers"), _NETWORK),
    **dict.fromkeys(("URL", "URLSearchParams", "atob", "btoa", "crypto"), _WEB),
    **dict.fromkeys(("TextEncoder", "TextDecoder"), _WEB),
    **dict.fromkeys(("setImmediate", "WebSocket", "EventSource", "axios", "Intl"), _LEND),
    **dict.fromkeys(("AbortController", "AbortSignal", "FormData", "Blob", "File"), _LEND),
    **dict.fromkeys(("ReadableStream", "Worker", "WebAssembly", "Deno", "Bun"), _LEND),
    **dict.fromkeys(("localStorage", "sessionStorage"), _LEND),
    **dict.fromkeys(("indexedDB", "prompt", "confirm"), _LEND),
    **dict.fromkeys(("document", "navigator", "location", "history", "$", "jQuery"), _PAGE),
    "alert": ("instead", "console.log"),
    "window": ("instead", "globalThis"),
    "self": ("instead", "globalThis"),
    "global": ("instead", "globalThis"),
    "Buffer": ("instead", "Uint8Array"),
    "performance": ("instead", "Date.now()"),
    "queueMicrotask": ("instead", "Promise.resolve().then(…)"),
    "SharedArrayBuffer": ("instead", "ArrayBuffer"),
    "Atomics": ("instead", "ArrayBuffer"),
    "process": ("settings", ""),
    "require": ("require", ""),
    "module": ("commonjs", ""),
    "exports": ("commonjs", ""),
    "__dirname": ("dirname", ""),
    "__filename": ("dirname", ""),
    "eval": ("dynamic_code", ""),
    "print": ("python_name", "console.log(…)"),
    "len": ("python_name", "text.length"),
    "None": ("python_name", "null"),
    "True": ("python_name", "true"),
    "False": ("python_name", "false"),
}

# Modules of Node and npm that a capability stands for, and the text about it.
MODULES: Final[dict[str, str]] = {
    **dict.fromkeys(("fs", "fs/promises"), "files"),
    **dict.fromkeys(("timers", "timers/promises"), "timers"),
    **dict.fromkeys(("node-fetch", "undici", "axios", "http", "https"), "network"),
    "url": "web",
    "display": "display",
}

# What a misspelt name may have meant.
PRESENT: Final = (
    "Array ArrayBuffer BigInt Boolean DataView Date Error Float64Array Function Infinity Int32Array"
    " JSON Map Math NaN Number Object Promise Proxy RangeError Reflect RegExp Set String Symbol"
    " SyntaxError TypeError Uint8Array WeakMap WeakRef WeakSet console decodeURIComponent"
    " encodeURIComponent globalThis isFinite isNaN parseFloat parseInt structuredClone undefined"
).split()
