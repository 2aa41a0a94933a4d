"""A model behind an OpenAI-compatible service, which answers as a stream of events."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import OptionError
from ..tools.posting import http_address
from ..tools.results import sendable
from .events import AgentEvent
from .memory import Message
from .model import ModelCall, ModelError, Tell, Turn

_SECONDS = 600.0  # for one turn
_MOST_BYTES = 16 * 2**20  # of one answer
_LONGEST_LINE = 2**20
_MOST_CALLS = 1000
_KEPT = 2_000  # bytes of what may be an error
_SAID = 300  # characters of a service's words, in an error
_THINKING = ("on", "off", None)


class OpenAICompatibleModel:
    """`base_url`, `api_key` and `model` default to LLM_BASE_URL, LLM_API_KEY and LLM_MODEL."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        model: str | None = None,
        thinking: str | None = None,
    ) -> None:
        self._url = _checked_url(_given("base_url", base_url, "LLM_BASE_URL"))
        self._key = _given("api_key", api_key, "LLM_API_KEY")
        self.model = _given("model", model, "LLM_MODEL")
        if thinking not in _THINKING:
            raise OptionError(f"thinking is 'on' or 'off', not {thinking!r:.80}")
        self._thinking = thinking

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self.model!r})"

    async def turn(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], tell: Tell
    ) -> Turn:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages), "stream": True}
        if tools:
            body["tools"] = list(tools)
        if self._thinking is not None:
            body["thinking"] = {"type": "enabled" if self._thinking == "on" else "disabled"}
        answer = _Answer()
        pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        request = asyncio.create_task(self._post(body, pieces))
        try:
            while (piece := await pieces.get()) is not None:
                for event in answer.feed(piece):
                    await tell(event)
            await request
        finally:
            request.cancel()
        return answer.turn()

    async def _post(self, body: Mapping[str, Any], pieces: asyncio.Queue[bytes | None]) -> None:
        from tornado.httpclient import HTTPError, HTTPRequest

        from ..http_client import HTTPClient

        received = 0
        beginning = bytearray()  # of an answer that may be an error

        def receive(piece: bytes) -> None:
            nonlocal received
            if received <= _MOST_BYTES:  # else whoever reads has enough, and will say so
                beginning.extend(piece[: _KEPT - len(beginning)])
                pieces.put_nowait(piece)
            received += len(piece)

        request = HTTPRequest(
            f"{self._url}/chat/completions",
            method="POST",
            headers={"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"},
            body=json.dumps(body),
            streaming_callback=receive,
            request_timeout=_SECONDS,
            follow_redirects=False,  # which would take the key elsewhere
        )
        client = HTTPClient(force_instance=True)
        try:
            await client.fetch(request)
        except HTTPError as error:
            said = bytes(beginning) or (error.response.body if error.response else b"")
            words = _said(said) or str(error)[:_SAID]
            raise ModelError(f"the model's service answered {error.code}: {words}") from None
        except (OSError, ValueError) as error:
            raise ModelError(f"the model's service cannot be reached: {error}") from None
        finally:
            client.let_go()
            pieces.put_nowait(None)


class _Answer:
    """Reads server-sent events, however they are cut, into text and calls."""

    def __init__(self) -> None:
        self._rest = b""
        self._beginning = b""  # for the error, if it is no stream of events
        self._size = 0
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._ended = False
        self._is_stream = False

    def feed(self, piece: bytes) -> list[AgentEvent]:
        self._size += len(piece)
        if self._size > _MOST_BYTES:
            raise ModelError(f"the model's answer is larger than {_MOST_BYTES:,} bytes")
        self._beginning += piece[: _KEPT - len(self._beginning)]
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            raise ModelError("the model's service sent a line without an end")
        return [event for line in lines for event in self._read(line.strip())]

    def turn(self) -> Turn:
        if not self._ended and not self._is_stream and self._beginning.strip():
            said = _said(self._beginning)
            raise ModelError(f"the model's service did not answer with a stream of events: {said}")
        if not self._ended:
            raise ModelError("the model's answer was cut short")
        calls = [
            ModelCall(call["id"] or f"call_{index}", call["name"], call["arguments"])
            for index, call in sorted(self._calls.items())
        ]
        return Turn(sendable("".join(self._text)), calls)

    def _read(self, line: bytes) -> list[AgentEvent]:
        self._is_stream = self._is_stream or line.startswith((b"data:", b"event:", b":"))
        if not line.startswith(b"data:"):
            return []
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self._ended = True
            return []
        try:
            choices = json.loads(data)["choices"] or []  # null beside a count of tokens
            if not isinstance(choices, list):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ModelError(f"the model's service sent {data[:200]!r}") from None
        return [event for choice in choices for event in self._choice(choice)]

    def _choice(self, choice: Any) -> list[AgentEvent]:
        try:
            self._ended = self._ended or choice.get("finish_reason") is not None
            delta = choice.get("delta") or {}
            for call in delta.get("tool_calls") or []:
                self._add_call(call)
            events = []
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if isinstance(thought, str) and thought:
                events.append(AgentEvent("reasoning_delta", text=thought))
            if isinstance(delta.get("content"), str) and delta["content"]:
                self._text.append(delta["content"])
                events.append(AgentEvent("text_delta", text=delta["content"]))
            return events
        except (AttributeError, TypeError, ValueError):
            raise ModelError(f"the model's service sent a choice {choice!r:.200}") from None

    def _add_call(self, part: Any) -> None:
        """A call may come in many parts, told apart by their index."""
        index = part.get("index", len(self._calls))
        if type(index) is not int or not 0 <= index < _MOST_CALLS:
            raise ValueError("not the index of a call")
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = part.get("function") or {}
        call["id"] = str(part.get("id") or call["id"])
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""


def _said(body: bytes) -> str:
    """The service's own words, cut; they are text, and nothing more."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        message = body[:_SAID].decode("utf-8", "replace")
    return str(message)[:_SAID]


def _given(name: str, value: str | None, variable: str) -> str:
    found = value or os.environ.get(variable)
    if not isinstance(found, str) or not found:
        raise OptionError(f"{name} is missing: give it, or set {variable}")
    return found


def _checked_url(url: str) -> str:
    http_address("base_url", url)
    return url.rstrip("/")
