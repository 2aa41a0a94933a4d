"""The path and text in `%%module ./PATH` and `%%runmodule ./PATH`, and of `--module ./PATH`."""

from __future__ import annotations

import json

from ...errors import OptionError
from ...options import CodeExecutionOptions


def check_module(magic: str, path: str, source: str) -> None:
    """Raises `OptionError` if later cells could not import `source` as `path`."""
    if not path:
        raise OptionError(f"{magic} needs a path: {magic} ./PATH", "modules")
    if " --" in path:
        raise OptionError(f"{magic} takes no options, but got {path!r}", "modules")
    if not path.startswith("./"):
        raise OptionError(
            f"{magic} {path} is not a relative path; write {magic} {_relative(path)}", "modules"
        )
    CodeExecutionOptions.of(modules={path: source})


def module_text(path: str, source: str) -> str:
    """The ES module for this path: JSON in a file of that name becomes its default export."""
    if not path.endswith(".json"):
        return source
    try:
        json.loads(source)
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise OptionError(f"{path} is not JSON: {error.msg} ({place})", "modules") from None
    except RecursionError:
        raise OptionError(f"{path} is nested too deeply", "modules") from None
    return f"export default JSON.parse({json.dumps(source)});"


def _relative(path: str) -> str:
    """The nearest path that is allowed: `lib` becomes `./lib.ts`."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")] or ["lib"]
    extension = "" if "." in parts[-1] else ".ts"
    return "./" + "/".join(parts) + extension
