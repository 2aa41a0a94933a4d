"""Generates the modules from which cffi learns C declarations without parsing them.

In its ABI mode cffi can parse declarations at import, but that takes 50 ms of a zygote's birth.
The parsed form is generated once, by hand, and kept in the repository; tests keep it current.
"""

from __future__ import annotations

import tempfile
from pathlib import Path


def generate(module: str, declarations: str) -> str:
    """The text of a module whose `ffi` knows the declarations."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(declarations)
    ffi.set_source(module, None)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"{module}.py"
        ffi.emit_python_code(str(target))
        return "# ruff: noqa\n# mypy: ignore-errors\n" + target.read_text()
