"""The path in `%%module ./PATH` and `%%runmodule ./PATH`."""

from __future__ import annotations

from ...contract import CodeExecutionOptions
from ...errors import OptionError


def check_module(magic: str, path: str, source: str) -> None:
    """Raises `OptionError` if later cells could not import `source` as `path`."""
    if not path:
        raise OptionError(f"{magic} needs a path: {magic} ./PATH", "modules")
    if not path.startswith("./"):
        raise OptionError(
            f"{magic} {path} is not a relative path; write {magic} {_relative(path)}", "modules"
        )
    CodeExecutionOptions.of(modules={path: source})


def _relative(path: str) -> str:
    """The nearest path that is allowed: `lib` becomes `./lib.ts`."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")] or ["lib"]
    extension = "" if "." in parts[-1] else ".ts"
    return "./" + "/".join(parts) + extension
