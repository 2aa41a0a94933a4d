"""A model behind HTTP: streams however they are cut, errors, and connections that break."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.agents import (
    AgentEvent,
    ModelError,
    NoAnswerError,
    OpenAICompatibleModel,
    ScriptedModel,
    SessionMemoryStore,
    run_agent,
)

RESET = b"not sent: the connection is reset instead"


def reset(connection: socket.socket) -> None:
    """As when the process behind it, or a box on the way, is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@contextmanager
def serving(*answers: list[bytes] | int, headers: dict[str, str] | None = None) -> Iterator[Any]:
    """A service that gives these answers, each in these pieces; a number is an error."""
    requests: list[Any] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, dict(self.headers), json.loads(body)))
            answer = left.pop(0)
            if isinstance(answer, int):
                text = json.dumps({"error": {"message": "no quota left"}}).encode()
                self.send_response(answer)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                return
            self.send_response(200)
            self.end_headers()
            for piece in answer:
                if piece is RESET:
                    reset(self.connection)
                    return
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/", requests
    finally:
        server.shutdown()
        server.server_close()


def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": reason}]}).encode()


def answer(url: str, events: list[AgentEvent] | None = None, **options: Any) -> str:
    model = OpenAICompatibleModel(
        url, "secret", "some-model", thinking=options.pop("thinking", None)
    )
    tell = None if events is None else events.append
    return asyncio.run(run_agent(model, "hello", on_event=tell, **options))


def test_a_stream_is_read_however_it_is_cut() -> None:
    whole = b"\n\n".join(
        [
            b": a comment",
            chunk({"reasoning_content": "hm "}),
            chunk({"content": "Grü"}),
            chunk({"content": "ße"}, "stop"),
            b"data: [DONE]",
            b"",
        ]
    )
    for size in (1, 7, len(whole)):
        events: list[AgentEvent] = []
        with serving([whole[at : at + size] for at in range(0, len(whole), size)]) as (url, seen):
            assert answer(url, events, thinking="on", system="be brief") == "Grüße"
        ((path, headers, body),) = seen
        assert path == "/v1/chat/completions"
        assert headers["Authorization"] == "Bearer secret"
        assert body["thinking"] == {"type": "enabled"}
        assert [each["role"] for each in body["messages"]] == ["system", "user"]
        assert [(each.type, each.text) for each in events] == [
            ("reasoning_delta", "hm "),
            ("text_delta", "Grü"),
            ("text_delta", "ße"),
        ]


