"""The bootstrap, and the functions it returns, through which the worker enters the realm."""

from __future__ import annotations

from os.path import dirname, join

from .quickjs import Compiler, Context, Value

BOOTSTRAP = (
    "harden", "stacks", "encode", "columns", "table", "errors", "decode", "clone", "console", "bridge", "script",
    "shims", "entry",
)  # fmt: skip


def compile_bootstrap(compiler: Compiler) -> bytes:
    """Bytecode of the bootstrap; compiled once, in the zygote."""
    body = "\n".join(_script(name) for name in BOOTSTRAP)
    text = f"(function (native) {{ 'use strict';\n{body}\n}})"
    return compiler.compile(text.encode(), "<host>", module=False, private=True)


def _script(name: str) -> str:
    with open(join(dirname(__file__), "bootstrap", f"{name}.js"), encoding="utf-8") as file:
        return file.read()


class Entry:
    """The functions that `entry.js` returns; guest code cannot reach them."""

    def __init__(self, js: Context, functions: Value) -> None:
        self.decode = js.field(functions, "decode")
        self.settle = js.field(functions, "settle")
        self.settle_all = js.field(functions, "settleAll")
        self.call_guest = js.field(functions, "callGuest")
        self.execute = js.field(functions, "execute")
        self.open_exports = js.field(functions, "openExports")
        self.encode_result = js.field(functions, "encodeResult")
        self.encode_failure = js.field(functions, "encodeFailure")
        self.encode_thrown = js.field(functions, "encodeThrown")
        self.attachments = js.field(functions, "attachments")
        self.export_names = js.field(functions, "exportNames")
        self.waits = js.field(functions, "waits")
        self.make_error = js.field(functions, "makeError")
        self.for_script = js.field(functions, "forScript")
        self.run_shim = js.field(functions, "runShim")
        self.site_of = js.field(functions, "siteOf")
        self.builtins = js.field(functions, "builtins")
