"""The bodies of requests as JSON Schemas: what is checked is what the OpenAPI document says."""

from __future__ import annotations

from typing import Any

from ..options import LANGUAGES
from ..programs.runtimes import RUNTIMES

Schema = dict[str, Any]

ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
FILE_NAME = r"^(?!\.{1,2}$)[^/\\\u0000]{1,255}$"
PATH = r"^(?!(?:[^\u0000]*/)?\.{0,2}(?:/|$))[^\u0000]{1,4096}$"  # no empty part, no . and no ..
TOOL_NAME = r"^[A-Za-z_][A-Za-z0-9_.:/-]{0,127}$"
IN_WORDS = {
    ID: "1 to 128 letters, digits, dots, dashes and underscores, the first a letter or a digit",
    FILE_NAME: "a plain file name: no / or \\ or NUL in it, not . or .., at most 255 characters",
    TOOL_NAME: "1 to 128 letters, digits and _ . : / -, the first a letter or _",
}
BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
MOST_TOOLS, MOST_FILES, MOST_ARGS, LONGEST_ARG = 1_000, 1_000, 1_000, 65_536
LONGEST_REASON = 200
MOST_MEMORY = 2**53


def _text(**more: Any) -> Schema:
    return {"type": "string", **more}


def optional(schema: Schema) -> Schema:
    """null stands for a field that is not there."""
    return {**schema, "type": [schema["type"], "null"]}


def _object(properties: Schema, *required: str, **more: Any) -> Schema:
    shape = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return {**shape, "required": list(required)} if required else shape


def _not_both(one: str, other: str) -> Schema:
    """Null counts as given here; a request that names both is unclear in any case."""
    return {"not": {"required": [one, other]}}


LANGUAGE_NAMES = [name for each in RUNTIMES for name in (each.name, *each.aliases)]
_LANGUAGE = {"type": ["string", "null"], "enum": [*LANGUAGE_NAMES, None]}
_TIMEOUT_MS = optional({"type": "number", "minimum": 1})
_CALLS: Schema = {
    "callback_url": optional(
        _text(format="uri", description="Where tools are called, by POST; never redirected.")
    ),
    "tools": optional(
        {
            "type": "array",
            "items": _text(pattern=TOOL_NAME),
            "maxItems": MOST_TOOLS,
            "description": "Names that the code may call; without it any, if there is a callback_url.",
        }
    ),
}
_EXECUTION_ID = optional(
    _text(
        pattern=ID,
        description="For ten minutes the same id and body get the same answer; nothing runs twice.",
    )
)
FILE = _object(
    {"name": _text(pattern=FILE_NAME), "content": _text(), "data": _text(pattern=BASE64)},
    "name",
    oneOf=[{"required": ["content"]}, {"required": ["data"]}],
)
EXECUTE = _object(
    {
        "code": _text(),
        "language": _LANGUAGE,
        "runtime": _LANGUAGE,
        "stdin": optional(_text()),
        "args": optional(
            {
                "type": "array",
                "items": _text(pattern=r"^[^\u0000]*$", maxLength=LONGEST_ARG),
                "maxItems": MOST_ARGS,
            }
        ),
        "timeout_ms": _TIMEOUT_MS,
        "timeout": optional({"type": "number", "minimum": 0.001, "description": "In seconds."}),
        "files": optional({"type": "array", "items": FILE, "maxItems": MOST_FILES}),
        "session_id": optional(_text(pattern=ID)),
        "execution_id": _EXECUTION_ID,
        **_CALLS,
    },
    "code",
    allOf=[_not_both("language", "runtime"), _not_both("timeout_ms", "timeout")],
)
_NAMES_TO_ANYTHING = {"type": "object", "additionalProperties": True}
OPTIONS = _object(
    {
        "execute": optional(
            _object({"fn": optional(_text()), "args": optional({"type": "array", "items": {}})})
        ),
        "imports": optional({"type": "object", "additionalProperties": _NAMES_TO_ANYTHING}),
        "modules": optional({"type": "object", "additionalProperties": _text()}),
        "globals": optional(_NAMES_TO_ANYTHING),
        "language": {"type": ["string", "null"], "enum": [*LANGUAGES, None]},
        "memoryLimitBytes": optional({"type": "integer", "minimum": 1, "maximum": MOST_MEMORY}),
        "filename": optional(
            _text(minLength=1, pattern="^[^\\u0000-\\u001f\\u007f\\u2028\\u2029]*$")
        ),
    }
)
RUN = _object(
    {
        "source": _text(),
        "options": optional(OPTIONS),
        "execution_id": _EXECUTION_ID,
        "timeout_ms": _TIMEOUT_MS,
        **_CALLS,
    },
    "source",
)
RESULTS = _object(
    {
        "id": _text(minLength=1, maxLength=128),
        "data": {
            "description": "JSON of the tool's value as text; text that is not JSON is the value."
        },
        "error": _text(),
    },
    "id",
    oneOf=[{"required": ["data"]}, {"required": ["error"]}],
)
STOP = _object({"reason": optional(_text(maxLength=LONGEST_REASON))})