def test_calls_that_are_split_over_chunks_are_made_and_answered() -> None:
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    def part(index: int, **function: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": index, "function": function}]}

    first = b"\n".join(
        [
            chunk({"tool_calls": [{"index": 0, "id": "c0", "function": {"name": "ad"}}]}),
            chunk({"tool_calls": [{"index": 1, "id": "c1", "function": {"name": "add"}}]}),
            chunk(part(0, name="d")),
            chunk(part(0, arguments='{"a": 1,')),
            chunk(part(1, arguments='{"a": "x", "b": 1}')),
            chunk(part(0, arguments=' "b": 2}')),
            chunk({}, "tool_calls"),
            b"",
        ]
    )
    events: list[AgentEvent] = []
    with serving([first], [chunk({"content": "3"}, "stop") + b"\n"]) as (url, seen):
        assert answer(url, events, tools=[add]) == "3"
    said, *results = seen[1][2]["messages"][1:]
    assert [call["function"]["name"] for call in said["tool_calls"]] == ["add", "add"]
    assert [result["tool_call_id"] for result in results] == ["c0", "c1"]
    assert results[0]["content"] == "3"
    assert "not an integer" in results[1]["content"]
    assert [(e.tool_name, e.is_error) for e in events if e.type == "tool_end"] == [
        ("add", False),
        ("add", True),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (500, "answered 500: no quota left"),
        (401, "answered 401: no quota left"),
        ([b""], "cut short"),
        ([chunk({"content": "Hel"}) + b"\n"], "cut short"),
        ([chunk({"content": "Hel"}) + b"\n", RESET], "cut short|closed|answered 599"),
        ([b": still there\n", RESET], "cut short|closed|answered 599"),
        (
            [b'{"error": {"message": "overloaded"}}'],
            "not answer with a stream of events: overloaded",
        ),
        ([b'{"choices": [{"message": {"content": "hi"}}]}'], "not answer with a stream of events"),
        ([b"<html>", b"\n<p>no gateway"], "a stream of events: <html>\n<p>no gateway"),
        ([b"data: nonsense\n"], "sent b'nonsense'"),
        ([b'data: {"choices": 3}\n'], "sent b'{\"choices\": 3}'"),
        ([b'data: {"choices": [3]}\n'], "sent a choice 3"),
        (
            [b'data: {"choices": [{"delta": {"tool_calls": [{"index": 99999}]}}]}\n'],
            "sent a choice",
        ),
        ([b"data: " + b"[" * 100_000 + b"\n"], "the model's service sent"),
        ([b"x" * (2**20 + 1)], "a line without an end"),
        ([b": still there\n" * 2**16] * 20, "larger than 16,777,216 bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_model_that_fails_raises_and_says_why(
    given: Any, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(given) as (url, _), pytest.raises(ModelError, match=message) as caught:
        answer(url)
    assert "secret" not in str(caught.value)
    assert caplog.text == ""


def test_half_of_a_character_is_no_reason_to_fail_later() -> None:
    with serving([chunk({"content": "a\ud800"}, "stop") + b"\n"]) as (url, _):
        assert answer(url) == "a?"


def test_a_chunk_without_choices_is_passed_over() -> None:
    nothing = b'data: {"choices": null, "usage": {"total_tokens": 3}}\n'
    with serving([nothing + chunk({"content": "Hi"}, "stop") + b"\n"]) as (url, _):
        assert answer(url) == "Hi"


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with serving(302, headers={"Location": "http://127.0.0.1:9/"}) as (url, seen):
        with pytest.raises(ModelError, match="answered 302"):
            answer(url)
        assert len(seen) == 1


def test_a_service_that_is_not_there_is_told() -> None:
    with serving() as (url, _):
        pass
    with pytest.raises(ModelError, match=r"cannot be reached|answered 599"):
        answer(url)


def test_what_is_missing_or_wrong_is_told_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OptionError, match="base_url is missing: give it, or set LLM_BASE_URL"):
        OpenAICompatibleModel()
    with pytest.raises(OptionError, match="an http or https address, not 'file:///etc'"):
        OpenAICompatibleModel("file:///etc", "k", "m")
    with pytest.raises(OptionError, match="thinking is 'on' or 'off'"):
        OpenAICompatibleModel("http://localhost", "k", "m", thinking="maybe")
    monkeypatch.setenv("LLM_BASE_URL", "http://localhost")
    monkeypatch.setenv("LLM_API_KEY", "hidden")
    monkeypatch.setenv("LLM_MODEL", "m")
    assert "hidden" not in repr(OpenAICompatibleModel())


# -- the loop


def test_a_model_that_never_answers_raises_after_its_steps() -> None:
    def ping() -> str:
        """Pings."""
        return "pong"

    model = ScriptedModel([[{"name": "ping", "args": {}}]] * 3)
    with pytest.raises(NoAnswerError, match="within 3 steps"):
        asyncio.run(run_agent(model, "x", tools=[ping], max_steps=3))
    with pytest.raises(ModelError, match="the script has 3 turns"):
        asyncio.run(run_agent(model, "x", tools=[ping]))


def test_a_memory_keeps_no_call_without_its_result() -> None:
    class Dying:
        async def turn(self, messages: Any, tools: Any, tell: Any) -> Any:
            raise ModelError("gone")

    memory = SessionMemoryStore()
    with pytest.raises(ModelError):
        asyncio.run(run_agent(Dying(), "x", memory=memory, session_id="s"))
    assert [each["role"] for each in memory.messages("s")] == ["user"]
    memory.clear("s")
    assert memory.messages("s") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, "max_steps is a whole number from 1 on"),
        ({"hooks": {"gate_tool_cals": print}}, "did you mean gate_tool_calls?"),
        ({"hooks": {"gate_tool_calls": 3}}, "is called with a turn's calls"),
        ({"hooks": [print]}, "hooks is a mapping"),
        ({"model": "gpt"}, "a model has a method turn"),
        ({"model": ScriptedModel}, "a model has a method turn"),
        ({"prompt": None}, "the prompt is a text, not None"),
        ({"memory": {}}, "memory is a SessionMemoryStore"),
        ({"on_event": 5}, "on_event is called with each event"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: Any, message: str) -> None:
    given = {"model": ScriptedModel(["x"]), "prompt": "x", **options}
    with pytest.raises(OptionError, match=message):
        asyncio.run(run_agent(**given))


def test_a_script_that_is_none_is_refused() -> None:
    with pytest.raises(OptionError, match="turn 1 of the script"):
        ScriptedModel(["fine", {"name": "x"}])  # type: ignore[list-item]  # wrong on purpose
