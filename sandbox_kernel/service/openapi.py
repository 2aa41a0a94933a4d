"""The OpenAPI document. Its bodies are the schemas that requests are checked with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import __version__
from ..contract import LOG_LEVELS, STATUSES
from .refusals import RETRY_AFTER, STATUS_OF
from .service import Service
from .shapes import EXECUTE, ID, PATH, RESULTS, RUN, STOP, Schema

_JSON, _NDJSON, _BYTES = "application/json", "application/x-ndjson", "application/octet-stream"
_NUMBER, _TEXT, _FLAG = {"type": "number"}, {"type": "string"}, {"type": "boolean"}
_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"code": {"enum": list(STATUS_OF)}, "message": _TEXT},
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}
_OUTPUT_FILE = {
    "type": "object",
    "properties": {"name": _TEXT, "size": {"type": "integer"}, "truncated": _FLAG},
    "required": ["name", "size", "truncated"],
}
_FILE = {
    "type": "object",
    "properties": {
        **_OUTPUT_FILE["properties"],  # type: ignore[dict-item]  # it is a mapping
        "mime": _TEXT,
        "data": {"type": ["string", "null"], "description": "In base64."},
    },
    "required": ["name", "size", "truncated", "mime", "data"],
}
_EXECUTED_FIELDS: Schema = {
    "execution_id": _TEXT,
    "session_id": {"type": ["string", "null"]},
    "stdout": _TEXT,
    "stderr": _TEXT,
    "logs": {"type": "string", "description": "Both streams, in order of arrival."},
    "exit_code": {"type": "integer"},
    "duration_ms": _NUMBER,
    "killed": _FLAG,
    "oom": _FLAG,
    "truncated": _FLAG,
    "output": {"description": "What set_result was given; null if nothing was."},
    "files": {"type": "array", "items": _FILE},
    "output_files": {"type": "array", "items": _OUTPUT_FILE},
    "error": {"type": ["string", "null"]},
}
_EXECUTED = {
    "type": "object",
    "properties": _EXECUTED_FIELDS,
    "required": list(_EXECUTED_FIELDS),
    "additionalProperties": False,
}
_LOG = {
    "type": "object",
    "properties": {
        "level": {"enum": list(LOG_LEVELS)},
        "args": {"type": "array"},
        "timestamp": _NUMBER,
    },
    "required": ["level", "args", "timestamp"],
}
_RAN = {
    "type": "object",
    "properties": {
        "status": {"enum": list(STATUSES)},
        "result": {},
        "reports": {"type": "array"},
        "logs": {"type": "array", "items": _LOG},
        "error": {"type": "object"},
        "durationMs": _NUMBER,
        "memoryUsedBytes": {"type": "integer"},
        "calls": {"type": "array"},
        "displays": {"type": "array"},
    },
    "required": ["status", "reports", "logs", "durationMs"],
}
_STATUS = {
    "type": "object",
    "properties": {"status": {"const": "ready"}},
    "required": ["status"],
}
_WHY = {
    400: "The request is not as it should be; the message names the field.",
    401: "No key, or another one.",
    404: "There is no such thing.",
    405: "Another method is used here.",
    409: "The id has another body, or the name is that of a folder.",
    413: "The body or the file is too large.",
    415: "The body is not JSON.",
    503: "Every place is taken, or the service is stopping.",
}
_EVENTS = (
    "With Accept: application/x-ndjson each event is a line as it comes: stdout and stderr (text),"
    " call (execution_id, id, name, args), report (value), log (level, args, timestamp); the last is"
    " result, with the fields of the plain answer."
)


def document(service: Service, requester: str) -> dict[str, Any]:
    """For this requester, at whose address tools may be called."""
    has_key = bool(service.settings.key)
    shape: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "sandbox-kernel", "version": __version__},
        "paths": _paths(service.callbacks_for(requester), has_key),
        "components": {"schemas": {"Error": _ERROR}},
    }
    if has_key:
        shape["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-Service-API-Key"},
        }
        shape["security"] = [{"bearer": []}, {"key": []}]
    return shape


def _paths(callbacks: str, has_key: bool) -> dict[str, Any]:
    def errors(*statuses: int) -> dict[str, Any]:
        return _errors([*statuses, 400, 413, 503, *([401] if has_key else [])])

    run_id, session = _parameter("id"), _parameter("session_id")
    health = {
        "summary": "Whether the process lives.",
        "security": [],
        "responses": {"200": _content(_STATUS), **_errors([400, 413, 503])},
    }
    return {
        "/execute": {
            "post": {
                "summary": "Runs a program.",
                "description": _EVENTS,
                "requestBody": _body(_calling(EXECUTE, callbacks)),
                "responses": {"200": _content(_EXECUTED, _NDJSON), **errors(409, 415)},
            }
        },
        "/run": {
            "post": {
                "summary": "Runs a module; 200 whatever its status.",
                "description": _EVENTS + " With tools, the module imports them from 'tools'.",
                "requestBody": _body(_calling(RUN, callbacks)),
                "responses": {"200": _content(_RAN, _NDJSON), **errors(409, 415)},
            }
        },
        "/runs/{id}/results": {
            "post": {
                "summary": "Answers a call event.",
                "parameters": [run_id],
                "requestBody": _body(RESULTS),
                "responses": {"204": _nothing("It was answered."), **errors(404, 415)},
            }
        },
        "/runs/{id}/stop": {
            "post": {
                "summary": "Ends an execution; its answer says that it was.",
                "parameters": [run_id],
                "requestBody": _body(STOP),
                "responses": {"204": _nothing("It is being ended."), **errors(404, 415)},
            }
        },
        "/workspace/{session_id}": {
            "delete": {
                "summary": "Deletes a workspace, also if there is none.",
                "parameters": [session],
                "responses": {"204": _nothing("There is none now."), **errors()},
            }
        },
        "/workspace/{session_id}/{name}": {
            "parameters": [session, _parameter("name", PATH)],
            "get": {
                "summary": "A file of a workspace; the name may be a path.",
                "responses": {
                    "200": {"description": "Its bytes.", "content": {_BYTES: {}}},
                    **errors(404, 409),
                },
            },
            "put": {
                "summary": "Writes a file, and makes the workspace if there is none.",
                "requestBody": {"content": {_BYTES: {}}, "required": False},
                "responses": {"204": _nothing("It was written."), **errors(404, 409)},
            },
        },
        "/health": {"get": health},
        "/healthz": {"get": health},
        "/readyz": {"get": {**health, "summary": "Whether it takes executions."}},
        "/metrics": {
            "get": {
                "summary": "Counters, as Prometheus reads them.",
                "responses": {
                    "200": {"description": "Text.", "content": {"text/plain": {"schema": _TEXT}}},
                    **errors(),
                },
            }
        },
        "/openapi.json": {
            "get": {
                "summary": "This document.",
                "responses": {"200": _content({"type": "object"}), **errors()},
            }
        },
    }


def _calling(schema: Schema, callbacks: str) -> Schema:
    properties = schema["properties"]
    url = {**properties["callback_url"], "pattern": callbacks}
    none = {"properties": {"tools": {"maxItems": 0}}}  # which null has, too
    answered = {"properties": {"callback_url": {"type": "string"}}, "required": ["callback_url"]}
    return {
        **schema,
        "properties": {**properties, "callback_url": url},
        "anyOf": [none, answered],  # or events are asked for, which is not in the body
    }


def _body(schema: Schema) -> Schema:
    return {"required": True, "content": {_JSON: {"schema": schema}}}


def _content(schema: Schema, *others: str) -> Schema:
    content: Schema = {_JSON: {"schema": schema}} | {each: {} for each in others}
    return {"description": "The answer.", "content": content}


def _nothing(text: str) -> Schema:
    return {"description": text}


def _errors(statuses: Iterable[int]) -> Schema:
    content = {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    found: Schema = {}
    for status in sorted(set(statuses)):
        found[str(status)] = {"description": _WHY[status], "content": content}
        if status == 503:
            schema = {"type": "integer", "const": RETRY_AFTER}
            found["503"]["headers"] = {"Retry-After": {"schema": schema}}
    return found


def _parameter(name: str, pattern: str = ID) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": {**_TEXT, "pattern": pattern}}
