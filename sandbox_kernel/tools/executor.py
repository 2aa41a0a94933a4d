"""Talks to the executor service of seed 002: one request, one bounded answer, nothing believed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from ..errors import OptionError, SandboxError
from .posting import NoAnswer, http_address, post

SECONDS = 65.0  # for one request, unless told otherwise
_MOST_BYTES = 64 * 2**20  # of an answer
_MOST_FILES = 1_000
_KINDS: dict[str, tuple[type, ...]] = {
    "stdout": (str,),
    "stderr": (str,),
    "exit_code": (int,),
    "duration_ms": (int, float),
    "killed": (bool,),
    "oom": (bool,),
    "truncated": (bool,),
}
_FILE_KINDS: dict[str, tuple[type, ...]] = {"name": (str,), "size": (int,), "truncated": (bool,)}


class ExecutorError(SandboxError):
    """The service could not be asked, refused, or did not answer as it should."""


class Executor(NamedTuple):
    """Where the service is, what it is sent as a key, and how long it may take."""

    url: str
    key: str = ""
    seconds: float = SECONDS

    @classmethod
    def of(cls, url: str, key: str | None, seconds: float | None) -> Self:
        if http_address("executor_url", url).query:
            raise OptionError(f"executor_url has no query: {url!r:.200}", "executor_url")
        if key is not None and not (key.isascii() and key.isprintable()):
            raise OptionError("the key of the executor has characters that no header can have")
        return cls(url.rstrip("/"), key or "", _checked_seconds(seconds))

    @classmethod
    def from_environment(cls) -> Self | None:
        """None unless SANDBOX_EXECUTOR_URL is set, which is how an operator wires it."""
        url = os.environ.get("SANDBOX_EXECUTOR_URL", "").strip()
        if not url:
            return None
        key = os.environ.get("SANDBOX_EXECUTOR_API_KEY")
        text = os.environ.get("SANDBOX_EXECUTOR_TIMEOUT_SECONDS", "").strip()
        try:
            return cls.of(url, key, float(text) if text else None)
        except ValueError as error:
            given = f"SANDBOX_EXECUTOR_TIMEOUT_SECONDS is {text!r:.80}: "
            raise OptionError(f"{given if 'float' in str(error) else ''}{error}") from None

    def __repr__(self) -> str:
        return f"Executor({self.url!r})"

    async def execute(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a result. Raises ExecutorError, which never has the key in it."""
        keys = {"X-Service-API-Key": self.key, "Authorization": f"Bearer {self.key}"}
        try:
            posted = await post(
                f"{self.url}/execute",
                json.dumps(request),
                keys if self.key else {},
                seconds=self.seconds,
                most_bytes=_MOST_BYTES,
            )
        except NoAnswer as error:
            raise ExecutorError(f"the executor cannot be reached: {error}") from None
        if posted.status != 200:
            raise ExecutorError(f"the executor answered {posted.status}: {posted.message}")
        return _result(posted.body)


def _checked_seconds(seconds: Any) -> float:
    if seconds is None:
        return SECONDS
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 < seconds < math.inf:
        raise OptionError(f"the executor's timeout is a number of seconds, not {seconds!r:.80}")
    return float(seconds)


def _result(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise ExecutorError("the executor did not answer with JSON") from None
    result = _fields(found, _KINDS)
    files = found.get("output_files")
    if not isinstance(files, list):
        raise ExecutorError("the executor did not list the output_files")
    result["output_files"] = [_fields(each, _FILE_KINDS) for each in files[:_MOST_FILES]]
    return result


def _fields(found: Any, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise ExecutorError("the executor did not answer with an object")
    for name, kind in kinds.items():
        if type(found.get(name)) not in kind:
            raise ExecutorError(f"the executor's answer has no {name} as it should be")
    return {name: found[name] for name in kinds}
