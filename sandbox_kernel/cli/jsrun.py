"""`sandbox-kernel jsrun`: one JSON request on stdin, one JSON answer on stdout or stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from ..errors import OptionError
from ..tools.jsrun import JsrunError
from ..tools.jsrun import jsrun as run
from . import exits, terminal

_LARGEST = 64 * 2**20  # bytes of a request
_FIELDS = ("source", "input", "limits")


def jsrun(words: list[str]) -> int:
    if words:
        raise OptionError(f"jsrun does not take {' '.join(words)}; its request comes on stdin")
    try:
        request = _request(sys.stdin.buffer.read(_LARGEST + 1))
        output = run(request["source"], request["input"], request["limits"])
    except JsrunError as error:
        if error.code == "OUTPUT_LIMIT":
            terminal.say(_line(output=error.output))
        terminal.note(_line(code=error.code, message=error.message))
        return exits.FAILED
    except OptionError as error:
        terminal.note(_line(code="BAD_REQUEST", message=str(error)))
        return exits.USAGE
    terminal.say(_line(output=output))
    return exits.SUCCESS


def _request(text: bytes) -> dict[str, Any]:
    if len(text) > _LARGEST:
        raise OptionError(f"a request has at most {_LARGEST} bytes")
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"the request is not JSON: {error}") from None
    if not isinstance(request, dict):
        raise OptionError("the request must be an object with source, input and limits")
    for name in _FIELDS:
        if name not in request:
            raise OptionError(f"the request has no {name}")
    unknown = [name for name in request if name not in _FIELDS]
    if unknown:
        raise OptionError(f"the request has an unknown field {unknown[0]!r:.80}")
    return request


def _line(**fields: str) -> str:
    """In the very spelling of the seed, which others may compare as text."""
    return json.dumps(fields, separators=(",", ":"))
