"""What a request asks for, as checked data. Everything in it is hostile until it is here."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

from ..brief import brief_text
from ..schemas import problem_with, sure_check
from .refusals import refuse
from .shapes import EXECUTE, FILE_NAME, ID, IN_WORDS, RESULTS, RUN, STOP, TOOL_NAME, Schema

_surely_executes, _surely_runs = sure_check(EXECUTE), sure_check(RUN)


@dataclass(frozen=True, slots=True)
class Calls:
    """Which tools code may call, and where; with neither there are none."""

    url: str | None = None
    names: frozenset[str] | None = None

    @property
    def allowed(self) -> bool:
        return self.url is not None or bool(self.names)


@dataclass(frozen=True, slots=True)
class ExecuteRequest:
    """`POST /execute`."""

    kind: ClassVar[str] = "execute"
    code: str
    language: str = "python"
    stdin: str = ""
    args: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    timeout_ms: float | None = None
    session_id: str | None = None
    calls: Calls = field(default_factory=Calls)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """`POST /run`."""

    kind: ClassVar[str] = "run"
    session_id: ClassVar[None] = None
    code: str
    options: Mapping[str, Any] = field(default_factory=dict)
    timeout_ms: float | None = None
    calls: Calls = field(default_factory=Calls)

    @property
    def language(self) -> str:
        return str(self.options.get("language", "typescript"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What both have: the id that the requester gave, if any, and what tells two bodies apart."""

    request: ExecuteRequest | RunRequest
    execution_id: str | None
    digest: bytes


@contextmanager
def _bounded_depth() -> Iterator[None]:
    """Reading, checking and spelling JSON each give up at a depth of their own."""
    try:
        yield
    except RecursionError:
        refuse("bad_request", "the body is nested too deep")


@_bounded_depth()
def execute_request(body: bytes, callbacks: str) -> Asked:
    """`callbacks` is the pattern of the URLs that tools may be called on."""
    given = _parsed(body)
    for name in ("language", "runtime"):
        if isinstance(given.get(name), str):
            given[name] = given[name].strip().lower()
    if not _surely_executes(given):
        _check(given, EXECUTE)
    _not_both(given, "language", "runtime")
    _not_both(given, "timeout_ms", "timeout")
    limit = given.get("timeout_ms")
    if given.get("timeout") is not None:
        limit = given["timeout"] * 1000
    _check_pattern(given.get("session_id"), ID, "session_id")
    request = ExecuteRequest(
        code=_unicode("code", given["code"]),
        language=given.get("language") or given.get("runtime") or "python",
        stdin=_unicode("stdin", given.get("stdin") or ""),
        args=_args(given.get("args") or ()),
        files=_files(given.get("files") or ()),
        timeout_ms=limit,
        session_id=given.get("session_id"),
        calls=_calls(given, callbacks),
    )
    return _asked(given, request)


@_bounded_depth()
def run_request(body: bytes, callbacks: str) -> Asked:
    given = _parsed(body)
    if not _surely_runs(given):
        _check(given, RUN)
    options = {k: v for k, v in (given.get("options") or {}).items() if v is not None}
    request = RunRequest(
        code=_unicode("source", given["source"]),
        options=options,
        timeout_ms=given.get("timeout_ms"),
        calls=_calls(given, callbacks),
    )
    return _asked(given, request)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gave, or how it failed."""

    id: str
    value: Any = None
    error: str | None = None


@_bounded_depth()
def tool_answer(body: bytes) -> ToolAnswer:
    """`POST /runs/{id}/results`."""
    given = _object(body, RESULTS)
    _one_of(given, "data", "error")
    if "error" in given:
        return ToolAnswer(given["id"], error=given["error"])
    return ToolAnswer(given["id"], value=value_of(given["data"]))


def value_of(data: Any) -> Any:
    """A tool's value, which is sent as text: parsed if it is JSON, else as it is."""
    if not isinstance(data, str):
        return data
    try:
        return json.loads(data, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return data


@_bounded_depth()
def stop_reason(body: bytes) -> str | None:
    """`POST /runs/{id}/stop`."""
    return _object(body, STOP).get("reason") if body.strip() else None


def _object(body: bytes, schema: Schema) -> dict[str, Any]:
    given = _parsed(body)
    _check(given, schema)
    return given


def _check(given: dict[str, Any], schema: Schema) -> None:
    problem = problem_with(given, schema)
    if problem is not None:
        refuse("bad_request", problem)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body, parse_constant=_no_json)
    except UnicodeDecodeError:
        refuse("bad_request", "the body is not UTF-8")
    except ValueError as error:
        refuse("bad_request", f"the body is not JSON: {error}")
    if not isinstance(given, dict):
        refuse("bad_request", "the body must be a JSON object")
    return given


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _asked(given: dict[str, Any], request: ExecuteRequest | RunRequest) -> Asked:
    execution_id = given.get("execution_id")
    _check_pattern(execution_id, ID, "execution_id")
    if execution_id is None:
        return Asked(request, None, b"")
    spelled = json.dumps([request.kind, given], sort_keys=True).encode()
    return Asked(request, execution_id, hashlib.sha256(spelled).digest())


def _calls(given: Mapping[str, Any], callbacks: str) -> Calls:
    url, names = given.get("callback_url"), given.get("tools")
    if url is not None and not re.fullmatch(callbacks, url):
        refuse(
            "bad_request",
            f"callback_url {brief_text(url)} must be an http or https address of the requester's own"
            " host, or of a host that the service was started with (--callback-host)",
        )
    for index, name in enumerate(names or ()):
        _check_pattern(name, TOOL_NAME, f"tools[{index}]")
    return Calls(url, None if names is None else frozenset(names))


def _args(args: Any) -> tuple[str, ...]:
    for index, each in enumerate(args):
        if "\0" in _unicode(f"args[{index}]", each):
            refuse("bad_request", f"args[{index}] contains a NUL character")
    return tuple(args)


def _files(files: Any) -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {}
    for index, file in enumerate(files):
        name, at = file["name"], f"files[{index}]"
        _check_pattern(name, FILE_NAME, f"{at}.name")
        if name in found:
            refuse("bad_request", f"{at}.name: there is already a file {brief_text(name)}")
        _one_of(file, "content", "data", f"{at}.")
        found[name] = _content(file, at)
    return found


def _content(file: Mapping[str, Any], at: str) -> str | bytes:
    if "content" in file:
        return _unicode(f"{at}.content", file["content"])
    try:
        return base64.b64decode(file["data"], validate=True)
    except (binascii.Error, ValueError):
        refuse("bad_request", f"{at}.data is not base64")


def _unicode(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        refuse("bad_request", f"{name} has half of a surrogate pair at character {error.start}")
    return text


def _check_pattern(value: str | None, pattern: str, name: str) -> None:
    if value is not None and not re.fullmatch(pattern, value):
        refuse("bad_request", f"{name} {brief_text(value)} must be {IN_WORDS[pattern]}")


def _not_both(given: Mapping[str, Any], one: str, other: str) -> None:
    if one in given and other in given:
        refuse("bad_request", f"{one} and {other} mean the same; give one of them")


def _one_of(given: Mapping[str, Any], one: str, other: str, at: str = "") -> None:
    if (one in given) == (other in given):
        refuse("bad_request", f"give one of {at}{one} and {at}{other}")
