"""The four tools: what a model is told about them, and the check of what it gives them.

The SDK ignores arguments that it does not know and changes the types of others, so we check them
ourselves, against the very schemas that we show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...schemas import problem_with
from ...spelling import suggestion

DEFAULT_WAIT_MS = 10_000
_MOST_WAIT_MS = 600_000
_MOST_TIMEOUT_MS = 600_000


class Offer(NamedTuple):
    name: str
    description: str
    parameters: dict[str, Any]


def offers(lent: str) -> list[Offer]:
    """`lent` is what code may import, as TypeScript; the operator decides about it."""
    return [
        Offer(
            "run_code",
            "Runs TypeScript or JavaScript as an ES module in a fresh sandbox without files, network"
            " or environment. The default export is the result, called with `args` if it is a"
            " function; without one it is the value of the last expression. `report(value)` tells"
            " of progress, and console.log is captured. What takes longer than wait_ms is answered"
            " with the status `running` and goes on: ask again with `wait`." + _imports(lent),
            _object(
                {
                    "code": _CODE,
                    "language": {"type": "string", "enum": ["typescript", "javascript"]},
                    "args": {"type": "array", "description": "arguments of the default export"},
                    "wait_ms": _WAIT,
                },
                ["code"],
            ),
        ),
        Offer(
            "run_program",
            "Runs a program in a fresh, isolated process with an empty directory and no network."
            " Files that it writes there are listed, and pictures among them shown."
            " What takes longer than wait_ms is answered with the status `running` and goes on:"
            " ask again with `wait`.",
            _object(
                {
                    "code": _CODE,
                    "language": {"type": "string", "description": "python, node, deno, …"},
                    "stdin": {"type": "string"},
                    "args": {"type": "array", "items": {"type": "string"}},
                    "files": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "description": "file name to text: what lies in the directory at first",
                    },
                    "timeout_ms": {
                        "type": "number",
                        "minimum": 1,
                        "maximum": _MOST_TIMEOUT_MS,
                        "description": "the program's own limit; 30000 if not given",
                    },
                    "wait_ms": _WAIT,
                },
                ["code", "language"],
            ),
        ),
        Offer(
            "wait",
            "Waits for a run that was answered with the status `running`, and answers like it.",
            _object({"run": _RUN, "wait_ms": _WAIT}, ["run"]),
        ),
        Offer("stop", "Ends a run, whatever it is doing.", _object({"run": _RUN}, ["run"])),
    ]


ANSWER = {
    "type": "object",
    "properties": {
        "run": {"type": "string", "description": "the handle for wait and stop"},
        "status": {
            "type": "string",
            "enum": ["running", "success", "error", "memory", "terminated", "link_error"],
        },
        "result": {"description": "what the code or program gave"},
        "error": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "message": {"type": "string"},
                "line": {"type": "integer"},
                "column": {"type": "integer"},
                "hint": {"type": "string"},
            },
            "required": ["name", "message"],
        },
        "exit_code": {"type": "integer"},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "files": {"type": "array"},
        "reports": {"type": "array"},
        "logs": {"type": "array"},
        "calls": {"type": "array", "description": "calls of lent functions, and who allowed them"},
        "truncated": {"type": "boolean", "description": "whether something is cut"},
    },
    "required": ["run", "status", "truncated"],
}


def problem_in(name: str, arguments: Any, known: Mapping[str, Offer]) -> str | None:
    """What is wrong with a call, so that a model can mend it; None if it fits."""
    offer = known.get(name)
    if offer is None:
        return f"there is no tool {name!r:.80}; {suggestion(name, known)}"
    problem = problem_with(arguments, offer.parameters)
    return None if problem is None else f"{name}: {problem}"


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _imports(lent: str) -> str:
    return f"\n\nIt may import these:\n\n{lent}" if lent else ""


_CODE = {"type": "string", "description": "the source text"}
_RUN = {"type": "string", "description": "the handle, `run` in an earlier answer"}
_WAIT = {
    "type": "integer",
    "minimum": 0,
    "maximum": _MOST_WAIT_MS,
    "default": DEFAULT_WAIT_MS,
    "description": "how long to wait for the end before answering `running`, in milliseconds",
}
